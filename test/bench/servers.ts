/** The servers that the gateway is compared with or stands in front of, one per process: `node servers.js <kind> <port> <argument>`. */
import { createServer, type ServerResponse } from 'node:http'

const json = 'application/json; charset=utf-8'

/** Sends one constant response with `node:http`, the least that a server of this runtime can do. */
function constant(port: number, text: string, send: (respond: () => void) => void): void {
  const body = Buffer.from(text)
  const respond = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': json, 'content-length': body.length })
    response.end(body)
  }
  createServer((_request, response) => send(() => respond(response))).listen(port, '127.0.0.1')
}

const bare = (port: number, text: string): void => constant(port, text, (respond) => respond())

/** The responses of one turn of the event loop are sent together: a sleeping client is woken once, not once per response. */
function bareTogether(port: number, text: string): void {
  let waiting: (() => void)[] = []
  const sendAll = (): void => {
    const ready = waiting
    waiting = []
    for (const respond of ready) respond()
  }
  constant(port, text, (respond) => {
    if (waiting.push(respond) === 1) setImmediate(sendAll)
  })
}

/** Works 10 µs before each response. What a response costs beyond that is the price of waking the client. */
function bareWorking(port: number, text: string): void {
  constant(port, text, (respond) => {
    const end = performance.now() + 0.01
    while (performance.now() < end);
    respond()
  })
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

async function platform(port: number, latencyMs: string): Promise<void> {
  const { fixedPlatform } = await import('./fixed-platform.js')
  fixedPlatform(port, Number(latencyMs))
}

// Each loads only what it needs: they are started often.
const kinds = { bare, bareTogether, bareWorking, framework, proxy, platform }
export type Kind = keyof typeof kinds

const [kind = '', port = '', argument = ''] = process.argv.slice(2)
await kinds[kind as Kind]?.(Number(port), argument)
