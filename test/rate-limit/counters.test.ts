/** Tests of the counters: the bound of the local ones, and the failover while Redis is away. */
import { rmSync } from 'node:fs'
import t from 'tap'
import { Secret } from '../../src/auth/credential.js'
import { FailoverCounters } from '../../src/rate-limit/counters.js'
import { addressName } from '../../src/rate-limit/limiter.js'
import type { Count } from '../../src/store/store.js'
import { isUnavailable, kilobytesKept } from '../faults.js'
import { someHash } from '../helper.js'
import { createKey, limitsOf, otherHash, randomKey, redisGateway, revokeKey, statusesOf } from '../limits.js'
import { type RedisServer, redisServer, until, withoutRedis } from '../redis.js'

t.test('local counters keep the newest 200,000 names, until their window ends', async (t) => {
  let now = 0
  const counters = new FailoverCounters({ shared: undefined, ticks: () => now })
  const used = async (name: string): Promise<number> => (await counters.read(name)).current
  for (let i = 0; i <= 200_000; i += 1) await counters.increment(`name ${i}`, 1_000)
  t.same([await used('name 0'), await used('name 1'), await used('name 200000')], [0, 1, 1])
  now += 999
  t.equal((await counters.increment('name 1', 1_000)).current, 2)
  now += 1
  t.same([await used('name 1'), await counters.increment('name 1', 1_000)], [0, { current: 1, ttlMs: 1_000 }])
})

t.test('a counted name keeps nothing of the header that its address is a part of', async (t) => {
  const counters = new FailoverCounters({ shared: undefined, ticks: () => 0 })
  const kilobytes = await kilobytesKept((n) => {
    const header = Buffer.from(`${'x'.repeat(10_000)}198.51.100.${n}`).toString()
    counters.increment(addressName(header.slice(10_000)), 1_000)
  })
  t.equal(counters.localWindows, 1_001)
  t.ok(kilobytes < 5, `${kilobytes} kB for each name`)
})

t.test('while shared counters are away, one call a second tries them, and no budget is forgotten', async (t) => {
  let isAway = false
  let now = 0
  const tried: string[] = []
  const call = async (name: string): Promise<Count> => {
    tried.push(name)
    if (isAway) throw new Error('away')
    return { current: 2, ttlMs: 1 }
  }
  const shared = { increment: call, read: call }
  const counters = new FailoverCounters({ shared, ticks: () => now })
  const count = async (name: string) => (await counters.increment(name, 9_000)).current
  t.equal(await count('a'), 2)
  isAway = true
  t.same([await count('a'), await count('a'), (await counters.read('a')).current], [1, 2, 2])
  t.same(tried.splice(0), ['a', 'a'])
  now += 1_000
  t.same(await Promise.all([count('b'), count('a'), count('a')]), [1, 3, 4])
  isAway = false
  now += 999
  t.equal(await count('a'), 5)
  t.same(tried.splice(0), ['b'])
  now += 1
  t.same([await count('b'), await count('b'), await count('a'), (await counters.read('a')).current], [2, 3, 6, 6])
  now += 9_000
  t.equal(counters.localWindows, 2)
  t.equal(await count('a'), 2, 'until its window ends')
  t.equal(counters.localWindows, 0, 'of an outage that is over')
})

t.test('a request over its limit costs Redis one command', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { get } = await redisGateway(t, server.url, { RATE_LIMIT_MAX: '2' })
  const { key } = (await createKey(get)).body
  for (const credential of [someHash, key]) {
    const send = () => get('/v1/devices', credential)
    t.same(await statusesOf(2, send), [200, 200])
    const before = await server.scripts()
    t.same(await statusesOf(10, send), Array(10).fill(429))
    t.equal((await server.scripts()) - before, 10)
  }
})

t.test('API keys that do not exist leave no counter of their own in Redis', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { get } = await redisGateway(t, server.url, { RATE_LIMIT_MAX: '100' })
  t.same(await statusesOf(30, () => get('/v1/me', randomKey())), Array(30).fill(401))
  t.equal(await server.command('dbsize'), '1', 'only the counter of the address')
})

