/** What the parser rejects, and `Upgrade`: one response, in time for a client that is still sending. */
import { once } from 'node:events'
import { promisify } from 'node:util'
import t from 'tap'
import { gatewayOn, someHash } from '../helper.js'
import { until } from '../redis.js'
import { type Held, heldGateway, request, send } from './held.js'
import { dial, exchange, raw, responsesIn, untilClosed } from './raw.js'

t.test('nothing behind a request with Upgrade is a request: its response closes the connection', async (t) => {
  const { url, held } = await heldGateway(t)
  const upgrade = request('/v1/devices/1', 'Connection: Upgrade\r\nUpgrade: h2c\r\n')
  const socket = dial(t, url)
  const text = untilClosed(socket)
  const body = request('/health')
  socket.write(`${upgrade}POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
  await until(() => held.length === 1)
  socket.write(body)
  send(held[0] as Held)
  t.match(responsesIn(await text), { length: 1, 0: { status: 200 } })
})

t.test('a client error behind another request has the same response: a HEAD no body, a long target 414', async (t) => {
  const { url } = await gatewayOn(t, {})
  const errors: [bytes: string, status: number, hasBody: boolean][] = [
    ['HEAD /api/v1/me HTTP/1.1\r\nHo st: x\r\n\r\n', 400, false],
    ['GET /api/v1/me HTTP/1.1\r\nHo st: x\r\n\r\n', 400, true],
    [`GET /${'y'.repeat(40_000)} HTTP/1.1\r\n\r\n`, 414, true],
    ['GET /api/v1/me HTTP/1.1\r\nHost: x\r\n\rX', 400, true],
  ]
  for (const [bytes, status, hasBody] of errors) {
    for (const before of ['', 'GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n']) {
      const last = responsesIn(await exchange(url, before + bytes), !hasBody).at(-1)
      t.same([last?.status, last?.body !== ''], [status, hasBody], (before + bytes).slice(0, 50))
    }
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
  const requests: unknown[] = []
  httpServer.on('request', (request) => requests.push(request))
  const started = performance.now()
  for (const more of ['x', body + request('/v1/me').repeat(1_000)]) {
    const socket = dial(t, url, head, { allowHalfOpen: true })
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 413 /)
    socket.write(more)
  }
  await until(async () => (await promisify(httpServer.getConnections).call(httpServer)) === 0)
  t.ok(performance.now() - started < 12_000)
  t.ok(requests.length < 10, 'most of what follows the body is not parsed')
  for (const { status } of lines('request')) t.equal(status, 413, 'nothing behind the body is a request')
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

t.test('a request whose response came before its invalid end has no second one', async (t) => {
  const { url } = await gatewayOn(t, {})
  const socket = dial(t, url, 'GET /api/health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /)
  socket.write('no chunk\r\n')
  t.equal(await untilClosed(socket), '')
})
