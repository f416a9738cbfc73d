/**
 * Bounds the requests that begin in one turn of the event loop. Node accepts one connection a turn (since libuv 1.45), so turns must be short
 * while clients keep the process busy: when 256 connections began at once, the slowest response took up to 1.9 s, and now up to 0.4 s.
 */
import type { RequestListener } from 'node:http'

/** Some 40 µs each. With 8, sending together gains less: a location costs 5 to 14 % more. */
const maxPerTurn = 16

interface Waiting {
  request: Parameters<RequestListener>
  since: number
}

export class Turns {
  readonly #ticks: () => number
  #waiting: Waiting[] = []
  #begun = 0

  /** @param ticks milliseconds that never go back. */
  constructor(ticks: () => number) {
    this.#ticks = ticks
  }

  /** A request listener that begins at most `maxPerTurn` requests in one turn; the others wait for the next turns, in order. */
  limit(handle: RequestListener): RequestListener {
    const begin = (...request: Waiting['request']): void => {
      if (this.#begun === maxPerTurn) return void this.#waiting.push({ request, since: this.#ticks() })
      this.#begun += 1
      if (this.#begun === 1) setImmediate(beginWaiting)
      handle(...request)
    }
    const beginWaiting = (): void => {
      this.#begun = 0
      const now = this.#ticks()
      for (const { request, since } of this.#waiting.splice(0, maxPerTurn)) {
        request[0].waitedMs = now - since
        begin(...request)
      }
    }
    return begin
  }

  /** How long the first waiting request has waited; in an overload there always is one. */
  get waitMs(): number {
    const [first] = this.#waiting
    return first ? this.#ticks() - first.since : 0
  }
}
