/** Tests of authentication: what missing, wrong, unknown, refused and revoked credentials get and cost. */
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { Secret } from '../../src/auth/credential.js'
import { seal } from '../../src/auth/seal.js'
import {
  type Answer,
  type Bodies,
  Clock,
  embeddedStore,
  type Gateway,
  gateway,
  gatewayOn,
  platform,
  someHash,
} from '../helper.js'
import {
  accountsOf,
  createKey,
  fleet,
  type Get,
  limitsOf,
  otherHash,
  owner,
  randomHash,
  randomKey,
  redisGateway,
  revokeKey,
  statusesOf,
} from '../limits.js'
import { redisServer, until, withoutRedis } from '../redis.js'

/** A platform that accepts `someHash` alone. */
const strict = accountsOf([owner()])

/** A gateway on the embedded store and, where Redis is installed, one on Redis. */
async function onEachStore(t: Test, env: Record<string, string>): Promise<[store: string, gateway: Gateway][]> {
  const embedded: [string, Gateway] = ['embedded', await gateway(t, { env })]
  if (withoutRedis) return [embedded]
  return [embedded, ['Redis', await redisGateway(t, (await redisServer(t)).url, env)]]
}

t.test('a missing credential is unauthorized, and a wrong one is invalid_token', async (t) => {
  const { get } = await gatewayOn(t, strict)
  const none = await get('/v1/devices')
  t.same([none.status, none.body.error, none.headers.get('www-authenticate')], [401, 'unauthorized', 'Bearer'])
  for (const wrong of ['nonsense', otherHash, randomKey(), 'gps_live_short', 'demo', 'x'.repeat(600)]) {
    const { status, body, headers } = await get('/v1/devices', wrong)
    t.same([status, body.error], [401, 'invalid_token'], wrong.slice(0, 20))
    t.match(headers.get('www-authenticate'), 'invalid_token')
  }
})

/** An unknown hash, sent in turn in the header and in the body of a key creation. */
const guess = (get: Get, i: number, address: string): Promise<Answer> => {
  const headers = { 'x-forwarded-for': address }
  return i % 3 > 0 ? get('/v1/me', randomHash(), { headers }) : createKey(get, { platform_hash: randomHash() }, headers)
}

t.test('unknown hashes cost the platform one budget per address and four per /56, however they are sent', async (t) => {
  const { url, calls } = await platform(t, strict)
  const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '8', TRUST_PROXY: '1' }
  const all = Array.from({ length: 36 }, (_, i) => i)
  for (const [store, { get }] of await onEachStore(t, env)) {
    let block = 0
    for (const how of ['one by one', 'at once'] as const) {
      for (const budgets of [1, 4]) {
        const name = `${store}, ${how}, ${budgets}`
        block += 1
        const address = (i: number) => `2001:db8:${block}:ab${budgets === 1 ? '01' : (16 + i).toString(16)}::${i}`
        const known = (i: number) => get('/v1/me', someHash, { headers: { 'x-forwarded-for': address(i) } })
        t.equal((await known(0)).status, 200)
        const before = calls.length
        const responses: Answer[] = []
        if (how === 'at once') responses.push(...(await Promise.all(all.map((i) => guess(get, i, address(i))))))
        else for (const i of all) responses.push(await guess(get, i, address(i)))
        t.ok(calls.length - before <= budgets * 8, `${calls.length - before} calls, ${name}`)
        t.ok(calls.length - before >= budgets * 4, `${calls.length - before} calls, ${name}`)
        const statuses = responses.map(({ status }) => status)
        // A refusal that comes after others have used up the budget is a 429, too.
        if (how === 'at once') statuses.push(401)
        t.same(new Set(statuses), new Set([401, 429]), name)
        for (const i of [36, 37]) {
          const spent = await guess(get, i, address(i))
          t.same([spent.status, ...limitsOf(spent).slice(0, 2)], [429, 8, 0], name)
          t.match(spent.headers.get('retry-after'), /^[1-9]\d*$/)
        }
        t.equal((await known(7)).status, 200, 'a known hash works on')
        t.equal((await guess(get, 1, `2001:db8:${block}:ac01::1`)).status, 401, 'the next /56 has its own budget')
      }
    }
  }
})

