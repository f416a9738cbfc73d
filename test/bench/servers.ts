/** The servers that the gateway is compared with or stands in front of, one per process: `node servers.js <kind> <port> <argument>`. */
import { createServer } from 'node:http'

const json = 'application/json; charset=utf-8'
const host = '127.0.0.1'

/** Sends one constant response with `node:http`, the least that a server of this runtime can do. */
const constant = (port: number, text: string, send: (respond: () => void) => void): void => {
  const body = Buffer.from(text)
  const headers = { 'content-type': json, 'content-length': body.length }
  const server = createServer((_request, response) => send(() => response.writeHead(200, headers).end(body)))
  server.listen(port, host)
}

// Each loads only what it needs: they are started often.
const kinds = {
  bare: (port: number, text: string) => constant(port, text, (respond) => respond()),
  /** The responses of one turn of the event loop are sent together: a sleeping client is woken once, not once per response. */
  bareTogether: (port: number, text: string) => {
    const waiting: (() => void)[] = []
    const sendAll = (): void => {
      for (const respond of waiting.splice(0)) respond()
    }
    constant(port, text, (respond) => {
      if (waiting.push(respond) === 1) setImmediate(sendAll)
    })
  },
  framework: async (port: number, text: string) => {
    const app = (await import('fastify')).fastify()
    app.get('/*', (_request, reply) => reply.type(json).send(text))
    await app.listen({ host, port })
  },
  proxy: async (port: number, upstream: string) => {
    const app = (await import('fastify')).fastify()
    await app.register((await import('@fastify/http-proxy')).default, { upstream })
    await app.listen({ host, port })
  },
  platform: async (port: number, latencyMs: string) =>
    (await import('./fixed-platform.js')).fixedPlatform(port, Number(latencyMs)),
}
export type Kind = keyof typeof kinds

const [kind = '', port = '', argument = ''] = process.argv.slice(2)
await kinds[kind as Kind]?.(Number(port), argument)
