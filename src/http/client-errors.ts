/** Responses to client errors. Ours, because Fastify has no request to respond to: they are written to the socket by hand. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, errorBody, errorHeaders } from '../errors.js'
import { addressName, limitError, limitHeaders } from '../rate-limit/limiter.js'
import { type Connections, linger } from './connections.js'
import { maxTargetBytes } from './server-limits.js'
import type { HttpOptions } from './types.js'

type ParserError = Error & { code?: unknown; rawPacket?: unknown; bytesParsed?: number }

/** What is parsed of the failed request. It is less if this began in an earlier packet. */
function parsedOf({ rawPacket, bytesParsed }: ParserError): string {
  if (!(rawPacket instanceof Uint8Array)) return ''
  const parsed = Buffer.from(rawPacket.subarray(0, bytesParsed)).toString('latin1').trimEnd()
  const before = parsed.lastIndexOf('\r\n\r\n')
  return before < 0 ? parsed : parsed.slice(before + 4)
}

function fromParserError({ code }: ParserError, parsed: string): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const [, target = ''] = parsed.split(' ', 2)
    const isTargetTooLong = /^\/|^https?:\/\//i.test(target) && target.length > maxTargetBytes
    return new ApiError(isTargetTooLong ? 'uri_too_long' : 'headers_too_large')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ApiError('invalid_request', { message: 'The request did not arrive in time.' })
  }
  // Such as letters beyond ASCII that are not percent-encoded.
  const message = code === 'HPE_INVALID_URL' ? 'The request URL is malformed.' : 'The request is not HTTP.'
  return new ApiError('invalid_request', { message })
}

/** Responds to client errors and to `CONNECT`, after the responses to all earlier requests of the connection. */
export function clientErrorResponder(options: HttpOptions, connections: Connections) {
  const rejected = new WeakSet<Socket>()
  const respond = async (error: ApiError, socket: Socket, close: (socket: Socket) => void, isHead = false) => {
    // A parser that has failed fails again with each further packet.
    if (socket.destroyed || rejected.has(socket)) return
    rejected.add(socket)
    // Node would close the gateway's side, too, when the client closes its own.
    socket.removeAllListeners('end')
    try {
      await connections.idle(socket)
      if (!socket.writable) return void socket.destroy()
      await write(error, socket, options, isHead)
      close(socket)
    } catch {
      socket.destroy()
    }
  }
  return {
    onClientError: (error: ParserError, socket: Socket): void => {
      const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      // Browsers open connections in advance, and would take this response for that to the request that they send in the same moment.
      if (isLate && socket.bytesRead === 0) return void socket.destroy()
      // A request that was late must not be handled if it arrives after all.
      const close = isLate ? closeNow : linger
      const parsed = parsedOf(error)
      void respond(fromParserError(error, parsed), socket, close, parsed.startsWith('HEAD '))
    },
    onConnect: (socket: Socket): void => void respond(new ApiError('method_not_allowed'), socket, closeNow),
  }
}

const closeNow = (socket: Socket): void => void socket.end(() => socket.destroy())

/** Counts the request on the address of the peer, which may be a proxy, and sends the error in the documented shape. */
async function write(error: ApiError, socket: Socket, options: HttpOptions, isHead: boolean) {
  const { limits, docsUrl, metrics } = options
  const usage = await limits.count(addressName(socket.remoteAddress))
  const sent = limitError(usage) ?? error
  const { statusCode: status } = sent
  const body = JSON.stringify(errorBody(sent, docsUrl))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    Date: new Date().toUTCString(),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': randomUUID(),
    ...(sent.code === 'method_not_allowed' ? { Allow: 'DELETE, GET, HEAD, POST' } : {}),
    ...limitHeaders(usage),
    ...errorHeaders(sent),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${isHead ? '' : body}`)
  metrics.observeRequest({ method: 'none', route: 'none', status, ms: 0 })
}
