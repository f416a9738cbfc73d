/** Responses of one event-loop turn are sent together, and none is lost or sent twice. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { sendTogether } from '../../src/http/send-together.js'
import type { App } from '../../src/http/types.js'

/** Sockets that are connected to an app, and accepted: each has had a first response. */
async function connected(t: Test, count: number): Promise<Socket[]> {
  const app = fastify() as unknown as App
  sendTogether(app)
  app.get('/invalid-header', (_request, reply) => reply.header('X-Text', 'a\nb').send('never sent'))
  app.get('*', (request, reply) => reply.send(request.url))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) ask(socket, '/')
  await Promise.all(sockets.map(response))
  return sockets
}

const ask = (socket: Socket, path: string): void => void socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
const response = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0])

t.test('a client that is gone, or a response that cannot be sent, holds up no other of the turn', async (t) => {
  const [gone, broken, good] = (await connected(t, 3)) as [Socket, Socket, Socket]
  const closed = once(broken, 'close')
  ask(gone, '/gone')
  ask(broken, '/invalid-header')
  ask(good, '/good')
  gone.resetAndDestroy()
  t.match(await response(good), '200 OK')
  await closed
  ask(good, '/again')
  t.match(await response(good), '/again')
  good.destroy()
})
