/** The gateway as its callers meet it: devices and positions, refusals, headers, and what no caller may ever see. */
import fc from 'fast-check'
import t from 'tap'
import { errorTable } from '../src/errors.js'
import { answers, Clock, gateway, platform, sandbox, someHash } from './helper.js'
import { hasCommonHeaders } from './http/headers.js'

t.test('the demo token lists the whole sandbox fleet, with some devices moving', async (t) => {
  const { get } = await gateway(t)
  const { status, body } = await get('/v1/devices', 'demo')
  t.equal(status, 200)
  t.equal(body.count, 50)
  t.equal(body.data.length, 50)
  t.equal(body.has_more, false)
  const ids = body.data.map(({ id }: { id: number }) => id)
  t.same(
    ids,
    [...ids].sort((a, b) => a - b),
    'by id',
  )
  const moving = await get('/v1/devices?status=moving', 'demo')
  t.ok(moving.body.count >= 5)
  t.ok(moving.body.data.every(({ status }: { status: string }) => status === 'moving'))
})

t.test('the location of a moving device changes over a minute', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now })
  const { body } = await get('/v1/devices?status=moving&limit=1', 'demo')
  const { id } = body.data[0]
  const first = (await get(`/v1/devices/${id}/location`, 'demo')).body
  clock.advance(60_000)
  const second = (await get(`/v1/devices/${id}/location`, 'demo')).body
  t.not(`${first.lat} ${first.lng}`, `${second.lat} ${second.lng}`)
  t.ok(second.timestamp > first.timestamp)
})

t.test('a sandbox of its own behind PLATFORM_URL gives the same as the one in the process', async (t) => {
  const clock = new Clock()
  const { url, hashes } = await sandbox(t, { clock: clock.now })
  const [inside, outside] = await Promise.all([
    gateway(t, { clock: clock.now }),
    gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } }),
  ])
  const [demo, own] = await Promise.all([inside.get('/v1/devices', 'demo'), outside.get('/v1/devices', hashes[0])])
  t.same(own.body, demo.body)
})

t.test('the single device is the item of the list, and its location agrees with it', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now })
  const { body } = await get('/v1/devices', 'demo')
  for (const device of body.data.slice(0, 5)) {
    t.same((await get(`/v1/devices/${device.id}`, 'demo')).body, device)
    const { body: location } = await get(`/v1/devices/${device.id}/location`, 'demo')
    t.same([location.device_id, location.lat, location.lng], [device.id, device.lat, device.lng])
  }
})

t.test(
  'a device that was never connected is in the list without a position, and its location is no_location',
  async (t) => {
    const { get } = await gateway(t)
    const { body } = await get('/v1/devices', 'demo')
    const never = body.data.find(({ last_seen }: { last_seen: string | null }) => last_seen === null)
    t.same([never.lat, never.lng, never.status], [null, null, 'offline'])
    const { status, body: error } = await get(`/v1/devices/${never.id}/location`, 'demo')
    t.same([status, error.error], [404, 'no_location'])
  },
)

t.test('windows of the list tile it, and a limit above the maximum is lowered to it', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now })
  const whole = (await get('/v1/devices', 'demo')).body.data
  const tiles = await Promise.all([0, 20, 40].map((offset) => get(`/v1/devices?limit=20&offset=${offset}`, 'demo')))
  t.same(
    tiles.flatMap(({ body }) => body.data),
    whole,
  )
  t.same(
    tiles.map(({ body }) => body.has_more),
    [true, true, false],
  )
  const lowered = (await get('/v1/devices?limit=9999&nonsense=1', 'demo')).body
  t.same([lowered.limit, lowered.count], [500, 50])
})

t.test('a parameter that cannot be read is a 400 that names it', async (t) => {
  const { get } = await gateway(t)
  const bad: Record<string, string[]> = {
    limit: ['0', '-1', '1e3', '%205', '1.5', '', 'ten', '99999999999999999999x', '5&limit=6'],
    offset: ['-1', 'x', '1e1', '0x10', '9'.repeat(30)],
    status: ['driving', '', 'ONLINE'],
  }
  for (const [param, values] of Object.entries(bad)) {
    for (const value of values) {
      const { status, body } = await get(`/v1/devices?${param}=${value}`, 'demo')
      t.same([status, body.error, body.param], [400, 'invalid_request', param], `${param}=${value}`)
    }
  }
})

