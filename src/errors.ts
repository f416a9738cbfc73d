/** The error table: codes, statuses, headers and bodies of error responses. */
import { type Static, Type } from 'typebox'
import { PlatformForbidden, PlatformRefused, PlatformUnavailable } from './platform/errors.js'
import { StoreUnavailable } from './store/store.js'

/** Code, status and default message of every error response (spec.md, Errors, and the additional codes). */
export const errorTable = {
  invalid_request: [400, 'The request is invalid.'],
  unauthorized: [401, 'Send a credential in the header "Authorization: Bearer <credential>".'],
  invalid_token: [401, 'The credential is wrong, revoked or expired, or its account is deactivated.'],
  forbidden: [403, 'The account has no permission for this on the tracking platform.'],
  not_found: [404, 'There is no such resource.'],
  no_location: [404, 'The device has no recorded position.'],
  method_not_allowed: [405, 'This path does not support this method.'],
  too_many_keys: [409, 'The account has the maximum number of active API keys. Revoke one first.'],
  payload_too_large: [413, 'The request body is larger than 16 KiB.'],
  uri_too_long: [414, 'The request URL is too long.'],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  rate_limit_exceeded: [429, 'Too many requests. Wait the number of seconds in Retry-After, then send fewer requests.'],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'Something went wrong inside the gateway.'],
  gateway_error: [503, 'The tracking platform cannot be reached at the moment. Try again shortly.'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof errorTable

interface ApiErrorOptions {
  /** Never contains text of the platform. */
  message?: string | undefined
  /** The parameter or body field that a 400 is about. */
  param?: string | undefined
  /** Seconds, for `Retry-After`. */
  retryAfterS?: number | undefined
  /** For the log. */
  cause?: unknown
}

/** An error response: one row of the table. */
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

export const ErrorBody = Type.Object(
  {
    error: Type.Enum(Object.keys(errorTable) as ErrorCode[], {
      type: 'string',
      description: 'What went wrong, for programs',
    }),
    message: Type.String({ description: 'What went wrong, for people' }),
    docs: Type.Optional(Type.String({ description: 'Link to the explanation; not on a 429' })),
    param: Type.Optional(Type.String({ description: 'The parameter or field a 400 is about' })),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

/** A 429 has exactly `error` and `message` (spec.md, Errors). @param docsUrl the page with the error codes. */
export function errorBody(error: ApiError, docsUrl: string): ErrorBody {
  const { code, message, param } = error
  if (code === 'rate_limit_exceeded') return { error: code, message }
  return { error: code, message, docs: `${docsUrl}#error-${code}`, ...(param === undefined ? {} : { param }) }
}

/** The headers of an error response (RFC 9110 10.2.3, RFC 6750 3). */
export function errorHeaders({ code, retryAfterS }: ApiError): Record<string, string> {
  return {
    ...(code === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(code === 'invalid_token' ? { 'WWW-Authenticate': 'Bearer error="invalid_token"' } : {}),
    ...(retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) }),
  }
}

/** Errors of Fastify by code. Any other error without a 4xx status is a bug of the gateway. */
const fastifyCodes: Record<string, [code: ErrorCode, message?: string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty, but Content-Type is JSON.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not valid JSON.'],
}

/** The message of a 503 because of overload, which is not the fault of the platform. */
export const overloaded = 'The service is overloaded. Try again shortly.'

/** No `limit` makes it smaller; of a history, fewer days do. */
const tooLarge = 'The response of the tracking platform is too large.'

/** The error response for anything thrown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof PlatformRefused) return new ApiError('invalid_token', { cause: error })
  if (error instanceof PlatformForbidden) {
    const resource = resourceOfAction[error.action] ?? error.action.replace(/^get_(user_)?/, '')
    const message = `The account has no permission to read ${resource} on the tracking platform.`
    return new ApiError('forbidden', { cause: error, message })
  }
  if (error instanceof PlatformUnavailable) {
    const message = error.reason === 'overload' ? overloaded : error.reason === 'too_large' ? tooLarge : undefined
    return new ApiError('gateway_error', { cause: error, message, retryAfterS: error.retryAfterS })
  }
  if (error instanceof StoreUnavailable) {
    const message = 'The store of API keys is not available at the moment. Try again shortly.'
    return new ApiError('gateway_error', { cause: error, message, retryAfterS: 1 })
  }
  const { code: given, statusCode: status } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  const isRefused = typeof status === 'number' && status >= 400 && status < 500
  const [code, message] = fastifyCodes[String(given)] ?? [isRefused ? 'invalid_request' : 'internal_error']
  return new ApiError(code, { cause: error, message })
}

/** The resources of platform actions that have another name, for the message of a 403. */
const resourceOfAction: Record<string, string> = {
  services: 'maintenance services',
  get_services: 'maintenance services',
  edit_setup_data: 'its time zone',
}
