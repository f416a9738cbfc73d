/** What the calls of one list share: their memory, a deadline, and how many of them may be sent. */
import type { Reservation } from '../lib/byte-budget.js'
import type { Action } from './actions.js'
import { failure } from './errors.js'
import type { Page } from './pages.js'
import { itemsOf } from './shape.js'
import { TooManyCalls } from './window.js'

/** Rows of a list: reading and translating more would hold the event loop for over half a second. */
const maxRows = 50_000

export type CallBudget = ReturnType<typeof openCallBudget>

/** @param calls how many may be sent. */
export function openCallBudget(memory: Reservation, isLate: () => boolean, calls: number) {
  const inFlight = new Set<Promise<unknown>>()
  let [left, rows, isClosed] = [calls, 0, false]
  return {
    /** Whether no further call may be sent. */
    get isSpent(): boolean {
      return left === 0
    },

    /** @throws TooManyCalls; PlatformUnavailable `timeout` (late or closed) or `too_large` (too many rows); what the call throws. */
    async send(action: Action, call: (memory: Reservation) => Promise<Page>): Promise<Page> {
      if (isClosed || isLate()) throw failure(action, 'timeout', 'of the list')
      if (left === 0) throw new TooManyCalls()
      left -= 1
      const sent = call(memory).finally(() => inFlight.delete(sent))
      inFlight.add(sent)
      const page = await sent
      rows += itemsOf(page.rows).length
      if (rows > maxRows) throw failure(action, 'too_large', `${rows} rows`)
      return page
    },

    /** Sends no further call, and releases the memory once no call uses it: equal requests may share those in flight. */
    close(): void {
      isClosed = true
      void Promise.allSettled(inFlight).then(() => memory.release())
    },
  }
}
