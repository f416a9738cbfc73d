/** Renewal of API keys after a password change: what it heals, on every instance, and that nothing else does. */
import t, { type Test } from 'tap'
import { Secret } from '../../src/auth/credential.js'
import { type Change, StoreUnavailable } from '../../src/store/store.js'
import { Clock, type Gateway, gateway, gatewayOn, platform, someHash } from '../helper.js'
import {
  accountsOf,
  createKey,
  type Get,
  otherHash,
  owner,
  randomHash,
  randomKey,
  redisGateway,
  revokeKey,
  statusesOf,
  type User,
} from '../limits.js'
import { only } from '../only.js'
import { redisServer, until, withoutRedis } from '../redis.js'

/** A gateway on a platform with the owner and other users. */
async function opened(t: Test, env: Record<string, string> = {}, ...others: User[]) {
  const clock = new Clock()
  const users = [owner(), ...others]
  const user = users[0] as User
  return { ...(await gatewayOn(t, { clock: clock.now, env }, accountsOf(users))), users, user, clock }
}

const renew = (get: Get, hash: string, ids: unknown, more: object = {}) =>
  createKey(get, { platform_hash: hash, renew: ids, ...more })

const statusOf = async ({ get }: Gateway, key: string): Promise<number> => (await get('/v1/me', key)).status

const usable = async ({ get }: Gateway, hash: string): Promise<Record<string, boolean | null>> => {
  const { data } = (await get('/v1/keys', hash)).body
  return Object.fromEntries(data.map(({ id, usable }: { id: string; usable: boolean }) => [id, usable]))
}

const lifecycle = 'after each change of the password exactly the renewed keys work, at once on every gateway'
t.test(lifecycle, { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const user = owner()
  const { url } = await platform(t, accountsOf([user]))
  const open = () => redisGateway(t, server.url, { PLATFORM_URL: url, ACCOUNT_TTL_MS: '1' })
  const [here, there] = await Promise.all([open(), open()])
  const keys = [(await createKey(here.get)).body, (await createKey(here.get)).body, (await createKey(here.get)).body]
  const [a, b, revoked] = keys
  for (const one of [here, there]) t.same([await statusOf(one, a.key), await statusOf(one, b.key)], [200, 200])
  t.same(await usable(there, someHash), { [a.id]: true, [b.id]: true, [revoked.id]: true })
  await revokeKey(here.get, revoked.id)
  t.equal(await statusOf(there, revoked.key), 401, 'revoked on every gateway at once')
  for (const hash of [otherHash, randomHash()]) {
    const old = user.hash
    user.hash = hash
    for (const one of [here, there]) t.same([await statusOf(one, a.key), await statusOf(one, old)], [401, 401])
    t.same(await usable(there, hash), { [a.id]: false, [b.id]: false }, 'the new hash lists the old keys')
    t.same(await statusOf(there, a.key), 401, 'the listing heals nothing')
    const response = await renew(here.get, hash, [a.id, a.id.toUpperCase()])
    const data = [{ object: 'api_key', id: a.id, usable: true }]
    t.match(response, { status: 200, body: { object: 'list', count: 1, data } })
    t.notOk(JSON.stringify(response.body).includes(a.key))
    for (const one of [there, here]) t.equal(await statusOf(one, a.key), 200, 'at once')
    for (const one of [there, here]) t.equal(await statusOf(one, b.key), 401, 'exactly the named keys')
    t.same(await usable(there, hash), { [a.id]: true, [b.id]: false })
    t.match(await renew(here.get, hash, [revoked.id]), { status: 404, body: { error: 'not_found', param: undefined } })
    t.match(await renew(here.get, hash, [b.id, revoked.id]), { status: 404 })
    t.equal(await statusOf(here, b.key), 401, 'if one of them cannot be renewed, none is')
  }
  t.equal(await statusOf(here, revoked.key), 401)
  const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)
  const renewed = idsOf(await renew(here.get, user.hash, [a.id, b.id]))
  t.same(renewed, idsOf(await here.get('/v1/keys', user.hash)), 'newest first, like the list')
  t.equal((await revokeKey(here.get, b.id, user.hash)).status, 200)
  t.same(await usable(there, user.hash), { [a.id]: true })
})

