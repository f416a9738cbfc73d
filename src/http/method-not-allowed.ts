/** The 405 of every path. Ours, because Fastify responds 404 to a method that a path does not have. */
import { METHODS } from 'node:http'
import { ApiError } from '../errors.js'
import type { App } from './types.js'

/** To be installed before any route. @returns a function that adds the 405 to all routes, to be called after the last one. */
export function methodNotAllowed(app: App): () => void {
  // The HTTP parser accepts more methods than Fastify routes by default. `CONNECT` never becomes a request.
  const methods = METHODS.filter((method) => method !== 'CONNECT')
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const allowedByUrl = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    allowedByUrl.set(url, new Set([...(allowedByUrl.get(url) ?? []), method].flat()))
  })
  return () => {
    for (const [url, allowed] of [...allowedByUrl]) {
      const allow = [...allowed].sort().join(', ')
      app.route({
        method: methods.filter((method) => !allowed.has(method)),
        url,
        onRequest: async (_request, reply) => {
          reply.header('allow', allow)
          throw new ApiError('method_not_allowed')
        },
        handler: async () => undefined,
      })
    }
  }
}