t.test('however many unknown hashes await validation, accounts of API keys and known ones are served', async (t) => {
  const clock = new Clock()
  const releases = new EventEmitter()
  const released = once(releases, 'all')
  let waiting = 0
  const { url } = await platform(t, async (request, response) => {
    if (!request.url?.includes(encodeURIComponent(someHash)) && ++waiting) await released
    strict(request, response)
  })
  const parts = { clock: clock.now, store: await embeddedStore(t, clock.now), env: { PLATFORM_URL: url } }
  const { key } = (await createKey((await gateway(t, parts)).get)).body
  const { get } = await gateway(t, parts)
  // The budget of one address is larger than the number of sockets to the platform.
  const guesses = Array.from({ length: 70 }, () => get('/v1/me', randomHash()))
  await until(() => waiting >= 40)
  t.equal((await get('/v1/me', key)).status, 200, 'also after a restart')
  clock.advance(61_000)
  t.same(await statusesOf(2, (at) => get(['/v1/me', '/v1/devices'][at] as string, someHash)), [200, 200])
  t.equal(waiting, 40, 'the others wait for these')
  releases.emit('all')
  t.same(new Set((await Promise.all(guesses)).map(({ status }) => status)), new Set([401]))
})

t.test('a hash that was never validated costs its address nothing while no call is sent for it', async (t) => {
  const { get, calls } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '20' } }, { '*': 500 })
  const answers: Answer[] = []
  for (let i = 0; i < 30; i += 1) answers.push(await get('/v1/me', someHash))
  t.same(new Set(answers.map(({ status }) => status)), new Set([503]))
  t.ok(calls.length < 20, `${calls.length} calls failed before no more were sent`)
  t.equal(answers.at(-1)?.headers.get('ratelimit-remaining'), String(20 - calls.length))
})

t.test('an unknown hash costs its address nothing while the hashes of another address fill the queue', async (t) => {
  const bodies: Bodies = { get_user_data: (_: unknown, response: ServerResponse) => held.push(response) }
  const held: ServerResponse[] = []
  const { get } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '1000', TRUST_PROXY: '1' } }, bodies)
  const from = (address: string, hash: string) => get('/v1/me', hash, { headers: { 'x-forwarded-for': address } })
  let shed = 0
  const sent = Array.from({ length: 850 }, async () => {
    const { status } = await from('192.0.2.1', randomHash())
    if (status === 503) shed += 1
  })
  await until(() => shed > 0)
  const { status, headers } = await from('192.0.2.2', someHash)
  t.same([status, headers.get('ratelimit-remaining')], [503, '1000'])
  bodies.get_user_data = 401
  for (const response of held) response.writeHead(401).end()
  await Promise.all(sent)
})

t.test('of the requests with one unknown hash, four times the limit wait, and the others cost nothing', async (t) => {
  const held: ServerResponse[] = []
  const bodies: Bodies = { get_user_data: (_: unknown, response: ServerResponse) => held.push(response) }
  const { get } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '4' } }, bodies)
  const statuses: number[] = []
  const sent = Array.from({ length: 20 }, async () => statuses.push((await get('/v1/me', otherHash)).status))
  await until(() => statuses.length === 4)
  t.same(statuses, Array(4).fill(429))
  bodies.get_user_data = { email: 'b@example.com' }
  for (const response of held) response.end('{"email":"a@example.com"}')
  await Promise.all(sent)
  t.equal((await get('/v1/me', someHash)).status, 200, 'another hash of the same address')
})

t.test('spellings of a hash share a budget; beyond it, a further one costs its address a failure', async (t) => {
  const bodies: Bodies = { get_user_data: { email: 'a@example.com' } }
  const { get, calls } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '5' } }, bodies)
  const spelled = (at: number) => get('/v1/me', `${someHash}${at}`)
  await statusesOf(20, () => spelled(0))
  t.equal(limitsOf(await get('/health'))[1], 5)
  const before = calls.length
  t.same(await statusesOf(30, (at) => spelled(at + 1)), Array(30).fill(429))
  t.equal(calls.length - before, 5)
})

