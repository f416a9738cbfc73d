/** Every response of the API: its status, code and headers, whatever bytes were sent, and its request id. */
import { METHODS } from 'node:http'
import t from 'tap'
import type { ErrorCode } from '../../src/errors.js'
import { Clock, gateway, someHash } from '../helper.js'
import { limitsOf } from '../limits.js'
import { hasCommonHeaders } from './headers.js'
import { raw } from './raw.js'

// Time stands still: requests are counted, and no window ends between two of them.
const { get, url, log, lines, metrics, httpServer } = await gateway(t, { clock: new Clock().now, ticks: () => 0 })

const host = 'Host: x\r\n'
const close = 'Connection: close\r\n'
const demo = 'Authorization: Bearer demo\r\n'
const sent = (start: string, headers = '', body = ''): string =>
  `${start} HTTP/1.1\r\n${host}${headers}${close}\r\n${body}`
const post = (body: string, type = 'application/json'): string =>
  sent('POST /api/v1/keys', `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`, body)

const longestUrl = '/api/v1/devices?x='.padEnd(8_192, 'y')

type Row = [name: string, bytes: string, status: number, code?: ErrorCode, says?: RegExp]
const invalid = (name: string, bytes: string, says = /\.$/): Row => [name, bytes, 400, 'invalid_request', says]
const rows: Row[] = [
  ['an unknown path', sent('GET /api/nowhere'), 404, 'not_found'],
  ['keys, too deep', sent('GET /api/v1/keys/1/2/3'), 404, 'not_found'],
  invalid('a malformed URL', sent('GET /api/v1/%zz', demo)),
  invalid('a target without a slash, which path rules of a proxy do not match', sent('GET *api/v1/me', demo), /URL/),
  invalid('a malformed parameter', sent('GET /api/v1/devices/%e0%a4', demo)),
  invalid('a malformed id of a key', sent('GET /api/v1/keys/%zz')),
  ['keys without a credential', sent('GET /api/v1/keys'), 401, 'unauthorized'],
  ['keys of the demo', sent('GET /api/v1/keys/', demo), 401, 'invalid_token'],
  ['a key of the demo', sent('DELETE /api/v1/keys/x', demo), 401, 'invalid_token'],
  invalid('a parameter that is not encoded', sent('GET /api/v1/events?type=\u00fcber', demo), /URL/),
  invalid('half a JSON', post('{')),
  invalid('a body in Latin-1', post('{"platform_hash":"x","label":"\u00fcber"}'), /UTF-8/),
  invalid('no JSON', post('')),
  invalid('a wrong field', post('{"platform_hash":1}')),
  invalid('a list', post('[]')),
  invalid('a prototype', post('{"__proto__":{},"constructor":{"prototype":{}}}'), /`platform_hash` is required/),
  ['a form', post('a=b', 'application/x-www-form-urlencoded'), 415, 'unsupported_media_type'],
  ['a text', post('x', 'text/plain'), 415, 'unsupported_media_type'],
  [
    'a compressed body',
    post('\x1f\x8b', 'application/json\r\nContent-Encoding: gzip'),
    415,
    'unsupported_media_type',
    /Encoding/,
  ],
  ['a long body', post(`"${'x'.repeat(17_000)}"`), 413, 'payload_too_large'],
  ['the longest URL', sent(`GET ${longestUrl}`, demo), 200],
  ['a URL of one byte more', sent(`GET ${longestUrl}y`, demo), 414, 'uri_too_long'],
  ['a long query', sent(`GET /api/v1/devices?x=${'y'.repeat(9_000)}`, demo), 414, 'uri_too_long'],
  ['a long id', sent(`GET /api/v1/keys/${'y'.repeat(9_000)}`), 414, 'uri_too_long'],
  ['an endless target', sent(`GET /${'y'.repeat(40_000)}`), 414, 'uri_too_long'],
  ['an endless target in absolute form', sent(`GET http://x/${'y'.repeat(40_000)}`), 414, 'uri_too_long'],
  ['long headers, longest target', sent(`GET /${'y'.repeat(8_191)}`, demo.repeat(400)), 431, 'headers_too_large'],
  ['headers of less than 16 KiB', sent('GET /api/health', `X: ${'y'.repeat(16_000)}\r\n`), 200],
  ['headers of more than 16 KiB', sent('GET /api/health', `X: ${'y'.repeat(16_500)}\r\n`), 431, 'headers_too_large'],
  ['endless headers', sent('GET /api/health', `X: ${'y'.repeat(20_000)}\r\n`), 431, 'headers_too_large'],
  invalid('not HTTP', 'hello\r\n\r\n'),
  ['a HEAD that is not HTTP', sent('HEAD /api/\u00fc'), 400],
  invalid('a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'),
  invalid('two lengths', sent('POST /api/v1/me', 'Content-Length: 1\r\nContent-Length: 2\r\n', 'ab')),
  ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`, 405, 'method_not_allowed'],
  ['a request of the whole server', sent('OPTIONS *'), 405, 'method_not_allowed'],
  invalid('no Host', `GET /api/v1/me HTTP/1.1\r\n${demo}${close}\r\n`, /Host/),
  invalid('no Host, unknown path', `GET /nowhere HTTP/1.1\r\n${close}\r\n`, /Host/),
  invalid('two Hosts', sent('GET /api/v1/me', `${demo}hOST: a\r\n`), /Host/),
  invalid('two Hosts, HTTP/1.0', `GET /api/health HTTP/1.0\r\n${host}${host}\r\n`, /Host/),
  invalid('two credentials', sent('GET /api/v1/me', `${demo}AUTHORIZATION: Bearer other\r\n`), /Authorization/),
  invalid('two credentials where none is needed', sent('GET /api/health', demo + demo), /Authorization/),
  ['a credential behind many headers', sent('GET /api/v1/me', `${'a:\r\n'.repeat(120)}${demo}`), 200],
  ['127 headers', sent('GET /api/v1/me', `${'a:\r\n'.repeat(124)}${demo}`), 200],
  ['128 headers', sent('GET /api/v1/me', `${'a:\r\n'.repeat(125)}${demo}`), 431, 'headers_too_large'],
  ['very many headers', sent('GET /api/v1/me', `${'a:\r\n'.repeat(130)}${demo}`), 431, 'headers_too_large'],
  ['HTTP/1.0 without Host', 'GET /api/health HTTP/1.0\r\n\r\n', 200],
  ['an empty Host', `GET /api/health HTTP/1.1\r\nHost:\r\n${close}\r\n`, 200],
  ['a target in absolute form', sent('GET http://x/api/health'), 200],
  ['an upgrade that is not offered', sent('GET /api/health', 'Upgrade: h2c\r\nConnection: Upgrade\r\n'), 200],
  ['an expectation that is not met', sent('GET /api/health', 'Expect: a-miracle\r\n'), 200],
]

t.test('whatever is sent gets its documented response, with every header, and is counted', async (t) => {
  for (const [name, bytes, status, code, says = /\.$/] of rows) {
    const [, before] = limitsOf(await get('/health'))
    const response = await raw(url, bytes)
    t.equal(response.status, status, name)
    hasCommonHeaders(t, response.headers, name)
    if (bytes.startsWith('HEAD')) t.equal(response.body, '', name)
    if (status === 405) t.match(response.headers.get('allow'), /GET/, name)
    if (!bytes.includes(demo)) t.equal(before - limitsOf(response)[1], status === 200 ? 0 : 1, `${name} is counted`)
    if (code) {
      const body = JSON.parse(response.body)
      t.match(body, { error: code, message: says, docs: new RegExp(`/docs#error-${code}$`) }, name)
    }
    if (code) t.equal(response.headers.get('cache-control'), 'no-store', name)
  }
  for (const path of ['/docs', '/openapi.json', '/docs/page.css']) {
    const response = await fetch(`${url}${path}`)
    t.equal(response.headers.get('x-content-type-options'), 'nosniff', path)
    t.equal(response.headers.get('vary'), 'Accept-Encoding', path)
    await response.body?.cancel()
  }
})

