/** The operator's listener: `/metrics`, `/ready` and `/live`, on a port of its own. Knows no route of the API. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface OpsNeeds {
  host: string
  /** 0 = any free one. */
  port: number
  /** What a scrape gets. */
  metrics: () => Promise<{ type: string; body: string }>
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

const json = (status: number, word: string): Page => ({
  status,
  type: 'application/json; charset=utf-8',
  body: `{"status":"${word}"}`,
})

/** Listens. @throws when the address cannot be had. */
export async function openOps({ host, port, metrics, isDraining }: OpsNeeds): Promise<Ops> {
  const pages: Record<string, () => Page | Promise<Page>> = {
    '/metrics': async () => ({ status: 200, ...(await metrics()) }),
    '/ready': () => (isDraining() ? json(503, 'draining') : json(200, 'ready')),
    '/live': () => json(200, 'live'),
  }
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    void send(response, page && isReading ? page : () => json(404, 'not_found'))
  })
  server.maxConnections = 100
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
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
  try {
    const { status, type, body } = await page()
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
  } catch {
    response.writeHead(500).end()
  }
}