t.test('a renewed key works at once, although its failures have used up the budget of its address', async (t) => {
  const env = { RATE_LIMIT_MAX: '5', TRUST_PROXY: '1' }
  const { user, clock, ...one } = await opened(t, env)
  const from = (n: number) => ({ headers: { 'x-forwarded-for': `192.0.2.${n}` } })
  const { id, key } = (await createKey(one.get)).body
  user.hash = otherHash
  clock.advance(61_000)
  t.equal((await one.get('/v1/me', key, from(1))).status, 401)
  await statusesOf(9, () => one.get('/v1/me', randomKey(), from(1)))
  t.equal((await one.get('/v1/me', key, from(1))).status, 429)
  const { url } = await platform(t, accountsOf([user]))
  const other = await gateway(t, { clock: clock.now, env: { ...env, PLATFORM_URL: url }, store: one.store })
  for (const address of [1, 2]) await other.get('/v1/me', key, from(address))
  t.equal((await renew(one.get, otherHash, [id])).status, 200)
  for (const { get } of [one, other]) t.equal((await get('/v1/me', key, from(1))).status, 200)
})

t.test('an old hash renews nothing, although it is cached', async (t) => {
  const one = await opened(t)
  const { id, key } = (await createKey(one.get)).body
  one.user.hash = otherHash
  t.equal(await statusOf(one, someHash), 200, 'for its time to live')
  t.match(await renew(one.get, someHash, [id]), { status: 401, body: { error: 'invalid_token' } })
  t.equal(await statusOf(one, someHash), 401, 'and no longer')
  t.equal((await renew(one.get, otherHash, [id])).status, 200)
  t.equal(await statusOf(one, key), 200)
  t.equal((await renew(one.get, someHash, [id])).status, 401)
  t.equal(await statusOf(one, key), 200)
})

t.test('nobody else renews a key: not another account, nor one that took over the e-mail', async (t) => {
  const stranger = { hash: otherHash, email: 'other@example.com', userId: 8 }
  const { users, clock, ...one } = await opened(t, {}, stranger)
  const { id, key } = (await createKey(one.get)).body
  users.splice(0, 1)
  clock.advance(61_000)
  t.match(await renew(one.get, otherHash, [id]), { status: 404, body: { error: 'not_found' } })
  for (const userId of [8, undefined, '', 'x'.repeat(65)]) {
    users.splice(0, 1, { hash: otherHash, email: 'owner@example.com', userId })
    clock.advance(61_000)
    t.match(await renew(one.get, otherHash, [id]), { status: 400, body: { error: 'invalid_request', param: 'renew' } })
    t.match(one.lines('API key not renewed').at(-1), { error: 'invalid_request', renew: only(id) })
    t.same(await usable(one, otherHash), { [id]: false })
    t.equal(await statusOf(one, key), 401)
  }
})

t.test('a record of the first release works, and can be renewed after its first use here', async (t) => {
  const { user, clock, ...one } = await opened(t)
  const [used, idle] = [(await createKey(one.get)).body, (await createKey(one.get)).body]
  for (const { key } of [used, idle]) {
    const old: Change = ({ renewal: _, ...record }) => ({ ...record, lastUsedAt: clock.now() - 1 })
    await one.store.keys.update(new Secret(key).digest, old, clock.now())
  }
  t.same(await usable(one, someHash), { [used.id]: null, [idle.id]: null }, 'unknown')
  t.equal(await statusOf(one, used.key), 200)
  const isComplete = async () => (await usable(one, someHash))[used.id] === true
  // In the background.
  await until(isComplete)
  const record = await one.store.keys.findById(used.id, clock.now())
  t.match(record?.sealed, /^v1\./, 'an older instance still reads it')
  user.hash = otherHash
  clock.advance(61_000)
  t.equal(await statusOf(one, used.key), 401)
  t.match(await renew(one.get, otherHash, [idle.id]), { status: 400, body: { param: 'renew' } })
  t.equal((await renew(one.get, otherHash, [used.id])).status, 200)
  t.equal(await statusOf(one, used.key), 200)
})

