/** One account's view of the platform: a method for each kind of data. The hash stays in a private field. */
import { type Reservation, releaseAfter } from '../lib/byte-budget.js'
import type { Action } from './actions.js'
import { checkPage } from './changed.js'
import { type List, nameOf, type Platform } from './client.js'
import { PlatformForbidden, PlatformRefused, PlatformUnavailable } from './errors.js'
import type { EventFilter, Search } from './event-search.js'
import type { Query } from './http-client.js'
import { type Page, pageOf } from './pages.js'
import { type Read, read, type Shape, type Tally } from './shape.js'
import { CallBudget, type FetchPage, readUntil, windowOf } from './window.js'
import * as wire from './wire.js'
import type { FleetColumns, HistoryRequest } from './worker-messages.js'

/** Called with the number of rows that are not records and are left out. */
export type OnSkipped = (action: Action, rows: number) => void

/** Maximum pages to read of a list that never ends. */
const maxPages = 1_000
/** Concurrent calls where a list takes one for each device. */
const maxConcurrent = 4

/** The setup, if its validation has requested it. */
type Who = Pick<Account, 'id' | 'email'> & { setup?: Promise<wire.WireSetup> | undefined }

export class Account {
  /** Safe to log; the same for every credential of the account. */
  readonly id: string
  /** The account's platform e-mail, lower-cased; null where the platform does not send one. */
  readonly email: string | null
  /** Names the hash in memory: after a password change, what the new hash may read is not kept under the name of the refused one. */
  readonly hashName: string
  readonly #hash: string
  readonly #platform: Platform
  readonly #onSkipped: OnSkipped
  readonly #inFlight = new Map<string, Promise<unknown>>()
  readonly #kept = new Map<Action, Promise<unknown>>()

  constructor(platform: Platform, hash: string, who: Who, onSkipped: OnSkipped) {
    this.#platform = platform
    this.#hash = hash
    if (who.setup) this.#kept.set('edit_setup_data', who.setup)
    this.#onSkipped = onSkipped
    this.id = who.id
    this.email = who.email
    this.hashName = nameOf(hash)
  }

  /**
   * All devices of the account, or, with an id, the response to a request for that device: a platform that ignores the id sends all.
   * @param now Unix milliseconds; the status of a device depends on it.
   * @param clock the account's setup, if its Unix times are its wall clock and have to be corrected.
   */
  devices(id: number | undefined, now: number, clock?: wire.WireSetup): Promise<FleetColumns> {
    return this.#platform.run('get_devices', this.#hash, { id, now, clock })
  }

  /** The address of coordinates, looked up if necessary and allowed; null where there is none, or none in time. Never rejects. */
  address(position: { lat: number; lng: number }): string | null | Promise<string | null> {
    return this.#platform.addresses?.find(this.id, this.#hash, position) ?? null
  }

  /** The address of coordinates if it is known already. */
  knownAddress(position: { lat: number; lng: number }): string | null {
    return this.#platform.addresses?.get(this.id, position) ?? null
  }

  setup(): Promise<wire.WireSetup> {
    return this.#once('edit_setup_data', wire.setupIn)
  }

  /** The platform's own list of the types of events; empty where it has none. Never rejects. */
  eventTypes(): Promise<string[]> {
    return this.#once('call_actions/event_types', wire.eventTypesIn).catch(() => [])
  }

  /** The platform's id of the account's user, which stays when password and e-mail change; undefined where there is none. */
  async userId(): Promise<string | undefined> {
    const { id } = (await this.setup()).item
    return typeof id !== 'boolean' && /^[\w-]{1,64}$/.test(String(id ?? '')) ? String(id) : undefined
  }

  /** As `setup`; undefined while the platform does not send it. @throws PlatformRefused. */
  knownSetup(): Promise<wire.WireSetup | undefined> {
    return this.setup().catch((error: unknown) => {
      if (error instanceof PlatformRefused) throw error
      return undefined
    })
  }

  geofences(): Promise<wire.WireGeofence[]> {
    return this.#onePage('get_geofences', wire.wireGeofence, 'geofences')
  }

