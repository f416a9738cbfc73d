/** Deadlines: a request that waits too long gets a 503, and what arrives later does no harm; requests at the close are served. */
import type { RequestListener, ServerResponse } from 'node:http'
import { brotliCompressSync } from 'node:zlib'
import t from 'tap'
import { installDeadlines } from '../../src/http/deadlines.js'
import { sendTogether } from '../../src/http/turns.js'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { isUnavailable } from '../faults.js'
import { answers, Clock, gatewayOn, someHash } from '../helper.js'
import { otherHash } from '../limits.js'
import { until } from '../redis.js'
import { request } from './held.js'
import { bareApp, exchange } from './raw.js'

const thirdHash = someHash.replace('ab', 'yy')

t.test('a request of more than 50 seconds gets the documented 503, in authentication as in the handler', async (t) => {
  const held: ServerResponse[] = []
  const hold: RequestListener = (_, response) =>
    void held.push(response.writeHead(200, { 'content-type': 'application/json' }))
  const get_user_data: RequestListener = (request, response) =>
    (request.url?.includes(encodeURIComponent(otherHash)) ? hold : answers({}))(request, response)
  const time = new Clock(0)
  const options = { ticks: time.now, env: { PLATFORM_TIMEOUT_MS: '600000' } }
  const { get, log } = await gatewayOn(t, options, { get_user_data, get_geofences: hold })
  const inHandler = get('/v1/geofences?token=secret-in-the-query', someHash)
  const inAuthentication = get('/v1/me', otherHash)
  await until(() => held.length === 2)
  time.advance(49_000)
  t.equal((await get('/v1/me', someHash)).status, 200, 'others are not delayed')
  const younger = get('/v1/geofences', thirdHash) // a call of its own
  await until(() => held.length === 3)
  time.advance(1_001)
  isUnavailable(t, await inHandler, 'in the handler')
  isUnavailable(t, await inAuthentication, 'in authentication')
  for (const response of held) response.end('{"items":{"geofences":[]}}')
  t.equal((await younger).status, 200, 'a younger request goes on waiting')
  const failing = get('/v1/geofences', someHash)
  await until(() => held.length === 4)
  time.advance(50_001)
  isUnavailable(t, await failing, 'a handler that fails later')
  held[3]?.destroy()
  t.equal((await get('/v1/me', someHash)).status, 200)
  t.equal(log().match(/"status":503/g)?.length, 3, 'each has one line in the log')
  t.notMatch(log(), /"level":"error"|already sent|secret-in-the-query/)
})

t.test('a request still in flight 18 seconds after the close gets 503', async (t) => {
  const { app, connections } = bareApp(t)
  const time = new Clock(0)
  installDeadlines(app, connections, new ByteBudget(1), time.now)
  const steps: string[] = []
  app.addHook('preClose', async () => void steps.push('closing'))
  app.get('/stuck', () => new Promise(() => steps.push('started')))
  const stuck = exchange(await app.listen({ host: '127.0.0.1', port: 0 }), 'GET /stuck HTTP/1.0\r\n\r\n')
  await until(() => steps.length === 1)
  const closed = app.close()
  await until(() => steps.length === 2)
  time.advance(18_001)
  t.match(await stuck, / 503 /)
  await closed
})

t.test('a response that is being compressed at the deadline is sent, and its connection stays open', async (t) => {
  const { app, connections } = bareApp(t)
  const time = new Clock(0)
  installDeadlines(app, connections, new ByteBudget(1), time.now)
  let started = 0
  let endCompression = (): void => {}
  app.addHook('onSend', (request, reply, payload, next) => {
    if (request.url === '/stuck') return next()
    reply.header('content-encoding', 'br')
    endCompression = () => next(null, brotliCompressSync(String(payload)))
    started += 1
  })
  sendTogether(app)
  app.get('/compressed', async () => 'all of it')
  app.get('/stuck', () => ++started && new Promise(() => {}))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const closed: boolean[] = []
  app.server.on('connection', (socket) => socket.on('close', (hadError) => closed.push(hadError)))
  const compressed = fetch(`${url}/compressed`)
  const stuck = fetch(`${url}/stuck`)
  await until(() => started === 2)
  time.advance(50_001)
  t.equal((await stuck).status, 503)
  endCompression()
  const response = await compressed
  t.same([response.status, await response.text(), closed], [200, 'all of it', []])
})

t.test('requests on connections that are not accepted yet when the gateway closes are served', async (t) => {
  const { app, connections } = bareApp(t)
  installDeadlines(app, connections, new ByteBudget(1), () => performance.now())
  app.get('/api/x', async () => 'served')
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const texts = Array.from({ length: 50 }, () => exchange(url, request('/x', 'Connection: close\r\n')))
  void app.close()
  for (const text of await Promise.all(texts)) t.match(text, /served$/)
})
