/** The platform's paginator. Its addresses are for show, as on the platform: clients must not follow them. */
import { positive } from '../request.js'

type List<T> = { length: number; slice(from: number, to: number): T[] }

/** One page of a list: `data`, and the pagination that newer lists have beside it. */
export function paginator<T>(path: string, query: URLSearchParams, list: List<T>, limit: number) {
  const page = positive(query, 'page', 1)
  const last = Math.max(1, Math.ceil(list.length / limit))
  const link = (number: number) => (number < 1 || number > last ? null : `/api/${path}?page=${number}`)
  const pagination = { total: list.length, per_page: limit, current_page: page, last_page: last }
  const links = { next_page_url: link(page + 1), prev_page_url: link(page - 1) }
  return { ...pagination, ...links, data: list.slice((page - 1) * limit, page * limit) }
}
