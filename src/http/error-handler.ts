/** The Fastify error handler: counts and logs the error, and sends the response of its row in the error table. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ApiError, errorBody, errorHeaders, toApiError } from '../errors.js'
import type { Realm } from '../ops/metrics.js'
import { PlatformRefused, PlatformUnavailable } from '../platform/errors.js'
import { AuthFailure, countAddress, limitHeaders, showLimits } from '../rate-limit/limiter.js'
import { StoreUnavailable } from '../store/store.js'
import type { HttpOptions } from './types.js'

/** Headers of a response that failed after they were set. */
const headersOfBody = ['age', 'cache-status', 'content-encoding', 'etag', 'vary']

export function errorHandler({ limits, docsUrl, outages, demoRealm, accounts }: HttpOptions) {
  const [count, show] = [countAddress(limits), showLimits(limits)]
  return async (thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const error = toApiError(thrown)
    // Set at once: the response may wait for the counters, and Fastify itself would respond to a second error.
    request.errorCode = error.code
    const { cause = error } = error
    if (error instanceof AuthFailure) reply.headers(limitHeaders(error.usage))
    if (cause instanceof PlatformRefused && request.account) accounts.refuse(request.account)
    if (error.statusCode >= 500 && !request.isRehearsed) {
      const realm = request.caller?.credential === 'demo' ? demoRealm : 'platform'
      if (error.code === 'internal_error') request.log.error({ reqId: request.id, err: cause }, error.code)
      // The store reports its own failures.
      else if (!(cause instanceof StoreUnavailable)) outages.failed(failedPart(cause, realm), cause, request.id)
    }
    const isCounted = reply.hasHeader('ratelimit-limit')
    // A request that the gateway could not handle costs its address nothing.
    const charge = error.code === 'gateway_error' ? show : count
    const sent = isCounted ? error : await charge(request, reply).then(() => error, toApiError)
    request.errorCode = sent.code
    return send(reply, sent, docsUrl)
  }
}

/** The name of what is unavailable, as in the reports of successful calls. */
function failedPart(cause: unknown, realm: Realm): string {
  if (cause instanceof PlatformUnavailable && cause.reason !== 'overload') return `${realm} ${cause.action}`
  return 'gateway'
}

/** Without `no-store` some shared caches store errors, also those of requests with a credential. */
function send(reply: FastifyReply, error: ApiError, docsUrl: string): FastifyReply {
  for (const name of headersOfBody) reply.removeHeader(name)
  return reply
    .code(error.statusCode)
    .headers({ 'cache-control': 'no-store', ...errorHeaders(error) })
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(error, docsUrl))
}