t.test('requests that wait for one validation of a further spelling cost their address one failure', async (t) => {
  const user = { email: 'a@example.com' }
  const bodies: Bodies = { get_user_data: user }
  const { get, arrivals } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '5' } }, bodies)
  await statusesOf(6, () => get('/v1/me', `${someHash}0`))
  const held: ServerResponse[] = []
  bodies.get_user_data = (_: unknown, response: ServerResponse) => held.push(response)
  const arrived = arrivals(4)
  const sent = Promise.all(Array.from({ length: 4 }, () => get('/v1/me', `${someHash}1`)))
  await arrived
  await until(() => held.length > 0)
  for (const response of held) response.end(JSON.stringify(user))
  for (const { status } of await sent) t.equal(status, 429)
  t.equal(limitsOf(await get('/health'))[1], 4)
})

t.test('requests without a credential cost their address requests, but their /56 no failures', async (t) => {
  const { get } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '2', TRUST_PROXY: '1' } }, strict)
  const send = (i: number, credential?: string) =>
    get('/v1/me', credential, { headers: { 'x-forwarded-for': `2001:db8::${i}:0:0:0:1` } })
  t.same(await statusesOf(20, (i) => send(1 + i)), Array(20).fill(401))
  t.same(await statusesOf(2, () => send(1)), [401, 429])
  t.equal((await send(30, randomHash())).status, 401)
})

t.test('a revoked key counts as a wrong credential of its address, where known ones are unaffected', async (t) => {
  const clock = new Clock()
  const env = { RATE_LIMIT_MAX: '10', DEMO_TOKEN: 'demo' }
  const { get } = await gatewayOn(t, { clock: clock.now, ticks: clock.now, env }, fleet)
  const [{ id, key }, other] = [(await createKey(get)).body, (await createKey(get)).body]
  t.equal((await get('/v1/me', key)).status, 200)
  t.equal((await revokeKey(get, id)).status, 200)
  const statuses = await statusesOf(9, () => get('/v1/me', key))
  t.same(statuses, [...Array(8).fill(401), 429], 'the creations were the first two of ten')
  t.equal((await get('/v1/me', otherHash)).status, 429, 'an unknown hash is not validated from there')
  const sent = [someHash, otherHash, key, other.key, 'demo'].map((credential) => get('/v1/me', credential))
  const known = (await Promise.all(sent)).map(({ status }) => status)
  t.same(known, [200, 429, 429, 200, 200], 'known ones work, also beside others')
  clock.advance(61_000)
  for (const credential of [someHash, otherHash])
    t.equal((await get('/v1/me', credential)).status, 200, 'in the next window both are validated')
})

t.test('a key opens the platform hash that its record holds now, not one that was unsealed earlier', async (t) => {
  const { get, store } = await gatewayOn(t, {})
  const { key, id } = (await createKey(get)).body
  t.equal((await get('/v1/me', key)).body.email, 'owner@example.com')
  const secret = new Secret(key)
  const record = await store.keys.find(secret.digest, Date.now())
  if (!record) throw new Error('the key is not in the store')
  await store.keys.revoke(record.owner, id, Date.now())
  await store.keys.create({ ...record, sealed: seal(new Secret(otherHash), secret) }, 20, Date.now())
  t.match(await get('/v1/me', key), { status: 200, body: { email: /^zz/ } })
})

t.test('keys whose hash the platform refuses cost it no more calls than unknown hashes', async (t) => {
  const bodies: Bodies = {}
  const clock = new Clock()
  const { get, calls } = await gatewayOn(
    t,
    { clock: clock.now, ticks: clock.now, env: { RATE_LIMIT_MAX: '15' } },
    bodies,
  )
  const keys: string[] = []
  for (const _ of [1, 2, 3]) keys.push((await createKey(get)).body.key)
  clock.advance(61_000)
  bodies['*'] = 401
  const before = calls.length
  const statuses = await statusesOf(45, (i) => get('/v1/me', keys[i % 3]))
  t.ok(calls.length - before <= 15, `${calls.length - before} calls`)
  t.same(statuses, [...Array(15).fill(401), ...Array(30).fill(429)])
  delete bodies['*']
  clock.advance(61_000)
  for (const key of keys) t.equal((await get('/v1/me', key)).status, 200, 'they work again once the hash is accepted')
})
