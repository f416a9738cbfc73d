/** One account's view of the platform: a method for each kind of data. The hash stays in a private field. */
import type { Action } from './actions.js'
import type { Platform } from './client.js'
import { PlatformUnavailable } from './errors.js'
import type { Query } from './http-client.js'
import { DistinctRows, hasMore, pageOf } from './pages.js'
import { type Read, read, type Shape, type Tally } from './shape.js'
import { windowOf } from './window.js'
import * as wire from './wire.js'
import type { FleetColumns } from './worker-messages.js'

/** Called with the number of rows of a response that are not records and are left out. */
export type OnSkipped = (action: Action, rows: number) => void

/** Filters of an event list; times are the account's wall clock, `YYYY-MM-DD HH:MM:SS`. */
export interface EventFilter {
  deviceId: number | undefined
  type: string | undefined
  from: string | undefined
  to: string | undefined
}

/** Maximum pages to read of a list that never ends. */
const maxPages = 1_000

export class Account {
  /** Safe to log; the same for every credential of the account. */
  readonly id: string
  /** The account's platform e-mail, lower-cased; null where the platform does not send one. */
  readonly email: string | null
  readonly #hash: string
  readonly #platform: Platform
  readonly #onSkipped: OnSkipped
  readonly #inFlight = new Map<string, Promise<unknown>>()
  #setup: Promise<wire.WireSetup> | undefined

  constructor(platform: Platform, hash: string, who: { id: string; email: string | null }, onSkipped: OnSkipped) {
    this.#platform = platform
    this.#hash = hash
    this.#onSkipped = onSkipped
    this.id = who.id
    this.email = who.email
  }

  /**
   * All devices of the account, or, with an id, the response to a request for that device: a platform that ignores the id sends all.
   * @param now Unix milliseconds; the status of a device depends on it.
   */
  devices(id: number | undefined, now: number): Promise<FleetColumns> {
    return this.#platform.run('get_devices', this.#hash, { id, now })
  }

  /** Fetched once and kept: the response is large, and an account hardly ever changes its zone. */
  setup(): Promise<wire.WireSetup> {
    this.#setup ??= this.#get('edit_setup_data').then((body) => read(wire.wireSetup, body))
    this.#setup.catch(() => {
      this.#setup = undefined
    })
    return this.#setup
  }

  /** The platform's id of the account's user, which stays when password and e-mail change; undefined where there is none. */
  async userId(): Promise<string | undefined> {
    const { id } = (await this.setup()).item
    return (typeof id === 'number' || typeof id === 'string') && /^[\w-]{1,64}$/.test(String(id))
      ? String(id)
      : undefined
  }

  async geofences(): Promise<wire.WireGeofence[]> {
    const body = await this.#get('get_geofences')
    return this.#read('get_geofences', [wire.wireGeofence] as const, pageOf(body, 'geofences').rows)
  }

  /** Events, newest first, as the platform orders them; `total` counts all events that pass the filter. */
  async events(filter: EventFilter, offset: number, limit: number): Promise<{ rows: wire.WireEvent[]; total: number }> {
    const { deviceId: device_id, type, from: date_from, to: date_to } = filter
    const fetchPage = async (page: number, size: number) =>
      pageOf(await this.#get('get_events', { device_id, type, date_from, date_to, limit: size, page }))
    const { rows, total } = await windowOf(fetchPage, offset, limit)
    return { rows: this.#read('get_events', [wire.wireEvent] as const, rows), total }
  }

  /** The documented history, serialized. Whole days of the account's clock, `YYYY-MM-DD`, both included. */
  async history(deviceId: number, from: string, to: string): Promise<Buffer> {
    const send = () => this.#platform.run('get_history', this.#hash, { deviceId, from, to })
    const { json, skippedRows } = await this.#shared(`get_history ${deviceId} ${from} ${to}`, send)
    if (skippedRows > 0) this.#onSkipped('get_history', skippedRows)
    return Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  }

  async alerts(): Promise<wire.WireAlert[]> {
    const body = await this.#get('get_alerts')
    return this.#read('get_alerts', [wire.wireAlert] as const, pageOf(body, 'alerts').rows)
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

  /** The maintenance services of one device, from an action that older platforms have too. */
  deviceServices(deviceId: number): Promise<wire.WireService[]> {
    return this.#allPages('get_services', wire.wireService, { device_id: deviceId })
  }

  async #allPages<T extends { readonly [field: string]: Shape }>(
    action: Action,
    shape: T,
    query: Query,
    name?: string,
  ): Promise<Read<T>[]> {
    const found = new DistinctRows()
    for (let number = 1; number <= maxPages; number += 1) {
      const page = pageOf(await this.#get(action, { ...query, page: number }), name)
      if (!found.add(page) || !hasMore(page, found.rows.length)) break
    }
    return this.#read(action, [shape] as const, found.rows) as Read<T>[]
  }

  #read<T extends Shape>(action: Action, shape: T, raw: unknown): Read<T> {
    const tally: Tally = { skipped: 0 }
    const result = read(shape, raw, tally)
    if (tally.skipped > 0) this.#onSkipped(action, tally.skipped)
    return result
  }

  #get(action: Action, query: Query = {}): Promise<unknown> {
    return this.#shared(`${action} ${JSON.stringify(query)}`, () => this.#platform.get(action, this.#hash, query))
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
