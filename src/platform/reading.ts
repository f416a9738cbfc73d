/** What the calls of one list share: their memory, a deadline, and how many of them may be sent. */
import type { Reservation } from '../lib/byte-budget.js'
import type { Action } from './actions.js'
import { PlatformUnavailable } from './errors.js'
import type { Page } from './pages.js'
import { itemsOf } from './shape.js'
import { TooManyCalls } from './window.js'

/** Rows of a list: reading and translating more would hold the event loop for over half a second. */
const maxRows = 50_000

export class Reading {
  readonly #memory: Reservation
  readonly #isLate: () => boolean
  readonly #inFlight = new Set<Promise<unknown>>()
  #left: number
  #rows = 0
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

  /**
   * @throws TooManyCalls; PlatformUnavailable `timeout` if the list takes too long or is given up, `too_large` if it has too many rows; what the
   * call throws.
   */
  async send(action: Action, call: (memory: Reservation) => Promise<Page>): Promise<Page> {
    if (this.#isClosed || this.#isLate()) throw new PlatformUnavailable(action, 'timeout', { detail: 'of the list' })
    if (this.isSpent) throw new TooManyCalls()
    this.#left -= 1
    const sent = call(this.#memory).finally(() => this.#inFlight.delete(sent))
    this.#inFlight.add(sent)
    const page = await sent
    this.#rows += itemsOf(page.rows).length
    if (this.#rows > maxRows) throw new PlatformUnavailable(action, 'too_large', { detail: `${this.#rows} rows` })
    return page
  }

  /** Sends no further call, and releases the memory once no call uses it: equal requests may share those in flight. */
  close(): void {
    this.#isClosed = true
    void Promise.allSettled(this.#inFlight).then(() => this.#memory.release())
  }
}
