/** The table of error codes, and what a caller is told of any failure. Knows no route. */
import { PlatformForbidden, PlatformRefused, PlatformUnavailable } from './platform/errors.js'
import { StoreUnavailable } from './store/store.js'

/** Code, status, default sentence: everything a caller can be told (spec.md, Errors, and the codes beyond it). */
export const errorTable = {
  invalid_request: [400, 'The request cannot be understood.'],
  unauthorized: [401, 'Send a credential in the header "Authorization: Bearer <credential>".'],
  invalid_token: [401, 'The credential is wrong, revoked or expired, or its account is deactivated.'],
  forbidden: [403, 'The account lacks the permission for this on the tracking platform.'],
  not_found: [404, 'There is no such resource.'],
  no_location: [404, 'The device has no recorded position.'],
  method_not_allowed: [405, 'This path does not answer that method.'],
  too_many_keys: [409, 'The account holds as many active API keys as it may. Revoke one first.'],
  payload_too_large: [413, 'The request body is larger than 16 KiB.'],
  uri_too_long: [414, 'The request address is too long.'],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  rate_limit_exceeded: [429, 'Too many requests. Wait as many seconds as Retry-After says, then slow down.'],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'Something went wrong inside the gateway.'],
  gateway_error: [503, 'The tracking platform cannot be reached at the moment. Try again shortly.'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof errorTable

export interface ApiErrorOptions {
  /** For the caller; never holds a text of the platform. */
  message?: string
  /** The parameter or body field a 400 is about. */
  param?: string
  /** Seconds, for `Retry-After`. */
  retryAfterS?: number
  /** For the log. */
  cause?: unknown
}

/** A failure as the caller sees it: one row of the table. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly statusCode: number
  readonly param: string | undefined
  readonly retryAfterS: number | undefined
  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? errorTable[code][1], { cause: options.cause })
    this.code = code
    this.statusCode = errorTable[code][0]
    this.param = options.param
    this.retryAfterS = options.retryAfterS ?? (code === 'gateway_error' ? 5 : undefined)
  }
}

export interface ErrorBody {
  error: ErrorCode
  message: string
  docs?: string
  param?: string
}

/** The body of an error; a 429 is exactly `error` and `message` (spec.md, Errors). @param docsUrl the page with the anchors. */
export function errorBody(error: ApiError, docsUrl: string): ErrorBody {
  const { code, message, param } = error
  if (code === 'rate_limit_exceeded') return { error: code, message }
  return { error: code, message, docs: `${docsUrl}#error-${code}`, ...(param === undefined ? {} : { param }) }
}

/** Headers that belong to a code (RFC 9110 10.2.3, RFC 6750 3). */
export function errorHeaders({ code, retryAfterS }: ApiError): Record<string, string> {
  return {
    ...(code === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(code === 'invalid_token' ? { 'WWW-Authenticate': 'Bearer error="invalid_token"' } : {}),
    ...(retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) }),
  }
}

/** Fastify's own failures by their code; what is not here and has no 4xx status is a bug of ours. */
const fastifyCodes: Record<string, [ErrorCode, string?]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty where JSON is announced.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says.'],
  FST_ERR_HANDLER_TIMEOUT: ['gateway_error'],
  FST_ERR_BAD_URL: ['invalid_request', 'The request address is malformed.'],
}

/** One finding of the body's validation. */
interface Invalid {
  instancePath?: string
  params?: Record<string, unknown>
  message?: string
}

interface FastifyFailure {
  code?: unknown
  statusCode?: unknown
  validation?: Invalid[]
}

/** What the caller is told of anything that was thrown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof PlatformRefused) return new ApiError('invalid_token', { cause: error })
  if (error instanceof PlatformForbidden) {
    return new ApiError('forbidden', { cause: error, message: forbiddenText(error.action) })
  }
  if (error instanceof PlatformUnavailable) {
    const { retryAfterS } = error
    return new ApiError('gateway_error', { cause: error, ...(retryAfterS === undefined ? {} : { retryAfterS }) })
  }
  if (error instanceof StoreUnavailable) {
    const message = 'API keys cannot be checked at the moment. Try again shortly.'
    return new ApiError('gateway_error', { cause: error, message, retryAfterS: 1 })
  }
  return fromFastify(error)
}

function fromFastify(error: unknown): ApiError {
  const { code, statusCode, validation } = (typeof error === 'object' && error !== null ? error : {}) as FastifyFailure
  const known = typeof code === 'string' ? fastifyCodes[code] : undefined
  if (known) {
    const [ours, message] = known
    return new ApiError(ours, { cause: error, ...(message === undefined ? {} : { message }) })
  }
  const invalid = validation?.[0]
  if (invalid) return new ApiError('invalid_request', { ...invalidBody(invalid), cause: error })
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new ApiError(statusCode === 413 ? 'payload_too_large' : 'invalid_request', { cause: error })
  }
  return new ApiError('internal_error', { cause: error })
}

function invalidBody({ instancePath = '', params, message = 'is not valid' }: Invalid): ApiErrorOptions {
  const field = instancePath.split('/')[1]
  if (field) return { param: field, message: `${field} ${message}.` }
  const [missing] = [params?.requiredProperties].flat()
  if (typeof missing === 'string') return { param: missing, message: `${missing} is required.` }
  return { message: `The body ${message}.` }
}

/** Platform actions in the words of our resources, for the sentence of a 403. */
const resourceOfAction: Record<string, string> = {
  get_devices: 'devices',
  get_geofences: 'geofences',
  get_events: 'events',
  get_history: 'history',
  get_alerts: 'alerts',
  services: 'maintenance services',
  get_services: 'maintenance services',
  get_user_drivers: 'drivers',
}

const forbiddenText = (action: string): string =>
  `The account has no permission to read ${resourceOfAction[action] ?? 'this'} on the tracking platform.`
