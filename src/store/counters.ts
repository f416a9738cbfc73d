/** The rate limiter's fixed windows, shared through a batch; knows no limit and no caller. */
import type { Batch } from './batch.js'
import type { Count, Counters } from './store.js'

export class SharedCounters implements Counters {
  readonly #batch: Batch

  constructor(batch: Batch) {
    this.#batch = batch
  }

  async increment(name: string, windowMs: number): Promise<Count> {
    return toCount(await this.#batch.ask('increment', `gps:count:${name}`, windowMs))
  }

  async read(name: string): Promise<Count> {
    return toCount(await this.#batch.ask('read', `gps:count:${name}`))
  }
}

function toCount(answer: unknown): Count {
  const [current, ttlMs] = answer as [number, number]
  return { current, ttlMs }
}
