/** A circuit breaker for calls on behalf of many accounts: fails fast during an outage, and no account opens it for another. */
import { BoundedMap } from './bounded-map.js'

export type BreakerState = 'closed' | 'open' | 'half_open'

/** What a call shows about the health of the service; `ignored` when it shows nothing. */
export type Outcome = 'success' | 'failure' | 'ignored'

/** Consecutive failures that open a circuit. */
const maxFailures = 5
/** Failures of one account that count in a shared circuit: to open it takes three accounts. */
const maxFailuresPerAccount = 2
/** Own circuits to remember; beyond this, the one that failed first is forgotten. */
const maxOwnCircuits = 10_000
/** Probes of a half-open shared circuit per cool-down, all accounts together. */
const probesPerCoolDown = 8

export interface BreakerOptions {
  /** How long an open circuit waits before a probe. */
  coolDownMs: number
  /** Monotonic milliseconds: a wall clock set back would keep circuits open. */
  now: () => number
  /** The shared circuit of an action changed its state. */
  onState: (action: string, state: BreakerState) => void
}

/** A call, and on whose behalf it is made. */
export interface Call {
  account: string
  /** One of a fixed set: each has a shared circuit for as long as the process lives. */
  action: string
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
 * - *Own*, one per account and action: opens after five consecutive failures. After the cool-down one call probes: success closes the
 *   circuit, failure starts another cool-down. An account that always fails harms only itself, and fails fast.
 * - *Shared*, one per action: opens after five consecutive failures of the action, of which each account counts for two at most. One
 *   account never opens it, whatever it does, and neither does it together with a second one. Probes of own circuits do not count:
 *   their failures are no news, and a few accounts that fail for days must not add up to an outage. An outage of one action, say of
 *   histories, leaves the other actions alone.
 *
 * After its cool-down a shared circuit is half-open until a probe succeeds. An account has one probe in flight, and the next one no
 * earlier than a cool-down after its failure. All accounts together send eight probes per cool-down. A probe that succeeds closes the
 * shared circuits of all actions: most outages end for all at once, and a rare action may have no call for hours.
 *
 * A call that started before its circuit last changed state has no effect on that circuit.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions
  readonly #own: OwnCircuits
  readonly #shared = new Map<string, SharedCircuit>()

  constructor(options: BreakerOptions) {
    this.#options = options
    this.#own = new OwnCircuits(options)
  }

