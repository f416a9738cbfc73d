/** Requests as bytes on a connection, for what no HTTP client would send, and an app to send them to. */
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { fastify } from 'fastify'
import { Connections } from '../../src/http/connections.js'
import { limitedServer } from '../../src/http/server-limits.js'
import type { App } from '../../src/http/types.js'
import { Pace } from '../../src/lib/pace.js'
import { createLogger } from '../../src/ops/log.js'
import { Metrics } from '../../src/ops/metrics.js'
import type { Test } from '../helper.js'

/** An app without hooks and routes on the server of the gateway. @param ticks monotonic milliseconds. */
export function bareApp(t: Test, ticks = () => performance.now()) {
  const nothing = (): void => {}
  const callers = { callerOf: ({ socket }: IncomingMessage): string => `${socket.remoteAddress}` }
  const [connections, pace] = [new Connections(new Metrics(), nothing), new Pace(ticks)]
  const options = { pace, callers, log: createLogger('silent', { destination: { write: nothing } }) }
  const serverFactory = (handle: RequestListener) => limitedServer(handle, options, connections, nothing)
  const app = fastify({ return503OnClosing: false, serverFactory }) as unknown as App
  t.teardown(() => app.close())
  return { app, connections, pace }
}

/** Blocks this thread, without work. The system meanwhile delivers what it has written. */
export const block = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

export interface RawResponse {
  status: number
  headers: Headers
  body: string
}

/** A connection to the server at an address, on which these bytes are sent, and which ends with its test. */
export function dial(t: Test, url: string, bytes = '', options: object = {}): Socket {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ...options }).on('error', () => {})
  t.teardown(() => socket.destroy())
  socket.write(bytes)
  return socket
}

/** Everything that a peer sends until the connection closes. Rejects when it is reset. */
export async function untilClosed(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  await once(socket, 'close')
  return text
}

/** Sends bytes and reads until the gateway closes the connection. */
export function exchange(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'))
  return untilClosed(socket)
}

/**
 * The responses in a text. @throws where something else is in it.
 * @param hasHead one of the requests may be a HEAD: its response announces the length of a body that is not sent.
 */
export function responsesIn(text: string, hasHead = false): RawResponse[] {
  const responses: RawResponse[] = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    if (end < 0 || !status) throw new Error(`not a response: ${JSON.stringify(rest.slice(0, 200))}`)
    rest = rest.slice(end + 4)
    const fields = lines.map((one): [string, string] => {
      const colon = one.indexOf(':')
      return [one.slice(0, colon), one.slice(colon + 1).trim()]
    })
    const headers = new Headers(fields)
    const length = hasHead && !/^[[{<]/.test(rest) ? 0 : Number(headers.get('content-length'))
    responses.push({ status, headers, body: rest.slice(0, length) })
    rest = rest.slice(length)
  }
  return responses
}

/** The only response to some bytes. */
export async function raw(url: string, bytes: string): Promise<RawResponse> {
  const [first, ...others] = responsesIn(await exchange(url, bytes))
  if (first === undefined) throw new Error('closed without a response')
  if (others.length > 0) throw new Error(`${others.length + 1} responses`)
  return first
}
