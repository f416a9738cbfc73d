/** Where requests end that meet no route: every refusal, every header that stands on all answers, the line in the log. Knows no resource. */
import { type IncomingMessage, METHODS, type Server } from 'node:http'
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
import { clientErrorResponder } from './client-errors.js'
import type { Connections } from './connections.js'
import { requestId } from './request-id.js'
import { limitedServer, maxHeadBytes } from './server-limits.js'
import type { App } from './types.js'

/** Longest address (path and query), bytes; what is longer than the parser takes at all is 414 or 431 too. */
const maxUrl = 4_096
/** Largest request body, bytes. */
const maxBody = 16 * 1024

export interface EdgesNeeds {
  /** Ready only after the app was made, as the limiter is a plugin of it. */
  limits: () => Limits
  /** Page with the anchors of the error codes. */
  docsUrl: string
  log: Pick<Log, 'answered' | 'warn'>
  connections: Connections
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
  log,
  connections,
  onAnswered,
}: EdgesNeeds): Omit<FastifyHttpOptions<Server>, 'logger' | 'loggerInstance'> {
  const onResponse = (status: number): void => onAnswered({ method: 'none', route: 'none', status, ms: 0 })
  const { onClientError, onConnect } = clientErrorResponder({ connections, limits, docsUrl, onResponse })
  return {
    bodyLimit: maxBody,
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestId,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxHeadBytes },
    serverFactory: (handle) =>
      limitedServer(handle, { connections, onError: (err) => log.warn({ err }, 'a connection cannot be accepted') }).on(
        'connect',
        (_request, socket) => onConnect(socket as Socket),
      ),
    clientErrorHandler: onClientError,
    frameworkErrors: async (error, request, reply) => {
      setCommonHeaders(request, reply)
      await answer(reply, await refused(reply, request, toApiError(error), limits()), docsUrl)
    },
  }
}

/** The headers of every response. */
function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('X-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
  if ((request.routeOptions.url ?? request.url).includes('/v1/keys')) reply.header('Cache-Control', 'no-store')
}

/** Hooks and handlers of the whole app; to be installed before any route. */
export function installEdges(app: App, { limits, docsUrl, log, onRefused, onAnswered, isDraining }: EdgesNeeds): void {
  // Paths and queries are read by the routes, more strictly than Ajv's coercion would; bodies are taken as they are typed.
  app.setValidatorCompiler<TSchema>((route) =>
    route.httpPart === 'body' ? TypeBoxValidatorCompiler(route) : () => true,
  )
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  // These run with every request, so they give no promises.
  app.addHook('onRequest', (request, reply, next) => {
    setCommonHeaders(request, reply)
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

/** What is wrong with a request before its body is read: nothing here could want one. */
function unserved({ raw, is404 }: FastifyRequest): ApiError | undefined {
  if (raw.url !== undefined && raw.url.length > maxUrl) return new ApiError('uri_too_long')
  const message = headerProblem(raw)
  if (message !== undefined) return new ApiError('invalid_request', { message })
  return is404 ? new ApiError('not_found', { message: 'There is no such path.' }) : undefined
}

/** Headers that must not be sent twice: Node keeps the first and drops the others, while a proxy may have read the last (RFC 9112 3.2). */
function headerProblem({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0
  let credentials = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1
  }
  if (hosts > 1) return 'Send one Host header, not several.'
  if (hosts === 0 && httpVersion !== '1.0') return 'Send a Host header.'
  return credentials > 1 ? 'Send one Authorization header, not several.' : undefined
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

/** Collects the methods of every path from now on; the function it gives back adds the 405 of the others. */
export function methodGuard(app: App, limits: Limits): () => void {
  // The HTTP parser accepts more methods than Fastify routes by default. `CONNECT` never becomes a request.
  const methods = METHODS.filter((method) => method !== 'CONNECT')
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
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
