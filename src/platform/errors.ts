/** Failures of platform calls, and what each outcome of a call means for the circuit breaker and the health of the platform. */
import type { Outcome } from '../lib/circuit-breaker.js'

interface Meaning {
  breaker: Outcome
  /** Undefined when the outcome does not show whether the platform works. */
  platform: 'up' | 'down' | undefined
}

/** A response that follows the protocol, even a refusal, shows that the platform works. */
const works: Meaning = { breaker: 'success', platform: 'up' }
/** The platform responds but cannot be used: the next call may well work, so callers need no sparing. */
const unusable: Meaning = { breaker: 'success', platform: 'down' }
const fails: Meaning = { breaker: 'failure', platform: 'down' }
/** The gateway itself did not send the call, or gave it up. */
const local: Meaning = { breaker: 'ignored', platform: undefined }

/** How a call ended, and what that means; a closed list, safe as a metric label. */
export const meanings = {
  ok: works,
  refused: works,
  forbidden: works,
  missing_action: works,
  rejected: works,
  status_0: works,
  rate_limited: unusable,
  wrong_shape: unusable,
  foreign_refusal: unusable,
  too_large: unusable,
  timeout: fails,
  connection: fails,
  redirect: fails,
  server_error: fails,
  html: fails,
  bad_json: fails,
  overload: local,
  breaker_open: local,
} satisfies Record<string, Meaning>

export type CallOutcome = keyof typeof meanings
/** Why there is no usable response. */
type UnavailableReason = Exclude<CallOutcome, 'ok' | 'refused' | 'forbidden'>

/** The detail of a refusal by a redirect. */
export const loginRedirect = 'redirect to a login page'

/** The platform does not accept the hash (wrong, expired, account deactivated). */
export class PlatformRefused extends Error {
  override name = 'PlatformRefused'
  readonly action: string
  readonly detail: string
  /** Refused by a redirect to a login page, which any web application may do. */
  get isRedirect(): boolean {
    return this.detail === loginRedirect
  }
  constructor(action: string, detail: string) {
    super(`the platform refused the credential on ${action}: ${detail}`)
    this.action = action
    this.detail = detail
  }
}

/** The hash is valid, but the account lacks the permission for this action. */
export class PlatformForbidden extends Error {
  override name = 'PlatformForbidden'
  readonly action: string
  constructor(action: string) {
    super(`the platform forbids ${action} to this account`)
    this.action = action
  }
}

interface UnavailableOptions {
  detail?: string | undefined
  cause?: unknown
  retryAfterS?: number
}

/** No usable response. `message` and `cause` are for the log; neither holds a hash, a URL or a text of the platform. */
export class PlatformUnavailable extends Error {
  override name = 'PlatformUnavailable'
  readonly action: string
  readonly reason: UnavailableReason
  /** Seconds after which to try again, where that is known. */
  readonly retryAfterS: number | undefined
  readonly detail: string | undefined
  constructor(action: string, reason: UnavailableReason, options: UnavailableOptions = {}) {
    super(`${action}: ${reason}${options.detail ? ` (${options.detail})` : ''}`, { cause: options.cause })
    this.action = action
    this.reason = reason
    this.retryAfterS = options.retryAfterS
    this.detail = options.detail
  }
}

/** A failure as a message between threads, without its cause. */
export type Failure =
  | { name: 'refused'; detail: string }
  | { name: 'forbidden' }
  | { name: 'unavailable'; reason: UnavailableReason; detail: string | undefined }

/** @throws anything else than a platform failure. */
export function toFailure(error: unknown): Failure {
  if (error instanceof PlatformRefused) return { name: 'refused', detail: error.detail }
  if (error instanceof PlatformForbidden) return { name: 'forbidden' }
  if (!(error instanceof PlatformUnavailable)) throw error
  return { name: 'unavailable', reason: error.reason, detail: error.detail }
}

export function fromFailure(action: string, failure: Failure): Error {
  if (failure.name === 'refused') return new PlatformRefused(action, failure.detail)
  if (failure.name === 'forbidden') return new PlatformForbidden(action)
  return new PlatformUnavailable(action, failure.reason, { detail: failure.detail })
}

/** Classifies the error of a platform call. @throws the error itself if it is not a platform failure. */
export function outcomeOf(error: unknown): CallOutcome {
  const failure = toFailure(error)
  return failure.name === 'unavailable' ? failure.reason : failure.name
}
