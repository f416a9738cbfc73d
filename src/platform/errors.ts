/** Failures of platform calls, and what each outcome of a call means for the circuit breaker and the health of the platform. */
import type { Outcome } from '../lib/circuit-breaker.js'

interface Meaning {
  breaker: Outcome
  /** Undefined when the outcome does not show whether the platform works. */
  platform: 'up' | 'down' | undefined
}

/** A response that follows the protocol, even a refusal, shows that the platform works. */
const works: Meaning = { breaker: 'success', platform: 'up' }
/** The platform responds, but not usably. The circuit stays closed, since the next call may well work. */
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
export type FailedOutcome = Exclude<CallOutcome, 'ok'>

/** The detail of a refusal by a redirect to a login page, which any web application may do. */
export const loginRedirect = 'redirect to a login page'

interface FailureOptions {
  detail?: string | undefined
  cause?: unknown
  /** Seconds after which to try again, where that is known. */
  retryAfterS?: number
}

/** A call without usable data. `message` and `cause` are for the log; neither holds a hash, a URL or a text of the platform. */
export class PlatformError extends Error {
  readonly action: string
  readonly reason: FailedOutcome
  readonly detail: string | undefined
  readonly retryAfterS: number | undefined
  constructor(action: string, reason: FailedOutcome, { detail, cause, retryAfterS }: FailureOptions = {}) {
    super(`${action}: ${reason}${detail ? ` (${detail})` : ''}`, { cause })
    this.action = action
    this.reason = reason
    this.detail = detail
    this.retryAfterS = retryAfterS
  }
}

/** A failure as a message between threads, without its cause. */
export type Failure = Pick<PlatformError, 'reason' | 'detail'>

/** The platform does not accept the hash (wrong, expired, account deactivated). */
export class PlatformRefused extends PlatformError {
  override name = 'PlatformRefused'
}

/** The hash is valid, but the account lacks the permission for this action. */
export class PlatformForbidden extends PlatformError {
  override name = 'PlatformForbidden'
}

/** No usable response. */
export class PlatformUnavailable extends PlatformError {
  override name = 'PlatformUnavailable'
}

export const isMissingAction = (error: unknown): boolean =>
  error instanceof PlatformError && error.reason === 'missing_action'

/** Whether the account may not use the action, or the platform has none. */
export const isUnsupported = (error: unknown): boolean => error instanceof PlatformForbidden || isMissingAction(error)

const permanentReasons = new Set<CallOutcome>(['forbidden', 'missing_action', 'rejected', 'status_0', 'wrong_shape'])

/** Whether the platform will most likely respond the same to the same request. */
export const isPermanent = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && permanentReasons.has(error.reason)

/** Whether the gateway itself did not send a call, or gave it up: then a hash may be valid. */
export const isLocal = (error: unknown): boolean =>
  error instanceof PlatformError && meanings[error.reason].platform === undefined

/** The failure of a reason, in its class. */
export function failure(action: string, reason: FailedOutcome, detail?: string): PlatformError {
  if (reason === 'refused') return new PlatformRefused(action, reason, { detail })
  const Failed = reason === 'forbidden' ? PlatformForbidden : PlatformUnavailable
  return new Failed(action, reason, { detail })
}
