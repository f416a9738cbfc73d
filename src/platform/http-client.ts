/** HTTP requests to one platform over a socket pool of its own, in whichever thread it is created. */
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
// The whole package has fetch, caches and mocks as well, which take 9 MB in each thread.
import request from 'undici/lib/api/api-request.js'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import type { Action, PlatformQuery } from './actions.js'
import { textIn, unpacked } from './body.js'
import { ConnectionPool } from './connection-pool.js'
import { failure, PlatformError, PlatformUnavailable } from './errors.js'
import { failureOfStatus, isSuccess, mayRefuse } from './response.js'

export interface PlatformRequest extends PlatformQuery {
  readonly hash: string
}

/** Reads the body of a good response; whatever it throws fails the request. */
type ReadBody<T> = (body: AsyncIterable<Uint8Array>) => Promise<T>

/** For undici's parser errors, which may have no code of their own. The end of a connection within a body can be one. */
const parserError = 'HPE_INVALID'

/** Failures of the connection, also within a body: every request is a read, and safe to send again. */
const retryable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  parserError,
])

/** An error page that is longer costs the socket; so does one that is slower, unless it decides what the failure is. */
const [maxErrorPageBytes, maxErrorPageMs] = [128 * 1024, 1_000]

/** The time to connect to one of several addresses, long enough to send a lost packet again. With Node's 250 ms no distant one is reached. */
const connectMs = 1_500

const headers = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'gps-fleet-gateway' }

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error.name === 'HTTPParserError') return parserError
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export class HttpClient {
  readonly #pool: ConnectionPool<Client>
  readonly #names = sharedLookup()
  readonly #basePath: string

  /** @param url the platform's API base. @param connections requests at once. */
  constructor({ url, connections }: { url: string; connections: number }) {
    const { origin, pathname } = new URL(url)
    this.#basePath = pathname.replace(/(?<!\/)\/+$/, '')
    // One for all connections, since it keeps the TLS sessions to resume.
    const connect = buildConnector({ lookup: this.#names.lookup, autoSelectFamilyAttemptTimeout: connectMs })
    // The caller's signal is the only deadline: undici's timers are coarse and would hide the cause.
    const options = { headersTimeout: 0, bodyTimeout: 0, connect }
    this.#pool = new ConnectionPool(connections, () => new Client(origin, options))
  }

  /**
   * Sends a GET and reads the body of its response; sent once more after a connection failure, over a new connection: all idle ones may be lost.
   * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable; anything else is a bug in `read`.
   */
  async send<T>(query: PlatformRequest, signal: AbortSignal, read: ReadBody<T>): Promise<T> {
    const attempt = (isNew: boolean): Promise<T> =>
      this.#pool.use(query.hash, isNew, (client) => this.#attempt(client, query, signal, read))
    try {
      return await attempt(false).catch((error: unknown) => {
        if (!retryable.has(codeOf(error)) || signal.aborted) throw error
        return attempt(true)
      })
    } catch (error) {
      throw asPlatformError(query.action, error, signal)
    }
  }

  /** Closes every socket; requests in flight fail. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  async #attempt<T>(client: Client, query: PlatformRequest, signal: AbortSignal, read: ReadBody<T>) {
    const { action } = query
    const path = `${this.#basePath}/${action}${searchOf(query)}`
    const send = () => request.call(client, { method: 'GET', path, headers, signal })
    const response = await unlessAborted(signal, send, () => {
      const isConnected = client.stats.connected
      const detail = this.#names.isPending() ? 'name lookup' : isConnected ? undefined : 'no connection'
      return failure(action, 'timeout', detail)
    })
    const { statusCode: status, body } = response
    const { location, 'content-encoding': encoding } = response.headers
    if (isSuccess(status)) return await read(unpacked(body, encoding))
    let page: string | undefined
    // The page shows who refuses, so it may take as long as data. A page that is too long is not a refusal by the platform.
    if (mayRefuse(status)) page = await textIn(unpacked(body, encoding), maxErrorPageBytes)
    else await body.dump({ limit: maxErrorPageBytes, signal: AbortSignal.timeout(maxErrorPageMs) }).catch(() => {})
    throw failureOfStatus(action, { status, location: typeof location === 'string' ? location : undefined, body: page })
  }
}

/**
 * Concurrent lookups of the name share one. A process has two threads for all lookups, also that of Redis: while the name server hangs, one
 * lookup per socket would keep both busy for minutes.
 */
function sharedLookup(): { lookup: LookupFunction; isPending: () => boolean } {
  let waiting: Parameters<LookupFunction>[2][] = []
  const shared: LookupFunction = (host, options, callback) => {
    if (waiting.push(callback) > 1) return
    lookup(host, options, (...found) => {
      const callbacks = waiting
      waiting = []
      for (const callback of callbacks) callback(...found)
    })
  }
  return { lookup: shared, isPending: () => waiting.length > 0 }
}

/** undici heeds the signal of a request only once it has a connection, for which it waits up to 10 seconds. */
function unlessAborted<T>(signal: AbortSignal, send: () => Promise<T>, reason: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(reason())
    signal.addEventListener('abort', abort, { once: true })
    // Before undici's listener, which closes the connection.
    send()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
  })
}

function searchOf({ hash, query }: PlatformRequest): string {
  const search = new URLSearchParams({ lang: 'en', user_api_hash: hash })
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return `?${search}`
}

/** An error of undici, Node or zlib as a platform failure: it has a code, and never the URL's query. */
function asPlatformError(action: Action, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof PlatformError) return error
  if (signal.aborted) return failure(action, 'timeout')
  const code = codeOf(error)
  if (code === '') return error
  // A zlib error means that the connection held and the body is corrupt.
  const reason = code.startsWith('Z_') ? 'bad_json' : 'connection'
  return new PlatformUnavailable(action, reason, { detail: code, cause: error })
}
