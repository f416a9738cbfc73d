/** The client of one platform: calls pass circuit breaker and bulkhead, have one deadline each and are reported, address lookups apart. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ByteBudget, Reservation } from '../lib/byte-budget.js'
import { type BreakerState, type Call, CircuitBreaker } from '../lib/circuit-breaker.js'
import type { Pace } from '../lib/pace.js'
import type { Action, Query } from './actions.js'
import type { Addresses } from './addresses.js'
import { readDocument } from './body.js'
import { Bulkhead, maxInFlight } from './bulkhead.js'
import { type CallBudget, openCallBudget } from './call-budget.js'
import { type CallOutcome, failure, meanings, PlatformError, PlatformUnavailable } from './errors.js'
import { HttpClient } from './http-client.js'
import type { WorkerClient } from './worker-client.js'
import type { JobAction, JobParams, JobResults } from './worker-messages.js'

/** One call, for metrics and the health page. `ms` is wall time, waiting for a slot included. */
export interface CallReport {
  action: Action
  outcome: CallOutcome
  ms: number
  /** `Requester.id`. */
  account: string
}

/** The account that a call is sent for. */
export interface Requester {
  /** `Account.id`; in a validation, the id of an account that is known by this hash alone. */
  id: string
  hash: string
  /** Whether the platform has accepted the hash: otherwise anyone may have invented it. */
  isKnown: boolean
}

export interface PlatformOptions {
  /** The platform's API base, for example `https://tracker.example.com/api`. */
  url: string
  /** Deadline of one call, from the queue to the last byte. */
  timeoutMs: number
  /** Sends device list and history requests and reads their responses. Stays open when the platform is closed. */
  worker: WorkerClient
  /** Memory for the responses that are read in this thread. */
  budget: ByteBudget
  /** undefined = `turn` waits for nothing. */
  pace?: Pace
  /** undefined = no address is looked up. Closed with the platform. */
  addresses?: Addresses | undefined
  onCall?: (report: CallReport) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

/** A list of many calls that takes longer is given up: before its caller's response deadline, and not long after the caller has left. */
const maxListMs = 30_000

/** Most probes of the circuit breaker succeed within this time. */
const probeMs = 1_000

type Send<T> = (signal: AbortSignal) => Promise<T>

export class Platform {
  readonly #options: PlatformOptions
  readonly #http: HttpClient
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly #breaker: CircuitBreaker
  readonly #bulkhead = new Bulkhead()
  readonly addresses: Addresses | undefined

  constructor(options: PlatformOptions) {
    const { url, now = () => performance.now() } = options
    this.#options = options
    this.now = now
    this.addresses = options.addresses
    this.#breaker = new CircuitBreaker(now)
    this.#http = new HttpClient({ url, connections: maxInFlight })
  }

  /** The worst state of the circuits of all actions. */
  get breakerState(): BreakerState {
    return this.#breaker.state
  }

  /**
   * Requests one action and returns the data of the response, checked to be a response to it, as it is or as `read` returns it.
   * @param read throws if the data cannot be used.
   * @param list holds the memory of all pages of a list.
   * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable; anything else is a bug of the gateway.
   */
  get(
    action: Action,
    requester: Requester,
    query: Query = {},
    read: (data: unknown) => unknown = (data) => data,
    list?: Reservation,
  ): Promise<unknown> {
    const { id, hash } = requester
    return this.#call(action, requester, async (signal) => {
      const reservation = list ?? this.#options.budget.open(id)
      try {
        const request = { action, hash, query }
        return await this.#http.send(request, signal, async (body) =>
          read(await readDocument(request, body, reservation)),
        )
      } finally {
        if (!list) reservation.release()
      }
    })
  }

  /** Begins a list of an account; its deadline starts now. @param account its id. @param calls how many it may send. */
  openCallBudget(account: string, calls = Number.POSITIVE_INFINITY): CallBudget {
    const deadline = this.now() + maxListMs
    return openCallBudget(this.#options.budget.open(account), () => this.now() > deadline, calls)
  }

  /** Has the worker request a device list or a history and read the response. Throws as `get`. */
  run<A extends JobAction>(action: A, requester: Requester, params: JobParams[A]): Promise<JobResults[A]> {
    const { url, worker } = this.#options
    const { id: owner, hash } = requester
    return this.#call(action, requester, (signal) => worker.run<A>({ action, url, hash, owner, params }, signal))
  }

  /** To be awaited after a call that many requests may share; see `Pace.turn`. */
  async turn(account: string): Promise<void> {
    await this.#options.pace?.turn(account)
  }

  /** The result of a call that another request has sent. If that may be a probe, which may hang, it is waited for no longer than a second. */
  shared<T>(action: Action, { id: account, isKnown }: Omit<Requester, 'hash'>, sent: Promise<T>): Promise<T> {
    const call = { account, action, isKnown }
    if (this.#breaker.isClosed(call)) return sent
    const refusal = this.#refusal(call)
    return Promise.race([sent, pause(probeMs, undefined, { ref: false }).then(() => Promise.reject(refusal))])
  }

  async close(): Promise<void> {
    await Promise.all([this.#http.close(), this.addresses?.close()])
  }

  /** Every call except address lookups passes through here, whichever thread sends its request. */
  async #call<T>(action: Action, { id: account, isKnown }: Requester, send: Send<T>): Promise<T> {
    const { timeoutMs, onCall } = this.#options
    const call = { account, action, isKnown }
    const started = this.now()
    let outcome: CallOutcome | undefined = 'ok'
    let permit: ReturnType<CircuitBreaker['enter']>
    try {
      if (this.#breaker.waitMs(call) > 0) throw this.#refusal(call)
      const signal = AbortSignal.timeout(timeoutMs)
      return await this.#bulkhead.run(call, signal, async () => {
        // The breaker may have opened while the call waited for its slot.
        permit = this.#breaker.enter(call)
        if (!permit) throw this.#refusal(call)
        // Without time for a response, a call is no sign of an outage: an account's burst would stop all others.
        const isLate = this.now() - started > timeoutMs / 2
        return await send(signal).catch((error: unknown) => {
          const isOurs = isLate && error instanceof PlatformError && error.reason === 'timeout'
          throw isOurs ? failure(action, 'overload', 'it waited too long for its turn') : error
        })
      })
    } catch (error) {
      outcome = error instanceof PlatformError ? error.reason : undefined
      throw error
    } finally {
      // Anything but a PlatformError is a bug of the gateway, and says nothing about the platform.
      permit?.record(outcome ? meanings[outcome].breaker : 'ignored')
      if (outcome) onCall?.({ action, outcome, ms: this.now() - started, account })
    }
  }

  #refusal(call: Call): PlatformUnavailable {
    const retryAfterS = Math.max(1, Math.ceil(this.#breaker.waitMs(call) / 1_000))
    return new PlatformUnavailable(call.action, 'breaker_open', { retryAfterS })
  }
}
