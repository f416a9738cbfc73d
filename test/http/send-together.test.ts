/** Responses of one event-loop turn are sent together, and none is lost or sent twice. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type FastifyRequest, fastify } from 'fastify'
import t, { type Test } from 'tap'
import { sendTogether } from '../../src/http/send-together.js'
import type { App } from '../../src/http/types.js'

/** An app that notes what happens, and connected sockets. */
async function served(t: Test, connections: number) {
  const seen: string[] = []
  const app = fastify() as unknown as App
  sendTogether(app)
  app.get('/invalid-header', (request, reply) => {
    seen.push(request.url)
    reply.header('X-Text', 'a\nb').send('never sent')
  })
  const onSend = async (request: FastifyRequest): Promise<void> => void seen.push(`send ${request.url}`)
  app.get('*', { onSend }, (request, reply) => {
    seen.push(request.url)
    reply.send(request.url)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'))
  // A first response, so that the server has accepted each connection.
  for (const socket of sockets) ask(socket, '/')
  await Promise.all(sockets.map(response))
  seen.length = 0
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    return app.close()
  })
  return { seen, sockets }
}

const ask = (socket: Socket, path: string): void => void socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
const response = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0])

t.test('responses wait until all sockets that are readable now have been read', async (t) => {
  const { seen, sockets } = await served(t, 3)
  const responses = Promise.all(sockets.map(response))
  for (const [at, socket] of sockets.entries()) ask(socket, `/${at}`)
  // While this thread is blocked, the system delivers what it has written.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  for (const [at, text] of (await responses).entries()) t.match(text, `\r\n\r\n/${at}`)
  const [first, second, third, ...rest] = seen
  t.same([first, second, third].toSorted(), ['/0', '/1', '/2'])
  t.same(rest.toSorted(), ['send /0', 'send /1', 'send /2'])
})

t.test('a client that is gone, or a response that cannot be sent, holds up no other of the turn', async (t) => {
  const { sockets } = await served(t, 3)
  const [gone, broken, good] = sockets as [Socket, Socket, Socket]
  const closed = once(broken, 'close')
  ask(gone, '/gone')
  ask(broken, '/invalid-header')
  ask(good, '/good')
  gone.resetAndDestroy()
  t.match(await response(good), '200 OK')
  await closed
  ask(good, '/again')
  t.match(await response(good), '/again')
})
