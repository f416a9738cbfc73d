/** One account's view of the platform: its lists, and a method for each other kind of data. The hash stays in a private field. */
import { hash as digest } from 'node:crypto'
import type { Action, Query } from './actions.js'
import type { CallBudget } from './call-budget.js'
import { checkedPage } from './changed.js'
import type { Platform, Requester } from './client.js'
import { eachDevice } from './each-device.js'
import { isMissingAction, isUnsupported, PlatformRefused } from './errors.js'
import { lastSetup } from './last-setup.js'
import type { Page } from './pages.js'
import { isAccountAction } from './response.js'
import { type Read, type RecordShape, read, type Tally } from './shape.js'
import { type FetchPage, maxPageSize, readAll } from './window.js'
import * as wire from './wire.js'
import type { FleetColumns, HistoryRequest } from './worker-messages.js'

/** Called with the number of rows that are left out: they are not records, or are too large. */
export type OnSkipped = (action: Action, rows: number) => void

/** Filters of an event list; times are the account's wall clock, `YYYY-MM-DD HH:MM:SS`. */
export interface EventFilter {
  deviceId?: number | undefined
  type?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** The lists: the shape of a row, and `name`, as `pageOf` takes it. */
const lists = {
  // Without pages (platform.md 2.1): the first request has no `page` parameter.
  get_geofences: { shape: wire.wireGeofence, name: 'geofences', isUnpaged: true },
  get_alerts: { shape: wire.wireAlert, name: 'alerts', isUnpaged: true },
  // These accept a page size. Services use 15 without it (platform.md 8.1); a larger page takes the platform long.
  get_events: { shape: wire.wireEvent, name: 'events', pageSize: maxPageSize },
  services: { shape: wire.wireService, name: 'services', pageSize: 100 },
  get_services: { shape: wire.wireService, name: 'services' },
  get_user_drivers: { shape: wire.wireDriver, name: 'drivers' },
} as const

type ListAction = keyof typeof lists
type Row<A extends ListAction> = Read<(typeof lists)[A]['shape']>
type List = { shape: RecordShape; name: string; isUnpaged?: boolean; pageSize?: number }

/** Identifies an account; `setup` is set if the validation has requested it. */
type Identity = Pick<Account, 'id' | 'email'> & { setup?: Promise<wire.WireSetup> | undefined }

export class Account {
  /** Safe to log; the same for every credential of the account. Without an e-mail it follows from the hash, and changes with it. */
  readonly id: string
  /** The account's platform e-mail, lower-cased; null where the platform does not send one. */
  readonly email: string | null
  /** Equals `Secret.digest`. */
  readonly hashName: string
  /** For cache keys. Not `id`: no data of a refused hash is kept for a new one. Nor `hashName`: the demo's account may have the same. */
  readonly credentialName: string
  readonly #requester: Requester
  readonly #platform: Platform
  readonly #onSkipped: OnSkipped
  readonly #inFlight = new Map<string, Promise<unknown>>()
  readonly #kept = new Map<Action, Promise<unknown>>()
  readonly #orLastSetup: ReturnType<typeof lastSetup>

  /** @param stale the same account at its last validation. */
  constructor(platform: Platform, hash: string, who: Identity, onSkipped: OnSkipped, stale?: Account) {
    this.#platform = platform
    this.#requester = { id: who.id, hash, isKnown: true }
    this.#onSkipped = onSkipped
    this.id = who.id
    this.email = who.email
    this.hashName = digest('sha256', hash, 'hex')
    this.credentialName = `${who.id} ${this.hashName}`
    // Shared: what is late for the one before arrives here.
    this.#orLastSetup = stale ? stale.#orLastSetup : lastSetup(platform.now)
    if (who.setup) void this.#keep('edit_setup_data', who.setup)
  }

  /** All devices of the account, or, with an id, that device, where the platform sends it alone; see `JobParams`. */
  devices(id: number | undefined, now: number, clock?: wire.WireSetup): Promise<FleetColumns> {
    return this.#platform.run('get_devices', this.#requester, { id, now, clock })
  }

  /** As `Platform.shared`, for `get_devices`. */
  shared<T>(sent: Promise<T>): Promise<T> {
    return this.#platform.shared('get_devices', this.#requester, sent)
  }

  /** As `Platform.turn`. */
  turn(): Promise<void> {
    return this.#platform.turn(this.id)
  }

  /** The address of coordinates, looked up if necessary and allowed; null where there is none, or none in time. Never rejects. */
  address(position: { lat: number; lng: number }): string | null | Promise<string | null> {
    return this.#platform.addresses?.find(this.id, this.#requester.hash, position) ?? null
  }

  /** The address of coordinates if it is known already. */
  knownAddress(position: { lat: number; lng: number }): string | null {
    return this.#platform.addresses?.get(this.id, position) ?? null
  }

