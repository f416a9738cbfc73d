/** Pipelined requests: handled one at a time, bounded in number, and responded to in order. */
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { shareKeyOf } from '../../src/http/connections.js'
import { gatewayOn, someHash } from '../helper.js'
import { createKey, otherHash } from '../limits.js'
import { only } from '../only.js'
import { until } from '../redis.js'
import { type Held, heldGateway, request, send } from './held.js'
import { bareApp, block, dial, exchange, responsesIn, untilClosed } from './raw.js'

t.test('all addresses of an IPv6 subscriber share places and memory, also with the demo token', async (t) => {
  const ownersOf = (first: string, second: string, caller?: object) =>
    new Set(
      [first, second].map((ip) => shareKeyOf({ ip, account: caller && { id: 'demo' }, caller } as FastifyRequest)),
    )
  for (const caller of [undefined, { credential: 'demo' }]) {
    t.equal(ownersOf('2001:db8::1', '2001:db8::ffff:1', caller).size, 1)
    t.equal(ownersOf('2001:db8::1', '2001:db8:0:1::1', caller).size, 2)
    t.equal(ownersOf('192.0.2.1', '192.0.2.2', caller).size, 2)
  }
})

t.test('requests are handled one at a time, in order, and what ends their connection after them', async (t) => {
  const { url, get, held, metrics } = await heldGateway(t, { RATE_LIMIT_WINDOW_S: '3600' })
  const [noHttp, tunnel] = ['no HTTP\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n']
  const twoLengths = 'POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'
  const [end, more] = [(socket: Socket) => socket.end(), (socket: Socket) => socket.write('more')]
  const rows: [requests: number, bytes: string, errors: number[], ...then: ((socket: Socket) => unknown)[]][] = [
    [2, noHttp, [400]],
    [2, tunnel, [405]],
    [2, twoLengths, [400]],
    [1, noHttp, [400], ...Array(10).fill(more)],
    [1, noHttp, [400], end],
    [1, '', [], end],
    [20, '', [], end],
  ]
  for (const [count, bytes, errors, ...then] of rows) {
    const before = held.length
    const ids = Array.from({ length: count }, (_, at) => before + at + 1)
    const socket = dial(t, url, ids.map((id) => request(`/v1/devices/${id}`)).join('') + bytes)
    const text = untilClosed(socket)
    for (const id of ids) {
      await until(() => held.length === id)
      for (const act of [() => {}, ...then.splice(0)]) {
        act(socket)
        t.equal((await get('/v1/me', someHash)).status, 200, 'other connections are served meanwhile')
      }
      t.equal(held.length, id, 'the next request waits for this response')
      send(held[id - 1] as Held)
    }
    const found = responsesIn(await text).map(({ status, body }) => [status, JSON.parse(body).id])
    t.same(found, [...ids.map((id) => [200, id]), ...errors.map((status) => [status, undefined])], bytes.slice(0, 10))
  }
  t.match(await metrics(), /^gateway_requests_total\{method="none",route="none",status="400"\} 4$/m)
  const { headers } = await get('/health')
  t.equal(Number(headers.get('ratelimit-limit')) - Number(headers.get('ratelimit-remaining')), 5, 'each counts once')
})

t.test('a connection with too many waiting requests is closed, and others are served', async (t) => {
  const { url, get, held, httpServer, metrics } = await heldGateway(t)
  const requests: unknown[] = []
  httpServer.on('request', (request) => requests.push(request))
  const text = exchange(url, request('/v1/devices/1') + request('/v1/me').repeat(500))
  await until(async () => /^gateway_connections_cut_total\{reason="pipelining"\} 1$/m.test(await metrics()))
  t.equal(await text.catch(() => ''), '')
  t.ok(requests.length < 100, 'the rest of the packet is not parsed')
  t.match(requests[0], { url: '/api/v1/devices/1' }, 'the one in progress goes on as it was')
  t.equal((await get('/v1/me', someHash)).status, 200)
  for (const one of held) send(one)
})

t.test('a connection with chunks behind a request that waits is closed', async (t) => {
  const { url } = await heldGateway(t)
  const behind = request('/v1/me', 'Transfer-Encoding: chunked\r\n')
  t.equal(await exchange(url, request('/v1/devices/1') + behind + '1\r\nx\r\n'.repeat(10_000)).catch(() => ''), '')
})

