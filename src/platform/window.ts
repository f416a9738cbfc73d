/** Reads any `offset`/`limit` window of a list that the platform pages in its own way, in as few calls as that allows. */
import { DistinctRows, type Page } from './pages.js'
import { itemsOf } from './shape.js'

/** Fetches page `number` (from 1); the platform may apply another page size than the one requested. */
export type FetchPage = (number: number, size: number) => Promise<Page>

export interface Window {
  rows: unknown[]
  /** All rows of the pages that were read, in order: those of the window and their neighbours. */
  seen: unknown[]
  /** Items in the whole list; counted page by page where the platform does not send it. */
  total: number
}

/** The platform's maximum page size (platform.md 5). */
const maxPageSize = 1_000
/** A smaller page costs the platform as much as this one. */
const minPageSize = 50

/** A request needs more platform calls than it may send. */
export class TooManyCalls extends Error {
  override name = 'TooManyCalls'
}

/** The platform calls that one request may still send. */
export class CallBudget {
  #left: number

  constructor(calls: number) {
    this.#left = calls
  }

  /** @throws TooManyCalls. */
  spend(): void {
    if (this.#left === 0) throw new TooManyCalls()
    this.#left -= 1
  }
}

/** The smallest page size with which one page holds the whole window; the smallest useful one where there is none. */
export function pageSizeFor(offset: number, limit: number): number {
  const last = offset + limit - 1
  const smallest = Math.max(limit, minPageSize)
  for (let size = smallest; size <= maxPageSize; size += 1) {
    if (Math.floor(offset / size) === Math.floor(last / size)) return size
  }
  return smallest
}

/**
 * Rows `offset` to `offset + limit - 1`, each once.
 * A list whose platform ignores the requested page size is read in the size that it applies.
 */
export async function windowOf(fetchPage: FetchPage, offset: number, limit: number): Promise<Window> {
  const numberFor = (size: number): number => Math.floor(offset / size) + 1
  const requested = pageSizeFor(offset, limit)
  const page = withNumber(await fetchPage(numberFor(requested), requested), numberFor(requested))
  const size = appliedSize(page, requested)
  const number = numberFor(size)
  const first = number === page.number ? page : withNumber(await fetchPage(number, size), number)
  const pages = new Pages(fetchPage, size, first)
  const start = offset - (number - 1) * size
  const seen = await pages.read(start + limit)
  const rows = seen.slice(start, start + limit)
  return { rows, seen, total: await pages.total() }
}

/** Rows from the first page on, each once, until `isEnough` holds for the rows of a page, or the list ends. */
export async function readUntil(
  fetchPage: FetchPage,
  size: number,
  isEnough: (rows: unknown[]) => boolean,
): Promise<unknown[]> {
  const page = withNumber(await fetchPage(1, size), 1)
  return new Pages(fetchPage, appliedSize(page, size), page).read(Number.POSITIVE_INFINITY, isEnough)
}

/** A page and the number it was requested by; a platform that does not number its pages sends the requested one. */
interface NumberedPage extends Page {
  number: number
  currentPage: number
}

const withNumber = (page: Page, number: number): NumberedPage => ({
  ...page,
  number,
  currentPage: page.currentPage ?? number,
})

/** The page size that the platform applied: as it says, else the rows it sent unless those may be a short last page. */
function appliedSize(page: NumberedPage, requested: number): number {
  if (page.perPage) return page.perPage
  const sent = itemsOf(page.rows).length
  const mayBeLast = page.lastPage === undefined || page.currentPage === page.lastPage
  return sent === 0 || (sent < requested && mayBeLast) ? requested : sent
}

/** Consecutive pages, from the first one on. */
class Pages {
  readonly #fetchPage: FetchPage
  readonly #size: number
  readonly #first: number
  readonly #found = new DistinctRows()
  #page: NumberedPage
  #hasNewRows: boolean

  constructor(fetchPage: FetchPage, size: number, page: NumberedPage) {
    this.#fetchPage = fetchPage
    this.#size = size
    this.#first = page.number
    this.#page = page
    this.#hasNewRows = this.#found.add(page)
  }

  /** At least `count` rows, those up to a page that is enough, or all there are. */
  async read(count: number, isEnough: (rows: unknown[]) => boolean = () => false): Promise<unknown[]> {
    while (this.#found.rows.length < count && !isEnough(itemsOf(this.#page.rows)) && this.#hasMore()) {
      const number = this.#page.number + 1
      this.#page = withNumber(await this.#fetchPage(number, this.#size), number)
      this.#hasNewRows = this.#found.add(this.#page)
    }
    return this.#found.rows
  }

  async total(): Promise<number> {
    const { total, lastPage, currentPage } = this.#page
    if (total !== undefined) return total
    if (lastPage) {
      // All pages but the last one are full.
      const last = currentPage === lastPage ? this.#page : await this.#fetchPage(lastPage, this.#size)
      return (lastPage - 1) * this.#size + itemsOf(last.rows).length
    }
    const rows = await this.read(Number.POSITIVE_INFINITY)
    return rows.length === 0 ? 0 : (this.#first - 1) * this.#size + rows.length
  }

  #hasMore(): boolean {
    const { number, lastPage, currentPage, total } = this.#page
    // A platform that repeats a page has no more.
    if (!this.#hasNewRows) return false
    if (lastPage !== undefined) return currentPage < lastPage
    if (total !== undefined) return number * this.#size < total
    return itemsOf(this.#page.rows).length >= this.#size
  }
}
