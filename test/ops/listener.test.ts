/** The operations listener: its pages, its headers, and that it is out of reach for callers. */
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { openOps } from '../../src/ops/listener.js'
import { gateway } from '../helper.js'
import { exchange, raw } from '../http/raw.js'

const statusOf = async (url: string, init?: RequestInit): Promise<number> => (await fetch(url, init)).status

/** A listener whose metrics are this text. */
async function opened(t: Test, body: () => string, isDraining = () => false): Promise<string> {
  const text = async () => ({ type: 'text/plain; version=0.0.4', body: body() })
  const top = () => [{ account: 'a', key: null, requests: 7, limited: 2 }]
  const { url, close } = await openOps({ host: '127.0.0.1', port: 0, metrics: { text, callers: { top } }, isDraining })
  t.teardown(close)
  return url
}

t.test('the operations listener serves its four pages and nothing else', async (t) => {
  let draining = false
  const url = await opened(
    t,
    () => 'up 1\n',
    () => draining,
  )
  const scrape = await fetch(`${url}/metrics`)
  t.equal(scrape.headers.get('content-type'), 'text/plain; version=0.0.4')
  t.equal(await scrape.text(), 'up 1\n')
  const callers = [{ account: 'a', key: null, requests: 7, limited: 2 }]
  t.same(await (await fetch(`${url}/callers`)).json(), callers)
  const pages = { '/ready': 200, '/live': 200, '/api/health': 404, '/toString': 404 }
  for (const [path, status] of Object.entries(pages)) t.equal(await statusOf(url + path), status, path)
  t.equal(await statusOf(`${url}/ready`, { method: 'POST' }), 404)
  draining = true
  t.equal(await statusOf(`${url}/ready`), 503, 'a draining process is not ready')
  t.equal(await statusOf(`${url}/live`), 200, 'but alive')
})

t.test('callers of the API cannot reach the operations', async (t) => {
  const { url } = await gateway(t)
  const paths = ['/metrics', '/ready', '/live', '/callers', '/api/metrics', '/api/ready', '/api/v1/metrics']
  for (const path of paths) {
    t.equal(await statusOf(new URL(path, url).href), 404, path)
  }
})

t.test('the operations listener shows no error, and its responses are neither stored nor sniffed', async (t) => {
  const url = await opened(t, () => {
    throw new Error('a metric failed')
  })
  const sent = (start: string, more = '') => `${start} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`
  const json = 'Content-Type: application/json\r\nContent-Length: 1\r\n'
  const unknown = '{"status":"not_found"}'
  const requests: [bytes: string, status: number, body: string][] = [
    [sent('GET /metrics'), 500, ''],
    [sent('GET /%zz'), 404, unknown],
    [`${sent('POST /ready', json)}{`, 404, unknown],
    [sent('PROPFIND /ready'), 404, unknown],
    [sent('GET /live'), 200, '{"status":"live"}'],
    ['no HTTP\r\n\r\n', 400, ''],
    ['GET /live HTTP/1.1\r\nConnection: close\r\n\r\n', 400, ''],
    ['GET /live HTTP/1.0\r\n\r\n', 200, '{"status":"live"}'],
    [sent('GET /', `X: ${'y'.repeat(20_000)}\r\n`), 400, ''],
  ]
  for (const [bytes, status, body] of requests) {
    const response = await raw(url, bytes)
    t.same([response.status, response.body], [status, body], bytes.slice(0, 20))
    t.equal(response.headers.get('x-content-type-options'), 'nosniff')
    t.equal(response.headers.get('cache-control'), 'no-store')
  }
  const head = await fetch(`${url}/live`, { method: 'HEAD' })
  t.same([head.status, head.headers.get('cache-control')], [200, 'no-store'])
  t.equal(await exchange(url, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'), '', 'a tunnel is closed')
})

t.test('the operations listener soon closes connections that are silent, and those that pipeline', async (t) => {
  const url = await opened(t, () => 'up 1\n')
  const started = performance.now()
  const silent = connect(Number(new URL(url).port), '127.0.0.1')
  const requests: unknown[] = []
  subscribe('http.server.request.start', (request) => requests.push(request))
  const first = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'
  for (const headers of ['Host: x\r\n', 'Host: x\r\nExpect: y\r\n', ''])
    t.equal(await exchange(url, first + `GET / HTTP/1.1\r\n${headers}\r\n`.repeat(1_000)), '')
  t.equal(requests.length, 6, 'the rest of a packet is not parsed')
  await once(silent, 'close')
  t.ok(performance.now() - started < 12_000)
})
