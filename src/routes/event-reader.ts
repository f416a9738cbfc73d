/** Reads the events that pass all filters of a request, in a limited number of platform calls. */
import type { Account, EventFilter } from '../platform/account.js'
import type { Reading } from '../platform/reading.js'
import { maxPageSize } from '../platform/window.js'
import type { WireEvent } from '../platform/wire.js'
import { describe, eventDevice } from '../resources/event.js'
import type { TypeFilter } from '../resources/event-kind.js'
import { id } from '../resources/units.js'

/** The filters of one request; `devices` are ids, or undefined for all devices. */
interface EventSearch {
  devices: readonly (number | undefined)[]
  type: TypeFilter | undefined
  from: string | undefined
  to: string | undefined
}

/** Pages to read for one request. With the account, its zone and its devices, that is at most 20 platform calls. */
const maxPages = 16
/** Page size for what is new since the last request. */
const smallPage = 200
/** A page is the last one that may hold new events if this many at its end are old: events can arrive late. */
const lateEvents = 50

export class EventReader {
  readonly #account: Account
  readonly #search: EventSearch
  readonly #uses: Reading

  constructor(account: Account, search: EventSearch) {
    this.#account = account
    this.#search = search
    this.#uses = account.openSearch(maxPages)
  }

  close(): void {
    this.#uses.close()
  }

  /**
   * Rows among which are those of the window, and the number of rows before the first of them.
   * @throws TooManyCalls.
   */
  async window(offset: number, limit: number): Promise<{ rows: WireEvent[]; before: number; total: number }> {
    const { type } = this.#search
    if (type === undefined || type.isExact) {
      const isOne = this.#search.devices.length === 1
      const window = isOne ? { offset, limit } : { offset: 0, limit: offset + limit }
      const lists = await this.#each(type?.word, (filter) => this.#account.events(filter, window, this.#uses))
      if (lists.every(({ seen }, at) => seen.every(this.#matches(this.#search.devices[at])))) {
        const total = lists.reduce((sum, list) => sum + list.total, 0)
        return { rows: lists.flatMap(({ rows }) => rows), before: window.offset, total }
      }
    }
    // Some platforms ignore `type` or `device_id`, and not every kind is one word of the platform.
    const word = type?.isExact ? undefined : type?.word
    const rows = (await this.#each(word, (filter) => this.#until(filter, maxPageSize, () => false))).flat()
    return { rows, before: 0, total: rows.length }
  }

  /** All rows with a greater id, as `window` returns them. @throws TooManyCalls. */
  async after(afterId: number) {
    const isOld = (row: WireEvent): boolean => (id(row.id) ?? Number.POSITIVE_INFINITY) <= afterId
    const isLast = (page: readonly WireEvent[]): boolean => page.slice(-lateEvents).every(isOld)
    const read = async (filter: EventFilter): Promise<WireEvent[]> => {
      let isComplete = true
      const recent = await this.#until(filter, smallPage, (page) => {
        isComplete = isLast(page)
        return true
      })
      return isComplete ? recent : this.#until(filter, maxPageSize, isLast)
    }
    const all = (await this.#each(this.#search.type?.word, read)).flat()
    const rows = all.filter((row) => !isOld(row))
    return { rows, before: 0, total: rows.length }
  }

  async #until(filter: EventFilter, size: number, isEnough: (page: readonly WireEvent[]) => boolean) {
    const rows = await this.#account.eventsUntil(filter, size, isEnough, this.#uses)
    return rows.filter(this.#matches(filter.deviceId))
  }

  #each<T>(type: string | undefined, read: (filter: EventFilter) => Promise<T>): Promise<T[]> {
    const { devices, from, to } = this.#search
    return Promise.all(devices.map((deviceId) => read({ deviceId, type, from, to })))
  }

  readonly #matches =
    (deviceId: number | undefined) =>
    (row: WireEvent): boolean => {
      const isOfDevice = deviceId === undefined || (eventDevice(row) ?? deviceId) === deviceId
      return isOfDevice && (this.#search.type?.matches(describe(row)) ?? true)
    }
}
