/** Tests of the account cache: what validates a hash, and that waiting requests get the outcome. */
import type { RequestListener } from 'node:http'
import t from 'tap'
import { AccountCache } from '../../src/auth/account-cache.js'
import { parseCredential, Secret } from '../../src/auth/credential.js'
import type { Platform, Requester } from '../../src/platform/client.js'
import { kilobytesKept } from '../faults.js'
import { answers, type Bodies, Clock, gatewayOn, platform, platformClient, someHash } from '../helper.js'
import { createKey, otherHash, revokeKey, statusesOf } from '../limits.js'
import { only } from '../only.js'
import { until } from '../redis.js'

const sound: Bodies = { get_user_data: { email: 'owner@example.com' }, get_devices: [], get_geofences: { items: [] } }

t.test('requests waiting for a validation get its outcome, though the account is refused meanwhile', async (t) => {
  const outcomes: [status: number, validation: unknown][] = [
    [200, sound.get_user_data],
    [401, 401],
    [503, 500],
  ]
  for (const [status, validation] of outcomes) {
    const held: Record<string, (answer: unknown) => void> = {}
    const hold = (action: string): RequestListener => {
      return (...call) =>
        void Object.assign(held, { [action]: (answer: unknown) => answers({ [action]: answer })(...call) })
    }
    const bodies = { ...sound }
    const clock = new Clock()
    const { get, log, calls, arrivals } = await gatewayOn(t, { clock: clock.now }, bodies)
    const validations = () => calls.filter((call) => call.includes('get_user_data')).length
    t.equal((await get('/v1/me', someHash)).status, 200)
    clock.advance(59_999)
    t.equal((await get('/v1/me', someHash)).status, 200)
    t.equal(validations(), 1, 'once a minute')
    Object.assign(bodies, { get_devices: hold('get_devices'), get_user_data: hold('get_user_data') })
    const refused = get('/v1/devices', someHash)
    await until(() => held.get_devices !== undefined)
    clock.advance(2)
    const arrived = arrivals(5)
    const waiting = Array.from({ length: 5 }, () => get('/v1/me', someHash))
    await arrived
    await until(() => held.get_user_data !== undefined)
    held.get_devices?.(401)
    t.equal((await refused).status, 401)
    held.get_user_data?.(validation)
    const statuses = (await Promise.all(waiting)).map((one) => one.status)
    t.same(statuses, Array(5).fill(status))
    t.equal(validations(), 2, 'they share one call')
    Object.assign(bodies, sound)
    t.equal((await get('/v1/me', someHash)).status, 200)
    t.equal(validations(), 3, 'and what they got is not cached, as it may be older than the refusal')
    t.notMatch(log(), 'internal_error')
  }
})

const cacheOn = (platform: Pick<Platform, 'get'>, clock = () => 0) => {
  const options = { realm: 'test', ttlMs: 1000, clock, onSkipped: () => {}, onRefused: () => {} }
  const whole: Pick<Platform, 'get' | 'turn'> = Object.assign(platform, { turn: async () => {} })
  return new AccountCache({ platform: whole as Platform, ...options })
}

t.test('a validation counts from its request on, however slow the response was', async (t) => {
  let [now, validations] = [0, 0]
  const slow = async () => {
    now += 400
    validations += 1
    return { email: 'owner@example.com' }
  }
  const cache = cacheOn({ get: slow }, () => now)
  const hash = new Secret(someHash)
  const account = await cache.fetch(hash)
  now = 999
  t.equal(await cache.fetch(hash), account)
  t.equal(validations, 1)
  now = 1_001
  await cache.fetch(hash)
  t.equal(validations, 2)
})

t.test('a hash that is evicted while it is validated still gets the outcome of its validation', async (t) => {
  const held: { accept: (data: unknown) => void; refuse: (error: Error) => void }[] = []
  const hold = () => new Promise((accept, refuse) => held.push({ accept, refuse }))
  const cache = cacheOn({ get: async () => (held.length < 2 ? hold() : { email: null }) })
  const [accepted, refused] = [cache.fetch(new Secret('accepted')), cache.fetch(new Secret('refused'))]
  for (let i = 0; i < 20_001; i += 1) await cache.fetch(new Secret(`hash ${i}`))
  t.notOk(cache.peek(new Secret('hash 0')), 'the cache is bounded')
  held[1]?.refuse(new Error('refused'))
  await t.rejects(async () => refused, { message: 'refused' })
  held[0]?.accept({ email: 'owner@example.com' })
  t.equal((await accepted).email, 'owner@example.com')
})

