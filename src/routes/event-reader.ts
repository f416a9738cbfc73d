/** Reads the events that pass all filters of a request, in a limited number of platform calls. */
import type { Account, EventFilter } from '../platform/account.js'
import type { CallBudget } from '../platform/call-budget.js'
import { itemsOf, read } from '../platform/shape.js'
import { type FetchPage, maxPageSize, readAll, TooManyCalls, type Window, windowOf } from '../platform/window.js'
import { type WireEvent, wireEvent } from '../platform/wire.js'
import { describe, eventDevice, newestFirst } from '../resources/event.js'
import type { TypeFilter } from '../resources/event-kind.js'
import { distinct, eventOf, idOf, merged, newestOf } from './event-rows.js'

interface EventSearch extends Pick<EventFilter, 'from' | 'to'> {
  /** Ids, or undefined for all devices. */
  devices: readonly (number | undefined)[]
  type: TypeFilter | undefined
  /** Maximum platform calls. */
  calls: number
  /** Whether the request has `after_id`: it must not share a platform call that began earlier, which may lack new events. */
  isFollowing: boolean
}

/** Page size for what is new since the last request. */
const smallPage = 200
/** A list has no more new events after this many old ones in a row. One would not do, because events can arrive late. */
const lateEvents = 50

const readRows = (rows: readonly unknown[]): WireEvent[] => read([wireEvent] as const, rows)

/** Whether the pages so far, the newest events first, end with `lateEvents` old ones. */
function endsOld(isOld: (row: WireEvent) => boolean) {
  let old = 0
  return (page: readonly WireEvent[]): boolean => {
    const oldFrom = page.findLastIndex((row) => !isOld(row)) + 1
    old = oldFrom === 0 ? old + page.length : page.length - oldFrom
    return old >= lateEvents
  }
}

/** The count if more events may exist: the known events, plus one if the window ends there, so that `has_more` is true. */
const orMore = (known: number, end: number): number => (known === end ? known + 1 : known)

export class EventReader {
  readonly #account: Account
  readonly #search: EventSearch
  /** The words of the type to send to the platform; empty without a type, or if they take too many calls. */
  readonly #words: readonly string[]
  readonly #uses: CallBudget

  constructor(account: Account, search: EventSearch) {
    this.#account = account
    this.#search = search
    this.#words = this.#wordsFor(search.calls)
    this.#uses = account.openCallBudget(search.calls)
  }

  close(): void {
    this.#uses.close()
  }

