/** The connection to one platform installation: the time limit, the breaker, who asks, one `get()`. Knows no resource and no account. */

import { Breaker, type BreakerState, type Verdict } from '../lib/circuit-breaker.js'
import type { Action } from './actions.js'
import { Digest } from './digest.js'
import { PlatformRefused, PlatformUnavailable, type UnavailableReason } from './errors.js'
import { Exchange } from './http-client.js'
import type { ReadingThread } from './thread.js'

export type Query = Readonly<Record<string, string | number | undefined>>

type Wanted = 'data' | 'digest'

/** What one call came to, for metrics and the health page. `ms` is wall time. */
export interface CallReport {
  action: Action
  outcome: 'ok' | 'refused' | 'forbidden' | UnavailableReason
  ms: number
}

export interface PlatformOptions {
  /** The platform's API base, for example `https://tracker.example.com/api`. */
  url: string
  /** One deadline for the whole of a call, from the queue to the last byte. */
  timeoutMs: number
  /** Reads large answers; without it they are read where they arrive. Stays open when the platform is closed. */
  thread?: ReadingThread
  onCall?: (report: CallReport) => void
  onBreaker?: (state: BreakerState) => void
}

/** Sockets to the platform; a PHP platform serves no more at once anyway. */
const connections = 64
/** Questions remembered for having had large answers. */
const mostLarge = 10_000
/** Calls allowed to wait for a socket before new ones are turned away. */
const maxWaiting = 1_000

/** A platform that fails everybody is left alone for this long before one call probes it. */
const coolDownMs = 2_000

/** Failures of the platform itself; anything else, even a refusal, shows that it works. */
const sick = new Set<UnavailableReason>(['timeout', 'connection', 'server_error', 'html', 'bad_json', 'redirect'])

export class Platform {
  readonly #exchange: Exchange
  readonly #url: string
  readonly #timeoutMs: number
  readonly #thread: ReadingThread | undefined
  readonly #onCall: (report: CallReport) => void
  readonly #breaker: Breaker
  #pending = 0
  /** Actions this platform is too old for; an upgrade is noticed at the next start. */
  readonly #missing = new Set<Action>()
  /** Questions whose answers were read in the thread: the next time it asks them itself, and the bytes never pass here. */
  readonly #large = new Set<string>()

  constructor(options: PlatformOptions) {
    this.#url = options.url
    this.#timeoutMs = options.timeoutMs
    this.#thread = options.thread
    this.#onCall = options.onCall ?? (() => {})
    this.#breaker = new Breaker({
      coolDownMs,
      now: () => performance.now(),
      onState: options.onBreaker ?? (() => {}),
    })
    this.#exchange = new Exchange({ url: options.url, connections, connectTimeoutMs: options.timeoutMs })
  }

  /**
   * Asks one action and returns its data, checked to be an answer to it.
   * @param wanted `digest` where a `Digest` is as good as the data of a large answer.
   * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable; nothing else.
   */
  async get(action: Action, hash: string, query: Query = {}, wanted: Wanted = 'data'): Promise<unknown> {
    const started = performance.now()
    const report = (outcome: CallReport['outcome']): void =>
      this.#onCall({ action, outcome, ms: performance.now() - started })
    try {
      const data = await this.#guarded(action, hash, query, wanted)
      report('ok')
      return data
    } catch (error) {
      if (error instanceof PlatformUnavailable) {
        if (error.reason === 'missing_action') this.#missing.add(action)
        report(error.reason)
      } else report(error instanceof PlatformRefused ? 'refused' : 'forbidden')
      throw error
    }
  }

  /** Whether the platform has answered this action with "no such action" before. */
  lacks(action: Action): boolean {
    return this.#missing.has(action)
  }

  /** Ends every socket; calls under way fail. */
  async close(): Promise<void> {
    await this.#exchange.close()
  }

  /** Past the breaker: turned away at once while the platform is known to be down. */
  async #guarded(action: Action, hash: string, query: Query, wanted: Wanted): Promise<unknown> {
    const permit = this.#breaker.enter(`${action} ${hash}`)
    if (!permit) {
      const retryAfterS = Math.max(1, Math.ceil(this.#breaker.remainingMs / 1_000))
      throw new PlatformUnavailable(action, 'breaker_open', { retryAfterS })
    }
    try {
      const data = await this.#asked(action, searchOf(hash, query), wanted)
      permit.tell('well')
      return data
    } catch (error) {
      permit.tell(verdictOf(error))
      throw error
    }
  }

  async #asked(action: Action, search: string, wanted: Wanted): Promise<unknown> {
    if (this.#pending >= connections + maxWaiting) throw new PlatformUnavailable(action, 'overload')
    this.#pending += 1
    const signal = AbortSignal.timeout(this.#timeoutMs)
    try {
      if (wanted === 'data' || !this.#thread) return await this.#exchange.ask(action, search, { signal })
      return await this.#digested(action, search, signal, this.#thread)
    } finally {
      this.#pending -= 1
    }
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

function searchOf(hash: string, query: Query): string {
  const search = new URLSearchParams({ lang: 'en', user_api_hash: hash })
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return `?${search}`
}

function verdictOf(error: unknown): Verdict {
  if (!(error instanceof PlatformUnavailable)) return 'well'
  // Our own queue being full says nothing of the platform.
  if (error.reason === 'overload') return 'unclear'
  return sick.has(error.reason) ? 'sick' : 'well'
}
