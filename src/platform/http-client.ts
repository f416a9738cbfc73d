/** One question to a platform and its answer, over sockets of its own, in whichever thread it is asked. Knows no account, no breaker and no time limit. */
import { Pool } from 'undici'
import type { Action } from './actions.js'
import { type Reading, readBody } from './body.js'
import { PlatformUnavailable } from './errors.js'
import { dataOf, failureOfStatus } from './response.js'

export interface ExchangeOptions {
  /** The platform's API base, for example `https://tracker.example.com/api`. */
  url: string
  /** Sockets at once. */
  connections: number
  connectTimeoutMs: number
}

/** Failures that happened before the platform can have begun an answer; a read may be asked again. */
const retryable = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

export class Exchange {
  readonly #pool: Pool
  readonly #path: string

  constructor({ url, connections, connectTimeoutMs }: ExchangeOptions) {
    const { origin, pathname } = new URL(url)
    this.#path = pathname.replace(/(?<!\/)\/+$/, '')
    // The one deadline is the caller's signal; undici's own timers are coarse and would only confuse the cause.
    this.#pool = new Pool(origin, {
      connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: connectTimeoutMs },
    })
  }

  /**
   * Asks, once more where the first try cannot have begun an answer, and returns the data, checked to be an answer.
   * @param search the question, beginning with its `?`.
   * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable; nothing else.
   */
  async ask(action: Action, search: string, reading: Reading): Promise<unknown> {
    const { signal } = reading
    const path = `${this.#path}/${action}${search}`
    try {
      return await this.#once(action, path, reading).catch((error: unknown) => {
        if (!retryable.has(codeOf(error)) || signal.aborted) throw error
        return this.#once(action, path, reading)
      })
    } catch (error) {
      throw asFailure(action, error, signal)
    }
  }

  /** Ends every socket; questions under way fail. */
  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #once(action: Action, path: string, reading: Reading): Promise<unknown> {
    const { signal } = reading
    const headers = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'gps-fleet-gateway' }
    const answer = await this.#pool.request({ method: 'GET', path, headers, signal })
    const { statusCode: status, body } = answer
    const location = typeof answer.headers.location === 'string' ? answer.headers.location : undefined
    const failure = failureOfStatus(action, { status, location })
    if (failure) {
      // Reading on keeps the socket for the next call; a long error page is not worth it and drops the socket.
      await body.dump({ limit: 128 * 1024, signal }).catch(() => {})
      throw failure
    }
    const read = await readBody(action, body, answer.headers['content-encoding'], reading)
    return dataOf(action, { status, location, body: read })
  }
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
