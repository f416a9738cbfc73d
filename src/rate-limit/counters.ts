/** Fixed-window counters: in this process, or shared through the store with this process as the fallback. */
import { BoundedMap } from '../lib/bounded-map.js'
import { copied } from '../lib/copied.js'
import type { Count, Counters } from '../store/store.js'

/** Names counted at once, about 30 MB; beyond this the oldest window is evicted. */
const maxNames = 200_000

interface FailoverCountersOptions {
  /** Undefined where no other instance shares the store. */
  shared: Counters | undefined
  /** Monotonic milliseconds. */
  ticks: () => number
}

/** While the shared counters are unavailable, one call in this time tries them, and no other waits for it. */
const retryMs = 1_000

/** The shared counters; the counters of this process while those are unavailable, or if there are none. Never rejects. */
export class FailoverCounters {
  readonly #options: FailoverCountersOptions
  /** Of this process, in the order in which they were opened. */
  readonly #windows = new BoundedMap<string, { current: number; endsAt: number }>(maxNames)
  /** Requests counted since the start, also those that the store has counted together with their keys. */
  readonly counts = { shared: 0, local: 0 }
  /** When a call may try the shared counters again; 0 while they are available. */
  #retryAt = 0

  constructor(options: FailoverCountersOptions) {
    this.#options = options
  }

  get localWindows(): number {
    return this.#windows.size
  }

  /** Without shared counters returns the count instead of a promise, since every request waits for it. */
  increment(name: string, windowMs: number): Count | Promise<Count> {
    const { shared } = this.#options
    return shared ? this.#incrementShared(shared, name, windowMs) : this.#incrementLocal(name, windowMs)
  }

  async read(name: string): Promise<Count> {
    const { shared } = this.#options
    const count = shared && (await this.#try(() => shared.read(name)))
    return this.#withLocal(name, count)
  }

  async #incrementShared(shared: Counters, name: string, windowMs: number): Promise<Count> {
    const count = await this.#try(() => shared.increment(name, windowMs))
    return count ? this.counted(name, count) : this.#incrementLocal(name, windowMs)
  }

  /** The count of a request that the shared store has counted. */
  counted(name: string, count: Count): Count {
    this.counts.shared += 1
    this.#forgetEnded(this.#options.ticks())
    // It counts for what is left of the window of an outage, too.
    const open = this.#windows.get(name)
    if (open) open.current += 1
    return this.#withLocal(name, count)
  }

  #incrementLocal(name: string, windowMs: number): Count {
    this.counts.local += 1
    const now = this.#options.ticks()
    const open = this.#windows.get(name)
    if (open && now < open.endsAt) {
      open.current += 1
      return { current: open.current, ttlMs: open.endsAt - now }
    }
    this.#forgetEnded(now)
    // The address in a name may be a slice of a header, all of which V8 would keep.
    this.#windows.set(copied(name), { current: 1, endsAt: now + windowMs })
    return { current: 1, ttlMs: windowMs }
  }

  #forgetEnded(now: number): void {
    for (const [ended, { endsAt }] of this.#windows) {
      if (now < endsAt) return
      this.#windows.delete(ended)
    }
  }

  /** The greater of the shared and the local count: local windows of an outage still apply when it is over. */
  #withLocal(name: string, shared: Count | undefined): Count {
    const { current, endsAt } = this.#windows.get(name) ?? { current: 0, endsAt: 0 }
    const ttlMs = Math.max(0, endsAt - this.#options.ticks())
    const local = ttlMs > 0 ? { current, ttlMs } : { current: 0, ttlMs }
    return shared && shared.current >= local.current ? shared : local
  }

  async #try(call: () => Promise<Count>): Promise<Count | undefined> {
    const now = this.#options.ticks()
    if (now < this.#retryAt) return undefined
    const isRetry = this.#retryAt > 0
    if (isRetry) this.#retryAt = now + retryMs
    try {
      const count = await call()
      // A call from before the outage does not end it.
      if (isRetry) this.#retryAt = 0
      return count
    } catch {
      this.#retryAt = this.#options.ticks() + retryMs
      return undefined
    }
  }
}