t.test('an id that is unknown, foreign or no id at all is a 404 that names it as sent', async (t) => {
  const { url, hashes, calls, accounts } = await sandbox(t)
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const foreign = String(accounts[1]?.firstDeviceId)
  for (const id of [
    '999999999',
    foreign,
    '0',
    '-1',
    '1e3',
    'abc',
    '1.0',
    '007',
    '99999999999999999999',
    'x'.repeat(500),
  ]) {
    const { status, body } = await get(`/v1/devices/${id}`, hashes[0])
    t.same([status, body.error], [404, 'not_found'], id)
    t.match(body.message, id.slice(0, 64))
    t.ok(body.message.length < 120)
  }
  t.equal(calls.filter((call) => call.includes('get_devices')).length, 2, 'what cannot be an id is not asked for')
})

t.test('two accounts never see each other: by id, by list, by cache, at the same time', async (t) => {
  const { url, hashes, accounts } = await sandbox(t)
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const [one, two] = hashes
  const rounds = await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const [hash, other] = at % 2 === 0 ? [one, accounts[1]] : [two, accounts[0]]
      const [list, foreign] = await Promise.all([
        get('/v1/devices?limit=500', hash),
        get(`/v1/devices/${other?.firstDeviceId}`, hash),
      ])
      t.equal(foreign.status, 404)
      return { at, ids: list.body.data.map(({ id }: { id: number }) => id) as number[] }
    }),
  )
  const idsOf = (even: boolean) => new Set(rounds.filter(({ at }) => (at % 2 === 0) === even).flatMap(({ ids }) => ids))
  const [first, second] = [idsOf(true), idsOf(false)]
  t.same([first.size, second.size], [50, accounts[1]?.devices])
  t.notOk([...first].some((id) => second.has(id)))
})

t.test("one account's failure is not the other's answer, and no answer of the other's either", async (t) => {
  const otherHash = someHash.replace('ab', 'zz')
  const { url } = await platform(t, (request, response) => {
    const mine = request.url?.includes(encodeURIComponent(someHash))
    if (request.url?.includes('get_user_data'))
      response.end(JSON.stringify({ email: mine ? 'a@example.com' : 'b@example.com' }))
    else if (mine) response.end(JSON.stringify([{ title: 'A', items: [{ id: 1, name: 'mine' }] }]))
    else response.writeHead(500).end()
  })
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, at) => get('/v1/devices', at % 2 === 0 ? someHash : otherHash)),
  )
  for (const [at, { status, body }] of results.entries()) {
    t.equal(status, at % 2 === 0 ? 200 : 503)
    if (status === 503) t.notMatch(JSON.stringify(body), 'mine')
  }
})

t.test('who sends no credential, a wrong one or another kind of header is told so, each in its way', async (t) => {
  const { url } = await sandbox(t)
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const none = await get('/v1/devices')
  t.same([none.status, none.body.error, none.headers.get('www-authenticate')], [401, 'unauthorized', 'Bearer'])
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', 'bearer']) {
    const { body } = await get('/v1/devices', undefined, { headers: { authorization } })
    t.equal(body.error, 'unauthorized', authorization)
  }
  for (const wrong of ['nonsense', someHash, `gps_live_${'0'.repeat(48)}`, 'gps_live_short', 'demo', 'x'.repeat(600)]) {
    const { status, body, headers } = await get('/v1/devices', wrong)
    t.same([status, body.error], [401, 'invalid_token'], wrong.slice(0, 20))
    t.match(headers.get('www-authenticate'), 'invalid_token')
  }
})

t.test('a credential is validated once a minute, by one call for many waiting', async (t) => {
  const clock = new Clock()
  const { url, calls } = await platform(t, answers({ get_devices: [] }))
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  const validations = () => calls.filter((call) => call.includes('get_user_data')).length
  await Promise.all(Array.from({ length: 30 }, () => get('/v1/devices', someHash)))
  t.equal(validations(), 1)
  clock.advance(59_999)
  await get('/v1/devices', someHash)
  t.equal(validations(), 1)
  clock.advance(2)
  await get('/v1/devices', someHash)
  t.equal(validations(), 2)
})