  /** The worst state of the shared circuits. */
  get state(): BreakerState {
    const states = new Set([...this.#shared.values()].map(({ state }) => state))
    return (['open', 'half_open'] as const).find((state) => states.has(state)) ?? 'closed'
  }

  /** Milliseconds after which a call may be let through; 0 when one is let through now. */
  waitMs(call: Call): number {
    return Math.max(this.#sharedBy(call.action).waitMs(call.account), this.#own.waitMs(nameOf(call)))
  }

  /** Undefined when the call must fail fast. */
  enter(call: Call): Permit | undefined {
    if (this.waitMs(call) > 0) return undefined
    const own = this.#own.enter(nameOf(call))
    const shared = this.#sharedBy(call.action).enter(call, own.isProbe)
    return {
      record: (outcome) => {
        own.record(outcome)
        shared.record(outcome)
      },
    }
  }

  #sharedBy(action: string): SharedCircuit {
    const known = this.#shared.get(action)
    if (known) return known
    const { onState } = this.#options
    const circuit = new SharedCircuit({
      ...this.#options,
      onState: (state) => onState(action, state),
      onRecovery: () => {
        for (const circuit of this.#shared.values()) circuit.close()
      },
    })
    this.#shared.set(action, circuit)
    return circuit
  }
}

const nameOf = ({ account, action }: Call): string => `${account} ${action}`

type Timing = Pick<BreakerOptions, 'coolDownMs' | 'now'>

/** Never more than a cool-down, also for a probe whose end is not known. */
const remaining = (until: number, { now, coolDownMs }: Timing): number =>
  Math.min(coolDownMs, Math.max(0, until - now()))

interface OwnCircuit {
  /** Consecutive failures; the circuit is open from `maxFailures` on. */
  failures: number
  /** When a probe may start. */
  probeAt: number
  /** Number of the last call that started before the circuit closed. */
  closedAtCall: number
}

const isOpen = ({ failures }: OwnCircuit): boolean => failures >= maxFailures

/** The circuits of accounts and actions, by name; there is none before the first failure. */
class OwnCircuits {
  readonly #timing: Timing
  readonly #circuits = new BoundedMap<string, OwnCircuit>(maxOwnCircuits)
  #calls = 0

  constructor(timing: Timing) {
    this.#timing = timing
  }

  waitMs(name: string): number {
    const circuit = this.#circuits.get(name)
    return circuit && isOpen(circuit) ? remaining(circuit.probeAt, this.#timing) : 0
  }

  enter(name: string): Permit & { isProbe: boolean } {
    const call = ++this.#calls
    const circuit = this.#circuits.get(name)
    if (!circuit || !isOpen(circuit)) {
      return { isProbe: false, record: (outcome) => this.#record(name, outcome, call) }
    }
    circuit.probeAt = Number.POSITIVE_INFINITY
    return { isProbe: true, record: (outcome) => this.#recordProbe(circuit, outcome) }
  }

  #record(name: string, outcome: Outcome, call: number): void {
    const known = this.#circuits.get(name)
    if (outcome === 'ignored' || (known && (isOpen(known) || call <= known.closedAtCall))) return
    if (outcome === 'success') {
      if (known) known.failures = 0
      return
    }
    const circuit = known ?? { failures: 0, probeAt: 0, closedAtCall: 0 }
    if (!known) this.#circuits.set(name, circuit)
    circuit.failures += 1
    if (isOpen(circuit)) circuit.probeAt = this.#afterCoolDown()
  }

  #recordProbe(circuit: OwnCircuit, outcome: Outcome): void {
    circuit.probeAt = outcome === 'failure' ? this.#afterCoolDown() : this.#timing.now()
    if (outcome !== 'success') return
    circuit.failures = 0
    circuit.closedAtCall = this.#calls
  }

  #afterCoolDown(): number {
    return this.#timing.now() + this.#timing.coolDownMs
  }
}

interface SharedOptions extends Timing {
  onState: (state: BreakerState) => void
  /** A probe succeeded: time to close. */
  onRecovery: () => void
}

class SharedCircuit {
  readonly #options: SharedOptions
  state: BreakerState = 'closed'
  /** Consecutive failures by account. */
  readonly #failures = new Map<string, number>()
  /** When the next probe may start: of any account, and of each account that has probed. */
  #probeAt = 0
  readonly #probeAtOf = new Map<string, number>()
  #changes = 0

  constructor(options: SharedOptions) {
    this.#options = options
  }

  waitMs(account: string): number {
    if (this.state === 'closed') return 0
    return remaining(Math.max(this.#probeAt, this.#probeAtOf.get(account) ?? 0), this.#options)
  }

  enter({ account, isKnown }: Call, isOwnProbe: boolean): Permit {
    if (this.state === 'open') this.#become('half_open')
    const change = this.#changes
    const ifCurrent = (record: (outcome: Outcome) => void): Permit => ({
      record: (outcome) => {
        if (change === this.#changes) record(outcome)
      },
    })
    if (this.state === 'closed') {
      return ifCurrent((outcome) => this.#record(isKnown ? account : '', outcome, isOwnProbe))
    }
    this.#startProbe(account)
    return ifCurrent((outcome) => this.#recordProbe(account, outcome))
  }

  close(): void {
    if (this.state !== 'closed') this.#become('closed')
  }

  #record(account: string, outcome: Outcome, isOwnProbe: boolean): void {
    if (outcome === 'success') this.#failures.clear()
    if (outcome !== 'failure' || isOwnProbe) return
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
    const { now, coolDownMs, onRecovery } = this.#options
    if (outcome === 'success') onRecovery()
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
