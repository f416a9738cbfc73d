/** Spares callers the wait for a platform that is down, and the platform the calls: closed, open, half-open. Knows no action and no error. */

export type BreakerState = 'closed' | 'open' | 'half_open'

/** What a call says of the platform's health; `unclear` when it says nothing. */
export type Verdict = 'well' | 'sick' | 'unclear'

/** Failures without any success between them that open it. */
const consecutive = 5
/** Or at least this many calls within the window, and this part of them failures, of more than one subject. */
const fewest = 10
const failingPart = 0.6
const windowMs = 10_000
const buckets = 10

export interface BreakerOptions {
  /** How long it stays open before one call may probe. */
  coolDownMs: number
  /** Milliseconds that only ever grow: a wall clock set back would keep it open. */
  now: () => number
  onState: (state: BreakerState) => void
}

/** Handed to a call that may go ahead; `tell` is to be called once, when the call has ended. */
export interface Permit {
  tell(verdict: Verdict): void
}

interface Bucket {
  from: number
  calls: number
  failures: number
  subjects: Set<string>
}

/**
 * Opens after five failures in a row, or when of at least ten calls within ten seconds six in ten have failed, those failures not all of
 * one subject: an account whose history is too long must not shut out the others. While it is open every call is turned away; after
 * `coolDownMs` one call probes, and decides.
 */
export class Breaker {
  readonly #options: BreakerOptions
  #state: BreakerState = 'closed'
  #openedAt = 0
  #isProbing = false
  #row = 0
  #buckets: Bucket[] = []
  /** Calls that began before the last change of state have no say any more. */
  #generation = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Milliseconds until a call may probe; 0 unless it is open. */
  get remainingMs(): number {
    if (this.#state !== 'open') return 0
    return Math.max(0, this.#openedAt + this.#options.coolDownMs - this.#options.now())
  }

  /** @param subject whose call it is, to tell one who always fails from a platform that fails everybody. */
  enter(subject: string): Permit | undefined {
    if (this.#state === 'open' && this.remainingMs === 0) this.#become('half_open')
    if (this.#state === 'open' || (this.#state === 'half_open' && this.#isProbing)) return undefined
    const generation = this.#generation
    if (this.#state === 'half_open') {
      this.#isProbing = true
      return { tell: (verdict) => this.#probed(generation, verdict) }
    }
    return { tell: (verdict) => this.#ended(generation, verdict, subject) }
  }

  #probed(generation: number, verdict: Verdict): void {
    if (generation !== this.#generation) return
    this.#isProbing = false
    if (verdict !== 'unclear') this.#become(verdict === 'well' ? 'closed' : 'open')
  }

  #ended(generation: number, verdict: Verdict, subject: string): void {
    if (generation !== this.#generation || verdict === 'unclear') return
    const bucket = this.#bucket()
    bucket.calls += 1
    if (verdict === 'well') {
      this.#row = 0
      return
    }
    this.#row += 1
    bucket.failures += 1
    if (bucket.subjects.size < 2) bucket.subjects.add(subject)
    if (this.#row >= consecutive || this.#isFailing()) this.#become('open')
  }

  #isFailing(): boolean {
    const sum = (of: (bucket: Bucket) => number): number => this.#buckets.reduce((total, one) => total + of(one), 0)
    const calls = sum(({ calls }) => calls)
    if (calls < fewest || sum(({ failures }) => failures) < calls * failingPart) return false
    return new Set(this.#buckets.flatMap(({ subjects }) => [...subjects])).size > 1
  }

  /** The bucket of this moment; drops those that have left the window. */
  #bucket(): Bucket {
    const now = this.#options.now()
    this.#buckets = this.#buckets.filter(({ from }) => now - from < windowMs)
    const last = this.#buckets.at(-1)
    if (last && now - last.from < windowMs / buckets) return last
    const bucket = { from: now, calls: 0, failures: 0, subjects: new Set<string>() }
    this.#buckets.push(bucket)
    return bucket
  }

  #become(state: BreakerState): void {
    this.#state = state
    this.#generation += 1
    this.#isProbing = false
    this.#row = 0
    this.#buckets = []
    if (state === 'open') this.#openedAt = this.#options.now()
    this.#options.onState(state)
  }
}
