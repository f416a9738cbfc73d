/** A circuit breaker for calls on behalf of many accounts: fails fast during an outage, and no account opens it for another. */
import { BoundedMap } from './bounded-map.js'

export type BreakerState = 'closed' | 'open' | 'half_open'

/** What a call shows about the health of the service; `ignored` when it shows nothing. */
export type Outcome = 'success' | 'failure' | 'ignored'

/** Consecutive failures that open a circuit. */
const maxFailures = 5
/** Failures of one account that count in the shared circuit: to open it takes three accounts. */
const maxFailuresPerAccount = 2
/** Subjects with failures to remember; beyond this, the subject that failed first is forgotten. */
const maxSubjects = 10_000
/** Probes of a half-open shared circuit per cool-down, all accounts together. */
const probesPerCoolDown = 8

export interface BreakerOptions {
  /** How long an open circuit waits before a probe. */
  coolDownMs: number
  /** Monotonic milliseconds: a wall clock set back would keep circuits open. */
  now: () => number
  /** The shared circuit changed its state. */
  onState: (state: BreakerState) => void
}

/** On whose behalf a call is made. */
export interface Caller {
  account: string
  /** What fails or works as one, for example an action of this account; unique over all accounts. */
  subject: string
  /** False where anyone may have invented the account: all those count as one account. */
  isKnown: boolean
}

/** Permission for one call. Call `record` once, when the call has ended. */
export interface Permit {
  record(outcome: Outcome): void
}

/**
 * Circuits of two kinds; a call needs both of its own closed.
 *
 * - *Per subject*: opens after five consecutive failures of the subject. After the cool-down one call probes: success closes the
 *   circuit, failure starts another cool-down. A subject that always fails harms only itself, and fails fast.
 * - *Shared*: opens after five consecutive failures of all accounts together, of which each account counts for two at most. One account
 *   never opens it, whatever it does, and neither does it together with a second one. Probes of an open subject do not count: their
 *   failures are no news, and a few accounts that fail for days must not add up to an outage.
 *
 * After its cool-down the shared circuit is half-open until a probe succeeds. An account has one probe in flight, and the next one no
 * earlier than a cool-down after its failure: an account that always fails leaves the other probes to the other accounts. All accounts
 * together send eight probes per cool-down, so that a service that is down has little load.
 *
 * A call that started before its circuit last changed state has no effect on that circuit.
 */
export class CircuitBreaker {
  readonly #subjects: SubjectCircuits
  readonly #shared: SharedCircuit

  constructor(options: BreakerOptions) {
    this.#subjects = new SubjectCircuits(options)
    this.#shared = new SharedCircuit(options)
  }

  /** State of the shared circuit. */
  get state(): BreakerState {
    return this.#shared.state
  }

  /** Milliseconds after which a call may be let through; 0 when one is let through now. */
  waitMs({ account, subject }: Caller): number {
    return Math.max(this.#shared.waitMs(account), this.#subjects.waitMs(subject))
  }

  /** Undefined when the call must fail fast. */
  enter(caller: Caller): Permit | undefined {
    if (this.waitMs(caller) > 0) return undefined
    const own = this.#subjects.enter(caller.subject)
    const shared = this.#shared.enter(caller, own.isProbe)
    return {
      record: (outcome) => {
        own.record(outcome)
        shared.record(outcome)
      },
    }
  }
}

interface Subject {
  /** Consecutive failures; the circuit is open from `maxFailures` on. */
  failures: number
  /** When a probe may start. */
  probeAt: number
  /** Number of the last call that started before the circuit closed. */
  closedAtCall: number
}

class SubjectCircuits {
  readonly #options: BreakerOptions
  readonly #failing = new BoundedMap<string, Subject>(maxSubjects)
  #calls = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  waitMs(name: string): number {
    const subject = this.#failing.get(name)
    return subject && isOpen(subject) ? remaining(subject.probeAt, this.#options) : 0
  }

