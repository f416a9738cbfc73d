/** The other servers of a benchmark, one per process: `node peer.js <kind> <port> <argument>`. Knows no gateway. */
import { createServer } from 'node:http'

const json = 'application/json; charset=utf-8'

/** The floor of the runtime: one constant answer. */
function bare(port: number, text: string): void {
  const body = Buffer.from(text)
  createServer((_request, response) => {
    response.writeHead(200, { 'content-type': json, 'content-length': body.length })
    response.end(body)
  }).listen(port, '127.0.0.1')
}

async function framework(port: number, text: string): Promise<void> {
  const { fastify } = await import('fastify')
  const app = fastify()
  app.get('/*', (_request, reply) => reply.type(json).send(text))
  await app.listen({ host: '127.0.0.1', port })
}

async function proxy(port: number, upstream: string): Promise<void> {
  const { fastify } = await import('fastify')
  const app = fastify()
  await app.register((await import('@fastify/http-proxy')).default, { upstream })
  await app.listen({ host: '127.0.0.1', port })
}

async function gateway(port: number, target: string): Promise<void> {
  const { default: fastGateway } = await import('fast-gateway')
  await fastGateway({ routes: [{ prefix: '/api', prefixRewrite: '/api', target }] }).start(port, '127.0.0.1')
}

async function platform(port: number, latency: string): Promise<void> {
  const { platform } = await import('./platform.js')
  platform(port, Number(latency))
}

// Each loads what it needs and no more: they are started often.
const kinds: Record<string, (port: number, argument: string) => unknown> = { bare, framework, proxy, gateway, platform }
const [kind = '', port = '', argument = ''] = process.argv.slice(2)
await kinds[kind]?.(Number(port), argument)
