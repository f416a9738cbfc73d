/** Reads any `offset`/`limit` window of a list that the platform pages in its own way, in as few calls as that allows. */
import type { Page } from './pages.js'
import { isObject, itemsOf, read } from './shape.js'

/** Fetches page `number` (from 1); the platform may apply another page size than the one requested. */
export type FetchPage = (number: number, size: number) => Promise<Page>

type IsEnough = (rows: unknown[]) => boolean

interface Count {
  /** Items in the whole list; counted page by page where the platform does not send it. */
  total: number
  /** False if counting takes more calls than are left: `total` is then a minimum. */
  isCounted: boolean
}

export interface Window {
  rows: unknown[]
  /** All rows of the pages that were read, in order: those of the window and their neighbours. Counting may add to them. */
  seen: unknown[]
  /** May take more calls, so that a caller can first look at the rows. Never throws TooManyCalls. */
  count(): Promise<Count>
}

/** The platform's maximum page size (platform.md 5). */
export const maxPageSize = 1_000
/** A smaller page costs the platform as much as this one. */
const minPageSize = 50
/** The page sizes of platforms, 5 to 100 (platform.md 2.1 and 3.1), are multiples of this. */
const pageStep = 5
/** The largest page of a platform that ignores the requested size. */
const maxOwnSize = 100

/** Concurrent calls of one list. */
export const maxConcurrent = 4

/** A request needs more platform calls than it may send. */
export class TooManyCalls extends Error {
  override name = 'TooManyCalls'
}

/** The smallest page size with which one page holds the whole window; the smallest useful one where there is none. */
function pageSizeFor(offset: number, limit: number): number {
  const last = offset + limit - 1
  const smallest = Math.min(maxPageSize, Math.max(limit, minPageSize))
  for (let size = smallest; size <= maxPageSize; size += 1) {
    if (Math.floor(offset / size) === Math.floor(last / size)) return size
  }
  return smallest
}

/**
 * Rows `offset` to `offset + limit - 1`, each once.
 * A list whose platform ignores the requested page size is read in the size that it applies.
 * @throws what `fetchPage` throws.
 */
export async function windowOf(fetchPage: FetchPage, offset: number, limit: number): Promise<Window> {
  const fetch = numbered(fetchPage)
  const numberFor = (size: number): number => Math.floor(offset / size) + 1
  const requested = pageSizeFor(offset, limit)
  const page = await fetch(numberFor(requested), requested)
  const { total } = page
  // A platform that ignores the page repeats rows there.
  if (offset > 0 && total !== undefined && offset >= total)
    return { rows: [], seen: page.rows, count: async () => exactly(total) }
  const size = await appliedSize(fetch, page, requested)
  const number = numberFor(size)
  const pages = new PageReader(number === page.number ? page : await fetch(number, size), fetch, size)
  const start = offset - (number - 1) * size
  const seen = await pages.read(start + limit)
  return { rows: seen.slice(start, start + limit), seen, count: () => pages.count() }
}

/**
 * All rows, each once. The pages after the first one are requested a few at a time, if it says how many there are.
 * @param size infinite where the platform chooses the page size: then a page without any number is the whole list.
 * @param isEnough ends the list after the page for which it returns true; pages are then requested one by one. Not called for the last page.
 * @param mayShift spends a call on whether a page that repeats rows is the end, or one to which new rows have shifted them.
 */
export async function readAll(fetchPage: FetchPage, size: number, isEnough?: IsEnough, mayShift = false) {
  const fetch = numbered(fetchPage, mayShift)
  const page = await fetch(1, size)
  // More rows than requested and no numbers of pages: all rows are there.
  const isWhole = !isEnough && !page.isPaged && !page.perPage && page.rows.length > size
  const applied = isWhole ? Number.POSITIVE_INFINITY : await appliedSize(fetch, page, size)
  const last = page.lastPage ?? Math.ceil((page.total ?? 0) / applied)
  const pages = new PageReader(page, isEnough ? fetch : readAhead(fetch, last), applied, mayShift)
  return pages.read(Number.POSITIVE_INFINITY, isEnough)
}

/** Pages in order; while one is awaited, those after it up to the last one are requested as well, a few at once. */
function readAhead(fetch: FetchNumbered, last: number): FetchNumbered {
  const requested = new Map<number, Promise<NumberedPage>>()
  return async (number, size) => {
    for (let next = number; next < number + maxConcurrent && next <= last; next += 1) {
      if (requested.has(next)) continue
      const page = fetch(next, size)
      // A failure is thrown to the reader of the page, if it gets so far.
      page.catch(() => {})
      requested.set(next, page)
    }
    return requested.get(number) ?? fetch(number, size)
  }
}

/** A page and the number it was requested by, which a platform that does not number its pages does not send. */
interface NumberedPage extends Page {
  rows: unknown[]
  number: number
  currentPage: number
  /** Whether the platform sends the page's number, the last page's number or the total; the page size does not count. */
  isPaged: boolean
}

type FetchNumbered = (number: number, size: number) => Promise<NumberedPage>

function numbered(fetchPage: FetchPage, mayShift = false): FetchNumbered {
  let first: { page: Page; size: number } | undefined
  const fetchFirst = async (size: number): Promise<Page> => {
    if (first?.size !== size) first = { page: await fetchPage(1, size), size }
    return first.page
  }
  return async (number, size) => {
    const page = number === 1 ? await fetchFirst(size) : await fetchPage(number, size)
    const { currentPage = number } = page
    const isPaged = [page.currentPage, page.lastPage, page.total].some((one) => one !== undefined)
    // A platform without paging repeats its first page (platform.md, N20), and may say so: what follows is out of reach.
    const known = number > 1 && currentPage === 1 ? { ...page, total: undefined, lastPage: undefined } : page
    let isFirst = number > 1 && !isPaged && repeats(page, first?.page ?? (await fetchFirst(size)))
    if (isFirst && mayShift) {
      // Shifted rows are no longer on the first page.
      first = undefined
      isFirst = repeats(page, await fetchFirst(size))
    }
    // Others repeat their last page beyond their end.
    const rows = isFirst || currentPage < number || number > (known.lastPage ?? number) ? [] : itemsOf(page.rows)
    return { ...known, rows, number, currentPage: Math.max(currentPage, number), isPaged }
  }
}

