/** Pipelined requests: handled one at a time, bounded in number, and responded to in order. */
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { gatewayOn, someHash } from '../helper.js'
import { until } from '../redis.js'
import { bareApp, block, exchange, raw, responsesIn, untilClosed } from './raw.js'

const request = (path: string, extra = ''): string =>
  `GET /api${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${someHash}\r\n${extra}\r\n`

interface Held {
  id: string
  response: ServerResponse
}

/** A gateway on a platform that holds back each response to `get_devices?id=…` until the test sends it. */
async function heldGateway(t: Test) {
  const held: Held[] = []
  const get_devices: RequestListener = (incoming, response) => {
    const id = new URL(incoming.url ?? '', 'http://localhost').searchParams.get('id')
    if (id === null) response.end('[]')
    else held.push({ id, response })
  }
  const parts = await gatewayOn(t, { get_devices })
  await parts.get('/v1/me', someHash)
  return { ...parts, held }
}

const send = ({ id, response }: Held): void =>
  void response.end(JSON.stringify([{ title: 'A', items: [{ id: Number(id) }] }]))

function hasDevices(t: Test, text: string, ids: number[]): void {
  const found = responsesIn(text).map(({ status, body }) => [status, JSON.parse(body).id])
  const wanted = ids.map((id) => [200, id])
  t.same(found, wanted)
}

t.test('twenty requests in one packet are handled one at a time, in order', async (t) => {
  const { url, get, held } = await heldGateway(t)
  const ids = Array.from({ length: 20 }, (_, at) => at + 1)
  const last = request('/v1/devices/20', 'Connection: close\r\n')
  const text = exchange(url, ids.map((id) => (id === 20 ? last : request(`/v1/devices/${id}`))).join(''))
  for (const id of ids) {
    await until(() => held.length === id)
    t.equal((await get('/v1/me', someHash)).status, 200, 'other connections are served meanwhile')
    t.equal(held.length, id, 'the next request waits for this response')
    send(held[id - 1] as Held)
  }
  hasDevices(t, await text, ids)
})

