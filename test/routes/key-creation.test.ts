/** Creation of API keys: who gets one, where it works from then on, and what the log says of it. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { accountIdOf, keyOwnerOf, Secret } from '../../src/auth/credential.js'
import type { KeyRecord } from '../../src/store/store.js'
import { isLong } from '../faults.js'
import { type Answer, ask, type Bodies, Clock, gatewayOn, platform, someHash } from '../helper.js'
import { accountsOf, createKey, type Get, otherHash, owner, randomHash, revokeKey, statusesOf } from '../limits.js'
import { only } from '../only.js'
import { gatewayProcess } from '../process.js'
import { redisServer, until, withoutRedis } from '../redis.js'

t.test('a key is created although the platform has no user id, and is completed by its use', async (t) => {
  const bodies: Bodies = { get_devices: [] }
  const clock = new Clock()
  const { get } = await gatewayOn(t, { clock: clock.now }, bodies)
  const usable = async () => (await get('/v1/keys', someHash)).body.data[0].usable
  const { key } = (await createKey(get)).body
  t.equal(await usable(), null)
  bodies.edit_setup_data = { item: { id: 7, timezone_id: 61 }, timezones: [] }
  clock.advance(600_000)
  t.equal((await get('/v1/me', key)).status, 200)
  // In the background.
  await until(async () => (await usable()) !== null)
  t.equal(await usable(), true)
})

t.test('an account that has all its keys gets 409, not 429, also right after it has created them', async (t) => {
  const env = { RATE_LIMIT_MAX: '10', MAX_KEYS_PER_ACCOUNT: '2' }
  const { get } = await gatewayOn(t, { clock: new Clock().now, env }, {})
  for (let n = 0; n < 2; n += 1) t.equal((await createKey(get)).status, 200)
  const { status, body, headers } = await createKey(get)
  t.same([status, body.error, headers.get('ratelimit-limit')], [409, 'too_many_keys', '10'])
  const { data } = (await get('/v1/keys', someHash)).body
  await revokeKey(get, data[0].id)
  t.match(await createKey(get), { status: 429, body: { error: 'rate_limit_exceeded' } })
})

t.test('an account finds the keys that it created before the gateway knew its e-mail, and they count', async (t) => {
  const clock = new Clock()
  const bodies: Bodies = { get_user_data: { status: 1 }, edit_setup_data: 403 }
  const options = { clock: clock.now, env: { MAX_KEYS_PER_ACCOUNT: '2' } }
  const { get, store } = await gatewayOn(t, options, bodies)
  const old = (await createKey(get)).body
  const record = await store.keys.findById(old.id, clock.now())
  // As the first release, which never read the settings.
  t.equal(record?.owner, keyOwnerOf(accountIdOf('platform', new Secret(someHash).digest)))
  bodies.edit_setup_data = { item: { email: 'owner@example.com', timezone_id: 61 } }
  clock.advance(60_001)
  const { body: created } = await createKey(get)
  t.equal(created.platform_email, 'owner@example.com')
  t.match((await get('/v1/keys', someHash)).body, { count: 2, data: only({ id: created.id }, { id: old.id }) })
  t.match(await createKey(get), { status: 409, body: { error: 'too_many_keys' } })
  const renew = { platform_hash: someHash, renew: [old.id] }
  t.match(await createKey(get, renew), { status: 400, body: { param: 'renew' } }, 'found, but made without a user id')
  t.equal((await revokeKey(get, old.id, otherHash)).status, 404)
  t.equal((await revokeKey(get, old.id)).status, 200)
  t.equal((await get('/v1/me', old.key)).status, 401)
  t.equal((await createKey(get)).status, 200)
  clock.advance(1)
  const newer = { ...(record as KeyRecord), id: randomUUID(), digest: '0'.repeat(64), createdAt: clock.now() }
  await store.keys.create(newer, 1, clock.now())
  const { data } = (await get('/v1/keys', someHash)).body
  t.equal(data[0].id, newer.id, 'newest first, also beside an instance of the first release')
})

t.test('a hash that the platform refuses to give its settings gets no key, and is validated again', async (t) => {
  for (const refusal of [
    { status: 0, error: 'Unauthorized' },
    { item: { id: 7, active: 0 }, status: 1 },
  ]) {
    const bodies: Bodies = { get_geofences: { items: [] } }
    const { get, store, calls } = await gatewayOn(t, bodies)
    t.equal((await get('/v1/geofences', someHash)).status, 200)
    bodies.edit_setup_data = refusal
    t.match(await createKey(get), { status: 401, body: { error: 'invalid_token' } })
    t.same(await store.digests(), [])
    await get('/v1/geofences', someHash)
    t.match(calls.at(-2), 'get_user_data')
  }
})

t.test('each creation and revocation of a key, refused or not, is one log line', async (t) => {
  const env = { RATE_LIMIT_MAX: '10', TRUST_PROXY: '1', MAX_KEYS_PER_ACCOUNT: '1' }
  const { get, lines } = await gatewayOn(t, { clock: new Clock().now, env }, accountsOf([owner()]))
  const from = (n: number) => ({ 'x-forwarded-for': `192.0.2.${n}`, 'x-request-id': `request-${n}` })
  const label = 'Board'
  const { id, key } = (await createKey(get, { platform_hash: someHash, label }, from(1))).body
  const second = await createKey(get, { platform_hash: someHash, label: 'Second' }, from(2))
  t.same([second.status, second.body.error], [409, 'too_many_keys'])
  await createKey(get, { platform_hash: randomHash(), label }, from(3))
  await createKey(get, { platform_hash: someHash, label: 7 }, from(4))
  await createKey(get, { platform_hash: someHash, label: 'Third' }, from(5))
  const revoke = (one: string, credential: string, n: number) =>
    get(`/v1/keys/${one}`, credential, { method: 'DELETE', headers: from(n) })
  await revoke(id, key, 6)
  await revoke(key, someHash, 7)
  await revoke(id, someHash, 8)
  await revoke(id, someHash, 9)
  await statusesOf(7, () => get('/v1/me', someHash))
  await revoke(id, someHash, 10)
  const created = ['API key created', 'API key renewed', 'API key revoked']
  const events = lines(...created, 'API key not created', 'API key not revoked')
  const { account, credential } = lines('request')[0] ?? {}
  t.match([account, credential], [/^[\w-]{22}$/, 'platform_hash'])
  const who = (n: number, of: unknown = account) => ({
    ...(of ? { account: of } : {}),
    reqId: `request-${n}`,
    ip: `192.0.2.${n}`,
  })
  const told = events.map(({ level: _, time: __, ...rest }) => rest)
  t.strictSame(told, [
    { key: id, label, ...who(1), msg: 'API key created' },
    { error: 'too_many_keys', label: 'Second', ...who(2), msg: 'API key not created' },
    { error: 'invalid_token', label, ...who(3, null), msg: 'API key not created' },
    { error: 'invalid_request', ...who(4, null), msg: 'API key not created' },
    { error: 'too_many_keys', label: 'Third', ...who(5), msg: 'API key not created' },
    { error: 'invalid_token', key: id, ...who(6), msg: 'API key not revoked' },
    { error: 'not_found', ...who(7), msg: 'API key not revoked' },
    { key: id, label, ...who(8), msg: 'API key revoked' },
    { error: 'not_found', key: id, ...who(9), msg: 'API key not revoked' },
    { error: 'rate_limit_exceeded', key: id, ...who(10), msg: 'API key not revoked' },
  ])
})

t.test('a credential in place of a label is refused, and neither logged nor stored', async (t) => {
  const { get, log, store } = await gatewayOn(t, {})
  const apiKey = `gps_live_${'5d0b6c3e91f2'.repeat(4)}`
  for (const body of [
    { platform_hash: 'Dispatch board', label: someHash },
    { platform_hash: someHash, label: someHash },
    { platform_hash: 'plain-hash', label: 'plain-hash' },
    { platform_hash: 'plain-hash', label: 'Board of plain-hash' },
    { platform_hash: someHash, label: `old key ${apiKey}` },
    { platform_hash: otherHash, label: `of user_api_hash=${encodeURIComponent(someHash)}` },
  ]) {
    t.match(await createKey(get, body), { status: 400, body: { param: 'label' } })
  }
  t.same(await store.digests(), [])
  for (const secret of [someHash, encodeURIComponent(someHash), apiKey, 'plain-hash']) t.notOk(log().includes(secret))
  const short = await createKey(get, { platform_hash: 'van', label: 'van board' })
  t.not(short.body.param, 'label', 'a short wrong hash may be a word of the label')
})

/** 8 at a time. */
const revocations = isLong ? 1_000 : 80
if (isLong) t.setTimeout(1_800_000)
t.test(`keys work and ${revocations} revocations hold at once on every gateway`, { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { url } = await platform(t, accountsOf([owner()]))
  const env = { PLATFORM_URL: url, REDIS_URL: server.url, MAX_KEYS_PER_ACCOUNT: '1000' }
  const processes = await Promise.all([gatewayProcess(t, env), gatewayProcess(t, env)])
  const [one, other] = processes.map(
    ({ url }): Get =>
      (...request) =>
        ask(url, ...request),
  ) as [Get, Get]
  /** On a busy machine Redis may be too late. */
  const settled = async (send: () => Promise<Answer>): Promise<Answer> => {
    const response = await send()
    return response.status === 503 ? settled(send) : response
  }
  const lane = async (here: Get, there: Get): Promise<void> => {
    for (let round = 0; round < revocations / 8; round += 1) {
      const { id, key } = (await settled(() => createKey(here))).body
      const use = () => settled(() => there('/v1/me', key))
      t.equal((await use()).status, 200)
      // A revocation that was too late may have worked.
      t.ok([200, 404].includes((await settled(() => revokeKey(here, id))).status))
      t.equal((await use()).status, 401)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, at) => (at % 2 ? lane(one, other) : lane(other, one))))
})
