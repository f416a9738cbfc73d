/** The Fastify instance, with the options, hooks and handlers that hold for every route. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { TObject } from 'typebox'
import type { ByteBudget } from '../lib/byte-budget.js'
import type { Pace } from '../lib/pace.js'
import { installBodyHook } from './body-hook.js'
import { clientErrorResponder } from './client-errors.js'
import { Connections } from './connections.js'
import { installDeadlines } from './deadlines.js'
import { type ErrorHandlerOptions, errorHandler } from './error-handler.js'
import { installBodyParser } from './request-body.js'
import {
  closedByClient,
  installRequestHooks,
  markMalformed,
  type RequestHookOptions,
  requestReport,
} from './request-hooks.js'
import { requestId } from './request-id.js'
import { limitedServer, maxHeadBytes } from './server-limits.js'
import { type CallerOf, sendTogether } from './turns.js'
import type { App } from './types.js'
import { validatorOf } from './validators.js'
import { installWriteBudget } from './write-budget.js'

interface CreateAppOptions extends RequestHookOptions, ErrorHandlerOptions {
  /** For the responses in flight. */
  budget: ByteBudget
  trustProxy: false | string[] | ((address: string, hop: number) => boolean)
  /** Monotonic milliseconds. */
  ticks: () => number
  pace: Pace
  callerOf: CallerOf
}

export function createApp(options: CreateAppOptions): App {
  const { log, metrics, ticks } = options
  const report = requestReport(options)
  const connections = new Connections(metrics, (reply) => report(reply, closedByClient))
  const { onClientError, onConnect } = clientErrorResponder({ ...options, connections })
  const app: App = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: options.trustProxy,
    return503OnClosing: false,
    genReqId: requestId,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: maxHeadBytes,
      // Parsed by the validators: thousands of unknown parameters take 120 kB, and the request may wait before.
      querystringParser: (text) => ({ text }),
    },
    serverFactory: (handle) => limitedServer(handle, { ...options, connections, onConnect }),
    clientErrorHandler: onClientError,
    frameworkErrors: (_error, { raw }, reply) => {
      markMalformed(raw)
      app.routing(raw, reply.raw)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.removeContentTypeParser('text/plain')
  installBodyParser(app)
  // Many clients send a Content-Type with every request, and Fastify rejects one without a body.
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
  for (const name of ['account', 'caller', 'accountId', 'errorCode'] as const) app.decorateRequest(name)
  app.decorateRequest('isRehearsed', false)
  app.setValidatorCompiler<TObject>(validatorOf)
  app.setErrorHandler(errorHandler(options))
  installDeadlines(app, connections, options.budget, ticks)
  installRequestHooks(app, report, options.isDraining)
  installBodyHook(app)
  installWriteBudget(app, options.budget, connections, ticks)
  sendTogether(app)
  return app
}
