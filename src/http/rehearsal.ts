/** Rehearsal: with the demo token, `Prefer: error=<code>` or `code=<status>` (RFC 7240) requests a documented error. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, type ErrorCode, errorTable } from '../errors.js'
import { admit, type Usage } from '../rate-limit/limiter.js'

const codes = Object.keys(errorTable) as ErrorCode[]
/** Where several codes share a status, `code=<status>` means the first one, except at 401. */
const codeOfStatus = new Map<string, ErrorCode>([
  ...codes.toReversed().map((code): [string, ErrorCode] => [String(errorTable[code][0]), code]),
  ['401', 'invalid_token'],
])

/** The first preference that names an error. All others are ignored (RFC 7240 2). */
function preferred(header: string): { preference: string; code: ErrorCode } | undefined {
  for (const part of header.split(',')) {
    const [preference = ''] = part.split(';')
    const [name = '', value = ''] = preference.split('=').map((text) => text.trim().replaceAll('"', '').toLowerCase())
    const code = name === 'error' ? codes.find((one) => one === value) : codeOfStatus.get(name === 'code' ? value : '')
    if (code) return { preference: `${name}=${value}`, code }
  }
  return undefined
}

/** @throws the ApiError that the request prefers. */
export function rehearse(request: FastifyRequest, reply: FastifyReply, usage: Usage): void {
  const { prefer } = request.headers
  const found = prefer === undefined ? undefined : preferred(String(prefer))
  if (!found) return
  request.isRehearsed = true
  reply.header('preference-applied', found.preference)
  if (found.code === 'rate_limit_exceeded') admit(reply, { ...usage, used: usage.limit + 1 })
  if (found.code === 'method_not_allowed') reply.header('allow', 'GET, HEAD')
  if (found.code !== 'invalid_request') throw new ApiError(found.code)
  throw new ApiError(found.code, { param: 'limit', message: '`limit` must be an integer of at least 1.' })
}
