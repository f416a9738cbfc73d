/** One account's view of the platform: a method per action we use. Holds the hash and never shows it; knows no route. */
import type { Action } from './actions.js'
import type { Platform, Query } from './client.js'
import { Digest } from './digest.js'
import { PlatformUnavailable } from './errors.js'
import { hasMore, idOf, looksCut, pageOf } from './pages.js'
import { itemsOf, type Read, read, type Shape, type Tally } from './shape.js'
import { windowOf } from './window.js'
import * as wire from './wire.js'

/** What `Account` needs to tell about: rows of an action that were no records and were left out. */
export type OnSkipped = (action: Action, rows: number) => void

/** What a window of events is cut from; times are the account's wall clock, `YYYY-MM-DD HH:MM:SS`. */
export interface EventFilter {
  deviceId: number | undefined
  type: string | undefined
  from: string | undefined
  to: string | undefined
}

const mostPages = 1_000

export class Account {
  /** Safe to log; the same for every credential of the account. */
  readonly id: string
  /** The account's platform e-mail, lower-cased; null where the platform does not tell. */
  readonly email: string | null
  readonly #hash: string
  readonly #platform: Platform
  readonly #onSkipped: OnSkipped
  readonly #underWay = new Map<string, Promise<unknown>>()
  #setup: Promise<wire.WireSetup> | undefined

  constructor(platform: Platform, hash: string, who: { id: string; email: string | null }, onSkipped: OnSkipped) {
    this.#platform = platform
    this.#hash = hash
    this.#onSkipped = onSkipped
    this.id = who.id
    this.email = who.email
  }

  /** Every device of the account, each once, with its group's title; or what the reading thread made of all of them. */
  async devices(): Promise<wire.WireDevice[] | Digest> {
    const first = await this.#devicesOrDigest({})
    if (first instanceof Digest) return first
    const found = new Map<string, wire.WireDevice>()
    const add = (rows: wire.WireDevice[]): void => {
      for (const row of rows) if (!found.has(wire.keyOf(row))) found.set(wire.keyOf(row), row)
    }
    add(first)
    const limit = first.length
    for (let page = 2; looksCut(limit) && page <= mostPages; page += 1) {
      const rows = this.#deviceRows(await this.#get('get_devices', { page, limit }))
      const before = found.size
      add(rows)
      if (found.size === before || rows.length < limit) break
    }
    return [...found.values()]
  }

  /** The device with this id by one small call; a platform that ignores `id` costs the whole list, and may answer with it. */
  async device(id: number): Promise<wire.WireDevice | Digest | undefined> {
    const isIt = (row: wire.WireDevice): boolean => wire.keyOf(row) === String(id)
    const rows = await this.#devicesOrDigest({ id })
    if (rows instanceof Digest) return rows
    const found = rows.find(isIt)
    if (found || !looksCut(rows.length)) return found
    const all = await this.devices()
    return all instanceof Digest ? all : all.find(isIt)
  }

