/** The errors an operation can respond with, derived from its definition, and the shared responses for them. Pure. */
import { ApiError, ErrorBody, type ErrorCode, errorBody, errorTable } from '../errors.js'
import type { JsonObject, Operation, Response, Schema } from './openapi.js'

/** A header whose type is that of its example. */
const header = (description: string, example: string | number, minimum = 0): JsonObject => {
  const schema: JsonObject = typeof example === 'number' ? { type: 'integer', minimum } : { type: 'string' }
  return { description, schema, example }
}

export const headers: Record<string, JsonObject> = {
  'RateLimit-Limit': header('Requests per window', 100, 1),
  'RateLimit-Remaining': header('Requests left in this window', 87),
  'RateLimit-Reset': header('Seconds until the window ends', 42),
  'X-Request-Id': header('Identifies this request in our log; a valid id from the request is kept', 'req-7f3a'),
  'X-Api-Key-Expires': header(
    'Expiry of the API key in the request; only in its last 30 days',
    'Tue, 12 May 2026 09:30:00 GMT',
  ),
  ETag: header('Tag of the body, for `If-None-Match`', 'W/"4vEJqUoXIPSFZ1gGVrdnNA"'),
  'Cache-Control': header('How long the response may be reused', 'private, max-age=5'),
  Vary: header('The request headers that the response depends on', 'Authorization, Accept-Encoding'),
  Age: header('Seconds since the data was requested from the platform; only with devices', 3),
  'Cache-Status': header(
    'Only on a response that the request allowed with `stale-if-error`: it is older than `max-age` (RFC 9211)',
    'gps-fleet-gateway; hit; ttl=-85',
  ),
  'Retry-After': header('Seconds to wait before the next attempt', 42, 1),
  'Preference-Applied': header('The part of `Prefer` that requested this error', 'error=not_found'),
  'WWW-Authenticate': header('The required scheme (RFC 6750)', 'Bearer'),
}

const onEvery = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'X-Request-Id']

/** References to the headers of every response, plus the given ones. */
export const headerRefs = (...more: string[]): JsonObject =>
  Object.fromEntries([...onEvery, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const extraHeaders: Partial<Record<number, string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** The tags whose operations need no permission on the platform. */
const withoutPermission = new Set(['Service', 'Account', 'API keys'])

/** Whether the operation needs a credential in its header. */
export const isProtected = ({ security }: Operation): boolean => security?.length !== 0

/** The error codes of an operation, without those of requests that never reach it. */
export function codesOf(operation: Operation): ErrorCode[] {
  const { operationId, parameters = [], requestBody, tags } = operation
  const hasParameterIn = (place: string): boolean => parameters.some((parameter) => parameter.in === place)
  const hasBody = requestBody !== undefined
  const hasCredential = isProtected(operation) || hasBody
  return [
    ...when(hasParameterIn('query') || hasBody, 'invalid_request'),
    ...when(isProtected(operation), 'unauthorized'),
    ...when(hasCredential, 'invalid_token'),
    ...when(operationId === 'createKey' || !tags.some((tag) => withoutPermission.has(tag)), 'forbidden'),
    ...when(hasParameterIn('path') || operationId === 'createKey', 'not_found'),
    ...when(operationId === 'getDeviceLocation', 'no_location'),
    ...when(hasBody, 'too_many_keys', 'payload_too_large', 'unsupported_media_type'),
    ...when(hasCredential, 'rate_limit_exceeded', 'internal_error', 'gateway_error'),
  ]
}

const when = (applies: boolean, ...codes: ErrorCode[]): ErrorCode[] => (applies ? codes : [])

/** The codes of requests that are rejected before they reach an operation: a malformed URL, for example, or two credentials. */
const earlyCodes: ErrorCode[] = ['invalid_request', 'uri_too_long', 'headers_too_large']

/** The shared responses for the errors of an operation. Each status by itself: orval writes `4XX` into its types as a number. */
export function errorResponses(operation: Operation): { status: number; name: string; response: Response }[] {
  const codes = [...new Set([...codesOf(operation), ...earlyCodes])]
  return [...new Set(codes.map((code) => errorTable[code][0]))].map((status) => {
    const group = codes.filter((code) => errorTable[code][0] === status)
    return { status, name: responseName(group), response: errorResponse(status, group) }
  })
}

/** `not_found` and `no_location` become `NotFoundOrNoLocation`. */
const responseName = (codes: ErrorCode[]): string =>
  codes.map((code) => code.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())).join('Or')

/** The response to a request whose `If-None-Match` names the current tag. */
export const notModified: Response = {
  description:
    'The body is still the one whose `ETag` the request sent in `If-None-Match`; of devices, `stopped_seconds` and `idle_seconds` may have counted on.',
  headers: headerRefs('X-Api-Key-Expires', 'ETag', 'Vary', 'Cache-Control', 'Age', 'Cache-Status'),
}

/** The `docs` link in examples, the same in every document wherever it is served. */
const exampleDocs = 'https://gateway.example.com/api/docs'

const examples: Partial<Record<ErrorCode, { message: string; param?: string }>> = {
  not_found: { message: 'There is no device with id 4711.' },
  invalid_request: { message: '`limit` must be an integer of at least 1.', param: 'limit' },
}
const example = (code: ErrorCode) => errorBody(new ApiError(code, examples[code]), exampleDocs)

function errorResponse(status: number, codes: ErrorCode[]): Response {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code][1]}`).join(' '),
    headers: headerRefs('X-Api-Key-Expires', 'Cache-Control', 'Preference-Applied', ...(extraHeaders[status] ?? [])),
    content: {
      'application/json': {
        schema: ErrorBody as Schema,
        examples: Object.fromEntries(codes.map((code) => [code, { value: { ...example(code) } }])),
      },
    },
  }
}
