/** Fixed-window counters in this process, and shared ones that this process stands in for while they are away. Knows no request. */
import { neverBack } from '../lib/monotonic-clock.js'
import type { Count, Counters } from '../store/store.js'

interface OpenWindow {
  current: number
  endsAt: number
}

/** Names counted at once; past it the oldest windows are forgotten, so that a flood of names stays small. */
const mostNames = 200_000

/** Counters of one process. Time is `clock`, epoch milliseconds. */
class LocalCounters {
  readonly #windows = new Map<string, OpenWindow>()
  readonly #clock: () => number
  constructor(clock: () => number) {
    this.#clock = neverBack(clock)
  }

  increment(name: string, windowMs: number): Count {
    const now = this.#clock()
    const open = this.#windows.get(name)
    if (open && now < open.endsAt) {
      open.current += 1
      return { current: open.current, ttlMs: open.endsAt - now }
    }
    this.#windows.delete(name) // to stand last again: the map's order is the order of opening
    if (this.#windows.size >= mostNames) this.#forget(now)
    this.#windows.set(name, { current: 1, endsAt: now + windowMs })
    return { current: 1, ttlMs: windowMs }
  }

  read(name: string): Count {
    const now = this.#clock()
    const open = this.#windows.get(name)
    return open && now < open.endsAt ? { current: open.current, ttlMs: open.endsAt - now } : { current: 0, ttlMs: 0 }
  }

  /** Drops the windows that ended and, if there are none, the oldest one. */
  #forget(now: number): void {
    for (const [name, open] of this.#windows) {
      if (now < open.endsAt) break
      this.#windows.delete(name)
    }
    const [oldest] = this.#windows.keys()
    if (this.#windows.size >= mostNames && oldest !== undefined) this.#windows.delete(oldest)
  }
}

export interface CountersDeps {
  shared: Counters | undefined
  /** Whether the shared counters answered when their store was last asked for anything. */
  up: () => boolean
  clock: () => number
  /** Told once when the shared counters go away and once when they are back. */
  onShared: (available: boolean, error?: unknown) => void
  /** Told of every request counted, and where. */
  onCounted?: (where: 'shared' | 'local') => void
}

type Done = (error: Error | null, count?: { current: number; ttl: number }) => void

/** A store as `@fastify/rate-limit` asks for it. */
export interface LimiterStore {
  incr(name: string, done: Done, windowMs: number): void
  read(name: string, done: Done): void
  child(): LimiterStore
}

/** The shared counters, or this process's own where there are none or they do not answer: counting never fails. */
export class FailoverStore implements LimiterStore {
  readonly #deps: CountersDeps
  readonly #local: LocalCounters
  /** The name that could not be counted; the counters are back once they answer for it: a cluster may have lost a part. */
  #lost: string | undefined
  #isProbing = false

  constructor(deps: CountersDeps) {
    this.#deps = deps
    this.#local = new LocalCounters(deps.clock)
  }

  incr(name: string, done: Done, windowMs: number): void {
    const local = (): Count => {
      this.#deps.onCounted?.('local')
      return this.#local.increment(name, windowMs)
    }
    const shared = async (counters: Counters): Promise<Count> => {
      const count = await counters.increment(name, windowMs)
      this.#deps.onCounted?.('shared')
      return count
    }
    this.#ask(name, shared, local, done)
  }

  read(name: string, done: Done): void {
    this.#ask(
      name,
      (counters) => counters.read(name),
      () => this.#local.read(name),
      done,
    )
  }

  /** One more of this name, without a promise, where nobody is to be asked: the same windows as `incr`. */
  incrHere(name: string, windowMs: number): Count | undefined {
    if (this.#deps.shared !== undefined) return undefined
    this.#deps.onCounted?.('local')
    return this.#local.increment(name, windowMs)
  }

  child(): LimiterStore {
    return this
  }

  #ask(name: string, ask: (counters: Counters) => Promise<Count>, local: () => Count, done: Done): void {
    const answer = ({ current, ttlMs }: Count): void => done(null, { current, ttl: ttlMs })
    const { shared, up } = this.#deps
    if (shared === undefined) {
      answer(local())
      return
    }
    // A request has waited in vain already, this one or another: from now on none waits but the probe.
    if (this.#lost !== undefined || !up()) {
      this.#probe(shared, name)
      answer(local())
      return
    }
    ask(shared).then(answer, (error: unknown) => {
      this.#lose(name, error)
      answer(local())
    })
  }

  #probe(shared: Counters, name: string): void {
    if (this.#isProbing) return
    this.#isProbing = true
    const asked = this.#lost ?? name
    shared
      .read(asked)
      .then(
        () => this.#find(),
        (error: unknown) => this.#lose(asked, error),
      )
      .finally(() => {
        this.#isProbing = false
      })
  }

  #lose(name: string, error: unknown): void {
    if (this.#lost !== undefined) return
    this.#lost = name
    this.#deps.onShared(false, error)
  }

  #find(): void {
    if (this.#lost === undefined) return
    this.#lost = undefined
    this.#deps.onShared(true)
  }
}
