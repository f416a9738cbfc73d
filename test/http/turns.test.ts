/** Requests that arrive at once begin in several turns of the event loop; the responses of one turn are sent together. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { paced, sendTogether } from '../../src/http/turns.js'
import type { App } from '../../src/http/types.js'
import { Pace } from '../../src/lib/pace.js'
import { FailoverCounters } from '../../src/rate-limit/counters.js'
import { answers, Clock, gateway, gatewayOn, sandbox, someHash } from '../helper.js'
import { createKey, redisGateway } from '../limits.js'
import { sends, sound } from '../platform/faulty.js'
import { redisServer } from '../redis.js'
import { watched } from '../watched.js'
import { block, dial } from './raw.js'

const ask = (socket: Socket, path: string): void => void socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
const response = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0])

t.test('connections are accepted while many requests wait, which begin in order for each caller', async (t) => {
  const arrived: (string | undefined)[] = []
  const begun: (string | undefined)[] = []
  const begunBefore: number[] = []
  const options = { pace: new Pace(() => 7_000), callers: { callerOf: () => 'a' } }
  const begin = paced(options, ({ url }, response) => {
    begun.push(url)
    response.end(url)
  })
  const server = createServer((request, response) => {
    arrived.push(request.url)
    begin(request, response)
  })
  server.on('connection', () => begunBefore.push(begun.length)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1')
  const clients = Array.from({ length: 100 }, open)
  await Promise.all(clients.map((socket) => once(socket, 'connect')))
  while (begunBefore.length < clients.length) await once(server, 'connection')
  const responses = Promise.all(clients.map(response))
  for (const [at, socket] of clients.entries()) ask(socket, `/${at}`)
  const later = [open(), open(), open(), open()]
  block(100)
  for (const [at, text] of (await responses).entries()) t.match(text, `\r\n\r\n/${at}`)
  t.same(begun, arrived)
  const gaps = begunBefore.slice(clients.length).map((count, at, all) => count - (all[at - 1] ?? 0))
  t.ok(Math.max(...gaps) <= 32, `requests begun between two connections: ${gaps}`)
  for (const socket of [...clients, ...later]) socket.destroy()
  server.close()
})

t.test('log line and latency of a request include its wait for a turn', async (t) => {
  const time = new Clock(0)
  const { read } = FailoverCounters.prototype
  // Each request takes at least 100 ms of this time.
  t.intercept(FailoverCounters.prototype, 'read', {
    value(this: FailoverCounters, name: string) {
      time.advance(100)
      return read.call(this, name)
    },
  })
  const { url, lines, metrics } = await gateway(t, { ticks: time.now })
  const sockets = Array.from({ length: 40 }, () => dial(t, url))
  for (const _ of ['accepted', 'at once']) {
    const responses = Promise.all(sockets.map(response))
    for (const socket of sockets) ask(socket, '/api/health')
    block(100)
    await responses
  }
  for (const { ms } of lines('request').slice(-8)) t.ok(ms > 1_500, 'one that begins in the third turn')
  const [, sum] = /^gateway_request_seconds_sum\S+ (\S+)$/m.exec(await metrics()) ?? []
  t.ok(Number(sum) > 8 * 1.5, `${sum} s`)
})

t.test('a caller waits for no other account, whatever the credentials of that one and their spelling', async (t) => {
  const { url, hashes } = await sandbox(t)
  // Time stands still, so that nobody has a debt from before.
  const { url: base, get, lines, httpServer } = await gateway(t, { env: { PLATFORM_URL: url }, ticks: () => 7_000 })
  const [crowd = '', calm = ''] = hashes
  const credentials = [crowd]
  while (credentials.length < 4) credentials.push((await createKey(get, { platform_hash: crowd })).body.key)
  for (const credential of [...credentials, calm]) t.equal((await get('/v1/me', credential)).status, 200)
  const sockets = Array.from({ length: 80 }, () => dial(t, base))
  for (const _ of sockets) await once(httpServer, 'connection')
  const before = lines('request').length
  const responses = Promise.all(sockets.map(response))
  for (const [at, socket] of sockets.entries()) {
    const credential = at === 78 ? calm : credentials[at % 4]
    const authorization = at < 79 ? `Authorization: Bearer${' '.repeat(at + 1)}${credential}\r\n` : ''
    socket.write(`GET /api/v1/me HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`)
  }
  block(100)
  await responses
  const accounts = lines('request')
    .slice(before)
    .map(({ account }) => account)
  const places = [...accounts.entries()].filter(([, account]) => account !== accounts[0]).map(([place]) => place)
  t.equal(accounts.length, 80)
  t.ok(places.length === 2 && Math.max(...places) < 20, `the other callers were number ${places}`)
})

t.test('requests that wait for one call to the platform do not all go on in one turn', async (t) => {
  const { turn } = Pace.prototype
  let resumed = 0
  t.capture(Pace.prototype, 'turn', async function (this: Pace, ...what: Parameters<typeof turn>) {
    await turn.apply(this, what)
    resumed += 1
  })
  for (const [action, path, laterMs, expected = 200] of [
    ['get_user_data', '/v1/devices', 2_000],
    ['get_user_data', '/v1/devices', 2_000, 401],
    ['get_devices', '/v1/devices', 6_000],
    ['get_geofences', '/v1/geofences', 0],
    ['get_events', '/v1/events', 0],
    ['edit_setup_data', '/v1/me', 2_000],
    ['get_history', '/v1/history/7?from=2026-05-01&to=2026-05-01', 0],
  ] as const) {
    let isHeld = false
    let release: (() => void) | undefined
    const good = answers({ ...sound, edit_setup_data: { item: { timezone_id: 1 } } })
    const env = { RATE_LIMIT_MAX: '1000', ACCOUNT_TTL_MS: '1000', POSITION_TTL_MS: '5000' }
    const clock = new Clock()
    const { get, arrivals } = await gatewayOn(t, { env, clock: clock.now }, (request, response) => {
      if (!isHeld || !request.url?.includes(action)) return good(request, response)
      release = () => (expected === 200 ? good : sends('{"message":"Unauthenticated."}', 401))(request, response)
    })
    t.equal((await get(path, someHash)).status, 200)
    isHeld = true
    clock.advance(laterMs)
    const arrived = arrivals(100)
    const waiting = Array.from({ length: 100 }, () => get(path, someHash))
    await arrived
    while (!release) await endOfTurn()
    const counts = [resumed]
    release()
    const [received] = await watched(Promise.all(waiting), () => void counts.push(resumed))
    const inOneTurn = counts.map((count, at) => count - (counts[at - 1] ?? count)).filter(Boolean)
    // The request that sent the call may wait for no turn, nor do those that are late, on a busy machine.
    t.ok(resumed - counts[0]! > 50, `${action}: ${inOneTurn}`)
    // Two turns may pass between two counts.
    t.ok(Math.max(...inOneTurn) <= 32, `${action}: ${inOneTurn}`)
    for (const { status } of received) t.equal(status, expected)
  }
})

t.test('requests whose counts come in one packet of Redis do not all go on in one turn', async (t) => {
  const redis = await redisServer(t)
  const time = new Clock(0)
  let isLong = false
  const ticks = (): number => {
    if (isLong) time.advance(6)
    return time.now()
  }
  const { get, lines, arrivals } = await redisGateway(t, redis.url, {}, ticks)
  t.equal((await get('/v1/devices', someHash)).status, 200)
  for (const [credential, expected] of [
    [someHash, 200],
    [undefined, 401],
  ] as const) {
    redis.freeze()
    const arrived = arrivals(40)
    const waiting = Array.from({ length: 40 }, () => get('/v1/devices', credential))
    await arrived
    isLong = true
    redis.thaw()
    const counts = [lines('request').length]
    const [received] = await watched(Promise.all(waiting), () => void counts.push(lines('request').length))
    const inOneTurn = counts.map((count, at) => count - (counts[at - 1] ?? count))
    t.ok(Math.max(...inOneTurn) <= 4, `${inOneTurn.filter(Boolean)}`)
    for (const { status } of received) t.equal(status, expected)
    isLong = false
  }
})

/** Sockets that are connected to an app, and accepted: each has had a first response. */
async function connected(t: Test, count: number, seen: string[] = []): Promise<Socket[]> {
  const app = fastify() as unknown as App
  sendTogether(app)
  app.get('/invalid-header', (_request, reply) => reply.header('X-Text', 'a\nb').send('never sent'))
  app.get('/twice', (_request, reply) => reply.send('first').send('second'))
  app.get('/refused', (_request, reply) => {
    reply.isRefused = true
    reply.send('refused').header('x-late', '1').send('late')
  })
  const onSend = async (): Promise<void> => void seen.push('sent')
  app.get('*', { onSend }, (request, reply) => {
    seen.push('begun')
    reply.send(request.url)
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const sockets = Array.from({ length: count }, () => dial(t, url))
  for (const socket of sockets) ask(socket, '/')
  await Promise.all(sockets.map(response))
  return sockets
}

t.test('responses wait until all sockets that are readable now have been read', async (t) => {
  const seen: string[] = []
  const sockets = await connected(t, 3, seen)
  const responses = Promise.all(sockets.map(response))
  for (const [at, socket] of sockets.entries()) ask(socket, `/${at}`)
  block(100)
  for (const [at, text] of (await responses).entries()) t.match(text, `\r\n\r\n/${at}`)
  t.equal(seen.slice(-6).join(' '), 'begun begun begun sent sent sent')
})

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
})

t.test('a handler that responds in the turn in which its request was refused changes nothing', async (t) => {
  const [socket] = (await connected(t, 1)) as [Socket]
  ask(socket, '/twice')
  t.match(await response(socket), /\r\n\r\nfirst$/)
  ask(socket, '/refused')
  const text = await response(socket)
  t.match(text, /\r\n\r\nrefused$/)
  t.notMatch(text, 'x-late')
  ask(socket, '/again')
  t.match(await response(socket), /\r\n\r\n\/again$/)
})