  /**
   * Rows that include those of the window; `before` is the number of rows that precede the first returned row.
   * @throws TooManyCalls.
   */
  async window(offset: number, limit: number): Promise<{ rows: WireEvent[]; before: number; total: number }> {
    const { type } = this.#search
    const isExact = type === undefined || (type.isExact && this.#words.length > 0)
    const found = isExact ? await this.#exact(offset, limit) : undefined
    // Some platforms ignore `type` or `device_id`, and not every kind has words of its own.
    return found ?? this.#scan(type?.isExact ? [] : this.#words, offset + limit)
  }

  /** As `window`, by the filters of the platform; undefined where it ignores one. */
  async #exact(offset: number, limit: number) {
    const filters = this.#filters(this.#words)
    const [from, count] = filters.length === 1 ? [offset, limit] : [0, offset + limit]
    const lists: Window[] = []
    const areFiltered = (windows: readonly Window[], by: readonly EventFilter[]): boolean =>
      windows.every(({ seen }, at) => this.#isFiltered(readRows(seen), by[at]))
    // With several words or many devices, the first filter goes alone: if the platform ignores it, calls are left for a scan.
    const isProbed = this.#words.length > 1 || filters.length > this.#search.calls / 2
    for (const some of isProbed ? [filters.slice(0, 1), filters.slice(1)] : [filters]) {
      const window = (offset: number, limit: number) =>
        Promise.all(some.map((filter) => windowOf(this.#pages(filter), offset, limit)))
      const found = await window(from, count)
      // An empty window beyond the end does not show whether the platform filters.
      const shown = from > 0 && found[0]?.seen.length === 0 ? await window(0, 1) : found
      if (!areFiltered(shown, some)) return undefined
      lists.push(...found)
    }
    // A row in two lists shows that the platform ignores a filter: each row has one device and one type.
    const seen = lists.flatMap((list) => readRows(list.seen))
    if (distinct(seen).length < seen.length) return undefined
    const counts = await Promise.all(lists.map((list) => list.count()))
    if (!areFiltered(lists, filters)) return undefined
    const known = counts.reduce((sum, { total }) => sum + total, 0)
    const total = counts.every(({ isCounted }) => isCounted) ? known : orMore(known, offset + limit)
    const rows = merged(lists.map((list) => list.rows)).slice(offset - from, offset - from + limit)
    return { rows: this.#account.readEvents(rows), before: offset, total }
  }

  /** All rows, or as many as the calls allow if that is at least `count`. @throws TooManyCalls. */
  async #scan(words: readonly string[], count: number) {
    const lastRead: (WireEvent | undefined)[] = []
    const rows = await this.#passing(words, (filter) =>
      this.#until(filter, maxPageSize, (page) => {
        const { isSpent } = this.#uses
        if (isSpent) lastRead.push(page.at(-1))
        return isSpent
      }),
    )
    if (lastRead.length === 0) return { rows, before: 0, total: rows.length }
    // A row that is older than the last one read of some list may have unread rows before it.
    const borders = lastRead.map(eventOf)
    const certain = rows.filter((row) => {
      const event = eventOf(row)
      return event && borders.every((border) => border && newestFirst(event, border) <= 0)
    })
    if (certain.length < count) throw new TooManyCalls()
    return { rows: certain, before: 0, total: orMore(rows.length, count) }
  }

  /** All rows with a greater id, as `window` returns them. @throws TooManyCalls. */
  async after(afterId: number) {
    const isOld = (row: WireEvent): boolean => idOf(row) <= afterId
    let first = Number.POSITIVE_INFINITY
    const read = async (filter: EventFilter): Promise<WireEvent[]> => {
      let isComplete = true
      const isLast = endsOld(isOld)
      const recent = await this.#until(filter, smallPage, (page) => {
        if (first === Number.POSITIVE_INFINITY) first = newestOf(page)
        const isEnough = isLast(page)
        // A full page shows that larger ones may be possible: with them, the list takes fewer calls.
        isComplete = isEnough || page.length < smallPage
        return isEnough || !isComplete
      })
      return isComplete ? recent : this.#until(filter, maxPageSize, endsOld(isOld))
    }
    const words = this.#wordsFor(this.#search.calls - 1)
    const filters = this.#filters(words)
    // Of two events that appear while several lists are read, the later may be in a list that is read last and the earlier missing from one
    // that was read first: the next request would skip it. Greater ids are left to that request.
    const newest = filters.length > 1 ? newestOf(await this.#firstPage({})) : Number.POSITIVE_INFINITY
    const found = await this.#passing(words, read)
    const isSafe = filters.length > 1 || (await this.#isSafe(filters[0] ?? {}, found, first))
    const rows = found.filter((row) => !isOld(row) && idOf(row) <= (isSafe ? newest : first))
    return { rows, before: 0, total: rows.length }
  }

  /**
   * Whether no event before those that were found is missing. One that appears on the first page after that was read has a greater id than
   * all of it; with a later one found on another page, the next request would skip it. Late events are on other pages as well.
   */
  async #isSafe(filter: EventFilter, found: readonly WireEvent[], first: number): Promise<boolean> {
    if (newestOf(found) <= first) return true
    if (this.#uses.isSpent) return false
    const ids = new Set(found.map(idOf))
    return (await this.#firstPage(filter)).map(idOf).every((id) => id <= first || ids.has(id))
  }

  async #firstPage(filter: EventFilter): Promise<WireEvent[]> {
    const { rows } = await this.#pages(filter)(1, smallPage)
    return readRows(itemsOf(rows))
  }

  /** The rows that pass all filters, of those that `read` returns for each filter of the platform. */
  async #passing(words: readonly string[], read: (filter: EventFilter) => Promise<WireEvent[]>): Promise<WireEvent[]> {
    const filters = this.#filters(words)
    const lists = await Promise.all(filters.map(read))
    if (lists.some((rows, at) => this.#ignoresType(rows, filters[at]))) return this.#passing([], read)
    return distinct(lists.flatMap((rows, at) => this.#selected(rows, filters[at]?.deviceId)))
  }

  /** A row that names no device is one of the requested device, unless others show that the platform ignores which one that is. */
  #selected(rows: WireEvent[], deviceId: number | undefined): WireEvent[] {
    const named = deviceId === undefined ? [] : rows.filter((row) => eventDevice(row) !== undefined)
    const isIgnored = named.some((row) => eventDevice(row) !== deviceId)
    return (isIgnored ? named : rows).filter(this.#matches(deviceId))
  }

  /** All rows, until `isEnough` holds for a page, or a page shows that the platform ignores the type. @throws TooManyCalls. */
  async #until(filter: EventFilter, size: number, isEnough: (page: readonly WireEvent[]) => boolean) {
    const isLast = (rows: unknown[]): boolean => {
      const page = readRows(rows)
      return isEnough(page) || this.#ignoresType(page, filter)
    }
    const rows = await readAll(this.#pages(filter), size, isLast, this.#search.isFollowing)
    return this.#account.readEvents(rows)
  }

  #pages(filter: EventFilter): FetchPage {
    return this.#account.eventPages(filter, this.#uses, this.#search.isFollowing)
  }

  /** The words of the type; none if they take more calls. */
  #wordsFor(calls: number): readonly string[] {
    const { type, devices } = this.#search
    const words = type?.words ?? []
    return words.length * devices.length > calls ? [] : words
  }

  /** One filter for each device and word. */
  #filters(words: readonly string[]): EventFilter[] {
    const { devices, from, to } = this.#search
    const types = words.length > 0 ? words : [undefined]
    return devices.flatMap((deviceId) => types.map((type) => ({ deviceId, type, from, to })))
  }

  /** Whether rows show that the platform applies the filter. */
  #isFiltered(rows: readonly WireEvent[], filter: EventFilter | undefined): boolean {
    return rows.every(this.#matches(filter?.deviceId)) && !this.#ignoresType(rows, filter)
  }

  /** Whether rows of another type show that the platform ignores `type`. Matters only with several words, one list for each. */
  #ignoresType(rows: readonly WireEvent[], filter: EventFilter | undefined): boolean {
    const word = filter?.type?.toLowerCase()
    return this.#words.length > 1 && word !== undefined && rows.some((row) => describe(row).type !== word)
  }

  readonly #matches =
    (deviceId: number | undefined) =>
    (row: WireEvent): boolean => {
      const isOfDevice = deviceId === undefined || (eventDevice(row) ?? deviceId) === deviceId
      return isOfDevice && (this.#search.type?.matches(describe(row)) ?? true)
    }
}
