/** Turns of the event loop: how much work begins in each, and whose. */

/** A cached location takes some 40 µs. With 8, sending together gains less: a location costs 5 to 14 % more. */
const maxPerTurn = 16
/** For work that was counted when it began: as much of it as fills a turn counts once. */
export const resumedWeight = 1 / maxPerTurn
/** Nothing more begins in a turn that has taken this long: a page of 500 devices takes some 5 ms, and may take 300. */
const maxTurnMs = 10
/** Turns in a row in which nothing begins while connections are accepted. */
const maxAccepting = 16

/** @param waitedMs how long it has waited. */
type Begin = (waitedMs: number) => void

/**
 * Lets callers take turns: while one of them had 400 connections that requested pages of 500 devices, others waited 4 s for any response, and
 * now 0.02 s; 0.2 s where a page takes 0.4 s. A cached location costs 2.5 µs more with 64 connections. Node accepts one connection a turn
 * (since libuv 1.45), so turns must be short while clients keep the process busy: when 256 connections began at once, the slowest response
 * took up to 1.9 s, and now up to 0.4 s.
 */
export class Pace {
  readonly #ticks: () => number
  /** By caller; the one whose turn is next is first. */
  readonly #waiting = new Map<string, { begin: Begin; since: number; weight: number }[]>()
  /** Whether `#nextTurn` will run. */
  #isActive = false
  #begun = 0
  /** When the first work of this turn began. */
  #since = 0
  /** Whose work began last. */
  #last = (): string => ''
  /** Who made the last turn long: its work may begin only as the first of this one, which delays no response of another caller. */
  #slow: string | undefined
  #longestWaitMs = 0
  #hasAccepted = false
  #accepting = 0

  /** @param ticks monotonic milliseconds. */
  constructor(ticks: () => number) {
    this.#ticks = ticks
  }

  /** Begins work in this turn if it has room, else in one of the next. @param callerOf called only if it matters: it may cost a digest. */
  enter(callerOf: () => string, begin: Begin): void {
    const now = this.#ticks()
    if (this.#hasRoom(callerOf, now)) this.#begin(callerOf, begin, now, 0, 1)
    else this.#wait(callerOf(), begin, now, 1)
  }

  /**
   * Resolves in a turn that has room: for those that wait for one result or one packet, and would all go on in the same turn.
   * @param weight `resumedWeight`, or 1.
   */
  turn(caller: string, weight = 1): Promise<unknown> {
    return new Promise((resolve) => this.#wait(caller, resolve, this.#ticks(), weight))
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

  #hasRoom(callerOf: () => string, now: number): boolean {
    if (this.#begun === 0) return true
    if (this.#begun >= maxPerTurn || now - this.#since > maxTurnMs) return false
    return this.#slow === undefined || callerOf() !== this.#slow
  }

  #begin(callerOf: () => string, begin: Begin, now: number, waitedMs: number, weight: number): void {
    if (this.#begun === 0) this.#since = now
    this.#begun += weight
    this.#last = callerOf
    this.#activate()
    begin(waitedMs)
  }

  #wait(caller: string, begin: Begin, since: number, weight: number): void {
    const waiting = this.#waiting.get(caller)
    if (waiting) waiting.push({ begin, since, weight })
    else this.#waiting.set(caller, [{ begin, since, weight }])
    this.#activate()
  }

  #activate(): void {
    if (this.#isActive) return
    this.#isActive = true
    setImmediate(this.#nextTurn)
  }

  readonly #nextTurn = (): void => {
    if (this.#accepting === 0) this.#findSlow()
    if (this.#hasAccepted && this.#accepting < maxAccepting) {
      // More connections may wait to be accepted.
      this.#hasAccepted = false
      this.#accepting += 1
      this.#begun = maxPerTurn
      setImmediate(this.#nextTurn)
      return
    }
    this.#accepting = 0
    this.#begun = 0
    if (this.#waiting.size > 0) this.#beginWaiting()
    else this.#isActive = false
  }

  #findSlow(): void {
    this.#slow = this.#begun > 0 && this.#ticks() - this.#since > maxTurnMs ? this.#last() : undefined
    const waiting = this.#waiting.get(this.#slow ?? '')
    if (this.#slow === undefined || !waiting) return
    // All who have come during its turn go first.
    this.#waiting.delete(this.#slow)
    this.#waiting.set(this.#slow, waiting)
  }

  readonly #beginWaiting = (): void => {
    const now = this.#ticks()
    const [[caller = '', waiting] = []] = this.#waiting
    const callerOf = (): string => caller
    if (!waiting || !this.#hasRoom(callerOf, now)) {
      // After the responses of this turn, which are sent in an immediate, too.
      setImmediate(this.#nextTurn)
      return
    }
    const { begin, since, weight } = waiting.shift()!
    this.#waiting.delete(caller)
    if (waiting.length > 0) this.#waiting.set(caller, waiting)
    const waitedMs = now - since
    this.#longestWaitMs = Math.max(this.#longestWaitMs, waitedMs)
    this.#begin(callerOf, begin, now, waitedMs, weight)
    // After all that it does before it waits for input or output: only then is it known how long the turn has taken.
    void done.then(this.#afterwards)
  }

  readonly #afterwards = (): void => process.nextTick(this.#beginWaiting)
}

const done = Promise.resolve()
