/** Any `offset`/`limit` window of a list that the platform pages in its own way. Knows neither action nor socket. */
import { idOf, type Page } from './pages.js'
import { itemsOf } from './shape.js'

/** Fetches page `page` (from 1); the platform may apply another `limit` than the one asked for. */
export type Ask = (page: number, limit: number) => Promise<Page>

export interface Window {
  rows: unknown[]
  /** Items in the whole list; counted by walking it where the platform does not tell. */
  total: number
}

/** The largest page the platform gives out (platform.md 5). */
const largestPage = 1_000
/** The smallest page worth a call. */
const smallestPage = 50
/** Past this many pages a list that never ends is cut. */
const mostPages = 200

/** The page size for which one page holds the whole window, or the least that makes sense where there is none. */
export function pageSizeFor(offset: number, limit: number): number {
  const last = offset + limit - 1
  const least = Math.max(limit, smallestPage)
  for (let size = least; size <= largestPage; size += 1) {
    if (Math.floor(offset / size) === Math.floor(last / size)) return size
  }
  return least
}

/**
 * Rows `offset` to `offset + limit - 1`, none twice even when new rows push the list on between two calls.
 * A list whose platform ignores the asked page size is walked in the size it shows.
 */
export async function windowOf(ask: Ask, offset: number, limit: number): Promise<Window> {
  let size = pageSizeFor(offset, limit)
  let number = Math.floor(offset / size) + 1
  let page = await ask(number, size)
  const applied = appliedSize(page, size)
  if (applied !== size) {
    size = applied
    const wanted = Math.floor(offset / size) + 1
    if (wanted !== number) page = await ask(wanted, size)
    number = wanted
  }
  const walk = new Walk(ask, size, number, page)
  const start = offset - (number - 1) * size
  const rows = (await walk.until(start + limit)).slice(start, start + limit)
  return { rows, total: await walk.total() }
}

/** The page size the platform really used: what it says, else what it sent when that cannot be a short last page. */
function appliedSize(page: Page, asked: number): number {
  if (page.perPage !== undefined && page.perPage > 0) return page.perPage
  const sent = itemsOf(page.rows).length
  const isLast = page.lastPage !== undefined && page.currentPage === page.lastPage
  return sent > asked || (sent > 0 && sent < asked && page.lastPage !== undefined && !isLast) ? sent : asked
}

class Walk {
  readonly #ask: Ask
  readonly #size: number
  readonly #first: number
  readonly #seen = new Set<string>()
  readonly #rows: unknown[] = []
  #page: Page
  #number: number
  #ended = false

  constructor(ask: Ask, size: number, number: number, page: Page) {
    this.#ask = ask
    this.#size = size
    this.#first = number
    this.#number = number
    this.#page = page
    this.#take(page)
  }

  /** At least `wanted` rows from the first page on, or all there are. */
  async until(wanted: number): Promise<unknown[]> {
    while (this.#rows.length < wanted && (await this.#next()));
    return this.#rows
  }

  async total(): Promise<number> {
    const { total, lastPage, currentPage } = this.#page
    if (total !== undefined) return total
    if (lastPage !== undefined && lastPage > 0 && currentPage !== undefined) return this.#totalBy(lastPage, currentPage)
    while (await this.#next());
    return this.#rows.length === 0 ? 0 : (this.#first - 1) * this.#size + this.#rows.length
  }

  /** The total by the number of pages; only the last one has to be looked at. */
  async #totalBy(lastPage: number, currentPage: number): Promise<number> {
    const last = currentPage === lastPage ? this.#page : await this.#ask(lastPage, this.#size)
    return (lastPage - 1) * this.#size + itemsOf(last.rows).length
  }

  async #next(): Promise<boolean> {
    if (this.#ended || this.#isLast() || this.#number - this.#first >= mostPages) return false
    this.#number += 1
    this.#page = await this.#ask(this.#number, this.#size)
    return this.#take(this.#page)
  }

  #isLast(): boolean {
    const { lastPage, currentPage, total } = this.#page
    if (lastPage !== undefined && currentPage !== undefined) return currentPage >= lastPage
    if (total !== undefined) return this.#number * this.#size >= total
    return itemsOf(this.#page.rows).length < this.#size
  }

  /** Whether the page brought anything new; a platform that repeats itself has ended. */
  #take(page: Page): boolean {
    const before = this.#rows.length
    for (const row of itemsOf(page.rows)) {
      const id = idOf(row)
      if (id !== undefined && this.#seen.has(id)) continue
      if (id !== undefined) this.#seen.add(id)
      this.#rows.push(row)
    }
    this.#ended = this.#rows.length === before
    return !this.#ended
  }
}
