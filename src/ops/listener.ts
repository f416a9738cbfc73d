/** The operator's listener: `/metrics`, `/callers`, `/ready` and `/live` on a port of their own. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CallerUsage } from './callers.js'

export interface OpsOptions {
  host: string
  /** 0 = any free one. */
  port: number
  /** Body and media type of `/metrics`. */
  metrics: () => Promise<{ type: string; body: string }>
  /** The busiest callers of the last minute. */
  callers: () => CallerUsage[]
  isDraining: () => boolean
}

export interface Ops {
  /** `http://<address>:<port>` */
  url: string
  close(): Promise<void>
}

interface Page {
  status: number
  type: string
  body: string
}

const json = (status: number, value: unknown): Page => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})
const state = (status: number, word: string): Page => json(status, { status: word })

const badRequest = [
  'HTTP/1.1 400 Bad Request',
  'Connection: close',
  'Content-Length: 0',
  'Cache-Control: no-store',
  'X-Content-Type-Options: nosniff',
].join('\r\n')

/** Listens. @throws when the address is in use or not of this machine. */
export async function openOps({ host, port, metrics, callers, isDraining }: OpsOptions): Promise<Ops> {
  const pages: Record<string, () => Page | Promise<Page>> = {
    '/metrics': async () => ({ status: 200, ...(await metrics()) }),
    '/callers': () => json(200, callers()),
    '/ready': () => (isDraining() ? state(503, 'draining') : state(200, 'ready')),
    '/live': () => state(200, 'live'),
  }
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    void send(response, page && isReading ? page : () => state(404, 'not_found'))
  })
  server.maxConnections = 100
  // An error without a listener ends the process, and Node removes its own when it hands a socket over.
  server.on('connection', (socket) => socket.on('error', () => {}))
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(`${badRequest}\r\n\r\n`, () => socket.destroy())
    else socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    // Stays: also a connection that cannot be accepted is an error of the server.
    server.on('error', reject)
    server.listen(port, host, resolve)
  })
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function send(response: ServerResponse, page: () => Page | Promise<Page>): Promise<void> {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  try {
    const { status, type, body } = await page()
    response.statusCode = status
    response.setHeader('content-type', type)
    response.end(body)
  } catch {
    response.statusCode = 500
    response.end()
  }
}
