/** Pure: the platform's paginator layouts (platform.md 2.1) read as one; knows no action and makes no call. */
import { itemsOf } from './shape.js'

/** One page, whatever its layout. `undefined` = the platform did not say. */
export interface Page {
  rows: unknown
  total: number | undefined
  perPage: number | undefined
  currentPage: number | undefined
  lastPage: number | undefined
}

type Box = Record<string, unknown>
const isBox = (raw: unknown): raw is Box => typeof raw === 'object' && raw !== null && !Array.isArray(raw)

/** A non-negative integer in either spelling. */
function count(raw: unknown): number | undefined {
  const value = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/**
 * Reads one page out of a body: the paginator at top level, in `items`, in `items.<name>`, or `data` beside `pagination`;
 * a body without any paginator is one page that holds everything.
 * @param name the key below `items` under which this action puts its paginator or its rows (`drivers`, `geofences`).
 */
export function pageOf(body: unknown, name?: string): Page {
  const paginator = paginatorOf(body, name)
  const numbers = isBox(body) && isBox(body.pagination) ? body.pagination : paginator
  const meta = isBox(numbers) ? numbers : {}
  return {
    rows: isBox(paginator) && 'data' in paginator ? paginator.data : paginator,
    total: count(meta.total),
    perPage: count(meta.per_page),
    currentPage: count(meta.current_page),
    lastPage: count(meta.last_page),
  }
}

function paginatorOf(body: unknown, name: string | undefined): unknown {
  if (!isBox(body)) return body
  if ('data' in body) return body
  const items = 'items' in body ? body.items : body
  if (name !== undefined && isBox(items) && name in items) return items[name]
  return items
}

/**
 * Whether asking for one more page can bring rows: never after an empty page, the last page, or a short one.
 * @param collected rows received so far, this page included.
 */
export function hasMore(page: Page, collected: number): boolean {
  const here = itemsOf(page.rows).length
  if (here === 0) return false
  if (page.lastPage !== undefined && page.currentPage !== undefined) return page.currentPage < page.lastPage
  if (page.total !== undefined) return collected < page.total
  return page.perPage !== undefined && here >= page.perPage
}

/** What tells two rows of a list apart, in either spelling of a number; rows without an id are taken as they come. */
export function idOf(row: unknown): string | undefined {
  const id = isBox(row) ? row.id : undefined
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}

/** Page sizes a platform may impose on `get_devices` without saying so (platform.md 3.1: 100). */
const pageStep = 100
const largestPage = 1_000

/** A full page of a platform that pages unasked; a longer list is the whole list. */
export const mayBeTruncated = (rows: number): boolean => rows > 0 && rows % pageStep === 0 && rows <= largestPage
