/** Reads the platform's paginator layouts (platform.md 2.1) as one. */
import { isObject, itemsOf, unwrapped } from './shape.js'

/** One page of a list. A number is undefined where the platform does not send it. */
export interface Page {
  rows: unknown
  total: number | undefined
  perPage: number | undefined
  currentPage: number | undefined
  lastPage: number | undefined
}

/** A non-negative integer in either spelling. */
function count(raw: unknown): number | undefined {
  const value = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

const numberNames = ['total', 'per_page', 'current_page', 'last_page']

/**
 * Reads the page in a body: the paginator at top level, in `items`, in `items.<name>`, or rows beside `pagination`. Its numbers may
 * be further out than its rows. A body without a paginator is one page with all rows.
 * @param name the key of this action's paginator or rows (`drivers`, `geofences`), in `items` or, without `items`, at top level.
 */
export function pageOf(body: unknown, name?: string): Page {
  const paginator = paginatorOf(body, name)
  const outward = [paginator, isObject(body) ? unwrapped(body.items) : undefined, body].filter(isObject)
  const places = outward.flatMap((one) => [one.pagination, one]).filter(isObject)
  const meta = places.find((one) => numberNames.some((field) => field in one)) ?? {}
  return {
    rows: rowsOf(paginator),
    total: count(meta.total),
    // Pages have rows and are numbered from 1: 0 says nothing, even where an empty list has it.
    perPage: count(meta.per_page) || undefined,
    currentPage: count(meta.current_page) || undefined,
    lastPage: count(meta.last_page) || undefined,
  }
}

function paginatorOf(body: unknown, name: string | undefined): unknown {
  if (!isObject(body)) return body
  if ('data' in body) return body
  const items = 'items' in body ? parsedOrSent(body.items) : body
  return name !== undefined && isObject(items) && name in items ? parsedOrSent(items[name]) : items
}

const parsedOrSent = (raw: unknown): unknown => unwrapped(raw) ?? raw

function rowsOf(paginator: unknown): unknown {
  if (!isObject(paginator)) return paginator
  if ('data' in paginator) return paginator.data
  if (!('pagination' in paginator)) return paginator
  // Rows under numeric keys, of which an empty page has none. Records with ids under another name may be the rows.
  const rows = itemsOf(paginator)
  const isRows = (raw: unknown): boolean => itemsOf(raw).some((row) => isObject(row) && 'id' in row)
  return rows.length === 0 && Object.values(paginator).some(isRows) ? paginator : rows
}

/** Page sizes that a platform may apply to `get_devices` without saying so (platform.md 3.1: 100) are multiples of this. */
const unstatedPageStep = 100
const maxUnstatedPageSize = 1_000

/** Whether this many rows may be one full page of a longer list. */
export const mayBeTruncated = (rows: number): boolean =>
  rows > 0 && rows % unstatedPageStep === 0 && rows <= maxUnstatedPageSize