t.test('a platform that cannot be asked is a 503, during validation and during a data call', async (t) => {
  let broken = ''
  const { url } = await platform(t, (request, response) => {
    if (broken !== '' && request.url?.includes(broken)) response.writeHead(500).end('<h1>secret trouble</h1>')
    else answers({ get_devices: [] })(request, response)
  })
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  for (const action of ['get_user_data', 'get_devices']) {
    broken = action
    const { status, body, headers } = await get('/v1/devices', someHash)
    t.same([status, body.error], [503, 'gateway_error'], action)
    t.match(headers.get('retry-after'), /^[1-9]\d*$/)
    t.notMatch(JSON.stringify(body), 'trouble')
    broken = ''
    t.equal((await get('/v1/devices', someHash)).status, 200)
    clock.advance(10_000)
  }
})

t.test('a refusal by the platform drops the account’s data and its validation at once', async (t) => {
  const clock = new Clock()
  let refuses = false
  const { url, calls } = await platform(t, (request, response) => {
    if (refuses) response.writeHead(401).end('{"status":0,"error":"Unauthorized"}')
    else answers({ get_devices: [{ title: 'A', items: [{ id: 1 }] }], get_geofences: { items: [] } })(request, response)
  })
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  t.equal((await get('/v1/devices', someHash)).status, 200)
  refuses = true
  t.same([(await get('/v1/devices', someHash)).status], [200], 'fresh positions are answered from memory')
  t.equal((await get('/v1/geofences', someHash)).status, 401)
  const { status, body } = await get('/v1/devices', someHash)
  t.same([status, body.error], [401, 'invalid_token'], 'the cached list is gone with the refusal')
  t.match(calls.at(-1), 'get_user_data', 'and so is the validation')
})

t.test('positions are answered from memory for their time of life, and never longer', async (t) => {
  const clock = new Clock()
  const { url, calls } = await platform(
    t,
    answers({
      get_devices: [{ title: 'A', items: [{ id: 1, lat: 1, lng: 1, time: '2026-05-12 09:00:00', timestamp: 1 }] }],
    }),
  )
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  const lists = () => calls.filter((call) => call.includes('get_devices')).length
  await Promise.all(Array.from({ length: 25 }, () => get('/v1/devices', someHash)))
  t.equal(lists(), 1, 'many waiting share one call')
  for (const path of ['/v1/devices', '/v1/devices/1', '/v1/devices/1/location', '/v1/devices/2'])
    await get(path, someHash)
  t.equal(lists(), 1, 'a fresh list serves list, device and location')
  clock.advance(4_999)
  await get('/v1/devices/1/location', someHash)
  t.equal(lists(), 1)
  clock.advance(2)
  await get('/v1/devices/1/location', someHash)
  t.equal(lists(), 2)
  t.match(calls.at(-1), /[?&]id=1(&|$)/, 'a single device without a fresh list costs a small call')
})

t.test('rows that are no devices are left out and told to the operator, never the whole list', async (t) => {
  const items = [{ id: 1 }, null, { name: 'no id' }, { id: 'x' }, { id: '2' }]
  const { url } = await platform(t, answers({ get_devices: [{ title: 'A', items }] }))
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url } })
  const { body } = await get('/v1/devices', someHash)
  t.same(
    body.data.map(({ id }: { id: number }) => id),
    [1, 2],
  )
  t.match(log(), '"action":"get_devices","rows":')
})

t.test('health answers without a credential, is not counted, and tells what recent calls saw', async (t) => {
  let broken = false
  const { url } = await platform(t, (request, response) => {
    if (broken) response.writeHead(502).end()
    else answers({ get_devices: [] })(request, response)
  })
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '3' } })
  for (let at = 0; at < 10; at += 1) {
    const { status, headers } = await get('/health')
    t.equal(status, 200)
    t.equal(headers.get('ratelimit-remaining'), '3')
  }
  await get('/v1/devices', someHash)
  clock.advance(7_000)
  t.match((await get('/health')).body, {
    status: 'ok',
    version: '1.0.0',
    uptime_s: 7,
    components: { platform: 'up', store: 'up' },
  })
  broken = true
  await get('/v1/devices', someHash)
  t.match((await get('/health')).body, { status: 'degraded', components: { platform: 'down' } })
})

t.test('a trailing slash, an Accept header and HEAD make no difference to what is answered', async (t) => {
  const { get } = await gateway(t)
  t.equal((await get('/v1/devices/', 'demo')).status, 200)
  t.equal((await get('/v1/devices', 'demo', { headers: { accept: 'text/html' } })).status, 200)
  const head = await get('/v1/devices', 'demo', { method: 'HEAD' })
  t.same([head.status, head.body], [200, undefined])
  t.equal(head.headers.get('access-control-allow-origin'), null)
})

