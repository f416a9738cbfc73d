/** What actions take and return, apart from HTTP. */
import type { Account } from './account.js'

/** A request of an account. `now` is Unix seconds. */
export type ActionRequest = { account: Account; now: number; query: URLSearchParams }
/** Lists in a body may be generators. */
export type Result = { status: number; body: unknown }
export type Action = (request: ActionRequest) => Result | Promise<Result>

export const ok = (body: unknown): Result => ({ status: 200, body })
export const badRequest = (field: string, text: string): Result => {
  return { status: 400, body: { status: 0, errors: { [field]: [text] } } }
}

/**
 * The parameters of a body and a URL together. Empty values count as absent, as on the platform. `id[]=1&id[]=2`, `id[0]=1` and
 * the body `{"id":[1]}` are all `id`; `{"filters":{"id":1}}` is `filters[id]`.
 */
export function parametersOf(sent: [name: string, value: unknown][]): URLSearchParams {
  const all = new URLSearchParams()
  const add = (name: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) add(`${name}[${key}]`, item)
    else if ((value ?? '') !== '') all.append(name.replace(/\[\d*\]$/, ''), String(value))
  }
  for (const [name, value] of sent) add(name, value)
  return all
}

/** A whole number above 0; anything else counts as absent. */
export function positive(query: URLSearchParams, name: string, absent: number): number {
  const number = Number(query.get(name))
  return Number.isInteger(number) && number > 0 ? number : absent
}

/** The index of a device in its fleet; undefined when it is not one of this account. */
export function indexOf(account: Account, id: string | null): number | undefined {
  const index = /^\d{1,9}$/.test(id ?? '') ? Number(id) - account.firstDeviceId : -1
  return index >= 0 && index < account.devices ? index : undefined
}

type List<T> = { length: number; slice(from: number, to: number): T[] }

/**
 * One page of a list: `data`, and the pagination that newer lists have beside it. Its addresses are
 * for show, as on the platform: clients must not follow them.
 */
export function paginator<T>(path: string, query: URLSearchParams, list: List<T>, limit: number) {
  const page = positive(query, 'page', 1)
  const last = Math.max(1, Math.ceil(list.length / limit))
  const link = (number: number) => (number < 1 || number > last ? null : `/api/${path}?page=${number}`)
  const pagination = { total: list.length, per_page: limit, current_page: page, last_page: last }
  const links = { next_page_url: link(page + 1), prev_page_url: link(page - 1) }
  return { ...pagination, ...links, data: list.slice((page - 1) * limit, page * limit) }
}
