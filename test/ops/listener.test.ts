/** Operating a process: the listener of its own, draining, the second signal, overload. */
import { once } from 'node:events'
import { Agent, get as httpGet, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Pressure } from '../../src/http/pressure.js'
import { openOps } from '../../src/ops/listener.js'
import { answers, gateway, platform, someHash } from '../helper.js'
import { exchange, raw } from '../http/raw.js'
import { gatewayProcess } from '../process.js'

const statusOf = async (url: string, init?: RequestInit): Promise<number> => (await fetch(url, init)).status

t.test('the operations listener answers its three pages and nothing else', async (t) => {
  let draining = false
  const metrics = async () => ({ type: 'text/plain; version=0.0.4', body: 'up 1\n' })
  const ops = await openOps({ host: '127.0.0.1', port: 0, metrics, isDraining: () => draining })
  t.teardown(() => ops.close())
  const scrape = await fetch(`${ops.url}/metrics`)
  t.equal(scrape.headers.get('content-type'), 'text/plain; version=0.0.4')
  t.equal(await scrape.text(), 'up 1\n')
  t.equal(await statusOf(`${ops.url}/ready`), 200)
  t.equal(await statusOf(`${ops.url}/live`), 200)
  t.equal(await statusOf(`${ops.url}/api/health`), 404)
  t.equal(await statusOf(`${ops.url}/toString`), 404)
  t.equal(await statusOf(`${ops.url}/ready`, { method: 'POST' }), 404)
  draining = true
  t.equal(await statusOf(`${ops.url}/ready`), 503, 'a draining process is not ready')
  t.equal(await statusOf(`${ops.url}/live`), 200, 'but alive')
})

t.test(
  'the operations listener says on every response that it is neither stored nor sniffed, and survives its clients',
  async (t) => {
    const metrics = async (): Promise<never> => {
      throw new Error('a metric failed')
    }
    const ops = await openOps({ host: '127.0.0.1', port: 0, metrics, isDraining: () => false })
    t.teardown(() => ops.close())
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    const requests: [bytes: string, status: number][] = [
      [get('/live'), 200],
      [get('/nowhere'), 404],
      [get('/metrics'), 500],
      ['no HTTP\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 400],
    ]
    for (const [bytes, status] of requests) {
      const response = await raw(ops.url, bytes)
      t.equal(response.status, status, bytes.slice(0, 20))
      t.equal(response.headers.get('x-content-type-options'), 'nosniff')
      t.equal(response.headers.get('cache-control'), 'no-store')
    }
    t.equal(await exchange(ops.url, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'), '', 'a tunnel is closed')
  },
)

t.test('operations are out of reach for callers of the API', async (t) => {
  const { url } = await gateway(t)
  for (const path of ['/metrics', '/ready', '/live', '/api/metrics', '/api/ready', '/api/v1/metrics']) {
    t.equal(await statusOf(new URL(path, url).href), 404, path)
  }
})

/** One GET over a given agent, its body read. */
async function ask(agent: Agent, url: string, authorization: string): Promise<IncomingMessage> {
  const [response] = (await once(httpGet(url, { agent, headers: { authorization } }), 'response')) as [IncomingMessage]
  await once(response.resume(), 'end')
  return response
}

t.test('on SIGTERM it says so, goes on answering, finishes what it began and ends with 0', async (t) => {
  const slow = answers({ get_devices: [] })
  let held: (() => void) | undefined
  const { url: platformUrl } = await platform(t, (request, response) => {
    if (request.url?.includes('get_geofences')) held = () => response.end('{"status":1,"items":{"geofences":[]}}')
    else slow(request, response)
  })
  const child = await gatewayProcess(t, { PLATFORM_URL: platformUrl })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const authorization = `Bearer ${someHash}`
  const before = await ask(agent, `${child.url}/v1/me`, authorization)
  t.equal(before.headers.connection, 'keep-alive')
  const underWay = fetch(`${child.url}/v1/geofences`, { headers: { authorization } })
  while (!held) await pause(20)

  child.signal('SIGTERM')
  while ((await statusOf(`${child.opsUrl}/ready`)) !== 503) await pause(20)
  const after = await ask(agent, `${child.url}/v1/me`, authorization)
  t.equal(after.statusCode, 200, 'a connection that is open goes on being answered')
  t.equal(after.headers.connection, 'close', 'and is asked to leave')
  t.equal(await statusOf(`${child.url}/health`), 200, 'a new connection is answered, too')
  // Until the listener is gone: only the request under way keeps the process.
  while (await statusOf(`${child.url}/health`).catch(() => undefined)) await pause(100)
  held()
  const answer = await underWay
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('connection'), 'close')
  t.equal(await child.exited, 0)
})

t.test('a second signal ends it now', async (t) => {
  const { url: platformUrl, calls } = await platform(t, () => {})
  const child = await gatewayProcess(t, { PLATFORM_URL: platformUrl })
  fetch(`${child.url}/v1/me`, { headers: { authorization: `Bearer ${someHash}` } }).catch(() => {})
  while (calls.length === 0) await pause(20)
  child.signal('SIGTERM')
  while ((await statusOf(`${child.opsUrl}/ready`)) !== 503) await pause(20)
  const asked = performance.now()
  child.signal('SIGTERM')
  t.equal(await child.exited, 1)
  t.ok(performance.now() - asked < 2_000, 'without waiting for anybody')
})

t.test('one long pause is a pause; two in a row are overload, until the loop is on time again', async (t) => {
  let now = 0
  const pressure = new Pressure(() => now)
  const ring = (late: number): boolean => {
    now += 250 + late
    pressure.ring()
    return pressure.isOverloaded
  }
  t.equal(ring(0), false)
  t.equal(ring(1_500), false)
  t.equal(ring(0), false)
  t.equal(ring(1_500), false)
  t.equal(ring(1_100), true)
  t.equal(ring(1_100), true)
  t.equal(ring(900), false)
})

/** Holds up the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('an overloaded process turns callers away with 503 while health goes on answering', async (t) => {
  const { url, metrics } = await gateway(t)
  const { port } = new URL(url)
  const ask = async (path: string) => {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    let text = ''
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data
    })
    socket.write(`GET /api${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo\r\nConnection: close\r\n\r\n`)
    return { answer: once(socket, 'close').then(() => text) }
  }
  // The first late ring; then, before the timer is on time again, the second.
  block(1_600)
  await pause(1)
  block(1_600)
  const [me, health] = await Promise.all([ask('/v1/me'), ask('/health')])
  t.match(await health.answer, /^HTTP\/1\.1 200 /)
  const shed = await me.answer
  t.match(shed, /^HTTP\/1\.1 503 /)
  t.match(shed, /\r\nretry-after: 2\r\n/i)
  t.match(shed, /\r\nratelimit-remaining: \d+\r\n/i)
  t.match(shed, /"error":"gateway_error"/)
  t.match(await metrics(), /gateway_shed_total 1\n/)
  while ((await fetch(`${url}/v1/me`, { headers: { authorization: 'Bearer demo' } })).status !== 200) await pause(50)
})
