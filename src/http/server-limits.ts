/** The Node HTTP server below Fastify: what a client may cost in time, bytes and connections before there is a request. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { getHeapStatistics } from 'node:v8'
import type { Connections } from './connections.js'
import { readBodies } from './request-body.js'
import { paced, writeAtOnce } from './turns.js'
import type { HttpOptions } from './types.js'

/** Request line and headers together. */
export const maxHeadBytes = 16 * 1024
/** Node drops lines beyond this, perhaps a credential among them: a request with this many is rejected. Without a limit, 16 KiB take 280 kB. */
export const maxHeaders = 128
/** Path and query. A request line that exceeds `maxHeadBytes` is a client error. */
export const maxTargetBytes = 8_192

/** Each is a file descriptor, and up to 40 kB of the heap while its response is unread. */
const maxConnections = Math.min(10_000, Math.floor(getHeapStatistics().heap_size_limit / 65_536))
/** A connection without progress is closed after this time. Node gives unread responses twice this time. */
const idleTimeoutMs = 60_000

const serverOptions = {
  // Node would respond to a missing Host by itself, with an empty body.
  requireHostHeader: false,
  maxHeaderSize: maxHeadBytes,
  /** Milliseconds for all headers to arrive, also those of a connection that sends nothing at all. */
  headersTimeout: 10_000,
  /** Milliseconds for a whole request to arrive. */
  requestTimeout: 15_000,
  /** How often both are checked. */
  connectionsCheckingInterval: 1_000,
  /** Most load balancers keep an idle connection for 60 s; one that is closed earlier may lose a request. */
  keepAliveTimeout: 72_000,
}

/** Connections that the system keeps until they are accepted. A client beyond them tries again only after 1 s. */
export const maxBacklog = 4_096

/** @param onConnect responds to `CONNECT`, which has no path. */
export function limitedServer(
  handle: RequestListener,
  options: Pick<HttpOptions, 'pace' | 'callers' | 'log'>,
  connections: Connections,
  onConnect: (socket: Socket) => void,
): Server {
  const handleInOrder = connections.inOrder(readBodies(paced(options, handle)))
  const inOrder: RequestListener = (request, response) => {
    // The only method that Node 20.19.2, 21 and 22.0 parse without its name; Fastify would log all routes, for each request.
    request.method ??= 'QUERY'
    handleInOrder(request, response)
  }
  const server = createServer(serverOptions, inOrder)
  server.maxConnections = maxConnections
  server.maxHeadersCount = maxHeaders
  // A client may close its side after its last request and wait: without this, Node would close the gateway's side too (RFC 9112 9.6).
  Object.assign(server, { httpAllowHalfOpen: true })
  server.closeIdleConnections = () => connections.closeIdle()
  server.setTimeout(idleTimeoutMs)
  server.on('connection', (socket) => {
    options.pace.accepted()
    connections.add(socket)
    writeAtOnce(socket)
    connections.cutIdlest(server.maxConnections)
  })
  // Node would respond to an expectation without a body, and close the connection of a `CONNECT` without a response.
  server.on('checkExpectation', inOrder)
  server.on('connect', (_request, socket) => onConnect(socket as Socket))
  // Without a listener, a failed `accept` ends the process, for example when file descriptors run out.
  server.on('error', (err) => server.listening && options.log.warn({ err }, 'connection not accepted'))
  return server
}
