/** Turns of the event loop: how much work begins in each, and whose. */

/** A cached location takes some 40 µs. With 8, sending together gains less: a location costs 5 to 14 % more. */
const maxPerTurn = 16
/** After a longer turn, half as much begins in the next one: a page of 500 devices takes some 5 ms. */
const maxTurnMs = 10
/** Turns in a row in which nothing begins while connections are accepted. */
const maxAccepting = 16

/** @param waitedMs how long it has waited. */
type Begin = (waitedMs: number) => void

/**
 * Lets callers take turns: while one of them had 400 connections that requested pages of 500 devices, others waited 4 s for any response, and
 * now 0.1 s. Node accepts one connection a turn (since libuv 1.45), so turns must be short while clients keep the process busy: when 256
 * connections began at once, the slowest response took up to 1.9 s, and now up to 0.4 s.
 */
export class Pace {
  readonly #ticks: () => number
  /** By caller; the one whose turn is next is first. */
  readonly #waiting = new Map<string, { begin: Begin; since: number }[]>()
  #perTurn = maxPerTurn
  #begun = 0
  /** When the first work of this turn began. */
  #since = 0
  #longestWaitMs = 0
  #hasAccepted = false
  #accepting = 0

  /** @param ticks monotonic milliseconds. */
  constructor(ticks: () => number) {
    this.#ticks = ticks
  }

  /** Begins work in this turn if it has room, else in one of the next. @param callerOf called only if it waits. */
  enter(callerOf: () => string, begin: Begin): void {
    const now = this.#ticks()
    if (this.#begun >= this.#perTurn) {
      const caller = callerOf()
      const waiting = this.#waiting.get(caller)
      if (waiting) waiting.push({ begin, since: now })
      else this.#waiting.set(caller, [{ begin, since: now }])
      return
    }
    if (this.#begun === 0) {
      this.#since = now
      setImmediate(this.#nextTurn)
    }
    this.#begun += 1
    begin(0)
  }

  /** Resolves in a turn that has room: for those that wait for one result, and would all go on in the same turn. */
  turn(caller: string): Promise<unknown> {
    return new Promise((resolve) => this.enter(() => caller, resolve))
  }

  /** To be called for each connection. */
  accepted(): void {
    this.#hasAccepted = true
  }

  /** The longest wait of all that has begun since the last call. */
  takeLongestWaitMs(): number {
    const longest = this.#longestWaitMs
    this.#longestWaitMs = 0
    return longest
  }

  readonly #nextTurn = (): void => {
    if (this.#hasAccepted && this.#accepting < maxAccepting) {
      // More connections may wait to be accepted.
      this.#hasAccepted = false
      this.#accepting += 1
      this.#begun = this.#perTurn
      setImmediate(this.#nextTurn)
      return
    }
    const now = this.#ticks()
    const isLong = now - this.#since > maxTurnMs
    this.#perTurn = isLong ? Math.ceil(this.#perTurn / 2) : Math.min(maxPerTurn, 2 * this.#perTurn)
    this.#accepting = 0
    this.#begun = 0
    // A Map visits entries that are set again.
    for (const [caller, waiting] of this.#waiting) {
      if (this.#begun === this.#perTurn) break
      this.#waiting.delete(caller)
      const { begin, since } = waiting.shift()!
      if (waiting.length > 0) this.#waiting.set(caller, waiting)
      const waitedMs = now - since
      this.#longestWaitMs = Math.max(this.#longestWaitMs, waitedMs)
      this.enter(
        () => caller,
        () => begin(waitedMs),
      )
    }
  }
}
