/** Last positions per account: an LRU bounded in bytes, seconds of life, one platform call for many waiting. Knows no request. */
import { LRUCache } from 'lru-cache'
import { monotonicClock } from '../lib/monotonic-clock.js'
import type { Account } from '../platform/account.js'
import { Digest } from '../platform/digest.js'
import type { WireDevice } from '../platform/wire.js'
import { type Device, needsZone, toDevice } from '../resources/device.js'
import { translated } from '../resources/list.js'
import { toZone, type Zone } from '../resources/zone.js'
import { deviceBytes, type Fleet, fleetOf, weight } from './fleet.js'
import { type Packed, unpacked, wantsZone } from './fleet-columns.js'

type Entry = { fleet: Fleet } | { device: Device | undefined }

export interface PositionsOptions {
  ttlMs: number
  maxBytes: number
  clock: () => number
  /** Rows of the device list that made no device. */
  onSkipped: (rows: number) => void
  /** Every answer's rows, before they are translated. */
  onRows?: (rows: readonly object[]) => void
  onLookup?: (isHit: boolean) => void
  /** An entry had to make room for another. */
  onEvicted?: () => void
}

/** What there is to watch in a memory. */
export interface Cached {
  readonly bytes: number
}

export class Positions {
  readonly #cache: LRUCache<string, Entry, Ask>
  readonly #clock: () => number
  readonly #options: PositionsOptions

  constructor(options: PositionsOptions) {
    const { ttlMs, maxBytes, clock } = options
    const steady = monotonicClock(clock)
    this.#clock = clock
    this.#options = options
    this.#cache = new LRUCache({
      ttl: ttlMs,
      ttlResolution: 0,
      perf: { now: steady },
      maxSize: maxBytes,
      sizeCalculation: bytesOf,
      dispose: (_entry, _key, reason) => {
        if (reason === 'evict') options.onEvicted?.()
      },
      // Those who wait for a call get its answer even when the entry was dropped meanwhile; only the cache does not.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context: ask, options }) => {
        const asked = steady()
        const entry = await ask()
        // Age counts from the question: the answer may be as old as that.
        options.ttl = Math.max(1, ttlMs - (steady() - asked))
        return entry
      },
    })
  }

  /** Every device of the account, no older than the time of life. */
  async all(account: Account): Promise<Fleet> {
    const key = account.id
    const entry = this.#fresh(key) ?? (await this.#cache.fetch(key, { context: () => this.#fleet(account) }))
    if (!entry || !('fleet' in entry)) throw new Error('a device list came to nothing')
    return entry.fleet
  }

  /** Every device where they are remembered: no promise need be made. */
  rememberedAll(account: Account): Fleet | undefined {
    const entry = this.#cache.get(account.id)
    if (!entry || !('fleet' in entry)) return undefined
    this.#options.onLookup?.(true)
    return entry.fleet
  }

  /** One device where it is remembered, which most are that are asked for: no promise need be made. */
  remembered(account: Account, id: number): Device | undefined {
    const entry = this.#cache.get(account.id) ?? this.#cache.get(`${account.id}:${id}`)
    const device = entry && ('fleet' in entry ? entry.fleet.byId.get(id) : entry.device)
    if (device !== undefined) this.#options.onLookup?.(true)
    return device
  }

  /** One device; from a fresh list without a call, else by a small call of its own. */
  async one(account: Account, id: number): Promise<Device | undefined> {
    const list = this.#cache.get(account.id)
    if (list && 'fleet' in list) {
      this.#options.onLookup?.(true)
      return list.fleet.byId.get(id)
    }
    const key = `${account.id}:${id}`
    const entry = this.#fresh(key) ?? (await this.#cache.fetch(key, { context: () => this.#device(account, id) }))
    if (!entry || !('device' in entry)) throw new Error('a device came to nothing')
    return entry.device
  }

  /** Estimated memory of all entries. */
  get bytes(): number {
    return this.#cache.calculatedSize
  }

  #fresh(key: string): Entry | undefined {
    const entry = this.#cache.get(key)
    this.#options.onLookup?.(entry !== undefined)
    return entry
  }

  /** Forgets everything of an account. */
  drop(account: Account): void {
    for (const key of [...this.#cache.keys()]) {
      if (key === account.id || key.startsWith(`${account.id}:`)) this.#cache.delete(key)
    }
  }

  async #fleet(account: Account): Promise<Entry> {
    const found = await account.devices()
    return { fleet: found instanceof Digest ? await this.#unpacked(account, found) : await this.#made(account, found) }
  }

  async #made(account: Account, wires: WireDevice[]): Promise<Fleet> {
    this.#options.onRows?.(wires)
    const zone = wires.some(needsZone) ? await zoneOf(account) : undefined
    const now = this.#clock()
    const { items, skipped } = translated(wires, (row) => toDevice(row, now, zone))
    if (skipped > 0) this.#options.onSkipped(skipped)
    return fleetOf(items, wires)
  }

  async #unpacked(account: Account, digest: Digest): Promise<Fleet> {
    const packed = digest.value as Packed
    for (const [online, rows] of packed.words) this.#options.onRows?.(Array(rows).fill({ online }))
    if (packed.skipped > 0) this.#options.onSkipped(packed.skipped)
    return unpacked(packed, wantsZone(packed) ? await zoneOf(account) : undefined)
  }

  async #device(account: Account, id: number): Promise<Entry> {
    const found = await account.device(id)
    if (found instanceof Digest) return { device: (await this.#unpacked(account, found)).byId.get(id) }
    if (found) this.#options.onRows?.([found])
    const zone = found && needsZone(found) ? await zoneOf(account) : undefined
    return { device: found && toDevice(found, this.#clock(), zone) }
  }
}

type Ask = () => Promise<Entry>

/** The account's zone, for devices whose time can be told no other way; unknown when it cannot be had. */
async function zoneOf(account: Account): Promise<Zone | undefined> {
  const setup = await account.setup().catch(() => undefined)
  return setup && toZone(setup)
}

/** About what an entry weighs in memory. */
function bytesOf(entry: Entry): number {
  if ('fleet' in entry) return entry.fleet.bytes
  return entry.device ? weight(entry.device) : deviceBytes
}
