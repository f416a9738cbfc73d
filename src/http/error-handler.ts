/** The Fastify error handler: whatever is thrown becomes one row of the error table, counted and logged. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ApiError, errorBody, errorHeaders, toApiError } from '../errors.js'
import type { Account } from '../platform/account.js'
import { PlatformRefused } from '../platform/errors.js'
import { addressName, type Limits, limitError, limitHeaders } from '../rate-limit/limiter.js'

export interface ErrorHandlerOptions {
  limits: Limits
  /** The page with the error codes. */
  docsUrl: string
  /** The platform refused this account's hash: nothing of it may stay in a cache. */
  onRefused: (account: Account) => void
}

export type ErrorHandler = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

export function errorHandler({ limits, docsUrl, onRefused }: ErrorHandlerOptions): ErrorHandler {
  /** Counts a request that no hook has counted on its address. @returns the 429, if the address has exceeded its limit. */
  const count = async (request: FastifyRequest, reply: FastifyReply): Promise<ApiError | undefined> => {
    const usage = await limits.count(addressName(request.ip))
    reply.headers(limitHeaders(usage))
    return limitError(usage)
  }
  return async (thrown, request, reply) => {
    const error = toApiError(thrown)
    if (error.cause instanceof PlatformRefused && request.account) onRefused(request.account)
    if (error.statusCode >= 500) {
      const level = error.code === 'internal_error' ? 'error' : 'warn'
      request.log[level]({ reqId: request.id, err: thrown }, error.code)
    }
    const isCounted = reply.hasHeader('RateLimit-Limit')
    const sent = (isCounted ? undefined : await count(request, reply)) ?? error
    request.errorCode = sent.code
    return send(reply, sent, docsUrl)
  }
}

function send(reply: FastifyReply, error: ApiError, docsUrl: string): FastifyReply {
  return reply
    .code(error.statusCode)
    .headers(errorHeaders(error))
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(error, docsUrl))
}
