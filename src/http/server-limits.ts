/** What a caller may cost in time and number, and when the process turns callers away. Knows no route. */
import type { FastifyHttpOptions, onRequestHookHandler } from 'fastify'
import { ApiError } from '../errors.js'
import { Pressure } from './pressure.js'
import type { App } from './types.js'
import { UnderWay } from './under-way.js'

declare module 'fastify' {
  interface FastifyReply {
    /** Where it stands among the answers under way; -1 = it was given up. */
    place: number
  }
}

/** Connections at once; each is a file descriptor and some kilobytes. */
const maxConnections = 10_000

type Limited = 'connectionTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'maxRequestsPerSocket'

/** Milliseconds; options of the Fastify instance. */
export const timeLimits = {
  /** A connection on which nothing moves is dropped: its peer is gone, or never reads. Node gives unread answers twice this time. */
  connectionTimeout: 60_000,
  /** For a whole request to arrive; a body is 16 KiB at most. */
  requestTimeout: 15_000,
  /** Longer than the 60 s after which most balancers let an idle connection go, so that we never hang up on a request. */
  keepAliveTimeout: 72_000,
  /** A busy connection stays; rolling restarts move it by `connection: close`. */
  maxRequestsPerSocket: 0,
} as const satisfies Pick<FastifyHttpOptions<import('node:http').Server>, Limited>

/** Milliseconds an answer may take to be made; shorter than a silence, so that nobody is cut off without one. */
const answerTimeout = 50_000

/** Options of the Node server. */
export const headerLimits = {
  /** For all headers to arrive, also those of a connection that says nothing at all. */
  headersTimeout: 10_000,
  /** How often arriving requests are held to these limits. */
  connectionsCheckingInterval: 1_000,
} as const

export interface GuardsNeeds {
  /** Told of every request that overload turns away. */
  onShed: () => void
  /** Milliseconds that only ever grow. */
  ticks: () => number
}

/** To be installed before any route. @returns the hook of routes that overload may turn away. */
export function installGuards(app: App, { onShed, ticks }: GuardsNeeds): onRequestHookHandler {
  app.server.maxConnections = maxConnections
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