t.test('a key whose record holds no public key gets a 400', async (t) => {
  const { clock, ...one } = await opened(t)
  const { id, key } = (await createKey(one.get)).body
  const overwrite: Change = ({ renewal, ...record }) =>
    renewal && { ...record, renewal: { ...renewal, publicKey: 'A'.repeat(43) } }
  await one.store.keys.update(new Secret(key).digest, overwrite, clock.now())
  t.match(await renew(one.get, someHash, [id]), { status: 400, body: { error: 'invalid_request', param: 'renew' } })
})

t.test('a malformed renewal gets a 400 that names the parameter, and bad ids cost no platform call', async (t) => {
  const { get, calls } = await opened(t)
  const id = '4b2f8f0e-97a0-4f07-8f55-0c2f1a4be211'
  for (const ids of [[], id, null, [7], ['x'], [`${id}0`], Array(101).fill(id), { 0: id }]) {
    const { status, body } = await renew(get, someHash, ids)
    t.same([status, body.param], [400, 'renew'], JSON.stringify(ids).slice(0, 50))
  }
  t.same(calls, [])
  for (const more of [{ label: 'x' }, { expires_in_days: 5 }]) {
    t.match(await renew(get, someHash, [id], more), { status: 400, body: { param: 'renew' } })
  }
})

const from = (n: number) => ({ 'x-forwarded-for': `192.0.2.${n}` })

t.test('an account renews as often as it may send requests, which takes nothing from its creations', async (t) => {
  const { get } = await opened(t, { RATE_LIMIT_MAX: '10', TRUST_PROXY: '1' })
  const { id } = (await createKey(get)).body
  const body = { platform_hash: someHash, renew: [id] }
  t.same(await statusesOf(10, (n) => createKey(get, body, from(n))), Array(10).fill(200))
  t.match(await createKey(get, body, from(10)), { status: 429, body: { error: 'rate_limit_exceeded' } })
  t.equal((await createKey(get, { platform_hash: someHash }, from(11))).status, 200)
})

t.test('of keys renewed together, those renewed before the store failed are in the log', async (t) => {
  const one = await opened(t)
  const label = 'Board'
  const create = async () => (await createKey(one.get, { platform_hash: someHash, label })).body
  const [a, b] = [await create(), await create()]
  one.user.hash = otherHash
  const { keys } = one.store
  const update = keys.update.bind(keys)
  keys.update = async (digest, ...rest) => {
    if ((await keys.find(digest, 0))?.id === b.id) throw new StoreUnavailable('lost')
    return update(digest, ...rest)
  }
  t.match(await renew(one.get, otherHash, [b.id, a.id]), { status: 503 })
  t.match(one.lines('API key not renewed'), only({ error: 'gateway_error', renew: only(b.id, a.id) }))
  await until(() => one.lines('API key renewed').length > 0)
  t.match(one.lines('API key renewed'), only({ key: a.id, label }))
})

t.test('a credential that the first release accepted as a label is not logged', async (t) => {
  const { get, store, clock, lines, user } = await opened(t)
  const { id, key } = (await createKey(get)).body
  await store.keys.update(new Secret(key).digest, (record) => ({ ...record, label: `old ${key}` }), clock.now())
  t.match(await renew(get, user.hash, [id]), { status: 200 })
  t.match(await revokeKey(get, id), { status: 200 })
  t.match(lines('API key renewed', 'API key revoked'), only({ label: 'old …' }, { label: 'old …' }))
})