t.test('every method that HTTP knows is a 405 with what the path allows; what is no method is a 400', async (t) => {
  const allowed: Record<string, string> = {
    '/api/v1/devices': 'GET, HEAD',
    '/api/v1/keys': 'GET, HEAD, POST',
    '/api/v1/keys/x': 'DELETE',
    '/api/health': 'GET, HEAD',
    '/api/docs': 'GET, HEAD',
  }
  for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
    for (const [path, allow] of Object.entries(allowed)) {
      if (allow.split(', ').includes(method)) continue
      const { status, headers } = await raw(url, sent(`${method} ${path}`))
      t.same([status, headers.get('allow')], [405, allow], `${method} ${path}`)
    }
    t.equal((await raw(url, sent(`${method} /api/nowhere`))).status, 404, `${method} of an unknown path`)
  }
  // As Node 20.19.2, 21 and 22.0 pass it on.
  httpServer.prependOnceListener('request', (request) => Object.assign(request, { method: undefined }))
  t.equal((await raw(url, sent('QUERY /api/health'))).status, 405)
  for (const method of ['BREW', 'get', 'G', 'GETS'])
    t.equal((await raw(url, sent(`${method} /api/health`))).status, 400)
})

t.test('a malformed URL is logged and counted like any other request', async (t) => {
  await get('/%zz', 'demo', { headers: { 'x-request-id': 'malformed' } })
  await get('/health')
  const [entry, ...others] = lines('request').filter(({ reqId }) => reqId === 'malformed')
  t.same(others, [])
  t.type(entry?.ms, 'number')
  t.match(entry, { method: 'GET', route: null, status: 400, error: 'invalid_request', ip: '127.0.0.1', msg: 'request' })
  t.match(await metrics(), /^gateway_requests_total\{method="none",route="none",status="400"\} [1-9]/m)
})

