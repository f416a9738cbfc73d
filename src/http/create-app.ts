/** The Fastify instance, with the options, hooks and handlers that hold for every route. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { TObject } from 'typebox'
import { installBodyHook } from './body-hook.js'
import { clientErrorResponder } from './client-errors.js'
import { Connections } from './connections.js'
import { installDeadlines } from './deadlines.js'
import { errorHandler } from './error-handler.js'
import { installBodyParser } from './request-body.js'
import { closedByClient, installRequestHooks, markMalformed, requestReport } from './request-hooks.js'
import { requestId } from './request-id.js'
import { limitedServer, maxHeadBytes } from './server-limits.js'
import { sendTogether } from './turns.js'
import type { App, HttpOptions } from './types.js'
import { validatorOf } from './validators.js'
import { installWriteBudget } from './write-budget.js'

export function createApp(options: HttpOptions): App {
  const { log, metrics, ticks } = options
  const report = requestReport(options)
  const connections = new Connections(metrics, (reply) => report(reply, closedByClient))
  const { onClientError, onConnect } = clientErrorResponder(options, connections)
  const app: App = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: options.trustProxy,
    return503OnClosing: false,
    // By default, a start that takes longer than ten seconds, on a busy machine, would fail.
    pluginTimeout: 0,
    genReqId: requestId,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: maxHeadBytes,
      // Parsed by the validators: thousands of unknown parameters take 120 kB, and the request may wait before.
      querystringParser: (text) => ({ text }),
    },
    serverFactory: (handle) => limitedServer(handle, options, connections, onConnect),
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