t.test('the responses to a client error and a tunnel follow those of earlier requests', async (t) => {
  const { url, held } = await heldGateway(t)
  const ends: [bytes: string, status: number][] = [
    ['no HTTP\r\n\r\n', 400],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405],
    ['POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ]
  for (const [bytes, status] of ends) {
    const first = held.length
    const text = exchange(url, request(`/v1/devices/${first + 1}`) + request(`/v1/devices/${first + 2}`) + bytes)
    for (const at of [first, first + 1]) {
      await until(() => held.length === at + 1)
      send(held[at] as Held)
    }
    const statuses = responsesIn(await text).map((response) => response.status)
    t.same(statuses, [200, 200, status], bytes.slice(0, 10))
  }
})

t.test('a connection with too many waiting requests is closed, and others are served', async (t) => {
  const { url, get, held, metrics } = await heldGateway(t)
  const text = exchange(url, request('/v1/devices/1') + request('/v1/me').repeat(500))
  await until(async () => /^gateway_connections_cut_total\{reason="pipelining"\} 1$/m.test(await metrics()))
  t.equal(await text.catch(() => ''), '')
  t.equal((await get('/v1/me', someHash)).status, 200)
  for (const one of held) send(one)
})

t.test('a new connection is served however many are open: the one idle for longest is closed', async (t) => {
  const { url, httpServer, held, metrics } = await heldGateway(t)
  httpServer.maxConnections = 4
  const port = Number(new URL(url).port)
  const opened = async (bytes: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(bytes)
    await once(httpServer, 'connection')
    return socket
  }
  const busy = await opened(request('/v1/devices/1'))
  await until(() => held.length === 1)
  const [used, silent] = [await opened(''), await opened('')]
  used.write('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(used, 'data')
  const closed = once(silent, 'close')
  const text = exchange(url, 'GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  t.match(await text, /^HTTP\/1.1 200/)
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
  for (const count of [1, 2]) {
    const client = connect(Number(new URL(url).port), '127.0.0.1')
    client.write(request('/v1/geofences'))
    t.teardown(() => client.destroy())
    await until(() => opened.length === count && (opened[count - 1] as Socket).writableLength > 0)
  }
  const text = exchange(url, 'GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  t.match(await text, /^HTTP\/1.1 200/)
  t.same([opened[0]?.destroyed, opened[1]?.destroyed], [true, false])
  t.match(await metrics(), /^gateway_connections_cut_total\{reason="slow_reader"\} 1$/m)
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

t.test('1,000 requests of all connections may wait, and those that have been handled count no more', async (t) => {
  const { url, held, metrics } = await heldGateway(t)
  const last = request('/v1/me', 'Connection: close\r\n')
  for (const cut of [1, 2]) {
    const bytes = request(`/v1/devices/${cut}`) + request('/v1/me').repeat(49) + last
    const texts = Array.from({ length: 21 }, () => exchange(url, bytes).catch(() => ''))
    await until(async () => (await metrics()).includes(`gateway_connections_cut_total{reason="pipelining"} ${cut}\n`))
    await until(() => held.length === 1)
    for (const one of held.splice(0)) send(one)
    t.same((await Promise.all(texts)).map((text) => responsesIn(text).length).sort(), [0, ...Array(20).fill(51)])
  }
})

t.test('a client that is still sending gets its error, and is disconnected if it goes on', async (t) => {
  const { url, httpServer, lines } = await gatewayOn(t, {})
  const head =
    'POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n'
  const body = 'x'.repeat(5_000_000)
  for (let n = 0; n < 10; n += 1) {
    t.equal((await raw(url, head + body)).status, 413)
    t.equal((await raw(url, `GET /api/health HTTP/1.1\r\nX: ${body}`)).status, 431)
  }
  const started = performance.now()
  for (const more of ['x', body + request('/v1/me')]) {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    socket.write(head)
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 413 /)
    socket.write(more)
  }
  await until(async () => (await promisify(httpServer.getConnections).call(httpServer)) === 0)
  t.ok(performance.now() - started < 12_000)
  for (const { status } of lines('request')) t.equal(status, 413, 'nothing behind the body is a request')
})

t.test('a request whose client leaves is logged and counted once, as 499; those behind it are dropped', async (t) => {
  const { url, get, held, lines, metrics, callers } = await heldGateway(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  socket.write(request('/v1/devices/1') + request('/v1/devices/2').repeat(10))
  await until(() => held.length === 1)
  socket.resetAndDestroy()
  send(held[0] as Held)
  const later = get('/v1/devices/3', someHash)
  await until(() => held.some(({ id }) => id === '3'))
  for (const one of held) send(one)
  t.equal((await later).status, 200)
  t.ok(held.length <= 3, `${held.length - 2} of 10 handled`)
  const aborted = lines('request').filter(({ status }) => status === 499)
  t.match(aborted, [{ method: 'GET', route: '/api/v1/devices/:id', account: /./, credential: 'platform_hash' }])
  t.match(await metrics(), /^gateway_requests_total\{method="GET",route="\/api\/v1\/devices\/:id",status="499"\} 1$/m)
  t.match(callers(), { length: 1, 0: { requests: 3 } }, 'the first one, the one whose client left, and the last one')
})

t.test('a response that cannot be written because its client has closed is logged and counted as 499', async (t) => {
  const geofences = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, name: 'x'.repeat(500_000), type: 'polygon' }))
  const held: ServerResponse[] = []
  const get_geofences: RequestListener = (_request, response) => void held.push(response)
  const { url, lines, metrics } = await gatewayOn(t, { get_geofences })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(request('/v1/geofences'))
  await until(() => held.length === 1)
  socket.destroy()
  await once(socket, 'close')
  held[0]?.end(JSON.stringify({ items: { geofences } }))
  await until(() => lines('request').length === 1)
  t.match(lines('request'), [{ route: '/api/v1/geofences', status: 499 }])
  t.match(await metrics(), /^gateway_requests_total\{method="GET",route="\/api\/v1\/geofences",status="499"\} 1$/m)
})

t.test('requests whose clients leave while they wait for their turn are logged and counted as 499', async (t) => {
  const env = { RATE_LIMIT_MAX: '10000' }
  const { url, get, lines, metrics } = await gatewayOn(t, { env }, {})
  await get('/v1/me', someHash)
  const port = Number(new URL(url).port)
  const clients = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of clients) socket.write(request('/health'))
  await Promise.all(clients.map((socket) => once(socket, 'data')))
  const last = clients.pop() as Socket
  const leave = (): void => {
    for (const socket of clients) socket.resetAndDestroy()
  }
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
  t.equal((await get('/v1/me', someHash)).status, 200)
  last.destroy()
})

t.test('a request that the parser gives up has one response and is counted once', async (t) => {
  const { url, get, lines, metrics } = await heldGateway(t)
  const head =
    'POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  t.match(await raw(url, `${head}no chunk\r\n`), { status: 400 })
  await get('/v1/me', someHash)
  t.notOk(lines('request').some(({ status }) => status !== 200))
  t.match(await metrics(), /^gateway_requests_total\{method="none",route="none",status="400"\} 1$/m)
})

t.test('a request that is not HTTP has one response and is counted once, however many packets follow', async (t) => {
  const { url, get, held, metrics } = await heldGateway(t)
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true })
  const text = untilClosed(socket)
  socket.write(`${request('/v1/devices/1')}no HTTP\r\n\r\n`)
  await until(() => held.length === 1)
  for (let packet = 0; packet < 10; packet += 1) {
    socket.write('more')
    t.equal((await get('/v1/me', someHash)).status, 200, 'the gateway has read the packet')
  }
  send(held[0] as Held)
  t.match(responsesIn(await text), { length: 2, 0: { status: 200 }, 1: { status: 400 } })
  t.match(await metrics(), /^gateway_requests_total\{method="none",route="none",status="400"\} 1$/m)
  const { headers } = await get('/health')
  t.equal(Number(headers.get('ratelimit-limit')) - Number(headers.get('ratelimit-remaining')), 1)
})

t.test('a client that half-closes after its last request gets all responses, and the connection ends', async (t) => {
  const { url, held } = await heldGateway(t)
  for (const count of [1, 5]) {
    const { length } = held
    const ids = Array.from({ length: count }, (_, at) => length + at + 1)
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
    const text = untilClosed(socket)
    socket.end(ids.map((id) => request(`/v1/devices/${id}`)).join(''))
    for (const id of ids) {
      await until(() => held.length === id)
      send(held[id - 1] as Held)
    }
    hasDevices(t, await text, ids)
  }
})

t.test('a response that its client is still reading when the gateway closes arrives whole', async (t) => {
  const { app } = bareApp(t)
  app.get('/', async () => 'x'.repeat(20_000_000))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const accepted = once(app.server, 'connection')
  const client = connect(Number(new URL(url).port), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const [socket] = await accepted
  await until(() => socket.writableLength > 0)
  const closed = app.close()
  await until(() => !app.server.listening)
  t.equal((await untilClosed(client)).split('\r\n\r\n')[1]?.length, 20_000_000)
  await closed
})
