/**
 * The response deadline: a request in progress for too long gets a 503 before its connection times out. Ours, because Fastify's
 * `handlerTimeout` gives every request a timer and an AbortController of its own.
 */
import { ApiError } from '../errors.js'
import type { Connections } from './connections.js'
import type { App } from './types.js'

/** Less than the idle timeout of a connection, so that no client is disconnected without a response. */
const deadlineMs = 50_000
/** From the close of the app, before the process cuts off what is left. */
const closingMs = 18_000

/** To be installed before all other hooks, any of which may respond. @param ticks monotonic milliseconds. */
export function installResponseDeadline(app: App, connections: Connections, ticks: () => number): void {
  app.addHook('onRequest', (_request, reply, next) => {
    const connection = connections.of(reply.raw)
    if (connection) connection.reply = { reply, since: ticks() }
    next()
  })
  let closeBy = Number.POSITIVE_INFINITY
  app.addHook('preClose', async () => {
    closeBy = ticks() + closingMs
  })
  const timer = setInterval(() => {
    const now = ticks()
    const latest = now > closeBy ? now : now - deadlineMs
    for (const { reply: current } of connections.open) {
      if (!current || current.since > latest || current.reply.isSending || current.reply.request.errorCode) continue
      // Its response is being compressed.
      if (current.reply.hasHeader('content-encoding')) continue
      current.reply.isRefused = true
      current.reply.send(new ApiError('gateway_error', { message: 'The response took too long.' }))
    }
  }, 1_000).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
