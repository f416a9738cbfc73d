/** The operator's listener: `/metrics`, `/callers`, `/ready` and `/live` on a port of their own. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { type FastifyReply, fastify } from 'fastify'
import { stopParsing } from '../lib/stop-parsing.js'
import type { Callers } from './callers.js'
import type { Metrics } from './metrics.js'

interface OpsOptions {
  host: string
  /** 0 = any free one. */
  port: number
  metrics: Pick<Metrics, 'text'> & { callers: Pick<Callers, 'top'> }
  isDraining: () => boolean
}

const commonHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

const badRequest = [
  'HTTP/1.1 400 Bad Request',
  ...Object.entries(commonHeaders).map(([name, value]) => `${name}: ${value}`),
  'Connection: close',
  'Content-Length: 0',
  '\r\n',
].join('\r\n')

const notFound = (reply: FastifyReply): FastifyReply =>
  reply.code(404).headers(commonHeaders).send({ status: 'not_found' })

/** A server that limits what a client may cost. An error without a listener would end the process. */
function openServer(handle: RequestListener): Server {
  const onRequest: RequestListener = (request, response) => {
    // Node keeps each chunk of a body until it is read: 2 MB if a packet has chunks of one byte.
    request.resume()
    // As in the API's listener.
    request.method ??= 'QUERY'
    if (response.socket !== null) return handle(request, response)
    // No scraper pipelines. A megabyte of requests whose responses wait for each other would exhaust the memory.
    stopParsing(request.socket.destroy())
  }
  // Node would respond to a missing Host and to an expectation by itself, however many wait.
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000, requireHostHeader: false }, onRequest)
  server.on('checkExpectation', onRequest)
  Object.assign(server, { maxConnections: 100, maxHeadersCount: 128, timeout: 5_000 })
  // Node removes its own listener when it hands a socket over.
  server.on('connection', (socket) => socket.on('error', () => {}))
  // A connection could not be accepted, for example.
  return server.on('error', () => {})
}

/** Listens. @returns its URL, without a path, and `close`. @throws when the address is in use or not of this machine. */
export async function openOps({ host, port, metrics, isDraining }: OpsOptions) {
  const app = fastify({
    serverFactory: openServer,
    forceCloseConnections: true,
    return503OnClosing: false,
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(badRequest, () => socket.destroy())
      else socket.destroy()
    },
    // A malformed URL: Fastify runs no hook for it.
    frameworkErrors: (_error, _request, reply) => void notFound(reply),
  })
  app.addHook('onRequest', async ({ is404, raw }, reply) => {
    reply.headers(commonHeaders)
    if (raw.headers.host === undefined && raw.httpVersion !== '1.0') return reply.code(400).send()
    // Before a body is read.
    if (is404) return notFound(reply)
  })
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send())
  app.get('/metrics', async (_request, reply) => {
    const { type, body } = await metrics.text()
    return reply.type(type).send(body)
  })
  app.get('/callers', async () => metrics.callers.top())
  app.get('/ready', async (_request, reply) => {
    if (isDraining()) reply.code(503)
    return { status: isDraining() ? 'draining' : 'ready' }
  })
  app.get('/live', async () => ({ status: 'live' }))
  return { url: await app.listen({ host, port }), close: () => app.close() }
}
