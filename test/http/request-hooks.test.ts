/** Headers of every response, and requests that are rejected for theirs. */
import t from 'tap'
import { createApp } from '../../src/http/create-app.js'
import { createLogger } from '../../src/ops/log.js'
import { Outages } from '../../src/ops/outages.js'
import { FailoverCounters } from '../../src/rate-limit/counters.js'
import { Limits } from '../../src/rate-limit/limiter.js'
import { clientParts, gateway } from '../helper.js'
import { hasCommonHeaders } from './headers.js'
import { raw } from './raw.js'

const close = 'Connection: close\r\n'

t.test('responses about API keys are never stored, whatever becomes of the request', async (t) => {
  const { get, url } = await gateway(t)
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const responses: [path: string, credential: string | undefined, init: RequestInit, status: number][] = [
    ['/v1/keys', undefined, {}, 401],
    ['/v1/keys', 'demo', {}, 401],
    ['/v1/keys/', 'demo', {}, 401],
    ['/v1/keys/x', 'demo', { method: 'DELETE' }, 401],
    ['/v1/keys', undefined, { ...json, body: '{' }, 400],
    ['/v1/keys', undefined, { ...json, body: 'x'.repeat(20_000) }, 413],
    ['/v1/keys', undefined, { method: 'PUT' }, 405],
    ['/v1/keys/1/2/3', undefined, {}, 404],
    ['/v1/keys/%zz', undefined, {}, 400],
    [`/v1/keys/${'x'.repeat(9_000)}`, undefined, {}, 414],
  ]
  for (const [path, credential, init, status] of responses) {
    const response = await get(path, credential, init)
    const name = `${init.method ?? 'GET'} ${path.slice(0, 20)}`
    t.equal(response.status, status, name)
    t.equal(response.headers.get('cache-control'), 'no-store', name)
    hasCommonHeaders(t, response.headers, name)
  }
  for (const path of ['/docs', '/openapi.json', '/docs/page.css']) {
    const response = await fetch(`${url}${path}`)
    t.equal(response.headers.get('x-content-type-options'), 'nosniff', path)
    await response.body?.cancel()
  }
})

t.test('a request whose Host or Authorization cannot be relied on is a 400 that says so', async (t) => {
  const { url } = await gateway(t)
  const credential = 'Authorization: Bearer demo\r\n'
  const requests: [name: string, bytes: string, message: RegExp][] = [
    ['no Host', `GET /api/v1/me HTTP/1.1\r\n${credential}${close}\r\n`, /Host/],
    ['no Host, unknown path', `GET /nowhere HTTP/1.1\r\n${close}\r\n`, /Host/],
    ['two Hosts', `GET /api/v1/me HTTP/1.1\r\nHost: a\r\n${credential}hOST: a\r\n${close}\r\n`, /Host/],
    ['two Hosts, HTTP/1.0', `GET /api/health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n`, /Host/],
    [
      'two credentials',
      `GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${credential}AUTHORIZATION: Bearer other\r\n${close}\r\n`,
      /Authorization/,
    ],
    [
      'two credentials where none is needed',
      `GET /api/health HTTP/1.1\r\nHost: x\r\n${credential}${credential}${close}\r\n`,
      /Authorization/,
    ],
  ]
  for (const [name, bytes, message] of requests) {
    const response = await raw(url, bytes)
    const body = JSON.parse(response.body)
    t.same([response.status, body.error], [400, 'invalid_request'], name)
    t.match(body.message, message, name)
    hasCommonHeaders(t, response.headers, name)
  }
})

t.test('unusual requests that HTTP allows are served', async (t) => {
  const { url } = await gateway(t)
  const get = 'GET /api/health HTTP/1.1\r\nHost: x\r\n'
  const requests: [name: string, bytes: string, status: number][] = [
    ['HTTP/1.0 without Host', 'GET /api/health HTTP/1.0\r\n\r\n', 200],
    ['an empty Host', `GET /api/health HTTP/1.1\r\nHost:\r\n${close}\r\n`, 200],
    [
      'a target in absolute form',
      `GET http://fleet.example.org/api/health HTTP/1.1\r\nHost: fleet.example.org\r\n${close}\r\n`,
      200,
    ],
    ['an upgrade that is not offered', `${get}Upgrade: websocket\r\nConnection: close, Upgrade\r\n\r\n`, 200],
    ['an expectation that is not met', `${get}Expect: a-miracle\r\n${close}\r\n`, 200],
    ['OPTIONS for the whole server', `OPTIONS * HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 405],
  ]
  for (const [name, bytes, status] of requests) {
    const response = await raw(url, bytes)
    t.equal(response.status, status, name)
    hasCommonHeaders(t, response.headers, name)
  }
})

t.test('a malformed URL is logged and counted like any other request', async (t) => {
  const { get, log, metrics } = await gateway(t)
  await get('/%zz', 'demo', { headers: { 'x-request-id': 'malformed' } })
  await get('/health')
  const [line = '{}', ...others] = log()
    .split('\n')
    .filter((one) => one.includes('"reqId":"malformed"'))
  t.same(others, [])
  const { ms, ...entry } = JSON.parse(line)
  t.type(ms, 'number')
  t.match(entry, { method: 'GET', route: null, status: 400, error: 'invalid_request', ip: '127.0.0.1', msg: 'request' })
  t.match(await metrics(), /^gateway_requests_total\{method="none",route="none",status="400"\} 1$/m)
})

t.test('while draining, the response to a malformed URL closes its connection', async (t) => {
  const log = createLogger('silent', { destination: { write: () => {} } })
  const ignore = (): void => {}
  const counters = new FailoverCounters({ shared: undefined, up: () => true, clock: Date.now, onShared: ignore })
  const app = createApp({
    log,
    limits: new Limits(counters, 100, 60_000),
    budget: clientParts.budget,
    docsUrl: '',
    trustProxy: false,
    ticks: () => performance.now(),
    isDraining: () => true,
    observeRequest: ignore,
    countCaller: ignore,
    onCut: ignore,
    outages: new Outages(log, () => performance.now()),
    onRefused: ignore,
  })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { status, headers } = await raw(url, 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n')
  t.same([status, headers.get('connection')], [400, 'close'])
})