t.test('a sane request id is kept, any other is replaced', async (t) => {
  const { get } = await gateway(t)
  const id = async (sent: string) =>
    (await get('/health', undefined, { headers: { 'x-request-id': sent } })).headers.get('x-request-id')
  t.equal(await id('trace-7f:1.a_b'), 'trace-7f:1.a_b')
  t.not(await id('a b<script>'), 'a b<script>')
  t.not(await id('x'.repeat(65)), 'x'.repeat(65))
})

t.test('every way a request can fail has its code, its shape and its headers', async (t) => {
  const { get, url } = await gateway(t)
  const json = { 'content-type': 'application/json' }
  const post = (body: string, headers: Record<string, string> = json): RequestInit => ({
    method: 'POST',
    body,
    headers,
  })
  const requests: [
    path: string,
    credential: string | undefined,
    init: RequestInit,
    status: number,
    code: keyof typeof errorTable,
  ][] = [
    ['/nowhere', undefined, {}, 404, 'not_found'],
    ['/v1', 'demo', {}, 404, 'not_found'],
    ['/v1/devices/1/2/3', 'demo', {}, 404, 'not_found'],
    ['/v1/%zz', 'demo', {}, 400, 'invalid_request'],
    ['/v1/devices/%e0%a4', 'demo', {}, 400, 'invalid_request'],
    ['/v1/devices', 'demo', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['/v1/devices', undefined, post('{}'), 405, 'method_not_allowed'],
    ['/v1/keys', undefined, { method: 'PUT' }, 405, 'method_not_allowed'],
    ['/v1/keys', undefined, post('{'), 400, 'invalid_request'],
    ['/v1/keys', undefined, post(''), 400, 'invalid_request'],
    ['/v1/keys', undefined, post('{"platform_hash":1}'), 400, 'invalid_request'],
    ['/v1/keys', undefined, post('[]'), 400, 'invalid_request'],
    ['/v1/keys', undefined, post('{"__proto__":{}}'), 400, 'invalid_request'],
    [
      '/v1/keys',
      undefined,
      post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
    ],
    ['/v1/keys', undefined, post('x', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['/v1/keys', undefined, post(JSON.stringify({ platform_hash: 'x'.repeat(17_000) })), 413, 'payload_too_large'],
    [`/v1/devices?x=${'y'.repeat(5_000)}`, 'demo', {}, 414, 'uri_too_long'],
    [`/v1/devices/${'y'.repeat(5_000)}`, 'demo', {}, 414, 'uri_too_long'],
  ]
  for (const [path, credential, init, status, code] of requests) {
    const name = `${init.method ?? 'GET'} ${path.slice(0, 40)}`
    const answer = await get(path, credential, init)
    t.same([answer.status, answer.body.error], [status, code], name)
    t.match(answer.body, { message: /\w\.$/, docs: new RegExp(`/docs#error-${code}$`) }, name)
    hasCommonHeaders(t, answer.headers, name)
  }
  t.equal(
    (await get('/v1/keys', undefined, { method: 'PUT' })).headers.get('allow'),
    'DELETE, GET, HEAD, POST'.replace('DELETE, ', ''),
  )
  t.ok(url)
})

t.test('a credential put where an id belongs is not repeated', async (t) => {
  const { get } = await gateway(t)
  for (const secret of [`gps_live_${'ab12'.repeat(12)}`, someHash]) {
    const { status, body } = await get(`/v1/devices/${encodeURIComponent(secret)}`, 'demo')
    t.equal(status, 404)
    t.notMatch(body.message, secret.slice(9, 30))
  }
})

t.test(
  'whatever path and query come, the answer is JSON in a documented shape with every header, and never a 500',
  async (t) => {
    const { url, get } = await gateway(t)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/v1/devices', '/v1/devices/1001', '/v1/devices/1001/location', '/health', '/', ''),
        fc.webPath(),
        fc.webQueryParameters(),
        fc.constantFrom('demo', undefined, 'wrong'),
        async (base, path, query, credential) => {
          const answer = await get(`${base}${path}?${query}`, credential)
          hasCommonHeaders(t, answer.headers, `${url}${base}${path}`)
          t.ok(answer.status < 500, String(answer.status))
          if (answer.status >= 400) t.ok(answer.body.error in errorTable)
        },
      ),
      { numRuns: 150 },
    )
  },
)