t.test('while draining, the response to a malformed URL closes its connection', async (t) => {
  const draining = await gateway(t, { isDraining: true })
  const { status, headers } = await raw(draining.url, `GET /%zz HTTP/1.1\r\n${host}\r\n`)
  t.same([status, headers.get('connection')], [400, 'close'])
})

t.test('a plain request id is kept; one that is not, or may be a credential, is replaced', async (t) => {
  const idFor = async (id: string, credential?: string): Promise<string | null> =>
    (await get('/health', credential, { headers: { 'x-request-id': id } })).headers.get('x-request-id')
  const secrets = [
    `gps_live_${'ab12'.repeat(12)}`,
    'GPS_LIVE_1',
    'ab12'.repeat(10),
    `request-${'AB12'.repeat(10)}`,
    `${someHash.slice(7).replaceAll('/', '.')}x1`.replaceAll('.', '_'),
    'dGhpcyBpcyBhIHNlY3JldCBpbiBiYXNlNjQgMTIzNDU2',
  ]
  for (const secret of secrets) {
    t.not(await idFor(secret), secret)
    t.notMatch(log(), secret)
  }
  t.not(await idFor('a-short-token', 'a-short-token'), 'a-short-token', 'the credential of the same request')
  for (const odd of ['a b<script>', 'x'.repeat(65)]) t.not(await idFor(odd), odd)
  const ids = [
    'trace-7f:1.a_b',
    '123e4567-e89b-12d3-a456-426614174000',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    'checkout-service-eu-west-1-order-import-0000000001',
  ]
  for (const id of ids) t.equal(await idFor(id, 'demo'), id)
})

t.test('a trailing slash, an Accept header and HEAD change nothing about the response', async (t) => {
  const { body, headers } = await get('/v1/devices', 'demo')
  t.match(await get('/v1/devices/', 'demo'), { status: 200, body })
  t.match(await get('/v1/devices', 'demo', { headers: { accept: 'text/html' } }), { status: 200, body })
  const head = await get('/v1/devices', 'demo', { method: 'HEAD' })
  t.same([head.status, head.body], [200, undefined])
  for (const name of ['etag', 'content-type']) t.equal(head.headers.get(name), headers.get(name), name)
  t.equal(head.headers.get('access-control-allow-origin'), null)
})