t.test('a new connection is served however many are open: the one idle for longest is closed', async (t) => {
  const { url, httpServer, held, metrics } = await heldGateway(t)
  httpServer.maxConnections = 4
  const opened = async (bytes: string): Promise<Socket> => {
    const socket = dial(t, url, bytes)
    await once(httpServer, 'connection')
    return socket
  }
  const busy = await opened(request('/v1/devices/1'))
  await until(() => held.length === 1)
  const incomplete =
    'POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'
  const [used, silent] = [await opened(''), await opened(incomplete)]
  used.write('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(used, 'data')
  const closed = once(silent, 'close')
  t.match(await exchange(url, request('/health', 'Connection: close\r\n')), /^HTTP\/1.1 200/)
  await closed
  t.same([busy.destroyed, used.destroyed], [false, false])
  t.match(await metrics(), /^gateway_connections_cut_total\{reason="idle"\} 2$/m)
  send(held[0] as Held)
  await once(busy, 'data')
})

t.test('clients that do not read their responses keep nobody out: the slowest one makes room', async (t) => {
  const geofences = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, name: 'x'.repeat(500_000), type: 'polygon' }))
  const { url, httpServer, metrics } = await gatewayOn(t, { get_geofences: { items: { geofences } } })
  const opened: Socket[] = []
  httpServer.on('connection', (socket) => opened.push(socket))
  httpServer.maxConnections = 3
  const clients = [1, 2].map(() => dial(t, url))
  await until(() => opened.length === 2)
  for (const at of [1, 0]) {
    const client = clients.find(({ localPort }) => localPort === opened[at]?.remotePort)
    client?.write(request('/v1/geofences'))
    await until(() => (opened[at] as Socket).writableLength > 0)
  }
  t.match(await exchange(url, request('/health', 'Connection: close\r\n')), /^HTTP\/1.1 200/)
  t.same([opened[0]?.destroyed, opened[1]?.destroyed], [false, true])
  t.match(await metrics(), /^gateway_connections_cut_total\{reason="slow_reader"\} 1$/m)
})

t.test('an account whose requests wait for the platform keeps nobody out: its last ones get a 503', async (t) => {
  const { url, get, held, httpServer, metrics } = await heldGateway(t, { TRUST_PROXY: '1' })
  const { key } = (await createKey(get)).body
  httpServer.maxConnections = 6
  const texts: Promise<string>[] = []
  for (const [at, credential] of [someHash, key, otherHash, key, key].entries()) {
    const extra = `Connection: close\r\nX-Forwarded-For: 192.0.2.${at}\r\n`
    texts.push(exchange(url, request(`/v1/devices/${at + 1}`, extra, credential)))
    await until(() => held.length === at + 1)
  }
  const others = [1, 2, 3, 4].map(() => exchange(url, request('/health', 'Connection: close\r\n')))
  t.match(await Promise.all(others), Array(4).fill(/^HTTP\/1.1 200/))
  t.match(await metrics(), /^gateway_shed_total 3$/m)
  for (const one of held) send(one)
  t.equal((await Promise.all(texts)).map((text) => text.slice(9, 12)).join(), '200,503,200,503,503')
})

t.test('clients whose requests wait behind a response keep nobody from pipelining', async (t) => {
  const { url, held } = await heldGateway(t)
  const last = request('/v1/me', 'Connection: close\r\n')
  const bytes = request('/v1/devices/1') + request('/v1/me').repeat(61) + last
  const ended = Promise.allSettled(Array.from({ length: 16 }, () => exchange(url, bytes)))
  await until(() => held.length === 1)
  t.equal(responsesIn(await exchange(url, request('/v1/me').repeat(19) + last)).length, 20)
  for (const one of held) send(one)
  await ended
})

t.test('1,000 requests of all connections may wait, and those that have been handled are not counted', async (t) => {
  const { url, get, held, metrics } = await heldGateway(t)
  const last = request('/v1/me', 'Connection: close\r\n')
  const oldest = get('/v1/devices/1', someHash)
  await until(() => held.length === 1)
  for (const cut of [1, 2]) {
    const bytes = request(`/v1/devices/${cut}`) + request('/v1/me').repeat(49) + last
    const texts = Array.from({ length: 21 }, () => exchange(url, bytes).catch(() => ''))
    await until(async () => (await metrics()).includes(`gateway_connections_cut_total{reason="pipelining"} ${cut}\n`))
    await until(() => held.length === 1)
    for (const one of held.splice(0)) send(one)
    t.same((await Promise.all(texts)).map((text) => responsesIn(text).length).sort(), [0, ...Array(20).fill(51)])
  }
  t.equal((await oldest).status, 200, 'a client that sends one request at a time is not cut')
})

