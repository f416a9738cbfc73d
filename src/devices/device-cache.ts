/** The last known devices of each account: an LRU bounded in bytes, with a TTL of seconds and one platform call for all who wait. */
import { LRUCache } from 'lru-cache'
import { monotonicClock } from '../lib/monotonic-clock.js'
import type { Account } from '../platform/account.js'
import type { FleetColumns } from '../platform/worker-messages.js'
import type { Device } from '../resources/device.js'
import { toZone, type Zone } from '../resources/zone.js'
import { Fleet, needsZone } from './fleet.js'
import { CorrectedLists } from './wall-clock.js'

export interface DeviceCacheOptions {
  ttlMs: number
  maxBytes: number
  /** Epoch milliseconds. */
  clock: () => number
  /** Items of a device list that are no devices. */
  onSkipped: (rows: number) => void
  /** A state word that the gateway does not know, and the number of rows that have it. */
  onUnknownState?: (word: string, rows: number) => void
  /** The Unix times of an account are recognised as its wall clock. */
  onWallClock?: (account: string, offsetMinutes: number) => void
  /** The Unix times of a list have been corrected. */
  onCorrected?: () => void
  onLookup?: (isHit: boolean) => void
  onEvicted?: () => void
}

type Load = () => Promise<Fleet>

/** Entries are whole fleets under the account's id, and fleets of one device under `<account>:<device>`. */
export class DeviceCache {
  readonly #cache: LRUCache<string, Fleet, Load>
  readonly #lists: CorrectedLists
  readonly #options: DeviceCacheOptions

  constructor(options: DeviceCacheOptions) {
    const { ttlMs, maxBytes, clock } = options
    const now = monotonicClock(clock)
    this.#options = options
    this.#lists = new CorrectedLists(options.onWallClock ?? (() => {}))
    this.#cache = new LRUCache({
      ttl: ttlMs,
      ttlResolution: 0,
      perf: { now },
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (_fleet, _key, reason) => {
        if (reason === 'evict') options.onEvicted?.()
      },
      // A deleted entry is not cached, and whoever waits for its call still gets the response.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context: load, options }) => {
        const sentAt = now()
        const fleet = await load()
        // The TTL counts from the request: the response may be as old as that.
        options.ttl = Math.max(1, ttlMs - (now() - sentAt))
        return fleet
      },
    })
  }

  /** All devices of the account, at most `ttlMs` old. @throws PlatformRefused, PlatformForbidden or PlatformUnavailable. */
  async fetchAll(account: Account): Promise<Fleet> {
    return this.#fetch(account.id, () => this.#load(account, undefined))
  }

  /** One device: from the cached fleet, else by a call for this device alone. Throws as `fetchAll`. */
  async fetch(account: Account, id: number): Promise<Device | undefined> {
    const fleet = this.#cache.get(account.id)
    if (fleet) {
      this.#options.onLookup?.(true)
      return fleet.get(id)
    }
    return (await this.#fetch(`${account.id}:${id}`, () => this.#load(account, id))).get(id)
  }

  /** Removes everything of an account. */
  delete(account: Account): void {
    for (const key of [...this.#cache.keys()]) {
      if (key === account.id || key.startsWith(`${account.id}:`)) this.#cache.delete(key)
    }
  }

  /** Estimated memory of all entries. */
  get bytes(): number {
    return this.#cache.calculatedSize
  }

  async #fetch(key: string, load: Load): Promise<Fleet> {
    const cached = this.#cache.get(key)
    this.#options.onLookup?.(cached !== undefined)
    const fleet = cached ?? (await this.#cache.fetch(key, { context: load }))
    if (!fleet) throw new Error('the device cache lost a response')
    return fleet
  }

  async #load(account: Account, id: number | undefined): Promise<Fleet> {
    const { columns, zone } = await this.#lists.fetch(account, id, this.#options.clock())
    this.#report(columns)
    if (zone) this.#options.onCorrected?.()
    return new Fleet(columns, zone ?? (needsZone(columns) ? await zoneOf(account) : undefined), zone !== undefined)
  }

  #report({ skippedRows, unknownStates }: FleetColumns): void {
    if (skippedRows > 0) this.#options.onSkipped(skippedRows)
    for (const [word, rows] of unknownStates) this.#options.onUnknownState?.(word, rows)
  }
}

/** The account's zone, for devices whose display time cannot be read; undefined when the platform does not send it. */
async function zoneOf(account: Account): Promise<Zone | undefined> {
  const setup = await account.setup().catch(() => undefined)
  return setup && toZone(setup)
}
