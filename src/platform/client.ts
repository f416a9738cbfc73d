/** The client of one platform installation: every call passes the circuit breaker and the bulkhead, has one deadline, and is reported. */
import { hash as digest } from 'node:crypto'
import { BoundedMap } from '../lib/bounded-map.js'
import { type BreakerState, CircuitBreaker, type Outcome } from '../lib/circuit-breaker.js'
import type { Action } from './actions.js'
import { Bulkhead, maxInFlight } from './bulkhead.js'
import { Digest } from './digest.js'
import { type CallOutcome, meanings, outcomeOf, PlatformUnavailable } from './errors.js'
import { Exchange } from './http-client.js'
import { MissingActions } from './missing-actions.js'
import type { ReadingThread } from './thread.js'

export type Query = Readonly<Record<string, string | number | undefined>>

type Wanted = 'data' | 'digest'

/** One call, for metrics and the health page. `ms` is wall time, waiting for a slot included. */
export interface CallReport {
  action: Action
  outcome: CallOutcome
  ms: number
}

export interface PlatformOptions {
  /** The platform's API base, for example `https://tracker.example.com/api`. */
  url: string
  /** Deadline of one call, from the queue to the last byte. */
  timeoutMs: number
  /** Reads large responses; without it they are read where they arrive. Stays open when the platform is closed. */
  thread?: ReadingThread
  onCall?: (report: CallReport) => void
  onBreaker?: (state: BreakerState) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

/** Requests remembered for having had large responses. */
const mostLarge = 10_000
/** How long the breaker waits before a probe. */
const coolDownMs = 2_000
/** Accounts to remember as validated; beyond this, the oldest is forgotten. */
const maxValidated = 20_000

export class Platform {
  readonly #exchange: Exchange
  readonly #url: string
  readonly #timeoutMs: number
  readonly #thread: ReadingThread | undefined
  readonly #onCall: (report: CallReport) => void
  readonly #breaker: CircuitBreaker
  readonly #missing: MissingActions
  /** Accounts with a response of data: unlike the others, not invented by a caller. */
  readonly #validated = new BoundedMap<string, true>(maxValidated)
  /** Requests whose responses were read in the thread: the next time it sends them itself, and the bytes never pass here. */
  readonly #large = new Set<string>()
  readonly bulkhead = new Bulkhead()

  constructor(options: PlatformOptions) {
    const { now = () => performance.now(), onCall = () => {}, onBreaker = () => {} } = options
    this.#url = options.url
    this.#timeoutMs = options.timeoutMs
    this.#thread = options.thread
    this.#onCall = onCall
    this.#breaker = new CircuitBreaker({ coolDownMs, now, onState: onBreaker })
    this.#missing = new MissingActions(now)
    this.#exchange = new Exchange({ url: options.url, connections: maxInFlight, connectTimeoutMs: options.timeoutMs })
  }

  /**
   * Requests one action and returns the data of the response, checked to be a response to it.
   * @param wanted `digest` where a `Digest` is as good as the data of a large response.
   * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable; nothing else.
   */
  get(action: Action, hash: string, query: Query = {}, wanted: Wanted = 'data'): Promise<unknown> {
    const search = searchOf(hash, query)
    return this.#call(action, hash, (signal) =>
      wanted === 'data' || !this.#thread
        ? this.#exchange.ask(action, search, { signal })
        : this.#digested(action, search, signal, this.#thread),
    )
  }

  /** Whether the platform, to this account, had no such action a short while ago. */
  lacks(action: Action, hash: string): boolean {
    return this.#missing.has(nameOf(hash), action)
  }

  /** Closes every socket; calls in flight fail. */
  async close(): Promise<void> {
    await this.#exchange.close()
  }

  /** The one way to the platform, whatever sends the request. */
  async #call<T>(action: Action, hash: string, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const account = nameOf(hash)
    const started = performance.now()
    const report = (outcome: CallOutcome): void => {
      if (meanings[outcome].breaker === 'success') this.#missing.record(account, action, outcome === 'missing_action')
      this.#onCall({ action, outcome, ms: performance.now() - started })
    }
    try {
      const found = await this.#guarded(action, account, send)
      report('ok')
      return found
    } catch (error) {
      report(outcomeOf(error))
      throw error
    }
  }

  async #guarded<T>(action: Action, account: string, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const caller = { account, subject: `${account} ${action}`, isKnown: this.#validated.has(account) }
    const refusal = (): PlatformUnavailable => {
      const retryAfterS = Math.max(1, Math.ceil(this.#breaker.waitMs(caller) / 1_000))
      return new PlatformUnavailable(action, 'breaker_open', { retryAfterS })
    }
    if (this.#breaker.waitMs(caller) > 0) throw refusal()
    const signal = AbortSignal.timeout(this.#timeoutMs)
    return await this.bulkhead.run(account, action, signal, async () => {
      // The breaker may have opened while the call waited for its slot.
      const permit = this.#breaker.enter(caller)
      if (!permit) throw refusal()
      // Stays so after a bug of the gateway: an error that is no platform failure.
      let health: Outcome = 'ignored'
      try {
        const found = await send(signal)
        health = 'success'
        this.#validated.set(account, true)
        return found
      } catch (error) {
        health = meanings[outcomeOf(error)].breaker
        throw error
      } finally {
        permit.record(health)
      }
    })
  }

  async #digested(action: Action, search: string, signal: AbortSignal, thread: ReadingThread): Promise<unknown> {
    const question = `${action}${search}`
    const found = this.#large.has(question)
      ? await thread.ask({ action, search, url: this.#url, connectTimeoutMs: this.#timeoutMs }, signal)
      : await this.#exchange.ask(action, search, { signal, thread })
    this.#large.delete(question)
    if (!(found instanceof Digest)) return found
    const [oldest] = this.#large
    if (this.#large.size === mostLarge && oldest !== undefined) this.#large.delete(oldest)
    this.#large.add(question)
    return found
  }
}

/** Names an account in memory: its hash in clear stays with the `Account`. */
const nameOf = (hash: string): string => digest('sha256', hash, 'base64url')

function searchOf(hash: string, query: Query): string {
  const search = new URLSearchParams({ lang: 'en', user_api_hash: hash })
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return `?${search}`
}
