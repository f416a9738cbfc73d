/** Turns of the event loop: how much work begins in each, and whose. */
import { BoundedMap } from './bounded-map.js'

/** A cached location takes some 40 µs. With 8, sending together gains less: a location costs 5 to 14 % more. */
const maxPerTurn = 16
/** For work that was counted when it began: as much of it as fills a turn counts once. */
export const resumedWeight = 1 / maxPerTurn
/** Nothing more begins in a turn that has taken this long: a page of 500 devices takes 5 to 20 ms, and may take 300. */
const maxTurnMs = 10
/** Turns in a row in which nothing begins while connections are accepted. */
const maxAccepting = 16

/** Shorter work is not charged to its caller: turns share it well enough. */
const minChargedMs = 1
/** The part of all time that a caller may use for such work; what it uses beyond that is its debt. */
const freeShare = 0.01
/** The largest debt of each rank, milliseconds. A debt grows no further than the last one, so all of it is gone after a minute. */
const rankEnds = [10, 40, 160, 640] as const
/** What is charged of one piece of work at most. */
const maxChargedMs = 40
/** Callers with a debt to remember; beyond this, the one that was charged least recently is forgotten. */
const maxDebtors = 1_000

/** @param waitedMs how long it has waited. */
type Begin = (waitedMs: number) => void

/** Work by caller; the caller whose turn is next is first. */
type Waiting = Map<string, { begin: Begin; since: number; weight: number }[]>

/**
 * Lets callers take turns, and those first who have used less time lately. While one account requested pages of 500 devices over 8 connections,
 * of the 200 locations a second of another one 2 of 3 were 503 when their turns just alternated; now all of them respond, 19 of 20 within 30 ms.
 * A cached location costs 2.5 µs more with 64 connections. Node accepts one connection a turn (since libuv 1.45), so turns must be short while
 * clients keep the process busy: when 256 connections began at once, the slowest response took up to 1.9 s, and now up to 0.4 s.
 */
