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
/** Probes of a half-open shared circuit per cool-down, of all accounts together; one account has one of them. */
const probesPerCoolDown = 8

/** How long an open circuit waits before a probe. */
const coolDownMs = 2_000

/** A call, and on whose behalf it is made. */
export interface Call {
  account: string
  /** One of a fixed set: each has a shared circuit for as long as the process lives. */
  action: string
  /** False where anyone may have invented the account: all those count as one account. */
  isKnown: boolean
}

/**
 * Circuits of two kinds; a call passes if each of its two is closed or lets it through as a probe.
 *
 * - *Own*, one per account and action: opens after five consecutive failures. After the cool-down one call probes, and another one each
 *   cool-down until one succeeds. An account that always fails harms only itself, and fails fast.
 * - *Shared*, one per action: opens after five consecutive failures of the action, of which each account counts for two at most. One
 *   account never opens it, whatever it does, and neither does it together with a second one. Probes of own circuits do not count:
 *   their failures are expected, and a few accounts that fail for days must not add up to an outage. An outage of one action, say of
 *   histories, leaves the other actions alone.
 *
 * The first call after its cool-down makes a shared circuit half-open, until a probe succeeds. All accounts together send eight probes per
 * cool-down, and each account one: an account whose calls hang leaves the others theirs. A probe that succeeds closes the shared circuits
 * of all actions: most outages end for all at once, and a rare action may have no call for hours.
 *
 * A call that started before its circuit last changed state has no effect on that circuit.
 */
export class CircuitBreaker {
  readonly #now: () => number
  /** By account and action; there is none before the first failure. */
  readonly #own = new BoundedMap<string, Circuit>(maxOwnCircuits)
  /** By action. */
  readonly #shared = new Map<string, Circuit>()

  /** @param now monotonic milliseconds: a wall clock set back would keep circuits open. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The worst state of the shared circuits. */
  get state(): BreakerState {
    const states = new Set([...this.#shared.values()].map(({ state }) => state))
    return (['open', 'half_open'] as const).find((state) => states.has(state)) ?? 'closed'
  }

  /** Milliseconds after which a call may be let through; 0 when one is let through now. */
  waitMs(call: Call): number {
    const circuits = [this.#shared.get(call.action), this.#own.get(nameOf(call))]
    return Math.max(...circuits.map((circuit) => circuit?.waitMs(call) ?? 0))
  }

  /** Whether no call of the account is a probe, which may hang. */
  isClosed(call: Call): boolean {
    return [this.#shared.get(call.action), this.#own.get(nameOf(call))].every((one) => !one || one.state === 'closed')
  }

  /** Undefined when the call must fail fast; else call `record` once, when the call has ended. */
  enter(call: Call): { record: (outcome: Outcome) => void } | undefined {
    if (this.waitMs(call) > 0) return undefined
    const own = this.#own.get(nameOf(call))?.enter(call) ?? firstCall
    const circuit = this.#sharedBy(call.action)
    const shared = circuit.enter(call)
    return {
      record: (outcome) => {
        this.#recordOwn(call, own, outcome)
        const isExpected = own.isProbe && !shared.isProbe && outcome === 'failure'
        if (!circuit.record(call, shared, isExpected ? 'ignored' : outcome)) return
        for (const each of this.#shared.values()) each.close()
      },
    }
  }

  #recordOwn(call: Call, start: Start, outcome: Outcome): void {
    const name = nameOf(call)
    let circuit = this.#own.get(name)
    if (!circuit && outcome === 'failure') {
      circuit = new Circuit(this.#now, maxFailures, 1)
      this.#own.set(name, circuit)
    }
    if (circuit?.record(call, start, outcome)) circuit.close()
  }

  #sharedBy(action: string): Circuit {
    const circuit = this.#shared.get(action) ?? new Circuit(this.#now, maxFailuresPerAccount, probesPerCoolDown)
    this.#shared.set(action, circuit)
    return circuit
  }
}

const nameOf = ({ account, action }: Call): string => `${account} ${action}`

/** A circuit at the start of a call. */
interface Start {
  /** How often it had changed its state. */
  changes: number
  isProbe: boolean
}

const firstCall: Start = { changes: 0, isProbe: false }

class Circuit {
  state: BreakerState = 'closed'
  readonly #now: () => number
  readonly #maxPerAccount: number
  readonly #probesPerCoolDown: number
  /** When an account may probe again; as many as there are probes in a cool-down. */
  readonly #probeAtOf: BoundedMap<string, number>
  /** Consecutive failures by account. */
  readonly #failures = new Map<string, number>()
  /** When the next probe may start, while the circuit is not closed. */
  #probeAt = 0
  #changes = 0

  /** @param maxPerAccount failures of one account that count. */
  constructor(now: () => number, maxPerAccount: number, probesPerCoolDown: number) {
    this.#now = now
    this.#maxPerAccount = maxPerAccount
    this.#probesPerCoolDown = probesPerCoolDown
    this.#probeAtOf = new BoundedMap(probesPerCoolDown)
  }

  waitMs({ account }: Call): number {
    if (this.state === 'closed') return 0
    return Math.max(0, Math.max(this.#probeAt, this.#probeAtOf.get(account) ?? 0) - this.#now())
  }

  /** A call that may start, as `waitMs` is 0. */
  enter({ account }: Call): Start {
    if (this.state === 'open') this.#become('half_open')
    const isProbe = this.state === 'half_open'
    if (isProbe) {
      this.#probeAt = this.#now() + coolDownMs / this.#probesPerCoolDown
      this.#probeAtOf.set(account, this.#now() + coolDownMs)
    }
    return { changes: this.#changes, isProbe }
  }

  /** @returns whether a probe has succeeded: time to close. */
  record({ account, isKnown }: Call, { changes, isProbe }: Start, outcome: Outcome): boolean {
    if (changes !== this.#changes) return false
    if (isProbe && outcome === 'ignored') {
      this.#probeAt = 0
      this.#probeAtOf.delete(account)
    } else if (!isProbe && outcome === 'success') this.#failures.clear()
    else if (!isProbe && outcome === 'failure') this.#count(isKnown ? account : '')
    return isProbe && outcome === 'success'
  }

  close(): void {
    if (this.state !== 'closed') this.#become('closed')
  }

  #count(account: string): void {
    this.#failures.set(account, Math.min(this.#maxPerAccount, (this.#failures.get(account) ?? 0) + 1))
    const failures = [...this.#failures.values()].reduce((sum, count) => sum + count)
    if (failures < maxFailures) return
    this.#become('open')
    this.#probeAt = this.#now() + coolDownMs
  }

  #become(state: BreakerState): void {
    this.state = state
    this.#changes += 1
    this.#failures.clear()
  }
}
