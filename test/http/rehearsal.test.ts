/** Rehearsal: every documented error on request, with the demo token only. */
import t from 'tap'
import { type ErrorCode, errorTable } from '../../src/errors.js'
import { gateway, sandbox } from '../helper.js'
import { only } from '../only.js'
import { hasCommonHeaders } from './headers.js'

const codes = Object.entries(errorTable) as [ErrorCode, readonly [number, string]][]

t.test('the demo token gets every documented error as documented, and no operator is alarmed', async (t) => {
  const { get, log, metrics, callers } = await gateway(t)
  for (const [code, [status]] of codes) {
    const { headers, body, ...response } = await get('/v1/devices', 'demo', { headers: { prefer: `error=${code}` } })
    t.same([response.status, body.error], [status, code])
    t.equal(headers.get('preference-applied'), `error=${code}`)
    hasCommonHeaders(t, headers, code)
    t.equal(headers.has('www-authenticate'), status === 401, code)
    t.equal(headers.has('retry-after'), status === 429 || status === 503, code)
    t.equal(headers.has('allow'), status === 405, code)
    t.equal('param' in body, status === 400, code)
    t.equal('docs' in body, status !== 429, code)
    if (status === 429) t.equal(headers.get('ratelimit-remaining'), '0')
  }
  const { headers } = await get('/v1/me', 'demo')
  t.match(headers.get('vary'), /, Prefer/, 'a cache takes no other response for it')
  t.match(headers.get('ratelimit-remaining'), /[1-9]/, 'only the 429 shows an empty budget')
  const series = await metrics()
  t.match(series, `gateway_requests_total{method="GET",route="/api/v1/devices",status="rehearsed"} ${codes.length}`)
  t.notMatch(series, /gateway_requests_total\{.*status="[345]/)
  t.match(series, 'gateway_limiter_limited_total 0')
  t.match(callers(), only({ requests: codes.length + 1, limited: 0 }))
  await get('/v1/keys/x', 'demo', { method: 'DELETE', headers: { prefer: 'error=not_found' } })
  t.notMatch(log(), /"level":"(warn|error)"|API key not revoked/)
  t.same((await get('/health')).body.status, 'ok')
})

t.test('the demo token gets each error of a new key as well, and no key is created', async (t) => {
  const { url, hashes } = await sandbox(t)
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url, DEMO_TOKEN: 'demo' } })
  const body = JSON.stringify({ platform_hash: hashes[0] })
  for (const [code, [status]] of codes) {
    const headers = { prefer: `error=${code}`, 'content-type': 'application/json' }
    const response = await get('/v1/keys', 'demo', { method: 'POST', headers, body })
    t.same([response.status, response.body.error], [status, code])
    t.equal(response.headers.get('preference-applied'), `error=${code}`)
  }
  t.notMatch(log(), /API key/)
  t.same((await get('/v1/keys', hashes[0])).body.data, [])
})

t.test('code=<status> is short for the first error of that status, except that 401 is invalid_token', async (t) => {
  const { get } = await gateway(t)
  const expected = new Map(codes.toReversed().map(([code, [status]]) => [status, code]))
  expected.set(401, 'invalid_token')
  for (const [status, code] of expected) {
    for (const prefer of [`code=${status}`, `return=minimal, Code="${status}"; x=1`]) {
      const response = await get('/v1/devices/1/location', 'demo', { headers: { prefer } })
      t.same([response.status, response.body.error], [status, code], prefer)
      t.equal(response.headers.get('preference-applied'), `code=${status}`)
    }
  }
})

t.test('unknown preferences and other credentials are served as ever', async (t) => {
  const { url, hashes } = await sandbox(t)
  const { get, metrics } = await gateway(t, { env: { PLATFORM_URL: url, DEMO_TOKEN: 'trial' } })
  const requests = [
    ...['error=nonsense', 'code=200', 'code=abc', 'error', '', '=,;=', 'toString=1', 'error=__proto__'].map(
      (prefer) => ['trial', prefer] as const,
    ),
    ...['error=internal_error', 'code=503'].map((prefer) => [hashes[0] ?? '', prefer] as const),
  ]
  for (const [credential, prefer] of requests) {
    const { status, headers } = await get('/v1/me', credential, { headers: { prefer } })
    t.same([status, headers.get('preference-applied')], [200, null], prefer)
  }
  t.equal((await get('/v1/me', undefined, { headers: { prefer: 'code=503' } })).status, 401)
  t.notMatch(await metrics(), 'rehearsed')
})
