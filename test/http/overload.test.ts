/** Load shedding while the event loop is late, or requests wait long for their turn. */
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { isOverload, lateSamples, shedOverload } from '../../src/http/overload.js'
import { isUnavailable } from '../faults.js'
import { type Gateway, gateway, platform, someHash } from '../helper.js'
import { limitsOf, otherHash, redisGateway } from '../limits.js'
import { redisServer, until, withoutRedis } from '../redis.js'
import { bareApp, block } from './raw.js'

t.test('from the third late sample in a row on requests are shed, until one is in time', (t) => {
  // The loop blocked for a whole sample has no mean; a wait for a turn is as late as the loop.
  const causes: [delayMs: number, waitMs: number][] = [
    [501, 0],
    [Number.NaN, 0],
    [0, 501],
  ]
  for (const cause of causes) {
    const found: number[] = []
    for (const sample of [cause, cause, [500, 500], cause, cause, cause, cause, [500, 500]] as typeof causes)
      found.push(lateSamples(found.at(-1) ?? 0, ...sample))
    t.same(found, [1, 2, 0, 1, 2, 3, 4, 0])
    t.same(found.map(isOverload), [false, false, false, false, false, true, true, false])
  }
  t.end()
})

t.test('while the event loop is late, requests get 503 and health is still served', async (t) => {
  const { get, metrics } = await gateway(t, { env: { RATE_LIMIT_MAX: '1000' } })
  const status = async (): Promise<number> => (await get('/v1/me', 'demo')).status
  while ((await status()) !== 200) await pause(50)
  let shed = await get('/v1/me', 'demo')
  for (let pauses = 0; shed.status === 200 && pauses < 10; pauses += 1) {
    block(1_600)
    const [me, health] = await Promise.all([get('/v1/me', 'demo'), get('/health')])
    t.equal(health.status, 200)
    shed = me
  }
  isUnavailable(t, shed, 'after several pauses')
  t.equal(shed.headers.get('retry-after'), '2')
  t.equal(limitsOf(await get('/health'))[1], 1_000, 'what is shed is not charged to its address')
  t.match(await metrics(), /^gateway_shed_total [1-9]/m)
  while ((await status()) !== 200) await pause(50)
})

t.test('requests that wait long for a turn are shed, though turns are short; those of no other caller', async (t) => {
  const { app, pace } = bareApp(t)
  shedOverload(app, pace, () => {})
  app.get('/', async () => void block(15))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const open = async (localAddress: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    await once(app.server, 'connection')
    return socket
  }
  const statusOf = async (socket: Socket): Promise<string> => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    return String((await once(socket, 'data'))[0]).slice(9, 12)
  }
  const other = await open('127.0.0.2')
  const sockets: Socket[] = []
  while (sockets.length < 100) sockets.push(await open('127.0.0.1'))
  let served = 0
  let calm: Promise<string> | undefined
  const requestUntilShed = async (socket: Socket): Promise<void> => {
    while (served < 500 && calm === undefined) {
      if ((await statusOf(socket)) === '503') calm ??= statusOf(other)
      served += 1
    }
    socket.destroy()
  }
  await Promise.all(sockets.map(requestUntilShed))
  t.ok(served < 500, `shed after ${served} requests`)
  t.equal(await calm, '200')
  other.destroy()
})

/** Two new connections, one after the other, which send nothing. With the second, the request that gave way to the first is refused already. */
async function openTwo({ url, httpServer }: Gateway): Promise<void> {
  for (const _ of [1, 2]) {
    connect(Number(new URL(url).port), '127.0.0.1')
    const [accepted] = (await once(httpServer, 'connection')) as [Socket]
    await once(accepted.destroy(), 'close')
  }
}

t.test('a request that keeps others out gets one full 503 while Redis is slow', { skip: withoutRedis }, async (t) => {
  const held: ServerResponse[] = []
  const get_user_data: RequestListener = (_request, response) => void held.push(response)
  const { url: PLATFORM_URL } = await platform(t, { get_user_data, edit_setup_data: { item: {} } })
  const redis = await redisServer(t)
  const parts = await redisGateway(t, redis.url, { PLATFORM_URL })
  const { get, httpServer, metrics } = parts
  httpServer.maxConnections = 3
  const waiting = [get('/v1/me', someHash), get('/v1/me', otherHash)]
  await until(() => held.length === 2)
  redis.freeze()
  await openTwo(parts)
  isUnavailable(t, await Promise.race(waiting), 'while the counters are awaited')
  t.match(await metrics(), /^gateway_shed_total 1$/m)
  for (const response of held) response.end('{"email":"a@example.com"}')
  t.same((await Promise.all(waiting)).map(({ status }) => status).sort(), [200, 503])
})

t.test('a request that fails keeps its own error while Redis is slow', { skip: withoutRedis }, async (t) => {
  const redis = await redisServer(t)
  const parts = await redisGateway(t, redis.url, {})
  const { get, httpServer } = parts
  httpServer.maxConnections = 3
  let begun = 0
  httpServer.on('request', () => begun++)
  redis.freeze()
  const failing = [get('/nope'), get('/nope')]
  await until(() => begun === 2)
  await openTwo(parts)
  for (const one of failing) t.match(await one, { status: 404, body: { error: 'not_found' } })
})
