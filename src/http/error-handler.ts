/** Where requests end that meet no route: every refusal, every header that stands on all answers, the line in the log. Knows no resource. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ApiError, errorBody, errorHeaders, toApiError } from '../errors.js'
import type { Log } from '../ops/log.js'
import type { Answered } from '../ops/metrics.js'
import type { Account } from '../platform/account.js'
import { PlatformRefused } from '../platform/errors.js'
import { addressName, admit, type Limits } from '../rate-limit/limiter.js'
import { answerRaw, noteAnswer, writeRefusal } from './client-errors.js'
import type { App } from './types.js'

/** Longest address (path and query), bytes; what is longer than the parser takes at all is 414 or 431 too. */
const maxUrl = 4_096
/** Most the parser takes of address and headers together, bytes. */
const maxHead = 16 * 1024
/** Largest request body, bytes. */
const maxBody = 16 * 1024

const saneId = /^[A-Za-z0-9._:-]{1,64}$/

/** The caller's own request id where it is sane, else a new one. */
function requestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && saneId.test(sent) ? sent : randomUUID()
}

export interface EdgesNeeds {
  /** Ready only after the app was made, as the limiter is a plugin of it. */
  limits: () => Limits
  /** Page with the anchors of the error codes. */
  docsUrl: string
  log: Pick<Log, 'answered'>
  /** The platform refused this account's hash: nothing of it may be remembered. */
  onRefused: (account: Account) => void
  /** Told how every request ended, also those that never reached a route. */
  onAnswered: (answered: Answered) => void
  /** The process asks its callers to go elsewhere. */
  isDraining: () => boolean
}

/** Options of the Fastify instance that decide how requests end before any hook runs. */
export function edgeOptions({
  limits,
  docsUrl,
  onAnswered,
}: EdgesNeeds): Omit<FastifyHttpOptions<Server>, 'logger' | 'loggerInstance'> {
  return {
    bodyLimit: maxBody,
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxHead },
    // Node would answer a missing Host by itself, with an empty body.
    http: { requireHostHeader: false, maxHeaderSize: maxHead },
    clientErrorHandler: (error, socket) => void answerRaw(error, socket, limits(), docsUrl).then(unrouted(onAnswered)),
    frameworkErrors: async (error, request, reply) => {
      reply.header('X-Request-Id', request.id)
      await answer(reply, await refused(reply, request, toApiError(error), limits()), docsUrl)
    },
  }
}

/** Hooks and handlers of the whole app; to be installed before any route. */
export function installEdges(app: App, { limits, docsUrl, log, onRefused, onAnswered, isDraining }: EdgesNeeds): void {
  // Paths and queries are read by the routes, more strictly than Ajv's coercion would; bodies are taken as they are typed.
  app.setValidatorCompiler<TSchema>((route) =>
    route.httpPart === 'body' ? TypeBoxValidatorCompiler(route) : () => true,
  )
  let closing = false
  // Two kinds of requests that Node would end by itself, without a body: they are answered like any other.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  app.server.on('request', ({ socket }, response) => noteAnswer(socket, response))
  app.server.on('connect', (_request, socket) => {
    const refusal = new ApiError('method_not_allowed')
    void writeRefusal(refusal, socket as Socket, limits(), docsUrl).then(unrouted(onAnswered))
  })
  app.addHook('preClose', async () => {
    closing = true
  })
  // These run with every request, so they give no promises.
  app.addHook('onRequest', (request, reply, next) => {
    reply.header('X-Request-Id', request.id)
    const error = unserved(request)
    if (error) void refused(reply, request, error, limits()).then(next)
    else next()
  })
  app.addHook('onSend', (_request, reply, _payload, next) => {
    if (closing || isDraining()) reply.header('connection', 'close')
    next()
  })
  app.addHook('onResponse', (request, reply, next) => {
    const { method, ip, id: reqId } = request
    const { statusCode: status, elapsedTime } = reply
    const route = request.routeOptions.url ?? null
    onAnswered({ method, route: route ?? 'none', status, ms: elapsedTime })
    const ms = Math.round(elapsedTime * 10) / 10
    const credential = request.caller?.credential
    log.answered({ reqId, method, route, status, ms, account: request.account?.id, credential, ip })
    next()
  })
  app.setNotFoundHandler(() => {
    throw new ApiError('not_found')
  })
  app.setErrorHandler(async (thrown, request, reply) => {
    const error = toApiError(thrown)
    if (error.cause instanceof PlatformRefused && request.account) onRefused(request.account)
    if (error.statusCode >= 500)
      request.log[error.code === 'internal_error' ? 'error' : 'warn']({ reqId: request.id, err: thrown }, error.code)
    const counted = reply.hasHeader('RateLimit-Limit') ? error : await refused(reply, request, error, limits())
    return answer(reply, counted, docsUrl)
  })
}

/** Tells of an answer to what never became a request; `undefined` = there was nobody left to answer. */
const unrouted =
  (onAnswered: EdgesNeeds['onAnswered']) =>
  (status: number | undefined): void => {
    if (status !== undefined) onAnswered({ method: 'none', route: 'none', status, ms: 0 })
  }

/** What is wrong with a request before its body is read: nothing here could want one. */
function unserved({ raw, is404 }: FastifyRequest): ApiError | undefined {
  if (raw.url !== undefined && raw.url.length > maxUrl) return new ApiError('uri_too_long')
  return is404 ? new ApiError('not_found', { message: 'There is no such path.' }) : undefined
}

/** Counts a request that reached no account on its address; the error, or the 429 that goes before it. */
async function refused(
  reply: FastifyReply,
  request: FastifyRequest,
  error: ApiError,
  limits: Limits,
): Promise<ApiError> {
  try {
    admit(reply, await limits.count(addressName(request.ip)))
    return error
  } catch (spent) {
    return toApiError(spent)
  }
}

function answer(reply: FastifyReply, error: ApiError, docsUrl: string): FastifyReply {
  for (const [name, value] of Object.entries(errorHeaders(error))) reply.header(name, value)
  return reply
    .code(error.statusCode)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(error, docsUrl))
}

/** Methods the router knows; each path answers those it does not serve with 405. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Collects the methods of every path from now on; the function it gives back adds the 405 of the others. */
export function methodGuard(app: App, limits: Limits): () => void {
  const served = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = served.get(url) ?? new Set()
    for (const one of [method].flat()) known.add(one)
    served.set(url, known)
  })
  return () => {
    for (const [url, known] of [...served]) {
      const allow = [...known].sort().join(', ')
      app.route({
        method: methods.filter((method) => !known.has(method)),
        url,
        onRequest: async (request, reply) => {
          reply.header('Allow', allow)
          throw await refused(reply, request, new ApiError('method_not_allowed'), limits)
        },
        handler: async () => undefined,
      })
    }
  }
}
