/** Fixed-window counters: in this process, or shared through the store with this process as the fallback. */
import { BoundedMap } from '../lib/bounded-map.js'
import { monotonicClock } from '../lib/monotonic-clock.js'
import type { Count, Counters } from '../store/store.js'

/** Names counted at once, about 30 MB; beyond this the oldest window is evicted. */
const maxNames = 200_000

/** The counters of one process. */
class LocalCounters {
  /** In the order in which the windows were opened. */
  readonly #windows = new BoundedMap<string, { current: number; endsAt: number }>(maxNames)
  readonly #now: () => number

  constructor(clock: () => number) {
    this.#now = monotonicClock(clock)
  }

  get size(): number {
    return this.#windows.size
  }

  increment(name: string, windowMs: number): Count {
    const now = this.#now()
    const open = this.#windows.get(name)
    if (open && now < open.endsAt) {
      open.current += 1
      return { current: open.current, ttlMs: open.endsAt - now }
    }
    this.#deleteEnded(now)
    this.#windows.set(name, { current: 1, endsAt: now + windowMs })
    return { current: 1, ttlMs: windowMs }
  }

  read(name: string): Count {
    const now = this.#now()
    const open = this.#windows.get(name)
    return open && now < open.endsAt ? { current: open.current, ttlMs: open.endsAt - now } : { current: 0, ttlMs: 0 }
  }

  #deleteEnded(now: number): void {
    for (const [name, { endsAt }] of this.#windows) {
      if (now < endsAt) return
      this.#windows.delete(name)
    }
  }
}

interface FailoverCountersOptions {
  /** Undefined where no other instance shares the store. */
  shared: Counters | undefined
  /** Whether the last read and the last write of the store succeeded. */
  up: () => boolean
  /** Epoch milliseconds. */
  clock: () => number
  /** Called once when the shared counters become unavailable and once when they are back. */
  onShared: (available: boolean, error?: unknown) => void
  /** Called for every increment. */
  onCounted?: (where: 'shared' | 'local') => void
}

/** The shared counters; the counters of this process while those are unavailable, or if there are none. Never rejects. */
export class FailoverCounters {
  readonly #options: FailoverCountersOptions
  readonly #local: LocalCounters
  /** The name that could not be counted. Only a read of this name ends the outage: a cluster may have lost one part of its slots. */
  #lostName: string | undefined
  #isProbing = false

  constructor(options: FailoverCountersOptions) {
    this.#options = options
    this.#local = new LocalCounters(options.clock)
  }

  /** Windows in this process, for the metrics. */
  get localWindows(): number {
    return this.#local.size
  }

  /** Reports a request that the store has counted together with its key. */
  reportShared(): void {
    this.#options.onCounted?.('shared')
  }

  /** Without shared counters the count itself, since every request waits for it. */
  increment(name: string, windowMs: number): Count | Promise<Count> {
    const { shared } = this.#options
    return shared ? this.#incrementShared(shared, name, windowMs) : this.#incrementLocal(name, windowMs)
  }

  async read(name: string): Promise<Count> {
    const { shared } = this.#options
    return (shared && (await this.#try(shared, name, () => shared.read(name)))) ?? this.#local.read(name)
  }

  async #incrementShared(shared: Counters, name: string, windowMs: number): Promise<Count> {
    const count = await this.#try(shared, name, () => shared.increment(name, windowMs))
    if (!count) return this.#incrementLocal(name, windowMs)
    this.reportShared()
    return count
  }

  #incrementLocal(name: string, windowMs: number): Count {
    this.#options.onCounted?.('local')
    return this.#local.increment(name, windowMs)
  }

  /** Undefined while the shared counters are unavailable: then only the probe waits for them. */
  async #try(shared: Counters, name: string, call: () => Promise<Count>): Promise<Count | undefined> {
    if (this.#lostName !== undefined || !this.#options.up()) {
      void this.#probe(shared, name)
      return undefined
    }
    try {
      return await call()
    } catch (error) {
      this.#lose(name, error)
      return undefined
    }
  }

  async #probe(shared: Counters, name: string): Promise<void> {
    if (this.#isProbing) return
    this.#isProbing = true
    const probed = this.#lostName ?? name
    try {
      await shared.read(probed)
      // A read ends only the outage of its own name, if that one is not over yet.
      if (this.#lostName !== probed) return
      this.#lostName = undefined
      this.#options.onShared(true)
    } catch (error) {
      this.#lose(probed, error)
    } finally {
      this.#isProbing = false
    }
  }

  #lose(name: string, error: unknown): void {
    if (this.#lostName !== undefined) return
    this.#lostName = name
    this.#options.onShared(false, error)
  }
}