  async #devicesOrDigest(query: Query): Promise<wire.WireDevice[] | Digest> {
    const body = await this.#platform.get('get_devices', this.#hash, query, 'digest')
    if (!(body instanceof Digest)) return this.#deviceRows(body)
    if (body.skipped > 0) this.#onSkipped('get_devices', body.skipped)
    return body
  }

  #deviceRows(body: unknown): wire.WireDevice[] {
    const groups = this.#read('get_devices', [wire.wireGroup] as const, pageOf(body).rows)
    for (const { title, items } of groups) {
      const group = title === undefined ? undefined : String(title)
      for (const item of items as wire.WireDevice[]) item.group = group
    }
    return groups.flatMap(({ items }) => items)
  }

  /** `/edit_setup_data`, asked once and kept: it is large, and an account hardly ever changes its zone. */
  setup(): Promise<wire.WireSetup> {
    this.#setup ??= this.#get('edit_setup_data').then((body) => read(wire.wireSetup, body))
    this.#setup.catch(() => {
      this.#setup = undefined
    })
    return this.#setup
  }

  async geofences(): Promise<wire.WireGeofence[]> {
    const body = await this.#get('get_geofences')
    return this.#read('get_geofences', [wire.wireGeofence] as const, pageOf(body, 'geofences').rows)
  }

  /** Events newest first, as the platform orders them; `total` counts all that pass the filter. */
  async events(filter: EventFilter, offset: number, limit: number): Promise<{ rows: wire.WireEvent[]; total: number }> {
    const { deviceId: device_id, type, from: date_from, to: date_to } = filter
    const fetchPage = async (page: number, size: number) =>
      pageOf(await this.#get('get_events', { device_id, type, date_from, date_to, limit: size, page }))
    const { rows, total } = await windowOf(fetchPage, offset, limit)
    return { rows: this.#read('get_events', [wire.wireEvent] as const, rows), total }
  }

  /** Whole days of the account's clock, `YYYY-MM-DD`, both included. */
  async history(deviceId: number, from: string, to: string): Promise<wire.WireHistory> {
    const body = await this.#get('get_history', {
      device_id: deviceId,
      from_date: from,
      from_time: '00:00:00',
      to_date: to,
      to_time: '23:59:59',
    })
    return this.#read('get_history', wire.wireHistory, body)
  }

  async alerts(): Promise<wire.WireAlert[]> {
    const body = await this.#get('get_alerts')
    return this.#read('get_alerts', [wire.wireAlert] as const, pageOf(body, 'alerts').rows)
  }

  drivers(): Promise<wire.WireDriver[]> {
    return this.#allPages('get_user_drivers', wire.wireDriver, {}, 'drivers')
  }

  /** The account's maintenance services in one call; `undefined` where the platform is too old to know the action. */
  async services(): Promise<wire.WireService[] | undefined> {
    if (this.#platform.lacks('services', this.#hash)) return undefined
    try {
      return await this.#allPages('services', wire.wireService, {})
    } catch (error) {
      if (error instanceof PlatformUnavailable && error.reason === 'missing_action') return undefined
      throw error
    }
  }

  /** The maintenance services of one device, the way older platforms know. */
  deviceServices(deviceId: number): Promise<wire.WireService[]> {
    return this.#allPages('get_services', wire.wireService, { device_id: deviceId })
  }

  async #allPages<T extends { readonly [field: string]: Shape }>(
    action: Action,
    shape: T,
    query: Query,
    name?: string,
  ): Promise<Read<T>[]> {
    const found: unknown[] = []
    const ids = new Set<string>()
    for (let number = 1; number <= mostPages; number += 1) {
      const page = pageOf(await this.#get(action, { ...query, page: number }), name)
      const before = found.length
      for (const row of itemsOf(page.rows)) {
        const id = idOf(row)
        if (id !== undefined && ids.has(id)) continue
        if (id !== undefined) ids.add(id)
        found.push(row)
      }
      if (found.length === before || !hasMore(page, found.length)) break
    }
    return this.#read(action, [shape] as const, found) as Read<T>[]
  }

  #read<T extends Shape>(action: Action, shape: T, raw: unknown): Read<T> {
    const tally: Tally = { skipped: 0 }
    const result = read(shape, raw, tally)
    if (tally.skipped > 0) this.#onSkipped(action, tally.skipped)
    return result
  }

  /** Who asks the same while a call is under way waits for the same answer; nobody changes an answer. */
  #get(action: Action, query: Query = {}): Promise<unknown> {
    const question = `${action} ${JSON.stringify(query)}`
    const same = this.#underWay.get(question)
    if (same !== undefined) return same
    const call = this.#platform.get(action, this.#hash, query).finally(() => this.#underWay.delete(question))
    this.#underWay.set(question, call)
    return call
  }
}
