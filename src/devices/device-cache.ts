/** The last known devices of each account: an LRU bounded in bytes, with a TTL of seconds. Concurrent requests share one platform call. */
import { LRUCache } from 'lru-cache'
import { BoundedMap } from '../lib/bounded-map.js'
import { monotonicClock } from '../lib/monotonic-clock.js'
import type { Account } from '../platform/account.js'
import { PlatformUnavailable } from '../platform/errors.js'
import { toZone } from '../resources/zone.js'
import { Fleet, needsZone } from './fleet.js'
import { CorrectedLists, OnlyInList } from './wall-clock.js'

interface DeviceCacheOptions {
  ttlMs: number
  maxBytes: number
  /** Epoch milliseconds. */
  clock: () => number
  /** Groups of a device list that cannot be read, and items that are left out (`FleetColumns.skippedRows`). */
  onSkipped: (rows: number) => void
  /** A state word that the gateway does not know, and the number of rows that have it. */
  onUnknownState: (word: string, rows: number) => void
  /** The Unix times of an account are recognised as its wall clock. */
  onWallClock: (account: string, offsetMinutes: number) => void
  /** The Unix times of a list have been corrected. */
  onCorrected: () => void
  onEvicted: () => void
}

/** Refused hashes to remember; beyond this, the oldest is forgotten. */
const maxRefused = 20_000

/** Entries are whole fleets under `Account.credentialName`, and fleets of one device under `<name>:<device>`. */
export class DeviceCache {
  readonly #cache: LRUCache<string, Fleet, { account: Account; id: number | undefined }>
  /** The number of each hash's last refusal, part of its cache keys from then on: nothing requested before is found. */
  readonly #refusals = new BoundedMap<string, number>(maxRefused)
  #lastRefusal = 0
  readonly #lists: CorrectedLists
  /** Since the start. */
  readonly lookups = { hit: 0, miss: 0 }
  readonly #options: DeviceCacheOptions
  /** Monotonic milliseconds. */
  readonly #now: () => number

  constructor(options: DeviceCacheOptions) {
    const { ttlMs, maxBytes, clock } = options
    this.#options = options
    this.#now = monotonicClock(clock)
    this.#lists = new CorrectedLists(options.onWallClock)
    this.#cache = new LRUCache({
      ttl: ttlMs,
      ttlResolution: 0,
      perf: { now: this.#now },
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (_fleet, _key, reason) => {
        if (reason === 'evict') options.onEvicted()
      },
      // Expired entries stay for `stale` until they are evicted.
      noDeleteOnStaleGet: true,
      noDeleteOnFetchRejection: true,
      // The entry of a call in flight may be evicted: the requests that wait for it still get the response.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context: { account, id }, options }) => {
        const fleet = await this.#load(account, id)
        // The TTL counts from the request: the response may be as old as that.
        options.ttl = Math.max(1, ttlMs - (this.#now() - fleet.sentAt))
        return fleet
      },
    })
  }

  /**
   * All devices of the account, at most `ttlMs` old, or the response to a call in flight, however slow that is. With an id perhaps only that
   * device: unless the fleet is cached, it is requested alone.
   * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable.
   */
  fetch(account: Account, id?: number): Fleet | Promise<Fleet> {
    const cached = this.#newest(account, id, (key) => this.#cache.get(key))
    this.lookups[cached ? 'hit' : 'miss'] += 1
    if (cached) return cached
    return this.#request(account, id).catch((error: unknown) => {
      if (error instanceof OnlyInList) return this.#request(account)
      throw error
    })
  }

  /** Like `fetch`, but only from the cache, fresh or expired: the newest entry, undefined if none is young enough. */
  stale(account: Account, id: number | undefined, maxAgeMs: number): Fleet | undefined {
    const newest = this.#newest(account, id, (key) => this.#cache.peek(key, { allowStale: true }))
    return newest && this.#now() - newest.sentAt <= maxAgeMs ? newest : undefined
  }

  /** Forgets everything that an account's hash has loaded, also what is in flight. */
  delete({ credentialName }: Account): void {
    this.#lastRefusal += 1
    this.#refusals.set(credentialName, this.#lastRefusal)
  }

  /** Estimated memory of all entries. */
  get bytes(): number {
    return this.#cache.calculatedSize
  }

  /** The list or the entry of the device alone, whichever was requested last: an older list may arrive after a device. */
  #newest(account: Account, id: number | undefined, read: (key: string) => Fleet | undefined): Fleet | undefined {
    const list = read(this.#keyOf(account))
    const device = id === undefined ? undefined : read(this.#keyOf(account, id))
    return device && (!list || device.sentAt > list.sentAt) ? device : list
  }

  #keyOf({ credentialName }: Account, device?: number): string {
    const refusal = this.#refusals.get(credentialName)
    const name = refusal === undefined ? credentialName : `${credentialName}/${refusal}`
    return device === undefined ? name : `${name}:${device}`
  }

  #request(account: Account, id?: number): Promise<Fleet> {
    const context = { account, id }
    const status: LRUCache.Status<string, Fleet, typeof context> = {}
    const call = this.#cache.forceFetch(this.#keyOf(account, id), { context, status })
    return (status.fetch === 'inflight' ? account.shared(call) : call).finally(() => account.turn())
  }

  async #load(account: Account, id: number | undefined): Promise<Fleet> {
    const [sentAt, now] = [this.#now(), this.#options.clock()]
    const loaded = id === undefined ? this.#lists.list(account, now) : this.#lists.device(account, id, now)
    const { columns, zone } = await loaded.catch((error: unknown) => {
      // What the platform has refused or forbidden since must not be served as stale.
      if (!(error instanceof PlatformUnavailable || error instanceof OnlyInList)) this.delete(account)
      throw error
    })
    const { onSkipped, onUnknownState, onCorrected } = this.#options
    if (columns.skippedRows > 0) onSkipped(columns.skippedRows)
    for (const [word, rows] of columns.unknownStates) onUnknownState(word, rows)
    if (zone) onCorrected()
    const setup = zone === undefined && needsZone(columns) ? await account.knownSetup() : undefined
    return new Fleet(columns, zone ?? (setup && toZone(setup)), zone !== undefined, sentAt)
  }
}
