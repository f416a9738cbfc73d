/** The memory of responses being made and read: bounded by a budget in bytes. */
import type { FastifyReply } from 'fastify'
import { ApiError } from '../errors.js'
import type { ByteBudget } from '../lib/byte-budget.js'
import { type Connections, shareKeyOf } from './connections.js'
import type { App } from './types.js'

/** Smaller bodies are not counted: the system's send buffer takes one whole, and most responses are smaller. */
const minBytes = 16_384

const noRoom = (message: string): ApiError => new ApiError('gateway_error', { message })

/** To be installed before any route. @param ticks monotonic milliseconds. */
export function installWriteBudget(app: App, budget: ByteBudget, connections: Connections, ticks: () => number): void {
  app.decorateReply('reserved')
  app.decorateReply('reserve', function (this: FastifyReply, bytes: number) {
    const reservation = this.reserved ?? budget.open(shareKeyOf(this.request))
    if (!reservation.grow(bytes))
      throw noRoom('The response would be too large now. Send a `limit`, or try again shortly.')
    // After the response deadline nothing more is sent.
    if (this.isSending) reservation.release()
    else this.reserved = reservation
  })
  app.addHook('onSend', (request, reply, payload, next) => {
    reply.reserved?.release()
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
    const connection = size < minBytes ? undefined : connections.connectionOf(reply.raw)
    if (!connection) return next()
    // Of a string, Node would keep two copies on the heap (two bytes per character if any is not Latin-1) and a third one as bytes.
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : (payload as Buffer)
    const reservation = budget.open(shareKeyOf(request))
    if (!reservation.grow(bytes.length)) {
      return next(noRoom('Too many large responses are waiting to be read. Try again shortly.'))
    }
    connection.unread = { reservation, since: ticks() }
    next(null, bytes)
  })
}