  /** The setup; see `lastSetup`. */
  setup(): Promise<wire.WireSetup> {
    return this.#orLastSetup(this.#once('edit_setup_data', wire.setupIn))
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

  /** All rows of a list. Equal requests in flight share one copy: the rows take more memory than the response. */
  list<A extends ListAction>(action: A): Promise<Row<A>[]> {
    return this.#shared(action, 'all', () => this.#withCallBudget((calls) => this.#rows(action, {}, calls)))
  }

  /** Begins a search for events that may send `calls` calls; its deadline starts now, and the caller closes it. */
  openCallBudget(calls: number): CallBudget {
    return this.#platform.openCallBudget(this.id, calls)
  }

  /**
   * The pages of the events, newest first, as the platform orders them.
   * @param isFresh whether no page may be older than its request, as the page of a call in flight is.
   */
  eventPages({ deviceId, type, from, to }: EventFilter, search: CallBudget, isFresh = false): FetchPage {
    const query = { device_id: deviceId, type, date_from: from, date_to: to }
    return this.#pages('get_events', query, search, isFresh)
  }

  /** The events in the rows of such pages; what is left out is reported. */
  readEvents(rows: readonly unknown[]): wire.WireEvent[] {
    return this.#read('get_events', rows)
  }

  /** The documented history, serialized. */
  history(request: HistoryRequest, setup: wire.WireSetup | undefined): Promise<Buffer> {
    return this.#shared('get_history', JSON.stringify(request), async () => {
      const { json, skippedRows } = await this.#platform.run('get_history', this.#requester, { ...request, setup })
      if (skippedRows > 0) this.#onSkipped('get_history', skippedRows)
      return Buffer.from(json.buffer, json.byteOffset, json.byteLength)
    })
  }

  /** The account's maintenance services; undefined on a platform too old to have the action. */
  services(): Promise<wire.WireService[] | undefined> {
    return this.list('services').catch((error: unknown) => {
      if (!isMissingAction(error)) throw error
      return undefined
    })
  }

  /** The maintenance services of some devices, with their ids, from an action that older platforms have too; see `eachDevice`. */
  deviceServices(deviceIds: readonly number[]): Promise<wire.WireService[]> {
    const ofDevice = async (device_id: number, calls: CallBudget): Promise<wire.WireService[]> => {
      const rows = await this.#rows('get_services', { device_id }, calls)
      return rows.map((row) => ({ ...row, device_id }))
    }
    return this.#withCallBudget((calls) => eachDevice(deviceIds, (id) => ofDevice(id, calls)))
  }

  /** Sent once for each validation of the account: the setup is large. A missing permission or action is kept as well. */
  #once<T>(action: Action, dataIn: (body: unknown) => T): Promise<T> {
    const kept = this.#inFlight.has(`${action} once`) ? undefined : (this.#kept.get(action) as Promise<T> | undefined)
    return (
      kept ??
      this.#shared(action, 'once', () => this.#keep(action, this.#platform.get(action, this.#requester).then(dataIn)))
    )
  }

  #keep<T>(action: Action, call: Promise<T>): Promise<T> {
    this.#kept.set(action, call)
    call.catch((error: unknown) => {
      if (!isUnsupported(error)) this.#kept.delete(action)
    })
    return call
  }

  async #withCallBudget<T>(readList: (calls: CallBudget) => Promise<T>): Promise<T> {
    const calls = this.#platform.openCallBudget(this.id)
    return await readList(calls).finally(() => calls.close())
  }

  /** The rows of all pages. */
  async #rows<A extends ListAction>(action: A, query: Query, calls: CallBudget): Promise<Row<A>[]> {
    const { pageSize = Number.POSITIVE_INFINITY }: List = lists[action]
    return this.#read(action, await readAll(this.#pages(action, query, calls), pageSize))
  }

  #read<A extends ListAction>(action: A, rows: unknown): Row<A>[] {
    const tally: Tally = { skipped: 0 }
    const records = read([lists[action].shape], rows, tally) as Row<A>[]
    if (tally.skipped > 0) this.#onSkipped(action, tally.skipped)
    return records
  }

  #pages(action: ListAction, query: Query, calls: CallBudget, isFresh = false): FetchPage {
    const { name, pageSize, isUnpaged }: List = lists[action]
    return (number, size) => {
      const page = isUnpaged && number === 1 ? undefined : number
      const sent = { ...query, limit: pageSize && size, page }
      const toPage = (body: unknown): Page => checkedPage(action, body, number, name)
      return calls.send(action, (memory) => {
        const send = () => this.#platform.get(action, this.#requester, sent, toPage, memory) as Promise<Page>
        return this.#shared(action, JSON.stringify(sent), send, isFresh)
      })
    }
  }

  /**
   * Equal requests share one call while it is in flight; a response is never modified.
   * @param what together with the action, which requests are equal.
   * @param isFresh whether a call that is in flight already is too old: then all that wait for it share the one after it.
   */
  #shared<T>(action: Action, what: string, send: () => Promise<T>, isFresh = false): Promise<T> {
    const key = `${action} ${what}`
    const inFlight = this.#inFlight.get(key) as Promise<T> | undefined
    // Without the setup, numbers would be in another unit: it is waited for.
    const shared = (sent: Promise<T>): Promise<T> =>
      isAccountAction(action) ? sent : this.#platform.shared(action, this.#requester, sent)
    if (inFlight && !isFresh) return shared(inFlight).finally(() => this.turn())
    if (inFlight)
      return this.#shared(action, `${what} next`, async () => {
        await shared(inFlight).catch(() => {})
        this.#inFlight.delete(`${key} next`)
        return this.#shared(action, what, send)
      })
    const call = send().finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, call)
    return call
  }
}
