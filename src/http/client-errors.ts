/** Answers to what the HTTP parser refuses: written to the socket by hand, as no request ever comes of it. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, errorBody, errorHeaders } from '../errors.js'
import { addressName, type Limits, limitError, limitHeaders } from '../rate-limit/limiter.js'

type ParserError = Error & { code?: unknown; rawPacket?: unknown }

/** No first line this long has an address the gateway would take. */
const longestLine = 8_192

/** Whether the packet is the beginning of a request whose first line, and so its address, is what overflowed. */
function isAddressTooLong(packet: unknown): boolean {
  if (!(packet instanceof Uint8Array)) return false
  const end = packet.indexOf(0x0a)
  const beginsRequest = /^[A-Z]+ \//.test(Buffer.from(packet.subarray(0, 32)).toString('latin1'))
  return beginsRequest && (end === -1 || end > longestLine)
}

/** What is told of a parser error. */
function refusalOf({ code, rawPacket }: ParserError): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError(isAddressTooLong(rawPacket) ? 'uri_too_long' : 'headers_too_large')
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ApiError('invalid_request', { message: 'The request did not arrive in time.' })
  }
  return new ApiError('invalid_request', { message: 'The request is not HTTP.' })
}

/** The latest answer under way on each connection: what is refused after it on the same connection is answered after it. */
const latest = new WeakMap<Socket, ServerResponse>()

export const noteAnswer = (socket: Socket, response: ServerResponse): void => void latest.set(socket, response)

/** Resolves when what was wholly asked before on this connection is answered; a request broken off in its body never will be. */
async function afterEarlierAnswers(socket: Socket): Promise<void> {
  const response = latest.get(socket)
  if (response?.req.complete && !response.writableFinished && !response.destroyed) await once(response, 'close')
}

type Status = number

/** Answers a parser error; a dead socket is only ended. @returns the status that was sent. */
export async function answerRaw(
  error: ParserError,
  socket: Socket,
  limits: Limits,
  docsUrl: string,
): Promise<Status | undefined> {
  if (error.code !== 'ECONNRESET') await afterEarlierAnswers(socket)
  if (error.code !== 'ECONNRESET' && socket.writable) return writeRefusal(refusalOf(error), socket, limits, docsUrl)
  socket.destroy()
  return undefined
}

/** Counts the peer's address, answers in the documented shape and ends the connection. */
export async function writeRefusal(error: ApiError, socket: Socket, limits: Limits, docsUrl: string): Promise<Status> {
  const usage = await limits.count(addressName(socket.remoteAddress))
  const refusal = limitError(usage) ?? error
  const body = JSON.stringify(errorBody(refusal, docsUrl))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    'X-Request-Id': randomUUID(),
    ...(refusal.code === 'method_not_allowed' ? { Allow: 'DELETE, GET, HEAD, POST' } : {}),
    ...limitHeaders(usage),
    ...errorHeaders(refusal),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = refusal.statusCode
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy())
  return status
}
