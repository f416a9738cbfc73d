/** Tests of the account cache: what validates a hash, and that waiting requests get the outcome. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { AccountCache } from '../../src/auth/account-cache.js'
import { Secret } from '../../src/auth/credential.js'
import type { Platform } from '../../src/platform/client.js'
import { answers, Clock, gateway, gatewayOn, platform, platformClient, someHash } from '../helper.js'
import { createKey, otherHash, unauthorized } from '../limits.js'
import { until } from '../redis.js'

const fleet = answers({ get_devices: [], get_geofences: { items: [] } })
const forbidden = '{"status":0,"message":"Forbidden"}'

t.test('requests waiting for a validation get its outcome, though the account is refused meanwhile', async (t) => {
  const outcomes: [status: number, end: (response: ServerResponse) => void][] = [
    [200, (response) => response.end('{"email":"owner@example.com"}')],
    [401, (response) => response.writeHead(401).end(unauthorized)],
    [503, (response) => response.writeHead(500).end()],
  ]
  for (const [status, end] of outcomes) {
    const held: Record<string, ServerResponse> = {}
    let holds = ''
    const clock = new Clock()
    const { get, log, calls } = await gatewayOn(t, { clock: clock.now }, (request, response) => {
      const [, action = ''] = /api\/(\w+)/.exec(request.url ?? '') ?? []
      if (holds.includes(action)) held[action] = response
      else fleet(request, response)
    })
    const validations = () => calls.filter((call) => call.includes('get_user_data')).length
    t.equal((await get('/v1/me', someHash)).status, 200)
    holds = 'get_devices get_user_data'
    const refused = get('/v1/devices', someHash)
    await until(() => held.get_devices !== undefined)
    clock.advance(60_001)
    const waiting = Array.from({ length: 5 }, () => get('/v1/me', someHash))
    await until(() => held.get_user_data !== undefined)
    held.get_devices?.writeHead(401).end(unauthorized)
    t.equal((await refused).status, 401)
    end(held.get_user_data as ServerResponse)
    const statuses = (await Promise.all(waiting)).map((one) => one.status)
    t.same(statuses, Array(5).fill(status))
    t.equal(validations(), 2, 'they share one call')
    holds = ''
    t.equal((await get('/v1/me', someHash)).status, 200)
    t.equal(validations(), 3, 'and what they got is not cached, as it may be older than the refusal')
    t.notMatch(log(), 'internal_error')
  }
})

t.test('a credential is validated once per minute, with one call for all that wait', async (t) => {
  const clock = new Clock()
  const { get, calls } = await gatewayOn(t, { clock: clock.now }, { get_devices: [] })
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

t.test('a refusal by the platform drops the cached data and validation of the account at once', async (t) => {
  const clock = new Clock()
  let refuses = false
  const { get, calls } = await gatewayOn(t, { clock: clock.now }, (request, response) => {
    if (refuses) response.writeHead(401).end('{"status":0,"error":"Unauthorized"}')
    else answers({ get_devices: [{ title: 'A', items: [{ id: 1 }] }], get_geofences: { items: [] } })(request, response)
  })
  t.equal((await get('/v1/devices', someHash)).status, 200)
  refuses = true
  t.same([(await get('/v1/devices', someHash)).status], [200], 'fresh positions are answered from memory')
  t.equal((await get('/v1/geofences', someHash)).status, 401)
  const { status, body } = await get('/v1/devices', someHash)
  t.same([status, body.error], [401, 'invalid_token'], 'the cached list is gone with the refusal')
  t.match(calls.at(-1), 'get_user_data', 'and so is the validation')
})

const cacheOn = (platform: Platform) =>
  new AccountCache({ platform, realm: 'test', ttlMs: 1000, clock: () => 0, onSkipped: () => {}, onRefused: () => {} })

t.test('a hash that is evicted while it is validated still gets the outcome of its validation', async (t) => {
  for (const outcome of ['accepted', 'refused'] as const) {
    let end: (data: unknown) => void = () => {}
    const validation = new Promise((resolve, reject) => {
      end = outcome === 'accepted' ? resolve : reject
    })
    let calls = 0
    const get = () => (calls++ === 0 ? validation : Promise.resolve({ email: null }))
    const cache = cacheOn({ get } as unknown as Platform)
    const first = cache.fetch(new Secret('first'))
    for (let i = 0; i < 20_001; i += 1) await cache.fetch(new Secret(`hash ${i}`))
    t.notOk(cache.peek(new Secret('hash 0')), 'the cache is bounded')
    end(outcome === 'accepted' ? { email: 'owner@example.com' } : new Error('refused'))
    if (outcome === 'accepted') t.equal((await first).email, 'owner@example.com')
    else await t.rejects(async () => first, { message: 'refused' })
  }
})

t.test('a forced validation without a response is none, even while the clock stands still', async (t) => {
  let isDown = false
  const { url } = await platform(t, (request, response) => {
    if (isDown) response.writeHead(500).end()
    else answers({})(request, response)
  })
  const cache = cacheOn(platformClient(t, url))
  const hash = new Secret(someHash)
  const account = await cache.fetch(hash)
  isDown = true
  t.equal(await cache.fetch(hash), account)
  await t.rejects(async () => cache.fetch(hash, { forceRefresh: true }), { name: 'PlatformUnavailable' })
})

t.test('a platform that answers 403 to everything validates nobody', async (t) => {
  for (const [body, callsEach] of [
    ['<h1>Forbidden</h1>', 1],
    [forbidden, 2],
  ] as const) {
    const { get, calls } = await gatewayOn(t, (_request, response) => response.writeHead(403).end(body))
    const statuses = new Set<number>()
    for (let i = 0; i < 60; i += 1) statuses.add((await get('/v1/me', `invented-${i}`)).status)
    t.same(statuses, new Set([503]))
    t.equal(calls.length, 60 * callsEach)
    t.equal((await createKey(get, { platform_hash: 'invented' })).status, 503)
  }
})

t.test('a hash whose user data is forbidden is validated by its device list, once, and has no e-mail', async (t) => {
  let devices = 200
  const { get, calls } = await gatewayOn(t, (request, response) => {
    if (/get_user_data|edit_setup_data/.test(request.url ?? '')) response.writeHead(403).end(forbidden)
    else if (devices !== 200) response.writeHead(devices).end(unauthorized)
    else fleet(request, response)
  })
  for (const status of [401, 500]) {
    devices = status
    t.equal((await get('/v1/me', `hash-${status}`)).status, status === 401 ? 401 : 503)
  }
  devices = 200
  const before = calls.length
  for (let i = 0; i < 3; i += 1) t.match(await get('/v1/me', someHash), { status: 200, body: { email: null } })
  t.match(calls.slice(before), [/get_user_data\?/, /get_devices\?/, /edit_setup_data\?/])
  t.equal(calls.length - before, 3, 'a forbidden setup is requested once, too')
})

t.test('a hash whose user data is forbidden is validated by a device list of any size', async (t) => {
  const items = Array.from({ length: 4_500 }, (_, at) => ({ id: at + 1, name: 'Van', note: 'x'.repeat(4_000) }))
  const devices = JSON.stringify([{ title: 'All', items }])
  const { get } = await gatewayOn(t, (request, response) => {
    if (request.url?.includes('get_user_data')) response.writeHead(403).end(forbidden)
    else answers({ get_devices: devices })(request, response)
  })
  t.equal((await get('/v1/me', someHash)).status, 200)
})

t.test('an account whose user data has no e-mail has the one of its settings, and owns its keys by it', async (t) => {
  const setup = (email: string) => ({
    get_user_data: { status: 1 },
    edit_setup_data: { item: { email, timezone_id: 61 } },
  })
  const [one, other] = [answers(setup('Owner@Example.com')), answers(setup('other@example.com'))]
  const { url, calls } = await platform(t, (request, response) => {
    const hash = new URL(request.url ?? '', 'http://localhost').searchParams.get('user_api_hash')
    return hash === someHash ? one(request, response) : other(request, response)
  })
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  t.match(await get('/v1/me', someHash), { status: 200, body: { email: 'owner@example.com' } })
  t.equal(calls.length, 2, 'the settings are requested once')
  t.equal((await createKey(get)).body.platform_email, 'owner@example.com')
  t.match((await get('/v1/keys', someHash)).body, { count: 1 })
  t.match((await get('/v1/keys', otherHash)).body, { count: 0 })
})

t.test('an account whose settings fail for a while keeps its keys, and never becomes another owner', async (t) => {
  const clock = new Clock()
  let fails = false
  const sound = answers({
    get_user_data: { status: 1 },
    edit_setup_data: { item: { email: 'owner@example.com', timezone_id: 61 } },
  })
  const { get } = await gatewayOn(t, { clock: clock.now }, (request, response) => {
    if (fails && request.url?.includes('edit_setup_data')) response.writeHead(500).end()
    else sound(request, response)
  })
  const { id } = (await createKey(get)).body
  fails = true
  clock.advance(60_001)
  t.match(await get('/v1/keys', someHash), { status: 200, body: { count: 1 } })
  t.match(await get('/v1/me', someHash), { status: 200, body: { email: 'owner@example.com' } })
  t.equal((await get(`/v1/keys/${id}`, someHash, { method: 'DELETE' })).status, 200)
  t.equal((await createKey(get, { platform_hash: otherHash })).status, 503)
  fails = false
  t.equal((await createKey(get, { platform_hash: otherHash })).status, 200)
})

t.test('a text that is too long for an e-mail is none: it would be kept with every account and key', async (t) => {
  for (const [email, shown] of [
    [`${'a'.repeat(308)}@example.com`, `${'a'.repeat(308)}@example.com`],
    [`${'a'.repeat(309)}@example.com`, null],
  ] as const) {
    const { get } = await gatewayOn(t, { get_user_data: { email } })
    t.equal((await get('/v1/me', someHash)).body.email, shown)
  }
})