t.test('while Redis is away each instance counts locally, and no request waits', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const env = { RATE_LIMIT_MAX: '50', DEMO_TOKEN: 'demo' }
  const { get, store } = await redisGateway(t, server.url, env)
  const [{ key }, limited] = [(await createKey(get)).body, (await createKey(get)).body]
  await store.keys.update(new Secret(limited.key).digest, (record) => ({ ...record, limit: 3 }), Date.now())
  t.same(limitsOf(await get('/v1/me', limited.key)).slice(0, 2), [3, 2])
  const requests: [status: number, send: () => ReturnType<typeof get>][] = [
    [503, () => get('/v1/me', key)],
    [200, () => get('/v1/me', someHash)],
    [200, () => get('/v1/me', otherHash)],
    [200, () => get('/v1/me', 'demo')],
    [401, () => get('/v1/me')],
    [200, () => get('/v1/me', `${someHash}9`)],
    [503, () => get('/v1/keys', someHash)],
    [503, () => revokeKey(get, crypto.randomUUID())],
    [503, () => createKey(get)],
    [200, () => get('/health')],
  ]
  t.equal((await get('/v1/me', someHash)).status, 200)
  server.freeze()
  const during = requests.map(async ([expected, send]) => {
    const started = performance.now()
    const response = await send()
    // With its defaults, the client of Redis would let a request wait for more than 8 s.
    const ms = performance.now() - started
    t.ok(ms < 2_000, `${response.status} after ${Math.round(ms)} ms`)
    t.equal(response.status, expected)
    for (const number of limitsOf(response)) t.ok(Number.isInteger(number) && number >= 0)
    if (expected !== 503) return
    isUnavailable(t, response, 'frozen')
    t.equal(response.headers.get('retry-after'), '1')
  })
  await Promise.all(during)
  const started = performance.now()
  t.same(await statusesOf(20, () => get('/v1/me', key)), Array(20).fill(503))
  for (const expected of [
    [503, 3, 2],
    [503, 3, 1],
    [503, 3, 0],
    [429, 3, 0],
  ]) {
    const response = await get('/v1/me', limited.key)
    t.same([response.status, ...limitsOf(response).slice(0, 2)], expected, 'a key keeps its own limit')
  }
  t.equal((await get('/v1/me', randomKey())).body.error, 'gateway_error')
  t.equal((await get('/v1/me', otherHash)).status, 200, 'a request without a key needs no Redis')
  // Each wait would take a quarter of a second.
  t.ok(performance.now() - started < 3_000, 'no request waits for what is known to be away')
  const remaining = async () => limitsOf(await get('/v1/me', someHash))[1]
  t.equal((await remaining()) - (await remaining()), 1, 'the headers are true for this instance')
  server.thaw()
  await until(async () => (await get('/v1/me', key)).status === 200)
  t.equal((await get('/v1/me', limited.key)).status, 200, 'what a key was refused does not count')
})

t.test('a Redis that is away at the start is in the log without a request', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  await server.stop()
  const { lines } = await redisGateway(t, server.url, {})
  await until(() => lines('outage begins').some(({ of, reason }) => of === 'key store' && /ECONNREFUSED/.test(reason)))
})

/** How a Redis that has the latest keys refuses to write, and what it replies to a revocation. */
const refusals: [status: number, begin: (server: RedisServer) => Promise<unknown>][] = [
  [200, (server) => server.command('config', 'set', 'maxmemory', '1')],
  [
    503,
    async (server) => {
      rmSync(server.dir, { recursive: true })
      await server.command('config', 'set', 'save', '3600 1')
      await server.command('bgsave')
      await until(async () => (await server.command('info', 'persistence')).includes('rdb_last_bgsave_status:err'))
    },
  ],
]

t.test('a Redis that is full or cannot save serves and counts API keys', { skip: withoutRedis }, async (t) => {
  for (const [status, begin] of refusals) {
    const server = await redisServer(t)
    const { get } = await redisGateway(t, server.url, { RATE_LIMIT_MAX: '12' })
    const [{ key, id }, other] = [(await createKey(get)).body, (await createKey(get)).body]
    await begin(server)
    for (let n = 0; n < 2; n += 1) {
      const served = await Promise.all([key, other.key, someHash].map((credential) => get('/v1/me', credential)))
      const remaining = served.map((response) => [response.status, limitsOf(response)[1]])
      t.same(remaining, Array(3).fill([200, 11 - n]))
    }
    t.equal((await get('/health')).body.components.store, 'down')
    isUnavailable(t, await createKey(get), 'a new key')
    const [revoked, used] = await Promise.all([revokeKey(get, id), get('/v1/me', other.key)])
    t.same([revoked.status, used.status], [status, 200], 'a full one revokes')
    t.equal((await get('/v1/me', key)).status, status === 200 ? 401 : 200)
  }
})

t.test('what a full Redis did not count still counts when it has room again', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { get } = await redisGateway(t, server.url, { RATE_LIMIT_MAX: '5' })
  const { key } = (await createKey(get)).body
  await server.command('config', 'set', 'maxmemory', '1')
  t.same(await statusesOf(3, () => get('/v1/me', key)), [200, 200, 200])
  await server.command('config', 'set', 'maxmemory', '0')
  const responses = [await get('/v1/me', key), await get('/v1/me', key), await get('/v1/me', key)]
  const remaining = responses.map((response) => [response.status, limitsOf(response)[1]])
  t.same(remaining, [
    [200, 1],
    [200, 0],
    [429, 0],
  ])
})

t.test('a Redis without writes: health never says up, the log says so once', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  let aheadMs = 0
  const { get, lines } = await redisGateway(t, server.url, {}, () => performance.now() + aheadMs)
  const { key } = (await createKey(get)).body
  const health = async () => (await get('/health')).body
  for (const outage of [1, 2]) {
    await server.command('replicaof', '127.0.0.1', '1')
    t.equal((await health()).components.store, 'down', 'also for the first to look')
    for (let n = 0; n < 5; n += 1) {
      t.equal((await get('/v1/devices', someHash)).status, 200)
      isUnavailable(t, await get('/v1/devices', key), 'a key')
      t.equal((await health()).components.store, 'down')
    }
    t.match((await createKey(get)).body.message, 'store', 'a new key was not to be checked')
    await server.command('replicaof', 'no', 'one')
    await until(async () => {
      aheadMs += 1_000
      return (await get('/v1/devices', someHash)) && (await health()).status === 'ok'
    })
    // Failures closer together belong to one outage.
    aheadMs += 10_000
    t.equal((await get('/v1/devices', key)).status, 200)
    const begins = lines('outage begins')
    t.same([begins.length, lines('outage over').length], [outage, outage])
    t.match(begins.at(-1), { of: 'key store', reason: /READONLY/ }, 'the reason of Redis')
  }
})