t.test('a hash is validated as one that may be invented until it was valid, and later as known', async (t) => {
  const requesters: Requester[] = []
  const cache = cacheOn({
    get: async (_action, requester) => {
      requesters.push(requester)
      return { email: 'owner@example.com' }
    },
  })
  const hash = new Secret(someHash)
  const { id } = await cache.fetch(hash)
  await cache.fetch(hash, { forceRefresh: true })
  const [first, second] = requesters
  t.same([first?.isKnown, second?.isKnown], [false, true])
  t.equal(first?.id, second?.id)
  t.not(first?.id, id)
})

t.test('a forced validation that gets no response fails, even while the clock stands still', async (t) => {
  const bodies: Bodies = {}
  const cache = cacheOn(platformClient(t, (await platform(t, bodies)).url))
  const hash = new Secret(someHash)
  const account = await cache.fetch(hash)
  bodies['*'] = 500
  t.equal(await cache.fetch(hash), account)
  await t.rejects(async () => cache.fetch(hash, { forceRefresh: true }), { name: 'PlatformUnavailable' })
  t.equal(cache.peek(hash), account)
  bodies['*'] = 401
  await t.rejects(async () => cache.fetch(hash, { forceRefresh: true }), { name: 'PlatformRefused' })
  t.equal(cache.peek(hash), undefined, 'a refused hash is as unknown as any other')
})

t.test('a platform that answers 403 to everything validates nobody', async (t) => {
  const bodies = { '<h1>Forbidden</h1>': 1, '{"status":0,"message":"Forbidden"}': 2 }
  for (const [body, callsEach] of Object.entries(bodies)) {
    const { get, calls } = await gatewayOn(t, (_request, response) => response.writeHead(403).end(body))
    t.same(new Set(await statusesOf(60, (i) => get('/v1/me', `invented-${i}`))), new Set([503]))
    t.equal(calls.length, 60 * callsEach)
    t.equal((await createKey(get, { platform_hash: 'invented' })).status, 503)
  }
})

t.test('a hash whose user data is forbidden is validated by its device list, once, and has no e-mail', async (t) => {
  const bodies: Bodies = { get_user_data: 403, edit_setup_data: 403 }
  const { get, calls } = await gatewayOn(t, bodies)
  for (const [failure, status] of Object.entries({ 401: 401, 500: 503 })) {
    bodies.get_devices = Number(failure)
    t.equal((await get('/v1/me', `hash-${failure}`)).status, status)
  }
  bodies.get_devices = []
  const before = calls.length
  for (let i = 0; i < 3; i += 1) t.match(await get('/v1/me', someHash), { status: 200, body: { email: null } })
  t.match(calls.slice(before), only(/get_user_data\?/, /get_devices\?/, /edit_setup_data\?/))
  t.equal(calls.length - before, 3, 'a forbidden setup is requested once, too')
})

t.test('a hash whose user data is forbidden is validated by a device list of any size', async (t) => {
  const items = Array.from({ length: 4_500 }, (_, at) => ({ id: at + 1, name: 'Van', note: 'x'.repeat(4_000) }))
  const get_devices = JSON.stringify([{ title: 'All', items }])
  const { get } = await gatewayOn(t, { env: { PLATFORM_TIMEOUT_MS: '60000' } }, { get_user_data: 403, get_devices })
  t.equal((await get('/v1/me', someHash)).status, 200)
})

t.test('an account whose user data has no e-mail has the one of its settings, and owns its keys by it', async (t) => {
  const { get, calls } = await gatewayOn(t, (request, response) => {
    const email = request.url?.includes(encodeURIComponent(someHash)) ? 'Owner@Example.com' : 'other@example.com'
    const edit_setup_data = { item: { email, timezone_id: 61 } }
    answers({ get_user_data: { status: 1, email: ' - ' }, edit_setup_data })(request, response)
  })
  t.match(await get('/v1/me', someHash), { status: 200, body: { email: 'owner@example.com' } })
  t.equal(calls.length, 2, 'the settings are requested once')
  t.equal((await createKey(get)).body.platform_email, 'owner@example.com')
  t.match((await get('/v1/keys', someHash)).body, { count: 1 })
  t.match((await get('/v1/keys', otherHash)).body, { count: 0 })
})

