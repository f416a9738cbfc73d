/** Reads the platform's paginator layouts (platform.md 2.1) as one. */
import { itemsOf } from './shape.js'

/** One page of a list. A number is undefined where the platform does not send it. */
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
 * Reads the page in a body: the paginator at top level, in `items`, in `items.<name>`, or `data` beside `pagination`.
 * A body without a paginator is one page with all rows.
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
 * Whether there may be another page: never after an empty page, the last page, or a short one.
 * @param collected rows received so far, this page included.
 */
export function hasMore(page: Page, collected: number): boolean {
  const here = itemsOf(page.rows).length
  if (here === 0) return false
  if (page.lastPage !== undefined && page.currentPage !== undefined) return page.currentPage < page.lastPage
  if (page.total !== undefined) return collected < page.total
  return page.perPage !== undefined && here >= page.perPage
}

/** The rows of several pages, each once: new rows shift a list between two calls, and some platforms repeat a page. */
export class DistinctRows {
  readonly rows: unknown[] = []
  readonly #ids = new Set<string>()

  /** Whether the page has rows that no earlier page had. */
  add(page: Page): boolean {
    const before = this.rows.length
    for (const row of itemsOf(page.rows)) {
      const id = idOf(row)
      if (id !== undefined && this.#ids.has(id)) continue
      if (id !== undefined) this.#ids.add(id)
      this.rows.push(row)
    }
    return this.rows.length > before
  }
}

/** The same for a number and its text; undefined for a row without an id. */
function idOf(row: unknown): string | undefined {
  const id = isBox(row) ? row.id : undefined
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}

/** Page sizes that a platform may apply to `get_devices` without saying so (platform.md 3.1: 100) are multiples of this. */
const pageStep = 100
const maxPageSize = 1_000

/** Whether this many rows may be one full page of a longer list. */
export const mayBeTruncated = (rows: number): boolean => rows > 0 && rows % pageStep === 0 && rows <= maxPageSize