export class Pace {
  readonly #ticks: () => number
  /** By rank of their callers, the one with the smallest debts first. */
  readonly #ranks: readonly Waiting[] = rankEnds.map(() => new Map())
  /** In milliseconds, as of a time; by caller, the one that was charged least recently first. */
  readonly #debts = new BoundedMap<string, { ms: number; at: number }>(maxDebtors)
  /** Whether `#nextTurn` will run. */
  #isActive = false
  /** Whether `#ended` begins more of the waiting work. */
  #goesOn = false
  #begun = 0
  /** The first of the ranks whose work has begun in this turn: work of later ranks would delay its responses. */
  #rank: number = rankEnds.length
  /** The rank that has the next turn; `rankEnds.length` for the first one again. */
  #nextRank = 0
  /** Whether this turn is put between two of them, for all who have come during a long one. */
  #isBetween = false
  /** Who has this turn, of those in later ranks. */
  #holder = ''
  /** When the first work of this turn began. */
  #since = 0
  /** Whose work began last, and when. */
  #last = (): string => ''
  #lastSince = 0
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
   * Resolves in a turn of the event loop that has room: one result or one packet would resume all its requests in the same turn.
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
    return this.#rankOf(callerOf, now) <= this.#rank
  }

  #rankOf(callerOf: () => string, now: number): number {
    if (this.#debts.size === 0) return 0
    const debt = this.#debtOf(callerOf(), now)
    return rankEnds.findIndex((end) => debt <= end)
  }

  #debtOf(caller: string, now: number): number {
    const { ms = 0, at = 0 } = this.#debts.get(caller) ?? {}
    return Math.max(0, ms - freeShare * (now - at))
  }

  #begin(callerOf: () => string, begin: Begin, now: number, waitedMs: number, weight: number): void {
    if (this.#begun === 0) this.#since = now
    this.#begun += weight
    this.#rank = Math.min(this.#rank, this.#rankOf(callerOf, now))
    this.#last = callerOf
    this.#lastSince = now
    this.#activate()
    begin(waitedMs)
    // After all that it does before it waits for input or output: only then is it known how long it has taken.
    void done.then(this.#afterwards)
  }

  #wait(caller: string, begin: Begin, since: number, weight: number): void {
    // All that a caller waits for is in one place, whatever has become of its debt.
    const all = this.#ranks.find((rank) => rank.has(caller)) ?? this.#ranks[this.#rankOf(() => caller, since)]!
    const waiting = all.get(caller)
    if (waiting) waiting.push({ begin, since, weight })
    else all.set(caller, [{ begin, since, weight }])
    this.#activate()
  }

  #activate(): void {
    if (this.#isActive) return
    this.#isActive = true
    setImmediate(this.#nextTurn)
  }

  readonly #nextTurn = (): void => {
    if (this.#accepting === 0) this.#endTurn()
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
    this.#rank = rankEnds.length
    if (this.#ranks.some(isWaiting)) this.#beginWaiting()
    else {
      this.#isActive = false
      this.#isBetween = false
    }
  }

  #endTurn(): void {
    const now = this.#ticks()
    this.#isBetween = !this.#isBetween && now - this.#since > maxTurnMs
    this.#putLast(this.#holder, now)
    this.#holder = ''
    for (const caller of this.#debts.keys()) {
      if (this.#debtOf(caller, now) > 0) break
      this.#debts.delete(caller)
    }
  }

  readonly #beginWaiting = (): void => {
    const now = this.#ticks()
    const all = this.#nextWaiting()
    const [[caller = '', waiting] = []] = all ?? []
    const callerOf = (): string => caller
    if (!all || !waiting || !this.#hasRoom(callerOf, now)) {
      // After the responses of this turn, which are sent in an immediate, too.
      setImmediate(this.#nextTurn)
      return
    }
    const { begin, since, weight } = waiting.shift()!
    // In later ranks a caller keeps the rest of the turn: it may be there only because of a pause of the process, with much short work.
    const isFirstRank = all === this.#ranks[0]
    if (isFirstRank || waiting.length === 0) all.delete(caller)
    if (isFirstRank && waiting.length > 0) all.set(caller, waiting)
    if (!isFirstRank) this.#holder = caller
    const waitedMs = now - since
    this.#longestWaitMs = Math.max(this.#longestWaitMs, waitedMs)
    this.#goesOn = true
    this.#begin(callerOf, begin, now, waitedMs, weight)
  }

  /** Turns go through the ranks; what is left of a turn belongs to the first of them. */
  #nextWaiting(): Waiting | undefined {
    const first = this.#ranks.find(isWaiting)
    if (this.#begun > 0) return first
    const later = this.#ranks.slice(this.#nextRank).find(isWaiting)
    if (this.#isBetween && later) return first
    const next = later ?? first
    if (next) this.#nextRank = this.#ranks.indexOf(next) + 1
    return next
  }

  readonly #afterwards = (): void => process.nextTick(this.#ended)

  readonly #ended = (): void => {
    const now = this.#ticks()
    const ms = now - this.#lastSince
    this.#lastSince = now
    if (ms > minChargedMs) this.#charge(this.#last(), ms, now)
    if (!this.#goesOn) return
    this.#goesOn = false
    this.#beginWaiting()
  }

  /** A single piece of work may have taken long because of a pause of the process. */
  #charge(caller: string, ms: number, now: number): void {
    const debt = this.#debtOf(caller, now) + Math.min(ms, maxChargedMs)
    this.#debts.set(caller, { ms: Math.min(debt, rankEnds[3]), at: now })
    this.#putLast(caller, now)
  }

  /** Puts a caller behind the others of its rank. */
  #putLast(caller: string, now: number): void {
    const all = this.#ranks.find((rank) => rank.has(caller))
    const waiting = all?.get(caller)
    if (!all || !waiting) return
    all.delete(caller)
    this.#ranks[this.#rankOf(() => caller, now)]!.set(caller, waiting)
  }
}

const isWaiting = ({ size }: Waiting): boolean => size > 0

const done = Promise.resolve()
