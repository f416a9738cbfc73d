/** What a caller may cost in time and number, and when the process turns callers away. Knows no route. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { onRequestHookHandler } from 'fastify'
import { ApiError } from '../errors.js'
import type { Connections } from './connections.js'
import { Pressure } from './pressure.js'
import type { App } from './types.js'
import { UnderWay } from './under-way.js'

declare module 'fastify' {
  interface FastifyReply {
    /** Where it stands among the answers under way; -1 = it was given up. */
    place: number
  }
}

/** Longest request target and headers together, bytes. */
export const maxHeadBytes = 16 * 1024
/** Connections at once; each is a file descriptor and some kilobytes. */
const maxConnections = 10_000
/** Milliseconds after which a connection without progress is closed. Node gives unread responses twice this time. */
const idleTimeoutMs = 60_000

const serverOptions = {
  // Node would answer a missing Host by itself, with an empty body.
  requireHostHeader: false,
  maxHeaderSize: maxHeadBytes,
  /** Milliseconds for all headers to arrive, also those of a connection that sends nothing at all. */
  headersTimeout: 10_000,
  /** Milliseconds for a whole request to arrive; a body is 16 KiB at most. */
  requestTimeout: 15_000,
  /** How often both are checked. */
  connectionsCheckingInterval: 1_000,
  /** Longer than the 60 s after which most balancers close an idle connection, so that the gateway never closes one that is being used. */
  keepAliveTimeout: 72_000,
}

/** The Node HTTP server below Fastify. @param onError a connection could not be accepted, for example for want of file descriptors. */
export function limitedServer(
  handle: RequestListener,
  { connections, onError }: { connections: Connections; onError: (error: Error) => void },
): Server {
  const inOrder = connections.inOrder(handle)
  const server = createServer(serverOptions, inOrder)
  server.maxConnections = maxConnections
  server.setTimeout(idleTimeoutMs)
  // Node would end these by itself, without a body.
  server.on('checkExpectation', inOrder)
  server.on('connection', connections.add)
  // Without a listener, a failed `accept` ends the process.
  server.on('error', (error) => server.listening && onError(error))
  return server
}

/** Milliseconds an answer may take to be made; shorter than a silence, so that nobody is cut off without one. */
const answerTimeout = 50_000

export interface GuardsNeeds {
  /** Told of every request that overload turns away. */
  onShed: () => void
  /** Milliseconds that only ever grow. */
  ticks: () => number
}

/** To be installed before any route. @returns the hook of routes that overload may turn away. */
export function installGuards(app: App, { onShed, ticks }: GuardsNeeds): onRequestHookHandler {
  const pressure = new Pressure(ticks)
  app.addHook('onListen', async () => pressure.start())
  app.addHook('onClose', async () => pressure.stop())
  installDeadline(app, ticks)
  return (_request, _reply, next) => {
    if (!pressure.isOverloaded) return next()
    onShed()
    next(new ApiError('gateway_error', { message: 'The service is overloaded. Try again shortly.', retryAfterS: 2 }))
  }
}

/** One timer for all requests: Fastify's own `handlerTimeout` costs each of them more than everything else that guards it. */
function installDeadline(app: App, ticks: () => number): void {
  const underWay = new UnderWay()
  app.decorateReply('place', -1)
  const sweep = (): void => {
    for (const reply of underWay.overdue(ticks() - answerTimeout)) {
      reply.place = -1
      if (!reply.sent) reply.send(new ApiError('gateway_error', { message: 'The answer took too long to be made.' }))
    }
  }
  const timer = setInterval(sweep, 1_000).unref()
  app.addHook('onRequest', (_request, reply, next) => {
    reply.place = underWay.enter(reply, ticks())
    next()
  })
  app.addHook('onResponse', (_request, reply, next) => {
    if (reply.place >= 0) underWay.leave(reply.place)
    next()
  })
  app.addHook('onClose', async () => clearInterval(timer))
}