t.test('a request whose client leaves is logged and counted once, as 499; those behind it are dropped', async (t) => {
  const { url, get, held, lines, metrics, callers } = await heldGateway(t)
  const socket = dial(t, url, request('/v1/devices/1') + request('/v1/devices/2').repeat(10))
  await until(() => held.length === 1)
  socket.resetAndDestroy()
  send(held[0] as Held)
  const later = get('/v1/devices/3', someHash)
  await until(() => held.some(({ id }) => id === '3'))
  for (const one of held) send(one)
  t.equal((await later).status, 200)
  t.ok(held.length <= 3, `${held.length - 2} of 10 handled`)
  const aborted = lines('request').filter(({ status }) => status === 499)
  t.match(aborted, only({ method: 'GET', route: '/api/v1/devices/:id', account: /./, credential: 'platform_hash' }))
  t.match(await metrics(), /^gateway_requests_total\{method="GET",route="\/api\/v1\/devices\/:id",status="499"\} 1$/m)
  t.match(callers(), { length: 1, 0: { requests: 3 } }, 'the first one, the one whose client left, and the last one')
})

t.test('a response that cannot be written because its client has closed is logged and counted as 499', async (t) => {
  const geofences = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, name: 'x'.repeat(500_000), type: 'polygon' }))
  const held: ServerResponse[] = []
  const get_geofences: RequestListener = (_request, response) => void held.push(response)
  const { url, lines, metrics } = await gatewayOn(t, { get_geofences })
  const socket = dial(t, url, request('/v1/geofences'))
  await until(() => held.length === 1)
  socket.destroy()
  await once(socket, 'close')
  held[0]?.end(JSON.stringify({ items: { geofences } }))
  await until(() => lines('request').length === 1)
  t.match(lines('request'), only({ route: '/api/v1/geofences', status: 499 }))
  t.match(await metrics(), /^gateway_requests_total\{method="GET",route="\/api\/v1\/geofences",status="499"\} 1$/m)
})

t.test('requests whose clients leave while they wait for their turn are logged and counted as 499', async (t) => {
  const { url, get, lines, metrics } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '10000' } }, {})
  await get('/v1/me', someHash)
  const clients = Array.from({ length: 100 }, () => dial(t, url, request('/health')))
  await Promise.all(clients.map((socket) => once(socket, 'data')))
  const last = clients.pop() as Socket
  const leave = () => clients.map((socket) => socket.resetAndDestroy())
  for (const socket of clients) socket.once('data', leave).write(request('/v1/me'))
  last.write(request('/v1/me'))
  const response = once(last, 'data')
  // So that the gateway reads all requests in one turn.
  block(100)
  const requests = () => lines('request').filter(({ route }) => route === '/api/v1/me')
  t.match(String(await response), /^HTTP\/1.1 200 /, 'one who waits behind them gets a response')
  await until(() => requests().length >= 101)
  const left = requests().filter(({ status }) => status === 499)
  const begun = left.filter(({ account }) => account !== undefined)
  t.ok(begun.length < left.length, 'some had not begun')
  t.match(await metrics(), `gateway_requests_total{method="GET",route="/api/v1/me",status="499"} ${left.length}\n`)
  t.equal(requests().length, 101)
  const { status, headers } = await get('/v1/me', someHash)
  const counted = 102 - left.length + begun.length
  t.same([status, headers.get('ratelimit-remaining')], [200, `${10_000 - counted}`], 'these took none of the limit')
})

t.test('closing idle connections spares the next request in a packet, up to the last response', async (t) => {
  const { app, connections } = bareApp(t)
  const replies: FastifyReply[] = []
  app.get('/', (_request, reply) => void replies.push(reply))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const text = exchange(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3))
  for (const number of [1, 2]) {
    await until(() => replies.length === number)
    connections.closeIdle()
    replies[number - 1]?.header('connection', number === 2 ? 'close' : 'keep-alive').send(number)
  }
  t.match(await text, /2$/)
  t.equal(replies.length, 2, 'the request behind the last response is dropped')
})
