/** What the platform can do to us instead of answering: refuse, forbid, or be unavailable. Knows no HTTP status of ours. */

/** Why the platform gave no usable answer; a closed list, safe as a metric label. */
export type UnavailableReason =
  | 'timeout'
  | 'connection'
  | 'overload'
  | 'breaker_open'
  | 'redirect'
  | 'missing_action'
  | 'rejected'
  | 'rate_limited'
  | 'server_error'
  | 'html'
  | 'bad_json'
  | 'wrong_shape'
  | 'status_0'
  | 'too_large'

/** The platform does not accept the hash (wrong, expired, account deactivated). */
export class PlatformRefused extends Error {
  override name = 'PlatformRefused'
  readonly action: string
  readonly detail: string
  constructor(action: string, detail: string) {
    super(`the platform refused the credential on ${action}: ${detail}`)
    this.action = action
    this.detail = detail
  }
}

/** The hash is good, but the account lacks the permission for this action. */
export class PlatformForbidden extends Error {
  override name = 'PlatformForbidden'
  readonly action: string
  constructor(action: string) {
    super(`the platform forbids ${action} to this account`)
    this.action = action
  }
}

interface UnavailableOptions {
  detail?: string
  cause?: unknown
  retryAfterS?: number
}

/** No usable answer. `message` and `cause` are for the log; neither holds a hash, a URL or a text of the platform. */
export class PlatformUnavailable extends Error {
  override name = 'PlatformUnavailable'
  readonly action: string
  readonly reason: UnavailableReason
  /** Seconds until asking again is worth it, where that is known. */
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

/** A failure as it goes from one thread to another, without its cause. */
export type Failure =
  | { name: 'refused'; detail: string }
  | { name: 'forbidden' }
  | { name: 'unavailable'; reason: UnavailableReason; detail: string | undefined }

/** @throws what is none of the three. */
export function toFailure(error: unknown): Failure {
  if (error instanceof PlatformRefused) return { name: 'refused', detail: error.detail }
  if (error instanceof PlatformForbidden) return { name: 'forbidden' }
  if (!(error instanceof PlatformUnavailable)) throw error
  return { name: 'unavailable', reason: error.reason, detail: error.detail }
}

export function fromFailure(action: string, failure: Failure): Error {
  if (failure.name === 'refused') return new PlatformRefused(action, failure.detail)
  if (failure.name === 'forbidden') return new PlatformForbidden(action)
  const { reason, detail } = failure
  return new PlatformUnavailable(action, reason, detail === undefined ? {} : { detail })
}
