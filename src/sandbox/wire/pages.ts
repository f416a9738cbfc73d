/** The platform's paginator. Its addresses are for show, as on the platform: clients must not follow them. */
import { positive } from '../request.js'

type List<T> = { length: number; slice(from: number, to: number): T[] }

/** One page of a list. */
export function paginator<T>(path: string, query: URLSearchParams, list: List<T>, limit: number) {
  const { length: total } = list
  const page = positive(query, 'page', 1)
  const from = (page - 1) * limit
  const data = list.slice(from, from + limit)
  const last = Math.max(1, Math.ceil(total / limit))
  const url = `/api/${path}`
  const link = (number: number) => (number < 1 || number > last ? null : `${url}?page=${number}`)
  const pagination = { total, per_page: limit, current_page: page, last_page: last }
  const links = { next_page_url: link(page + 1), prev_page_url: link(page - 1) }
  const bounds = { from: data.length > 0 ? from + 1 : null, to: data.length > 0 ? from + data.length : null }
  return { ...pagination, ...links, ...bounds, url, data }
}

/** The rows, and the short pagination that newer lists have beside them. */
export function compact<T>({ from: _from, to: _to, url: _url, data, ...pagination }: ReturnType<typeof paginator<T>>) {
  return { data, pagination }
}