  enter(name: string): Permit & { isProbe: boolean } {
    const call = ++this.#calls
    const subject = this.#failing.get(name)
    if (!subject || !isOpen(subject)) {
      return { isProbe: false, record: (outcome) => this.#record(name, outcome, call) }
    }
    subject.probeAt = Number.POSITIVE_INFINITY
    return { isProbe: true, record: (outcome) => this.#recordProbe(subject, outcome) }
  }

  #record(name: string, outcome: Outcome, call: number): void {
    const known = this.#failing.get(name)
    if (outcome === 'ignored' || (known && (isOpen(known) || call <= known.closedAtCall))) return
    if (outcome === 'success') {
      if (known) known.failures = 0
      return
    }
    const subject = known ?? this.#add(name)
    subject.failures += 1
    if (isOpen(subject)) subject.probeAt = this.#afterCoolDown()
  }

  #recordProbe(subject: Subject, outcome: Outcome): void {
    subject.probeAt = outcome === 'failure' ? this.#afterCoolDown() : this.#options.now()
    if (outcome !== 'success') return
    subject.failures = 0
    subject.closedAtCall = this.#calls
  }

  #afterCoolDown(): number {
    return this.#options.now() + this.#options.coolDownMs
  }

  #add(name: string): Subject {
    const subject = { failures: 0, probeAt: 0, closedAtCall: 0 }
    this.#failing.set(name, subject)
    return subject
  }
}

const isOpen = ({ failures }: Subject): boolean => failures >= maxFailures

/** Never longer than a cool-down, also while a probe is in flight that nobody knows the end of. */
const remaining = (until: number, { now, coolDownMs }: BreakerOptions): number =>
  Math.min(coolDownMs, Math.max(0, until - now()))

class SharedCircuit {
  readonly #options: BreakerOptions
  state: BreakerState = 'closed'
  /** Consecutive failures by account. */
  readonly #failures = new Map<string, number>()
  /** When the next probe may start: of any account, and of each account that has probed. */
  #probeAt = 0
  readonly #probeAtOf = new Map<string, number>()
  #changes = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  waitMs(account: string): number {
    if (this.state === 'closed') return 0
    return remaining(Math.max(this.#probeAt, this.#probeAtOf.get(account) ?? 0), this.#options)
  }

  enter({ account, isKnown }: Caller, isProbeOfSubject: boolean): Permit {
    if (this.state === 'open') this.#become('half_open')
    const change = this.#changes
    const ifCurrent = (record: (outcome: Outcome) => void): Permit => ({
      record: (outcome) => {
        if (change === this.#changes) record(outcome)
      },
    })
    if (this.state === 'closed') {
      return ifCurrent((outcome) => this.#record(isKnown ? account : '', outcome, isProbeOfSubject))
    }
    this.#startProbe(account)
    return ifCurrent((outcome) => this.#recordProbe(account, outcome))
  }

  #record(account: string, outcome: Outcome, isProbeOfSubject: boolean): void {
    if (outcome === 'success') this.#failures.clear()
    if (outcome !== 'failure' || isProbeOfSubject) return
    this.#failures.set(account, Math.min(maxFailuresPerAccount, (this.#failures.get(account) ?? 0) + 1))
    const failures = [...this.#failures.values()].reduce((sum, count) => sum + count)
    if (failures >= maxFailures) this.#become('open')
  }

  #startProbe(account: string): void {
    const { now, coolDownMs } = this.#options
    for (const [other, at] of this.#probeAtOf) if (at <= now()) this.#probeAtOf.delete(other)
    this.#probeAtOf.set(account, Number.POSITIVE_INFINITY)
    this.#probeAt = now() + coolDownMs / probesPerCoolDown
  }

  #recordProbe(account: string, outcome: Outcome): void {
    const { now, coolDownMs } = this.#options
    if (outcome === 'success') this.#become('closed')
    else this.#probeAtOf.set(account, outcome === 'failure' ? now() + coolDownMs : now())
  }

  #become(state: BreakerState): void {
    const { now, coolDownMs, onState } = this.#options
    this.state = state
    this.#changes += 1
    this.#failures.clear()
    this.#probeAtOf.clear()
    this.#probeAt = state === 'open' ? now() + coolDownMs : 0
    onState(state)
  }
}