t.test('an account whose settings fail for a while keeps its keys, and never becomes another owner', async (t) => {
  const clock = new Clock()
  const edit_setup_data = { item: { email: 'owner@example.com', timezone_id: 61 } }
  const bodies: Bodies = { get_user_data: { status: 1 }, edit_setup_data }
  const { get } = await gatewayOn(t, { clock: clock.now }, bodies)
  const { id } = (await createKey(get)).body
  for (const failure of [403, 404, { status: 0, message: 'Maintenance' }, {}, 500]) {
    bodies.edit_setup_data = failure
    clock.advance(60_001)
    t.match(await get('/v1/keys', someHash), { status: 200, body: { count: 1 } })
    t.match(await get('/v1/me', someHash), { status: 200, body: { email: 'owner@example.com' } })
  }
  t.equal((await revokeKey(get, id)).status, 200)
  t.equal((await createKey(get, { platform_hash: otherHash })).status, 503)
  bodies.edit_setup_data = edit_setup_data
  t.equal((await createKey(get, { platform_hash: otherHash })).status, 200)
})

t.test('an account whose settings fail, or are late, keeps its zone and its units until they come', async (t) => {
  const clock = new Clock()
  const setup = (timezone_id: number) => ({ item: { timezone_id, unit_of_distance: 'mi' } })
  const get_history = { status: 1, items: [], distance_sum: 10 }
  const bodies: Bodies = { ...sound, get_devices: [{ items: [{ id: 7 }] }], get_history }
  const { get } = await gatewayOn(t, { clock: clock.now }, bodies)
  for (const [at, edit_setup_data] of [setup(61), 500, () => {}, 500, setup(65)].entries()) {
    bodies.edit_setup_data = edit_setup_data
    t.match(await get('/v1/me', someHash), { body: { utc_offset: at < 4 ? '+01:00' : '+02:00' } })
    t.match(await get('/v1/history/7?from=2026-05-11&to=2026-05-11', someHash), { body: { distance_km: 16.09 } })
    clock.advance(60_001)
  }
})

t.test('after the clock was set back, no validation from before it counts', async (t) => {
  const clock = new Clock()
  const bodies: Bodies = {}
  const { get } = await gatewayOn(t, { clock: clock.now }, bodies)
  t.equal((await get('/v1/me', someHash)).status, 200)
  bodies.get_user_data = 401
  clock.advance(-3_600_000)
  t.equal((await get('/v1/me', someHash)).status, 401)
})

t.test('an e-mail that is too long to keep, has half of a surrogate pair, or no letter or digit is none', async (t) => {
  const [longest = '', longer = ''] = [308, 309].map((length) => `${'a'.repeat(length)}@example.com`)
  const cases: [sent: string, email: string | null][] = [[longest, longest]]
  for (const none of [longer, 'a\ud83d@example.com', '***', '--']) cases.push([none, null])
  const bodies = { ...sound }
  const { get } = await gatewayOn(t, bodies)
  for (const [at, [sent, email]] of cases.entries()) {
    bodies.get_user_data = { email: sent }
    t.equal((await get('/v1/me', `${someHash}${at}`)).body.email, email)
  }
})

t.test('e-mails that have lost a character make no two accounts one owner', async (t) => {
  const latin1: Record<string, Buffer> = {
    [someHash]: Buffer.from('{"email":"jos\u00e9@example.com"}', 'latin1'),
    [otherHash]: Buffer.from('{"email":"jos\u00e8@example.com"}', 'latin1'),
  }
  const get_user_data: RequestListener = ({ url = '' }, response) => {
    const hash = new URL(url, 'http://localhost').searchParams.get('user_api_hash') ?? ''
    response.end(latin1[hash])
  }
  const { get } = await gatewayOn(t, { ...sound, get_user_data })
  const { key, id } = (await createKey(get)).body
  t.equal((await get('/v1/keys', someHash)).body.count, 1)
  t.equal((await get('/v1/keys', otherHash)).body.count, 0)
  t.equal((await revokeKey(get, id, otherHash)).status, 404)
  t.equal((await get('/v1/me', key)).status, 200)
})

t.test('an account keeps nothing of the header that its hash is a part of', async (t) => {
  const accounts = cacheOn({ get: async () => sound.get_user_data })
  const kilobytes = await kilobytesKept((n) => {
    const header = Buffer.from(`Bearer ${' '.repeat(15_000)}${someHash}${n}`).toString()
    const { secret } = parseCredential(header, undefined) as { secret: Secret }
    return accounts.fetch(secret)
  })
  t.equal(accounts.size, 1_001)
  t.ok(kilobytes < 5, `${kilobytes} kB for each account`)
})
