/** What the calls of one list share: their memory, a deadline, and how many of them may be sent. */
import type { Reservation } from '../lib/byte-budget.js'
import type { Action } from './actions.js'
import { PlatformUnavailable } from './errors.js'
import { TooManyCalls } from './window.js'

export class Reading {
  readonly #memory: Reservation
  readonly #isLate: () => boolean
  readonly #inFlight = new Set<Promise<unknown>>()
  #left: number
  #isClosed = false

  /** @param calls how many may be sent. */
  constructor(memory: Reservation, isLate: () => boolean, calls: number) {
    this.#memory = memory
    this.#isLate = isLate
    this.#left = calls
  }

  /** Whether no further call may be sent. */
  get isSpent(): boolean {
    return this.#left === 0
  }

  /** @throws TooManyCalls; PlatformUnavailable `timeout` if the list takes too long or is given up; what the call throws. */
  async send<T>(action: Action, call: (memory: Reservation) => Promise<T>): Promise<T> {
    if (this.#isClosed || this.#isLate()) throw new PlatformUnavailable(action, 'timeout', { detail: 'of the list' })
    if (this.isSpent) throw new TooManyCalls()
    this.#left -= 1
    const sent = call(this.#memory).finally(() => this.#inFlight.delete(sent))
    this.#inFlight.add(sent)
    return sent
  }

  /** Sends no further call, and releases the memory once no call uses it: equal requests may share those in flight. */
  close(): void {
    this.#isClosed = true
    void Promise.allSettled(this.#inFlight).then(() => this.#memory.release())
  }
}
