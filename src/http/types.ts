/** The types of the app, its options and its requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ErrorCode } from '../errors.js'
import type { ByteBudget, Reservation } from '../lib/byte-budget.js'
import type { Pace } from '../lib/pace.js'
import type { Log } from '../ops/log.js'
import type { Metrics, Realm } from '../ops/metrics.js'
import type { Outages } from '../ops/outages.js'
import type { Account } from '../platform/account.js'
import type { Limits } from '../rate-limit/limiter.js'
import type { KeyRecord } from '../store/store.js'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** What the server, the hooks and the handlers of all routes are made of. */
export interface HttpOptions {
  log: Log
  metrics: Metrics
  outages: Outages
  limits: Limits
  pace: Pace
  /** For the responses in flight. */
  budget: ByteBudget
  /** Whose turn a request is. */
  callers: { callerOf(request: IncomingMessage): string }
  trustProxy: false | string[] | ((address: string, hop: number) => boolean)
  /** Monotonic milliseconds. */
  ticks: () => number
  /** While true, responses carry `Connection: close`. */
  isDraining: () => boolean
  /** The page with the error codes. */
  docsUrl: string
  /** The platform of the demo token. */
  demoRealm: Realm
  /** To refuse an account whose hash the platform has refused: nothing of it may stay in a cache. */
  accounts: { refuse(account: Account): void }
}

/** How the account was reached; `key` only for an API key. */
export interface Caller {
  credential: 'platform_hash' | 'api_key' | 'demo'
  key: KeyRecord | null
}

declare module 'node:http' {
  interface IncomingMessage {
    /** How long the request waited for its turn; undefined if it did not. */
    waitedMs?: number
    /** The text of a `POST`. Rejects with an ApiError when it is too large. */
    body?: Promise<string> | undefined
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** One account's view of the platform; set on every route behind a credential. */
    account: Account
    caller: Caller
    /** The error response was requested with `Prefer`. */
    isRehearsed: boolean
    /** `account.id` as far as authentication knows it, also if it fails: for the log, and for the share of the account. */
    accountId: string | undefined
    /** The code of the error response, which perhaps is not sent yet. */
    errorCode: ErrorCode | undefined
  }
  interface FastifyReply {
    /** Reserves memory for a response, bytes, until it is sent. @throws ApiError `gateway_error` where there is none. */
    reserve(bytes: number): void
    reserved: Reservation | undefined
    /** It has a response, which perhaps is not written yet. */
    isSending: boolean
    /** The gateway has responded in place of the handler, which may still do so. */
    isRefused: boolean
  }
  interface FastifyContextConfig {
    /** The route honours `stale-if-error`. */
    servesStale?: boolean
  }
}
