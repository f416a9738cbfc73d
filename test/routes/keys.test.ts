/** Tests of API keys: created, used, listed, revoked and expired. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { type Bodies, Clock, gatewayOn, someHash } from '../helper.js'
import { accountsOf, createKey, fleet, type Get, limitsOf, otherHash, revokeKey } from '../limits.js'

const dayMs = 86_400_000

const twoAccounts = accountsOf([
  { hash: someHash, email: 'Owner@Example.com' },
  { hash: otherHash, email: 'other@example.com' },
])

async function setUp(t: Test, env: Record<string, string> = {}) {
  const clock = new Clock()
  const there = await gatewayOn(
    t,
    { clock: clock.now, ticks: clock.now, env: { DEMO_TOKEN: 'demo', ...env } },
    twoAccounts,
  )
  return { ...there, clock }
}

t.test('a key is created, used, listed and revoked as documented', async (t) => {
  const { get, clock } = await setUp(t)
  const now = clock.now()
  const sent = { platform_hash: someHash, label: '  Dépôt 北  ', expires_in_days: 40 }
  const { status, body, headers } = await createKey(get, sent)
  t.equal(status, 200)
  t.match(headers.get('content-type'), 'application/json')
  const shown = { object: 'api_key', label: 'Dépôt 北', created_at: now, expires_at: now + 40 * dayMs }
  t.match(body, { ...shown, id: /^[0-9a-f-]{36}$/, key: /^gps_live_[0-9a-f]{48}$/ })
  t.match(body, { platform_email: 'owner@example.com', message: /\w/ })
  const me = await get('/v1/me', body.key)
  t.match(me.body, { credential: 'api_key', email: 'owner@example.com', key: { id: body.id, label: 'Dépôt 北' } })
  const hint = `${body.key.slice(0, 13)}…${body.key.slice(-4)}`
  clock.advance(5)
  const second = (await createKey(get)).body
  t.same([second.label, second.expires_at - second.created_at], ['', 365 * dayMs])
  const { body: list } = await get('/v1/keys', someHash)
  t.match(list, { object: 'list', count: 2, has_more: false })
  t.same(list.data[1], { ...shown, id: body.id, key: hint, last_used_at: now, status: 'active', usable: null })
  t.equal(list.data[0].id, second.id, 'newest first')
  t.equal(list.data[0].last_used_at, null)
  t.same((await get('/v1/keys?limit=1&offset=1', someHash)).body.data, [list.data[1]])
  const gone = await revokeKey(get, body.id.toUpperCase())
  const { message, ...rest } = gone.body
  t.match([gone.status, message], [200, /\w/], 'in any spelling of its id, as RFC 9562 wants')
  t.same(rest, { object: 'api_key', id: body.id, deleted: true, revoked_at: now + 5 })
  t.match(await get('/v1/devices', body.key), { status: 401, body: { error: 'invalid_token' } })
  t.equal((await revokeKey(get, body.id)).status, 404, 'revoked once')
  t.equal((await get('/v1/keys', someHash)).body.count, 1)
  t.equal((await get('/v1/devices', second.key)).status, 200, 'the other key is unaffected')
})

t.test('only the platform hash manages keys; the 401 of a key or the demo token says so on every route', async (t) => {
  const { get } = await setUp(t)
  const { key, id } = (await createKey(get)).body
  for (const credential of [undefined, 'wrong', key, 'demo']) {
    const init = { method: 'DELETE' }
    const isOfOtherKind = credential === key || credential === 'demo'
    for (const { status, body } of [
      await get('/v1/keys?limit=x', credential),
      await get(`/v1/keys/${id}`, credential, init),
    ]) {
      t.same([status, body.error], [401, credential ? 'invalid_token' : 'unauthorized'])
      if (isOfOtherKind) t.match(body.message, /platform hash/)
    }
    if (credential === undefined) continue
    const { status, body } = await createKey(get, { platform_hash: credential })
    t.same([status, body.error, body.message.includes('platform_hash')], [401, 'invalid_token', isOfOtherKind])
  }
  t.equal((await get('/v1/keys', someHash)).body.count, 1)
})

t.test('an invalid body creates no key, and the 400 names the field', async (t) => {
  const { get, calls } = await setUp(t)
  const platform_hash = someHash
  const sentences = {
    platform_hash: /^`platform_hash` (must be text of 1 to 512 characters|is required)\.$/,
    label: /^`label` must be text of at most 100 characters(, without control characters)?\.$/,
    expires_in_days: /^`expires_in_days` must be an integer from 1 to 3650\.$/,
  }
  type Bad = [body: unknown, param?: keyof typeof sentences]
  const labels = ['\n', '\0', '\u007f', '\u0085', '\u2028', '\ud800'].map((odd) => `a${odd}b`)
  const values = {
    platform_hash: [5, '', null, 'x'.repeat(513), undefined],
    label: [5, null, 'x'.repeat(101), ...labels],
    expires_in_days: [0, -1, 3651, 1.5, '30', true, null, [30]],
  }
  const bad: Bad[] = [[], 'text', null, 7].map((body) => [body])
  for (const param of ['platform_hash', 'label', 'expires_in_days'] as const)
    for (const value of values[param]) bad.push([{ platform_hash, [param]: value }, param])
  for (const [body, param] of bad) {
    const response = await createKey(get, body as object)
    const name = JSON.stringify(body).slice(0, 80)
    t.same([response.status, response.body.error, response.body.param], [400, 'invalid_request', param], name)
    t.match(response.body.message, param ? sentences[param] : 'The body must be a JSON object.', name)
  }
  t.equal(calls.length, 0, 'none of them cost a platform call')
  t.equal((await get('/v1/keys', someHash)).body.count, 0)
  for (const expires_in_days of [1, 3650])
    t.equal((await createKey(get, { platform_hash, expires_in_days })).status, 200)
})

t.test('a label may have 100 characters of any script; spaces around it are removed and not counted', async (t) => {
  const { get } = await setUp(t, { MAX_KEYS_PER_ACCOUNT: '1000' })
  const character = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
    .filter((one) => /^[^\p{C}\p{Z}]+$/u.test(one))
  const longest = ['é', '字', '🚚', 'x'].map((one) => one.repeat(100))
  const examples = [...longest, "L'été – №5", 'لوحة', '👩\u200d🚒']
  const label = fc.array(character, { minLength: 1, maxLength: 30 }).map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(label, fc.constantFrom('', ' ', '\t\n ', '\u3000'.repeat(90)), async (label, space) => {
      fc.pre([...label].length <= 100)
      const { status, body } = await createKey(get, { platform_hash: someHash, label: `${space}${label}${space}` })
      t.same([status, body.label], [200, label])
    }),
    { numRuns: 25, examples: examples.map((label): [string, string] => [label, '  ']) },
  )
  t.equal((await createKey(get, { platform_hash: someHash, label: '🚚'.repeat(101) })).status, 400)
  t.equal((await createKey(get, { platform_hash: someHash, label: ' \t ' })).body.label, '')
})

t.test('a key works to its last millisecond, and its responses announce the expiry for the last 30 days', async (t) => {
  const { get, clock } = await setUp(t)
  const { key, id, expires_at } = (await createKey(get, { platform_hash: someHash, expires_in_days: 31 })).body
  const notice = async () => (await get('/v1/devices', key)).headers.get('x-api-key-expires')
  t.equal(await notice(), null)
  clock.advance(dayMs)
  t.equal(await notice(), null, 'thirty days left')
  clock.advance(1)
  t.equal(await notice(), new Date(expires_at).toUTCString())
  t.match(await notice(), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
  t.equal((await get('/v1/devices', someHash)).headers.get('x-api-key-expires'), null)
  clock.advance(expires_at - clock.now() - 1)
  t.equal((await get('/v1/devices', key)).status, 200)
  clock.advance(1)
  t.match(await get('/v1/devices', key), { status: 401, body: { error: 'invalid_token' } })
  t.equal((await get('/v1/keys', someHash)).body.count, 0)
  t.equal((await revokeKey(get, id)).status, 404)
})

t.test('a 429 and a 503 to a key announce its expiry, too', async (t) => {
  const clock = new Clock()
  const bodies: Bodies = { ...fleet }
  const { get } = await gatewayOn(t, { clock: clock.now, env: { RATE_LIMIT_MAX: '1' } }, bodies)
  const { key, expires_at } = (await createKey(get, { platform_hash: someHash, expires_in_days: 3 })).body
  bodies['*'] = 500
  clock.advance(61_000)
  for (const status of [503, 429]) {
    const { status: found, headers } = await get('/v1/me', key)
    t.same([found, headers.get('x-api-key-expires')], [status, new Date(expires_at).toUTCString()])
  }
})

t.test('a key is revoked whatever content type the request announces', async (t) => {
  const { get } = await setUp(t)
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
    const { id, key } = (await createKey(get)).body
    const init = { method: 'DELETE', headers: { 'content-type': type } }
    t.equal((await get(`/v1/keys/${id}`, someHash, init)).status, 200, type)
    t.equal((await get('/v1/me', key)).status, 401)
  }
})

t.test('a foreign key and a key that never existed get the same 404', async (t) => {
  const { get } = await setUp(t)
  const { id, key } = (await createKey(get)).body
  const unknown = '4b2f8f0e-97a0-4f07-8f55-0c2f1a4be211'
  const found = await Promise.all([id, unknown].map((one) => revokeKey(get, one, otherHash)))
  const [foreign, missing] = found.map(({ status, body, headers }) => {
    const same = [...headers].filter(([name]) => !/request-id|ratelimit|date/.test(name))
    return [status, JSON.stringify(body).replaceAll(id, unknown), same]
  })
  t.same(foreign, missing)
  t.equal(foreign?.[0], 404)
  t.equal((await get('/v1/devices', key)).status, 200)
  t.equal((await get('/v1/keys', otherHash)).body.count, 0)
  for (const odd of ['x', '%00', 'a'.repeat(300), id.toUpperCase().replace(/\d/g, 'F'), '..%2fkeys']) {
    t.match(await revokeKey(get, odd), { status: 404, body: { error: 'not_found' } })
  }
})

t.test('only the creation response holds a complete key', async (t) => {
  const { get } = await setUp(t)
  const { key, id } = (await createKey(get)).body
  const everything = await Promise.all([
    get('/v1/keys', someHash),
    ...['/v1/me', '/v1/devices', '/v1/drivers', '/v1/keys', `/v1/devices/${key}`, `/v1/devices?status=${key}`].map(
      (path) => get(path, key),
    ),
    get(`/v1/keys/${id}`, someHash, { method: 'DELETE' }),
    get('/v1/devices', key),
    createKey(get, { platform_hash: key }),
    createKey(get, { platform_hash: someHash, expires_in_days: key }),
    get('/health', key),
    get('/nowhere', key),
    get('/v1/devices', key, { method: 'POST' }),
  ])
  const echoed = everything.filter(({ body, headers }) =>
    /gps_live_[0-9a-f]{48}/.test(JSON.stringify([body, [...headers]])),
  )
  t.same(echoed, [], 'not even where a key was sent as an id')
})

t.test('a loop of create, spend and revoke gets at most a fifth of the limit in keys per window', async (t) => {
  const { get, clock } = await setUp(t, { RATE_LIMIT_MAX: '20', TRUST_PROXY: '1' })
  let sent = 0
  let served = 0
  /** Uses another address for every request. */
  const send: Get = (path, credential, init = {}) => {
    sent += 1
    return get(path, credential, { ...init, headers: { ...init.headers, 'x-forwarded-for': `192.0.2.${sent}` } })
  }
  for (let i = 0; i < 4; i += 1) {
    const { id, key } = (await createKey(send)).body
    while ((await send('/v1/me', key)).status === 200) served += 1
    t.equal((await revokeKey(send, id)).status, 200)
  }
  t.equal(served, 4 * 20)
  const exceeded = await createKey(send)
  t.same([exceeded.status, exceeded.body.error], [429, 'rate_limit_exceeded'])
  const [limit, remaining, reset] = limitsOf(exceeded)
  t.same([limit, remaining, Number(exceeded.headers.get('retry-after'))], [4, 0, reset])
  t.equal((await createKey(send, { platform_hash: otherHash })).status, 200, 'another account is unaffected')
  clock.advance(60_000)
  t.equal((await createKey(send)).status, 200, 'until the next window')
})