/** Whether a page repeats the first one. New rows may have arrived between the two calls, or shifted rows of the first page to this one. */
function repeats(page: Page, first: Page): boolean {
  // What is nested in a row may be deeper than the stack.
  const keyOf = (row: unknown): string => idOf(row) ?? JSON.stringify(read('scalars', row))
  const firstRows = itemsOf(first.rows)
  const keys = new Set(firstRows.map(keyOf))
  return itemsOf(page.rows).filter((row) => keys.has(keyOf(row))).length > firstRows.length / 2
}

/**
 * The page size that the platform applied, as it says or as its rows show. Fewer rows than requested are the last page, or a
 * page of a platform that ignores the size, whose first page shows it.
 */
async function appliedSize(fetch: FetchNumbered, page: NumberedPage, requested: number): Promise<number> {
  const { perPage, lastPage, total } = page
  const isTrue = lastPage === undefined || total === undefined || Math.ceil(total / (perPage ?? 1)) === lastPage
  if (perPage && isTrue) return perPage
  const sent = page.rows.length
  // The last of several pages may be shorter than those before it, and still as long as the requested size.
  const mayBeLast = page.number > 1 && page.currentPage >= (lastPage ?? (total ?? 0) / maxOwnSize)
  if ((sent >= requested && !mayBeLast) || (sent > 0 && page.currentPage < (lastPage ?? 0))) return sent
  // Without any number, it is the whole list, unless its length may be the size of a page.
  const isWhole = requested === Number.POSITIVE_INFINITY || (page.number === 1 && sent % pageStep > 0)
  if (!page.isPaged && isWhole) return requested
  if (page.number > 1) return (await fetch(1, requested)).rows.length || requested
  return sent === 0 || page.lastPage === 1 ? requested : sent
}

/** Consecutive pages, each row once: new rows shift a list between two calls, and some platforms repeat a page. */
class PageReader {
  readonly #fetch: FetchNumbered
  readonly #size: number
  readonly #mayShift: boolean
  /** Rows before the first of these pages. */
  readonly #before: number
  readonly #rows: unknown[] = []
  readonly #ids = new Set<string>()
  #page: NumberedPage
  /** How many pages in a row had no new rows. */
  #repeated = 0

  constructor(first: NumberedPage, fetch: FetchNumbered, size: number, mayShift = false) {
    this.#fetch = fetch
    this.#size = size
    this.#mayShift = mayShift
    this.#before = first.number === 1 ? 0 : (first.number - 1) * size
    this.#page = first
    this.#add()
  }

  /** At least `count` rows, those up to a page that is enough, or all there are. */
  async read(count: number, isEnough: IsEnough = () => false): Promise<unknown[]> {
    while (this.#rows.length < count && this.#hasMore() && !isEnough(this.#page.rows)) {
      this.#page = await this.#fetch(this.#page.number + 1, this.#size)
      this.#add()
    }
    return this.#rows
  }

  count(): Promise<Count> {
    return this.#counted().catch((error: unknown) => {
      if (!(error instanceof TooManyCalls)) throw error
      return { total: this.#before + this.#rows.length, isCounted: false }
    })
  }

  #add(): void {
    const known = this.#rows.length
    for (const row of this.#page.rows) {
      const id = idOf(row)
      if (id !== undefined && this.#ids.has(id)) continue
      if (id !== undefined) this.#ids.add(id)
      this.#rows.push(row)
    }
    this.#repeated = this.#rows.length > known ? 0 : this.#repeated + 1
  }

  #hasMore(): boolean {
    const { rows, lastPage, currentPage, total } = this.#page
    // New rows may have shifted the list by a page. An empty page, or a second one without new rows, is the end.
    if (this.#repeated > ((this.#mayShift || lastPage !== undefined) && rows.length > 0 ? 1 : 0)) return false
    if (lastPage !== undefined) return currentPage < lastPage
    if (total !== undefined) return this.#before + this.#rows.length < total
    return rows.length >= this.#size
  }

  async #counted(): Promise<Count> {
    const { total, lastPage, currentPage } = this.#page
    if (total !== undefined) return exactly(Math.max(total, this.#before + this.#rows.length))
    if (lastPage) {
      // All pages but the last one are full.
      const last = currentPage === lastPage ? this.#page : await this.#fetch(lastPage, this.#size)
      return exactly((lastPage - 1) * this.#size + last.rows.length)
    }
    await this.read(Number.POSITIVE_INFINITY)
    if (this.#rows.length > 0 || this.#before === 0) return exactly(this.#before + this.#rows.length)
    // Past the end, only the pages before show where that is. A platform without paging may count rows that it never sends.
    const start = new PageReader(await this.#fetch(1, this.#size), this.#fetch, this.#size)
    const { total: all, isCounted } = await start.count()
    return { total: Math.min(all, this.#before), isCounted }
  }
}

const exactly = (total: number): Count => ({ total, isCounted: true })

/** A row's id as text, since a platform may send it as a number or a text; undefined for a row without one. */
function idOf(row: unknown): string | undefined {
  const id = isObject(row) ? row.id : undefined
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}
