/** The connection to one platform installation: the pool, the time limit, one `get()`. Knows no resource and no account. */
import { Pool } from 'undici'
import type { Action } from './actions.js'
import { dataOf, failureOfStatus } from './answer.js'
import { type Reading, readBody } from './body.js'
import { Breaker, type BreakerState, type Verdict } from './breaker.js'
import { PlatformRefused, PlatformUnavailable, type UnavailableReason } from './errors.js'
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
/** Calls allowed to wait for a socket before new ones are turned away. */
const maxWaiting = 1_000

/** A platform that fails everybody is left alone for this long before one call probes it. */
const coolDownMs = 2_000

/** Failures of the platform itself; anything else, even a refusal, shows that it works. */
const sick = new Set<UnavailableReason>(['timeout', 'connection', 'server_error', 'html', 'bad_json', 'redirect'])

/** Failures that happened before the platform can have begun an answer; a read may be asked again. */
const retryable = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

export class Platform {
  readonly #pool: Pool
  readonly #path: string
  readonly #timeoutMs: number
  readonly #thread: ReadingThread | undefined
  readonly #onCall: (report: CallReport) => void
  readonly #breaker: Breaker
  #pending = 0
  /** Actions this platform is too old for; an upgrade is noticed at the next start. */
  readonly #missing = new Set<Action>()

  constructor(options: PlatformOptions) {
    const url = new URL(options.url)
    this.#path = url.pathname.replace(/\/+$/, '')
    this.#timeoutMs = options.timeoutMs
    this.#thread = options.thread
    this.#onCall = options.onCall ?? (() => {})
    this.#breaker = new Breaker({
      coolDownMs,
      now: () => performance.now(),
      onState: options.onBreaker ?? (() => {}),
    })
    // The one deadline is ours (an AbortSignal); undici's own timers are coarse and would only confuse the cause.
    this.#pool = new Pool(url.origin, {
      connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: options.timeoutMs },
    })
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
    await this.#pool.destroy()
  }

  /** Past the breaker: turned away at once while the platform is known to be down. */
  async #guarded(action: Action, hash: string, query: Query, wanted: Wanted): Promise<unknown> {
    const permit = this.#breaker.enter(`${action} ${hash}`)
    if (!permit) {
      const retryAfterS = Math.max(1, Math.ceil(this.#breaker.remainingMs / 1_000))
      throw new PlatformUnavailable(action, 'breaker_open', { retryAfterS })
    }
    try {
      const data = await this.#asked(action, this.#target(action, hash, query), wanted)
      permit.tell('well')
      return data
    } catch (error) {
      permit.tell(verdictOf(error))
      throw error
    }
  }

  #target(action: Action, hash: string, query: Query): string {
    const search = new URLSearchParams({ lang: 'en', user_api_hash: hash })
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
    return `${this.#path}/${action}?${search}`
  }

  async #asked(action: Action, target: string, wanted: Wanted): Promise<unknown> {
    if (this.#pending >= connections + maxWaiting) throw new PlatformUnavailable(action, 'overload')
    this.#pending += 1
    const signal = AbortSignal.timeout(this.#timeoutMs)
    const reading = { signal, thread: wanted === 'digest' ? this.#thread : undefined }
    try {
      return await this.#exchange(action, target, reading).catch((error: unknown) => {
        if (!retryable.has(codeOf(error)) || signal.aborted) throw error
        return this.#exchange(action, target, reading)
      })
    } catch (error) {
      throw asFailure(action, error, signal)
    } finally {
      this.#pending -= 1
    }
  }

  async #exchange(action: Action, target: string, reading: Reading): Promise<unknown> {
    const { signal } = reading
    const {
      statusCode: status,
      headers,
      body,
    } = await this.#pool.request({
      method: 'GET',
      path: target,
      headers: { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'gps-fleet-gateway' },
      signal,
    })
    const location = typeof headers.location === 'string' ? headers.location : undefined
    const failure = failureOfStatus(action, { status, location })
    if (failure) {
      // Reading on keeps the socket for the next call; a long error page is not worth it and drops the socket.
      await body.dump({ limit: 128 * 1024, signal }).catch(() => {})
      throw failure
    }
    return dataOf(action, {
      status,
      location,
      body: await readBody(action, body, headers['content-encoding'], reading),
    })
  }
}

function verdictOf(error: unknown): Verdict {
  if (!(error instanceof PlatformUnavailable)) return 'well'
  // Our own queue being full says nothing of the platform.
  if (error.reason === 'overload') return 'unclear'
  return sick.has(error.reason) ? 'sick' : 'well'
}

/** Anything that was thrown on the way as one of the three failures; undici's errors carry codes, never the URL's query. */
function asFailure(action: Action, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return new PlatformUnavailable(action, 'timeout')
  if (error instanceof Error && error.name.startsWith('Platform')) return error
  const code = codeOf(error)
  // What zlib cannot unpack came over a connection that held.
  const reason = code.startsWith('Z_') ? 'bad_json' : 'connection'
  return new PlatformUnavailable(action, reason, { detail: code, cause: error })
}