  /** A search that may send so many calls, from now on; the caller releases its memory. */
  openSearch(calls: number): Search {
    return { budget: new CallBudget(calls), ...this.#platform.openList(this.id) }
  }

  /** A window of the events, newest first, as the platform orders them. Rows that are left out are reported once. @throws TooManyCalls. */
  async events(filter: EventFilter, { offset, limit }: { offset: number; limit: number }, search: Search) {
    const { rows, seen, total } = await windowOf(this.#eventPages(filter, search), offset, limit)
    return { rows: this.#readEvents(rows), seen: read([wire.wireEvent] as const, seen), total }
  }

  /** All events, newest first, until `isEnough` holds for a page of them. @throws TooManyCalls. */
  async eventsUntil(
    filter: EventFilter,
    size: number,
    isEnough: (page: readonly wire.WireEvent[]) => boolean,
    search: Search,
  ): Promise<wire.WireEvent[]> {
    const pages = this.#eventPages(filter, search)
    return this.#readEvents(await readUntil(pages, size, (rows) => isEnough(read([wire.wireEvent], rows))))
  }

  #eventPages(filter: EventFilter, { budget, memory, isLate }: Search): FetchPage {
    const { deviceId: device_id, type, from: date_from, to: date_to } = filter
    return async (page, size) => {
      if (isLate()) throw new PlatformUnavailable('get_events', 'timeout', { detail: `page ${page}` })
      budget.spend()
      const query = { device_id, type, date_from, date_to, limit: size, page }
      return this.#page('get_events', query, page, undefined, memory)
    }
  }

  #readEvents(rows: readonly unknown[]): wire.WireEvent[] {
    return this.#read('get_events', [wire.wireEvent] as const, wire.withGeofenceNames(rows))
  }

  /** The documented history, serialized. */
  async history(request: HistoryRequest, setup: wire.WireSetup | undefined): Promise<Buffer> {
    return this.#shared(`get_history ${JSON.stringify(request)}`, async () => {
      const { json, skippedRows } = await this.#platform.run('get_history', this.#hash, { ...request, setup })
      if (skippedRows > 0) this.#onSkipped('get_history', skippedRows)
      return Buffer.from(json.buffer, json.byteOffset, json.byteLength)
    })
  }

  alerts(): Promise<wire.WireAlert[]> {
    return this.#onePage('get_alerts', wire.wireAlert, 'alerts')
  }

  drivers(): Promise<wire.WireDriver[]> {
    return this.#allPages('get_user_drivers', wire.wireDriver, {}, 'drivers')
  }

  /** The account's maintenance services; undefined on a platform too old to have the action. */
  async services(): Promise<wire.WireService[] | undefined> {
    if (this.#platform.lacks('services', this.#hash)) return undefined
    try {
      return await this.#allPages('services', wire.wireService, {})
    } catch (error) {
      if (error instanceof PlatformUnavailable && error.reason === 'missing_action') return undefined
      throw error
    }
  }

  /** The maintenance services of some devices, with their ids, from an action that older platforms have too: calls for each device. */
  async deviceServices(deviceIds: readonly number[]): Promise<wire.WireService[]> {
    const list = this.#platform.openList(this.id)
    const calls: Promise<wire.WireService[]>[] = []
    const ofDevice = async (device_id: number): Promise<wire.WireService[]> => {
      const rows = await this.#allPages('get_services', wire.wireService, { device_id }, undefined, list)
      return rows.map((row) => ({ ...row, device_id }))
    }
    try {
      for (let at = 0; at < deviceIds.length; at += maxConcurrent) {
        if (list.isLate()) throw new PlatformUnavailable('get_services', 'timeout', { detail: `${at} devices` })
        calls.push(...deviceIds.slice(at, at + maxConcurrent).map(ofDevice))
        await Promise.all(calls.slice(at))
      }
      return (await Promise.all(calls)).flat()
    } finally {
      releaseAfter(calls, list.memory)
    }
  }

  /** Sent once for each validation of the account: the setup is large. A lasting failure is kept as well. */
  #once<T>(action: Action, dataIn: (body: unknown) => T): Promise<T> {
    const kept = this.#kept.get(action) as Promise<T> | undefined
    const call = kept ?? this.#platform.get(action, this.#hash).then(dataIn)
    this.#kept.set(action, call)
    call.catch((error: unknown) => {
      const lasts = error instanceof PlatformForbidden || this.#platform.lacks(action, this.#hash)
      if (!lasts) this.#kept.delete(action)
    })
    return call
  }

  /** A list without pages. Its rows are read once for all equal requests: they take more memory than the response. */
  #onePage<T extends { readonly [field: string]: Shape }>(action: Action, shape: T, name: string): Promise<Read<T>[]> {
    return this.#shared(`all ${action}`, async () => {
      const { memory } = this.#platform.openList(this.id)
      const { rows } = await this.#page(action, {}, 1, name, memory).finally(() => memory.release())
      return this.#read(action, [shape] as const, rows) as Read<T>[]
    })
  }

  async #allPages<T extends { readonly [field: string]: Shape }>(
    action: Action,
    shape: T,
    query: Query,
    name?: string,
    list?: List,
  ): Promise<Read<T>[]> {
    return this.#shared(`all ${action} ${JSON.stringify(query)}`, async () => {
      let pages = 0
      const { memory, isLate } = list ?? this.#platform.openList(this.id)
      const fetchPage = (number: number): Promise<Page> => {
        if (isLate()) throw new PlatformUnavailable(action, 'timeout', { detail: `${pages} pages` })
        pages = number
        return this.#page(action, { ...query, page: number }, number, name, memory)
      }
      try {
        const rows = await readUntil(fetchPage, Number.POSITIVE_INFINITY, () => pages === maxPages)
        return this.#read(action, [shape] as const, rows) as Read<T>[]
      } finally {
        if (!list) memory.release()
      }
    })
  }

  #read<T extends Shape>(action: Action, shape: T, raw: unknown): Read<T> {
    const tally: Tally = { skipped: 0 }
    const result = read(shape, raw, tally)
    if (tally.skipped > 0) this.#onSkipped(action, tally.skipped)
    return result
  }

  /** One page of a list. @param number of the page. @param name see `pageOf`. @param memory of the list. */
  #page(action: Action, query: Query, number: number, name: string | undefined, memory: Reservation): Promise<Page> {
    return this.#shared(`${action} ${JSON.stringify(query)}`, async () => {
      const check = (body: unknown): void => checkPage(action, body, number, name)
      return pageOf(await this.#platform.get(action, this.#hash, query, check, memory), name)
    })
  }

  /** Equal requests share one call while it is in flight; a response is never modified. */
  #shared<T>(key: string, send: () => Promise<T>): Promise<T> {
    const inFlight = this.#inFlight.get(key) as Promise<T> | undefined
    if (inFlight !== undefined) return inFlight
    const call = send().finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, call)
    return call
  }
}
