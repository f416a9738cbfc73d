/** Tests of the counters: the bound of the local ones, and the failover while Redis is away. */
import { rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Secret } from '../../src/auth/credential.js'
import { FailoverCounters } from '../../src/rate-limit/counters.js'
import type { Count } from '../../src/store/store.js'
import { isUnavailable } from '../faults.js'
import { platform, someHash } from '../helper.js'
import { createKey, fleet, limitsOf, otherHash, randomHash, randomKey, redisGateway } from '../limits.js'
import { type RedisServer, redisServer, until, withoutRedis } from '../redis.js'

t.test('local counters keep at most 200,000 names, the newest, and none past the end of its window', async (t) => {
  let now = 0
  const counters = new FailoverCounters({ shared: undefined, up: () => true, clock: () => now, onShared: () => {} })
  const used = async (name: string): Promise<number> => (await counters.read(name)).current
  for (let i = 0; i <= 200_000; i += 1) await counters.increment(`name ${i}`, 1_000)
  t.same([await used('name 0'), await used('name 1'), await used('name 200000')], [0, 1, 1])
  now += 999
  t.equal((await counters.increment('name 1', 1_000)).current, 2)
  now += 1
  t.same([await used('name 1'), await counters.increment('name 1', 1_000)], [0, { current: 1, ttlMs: 1_000 }])
})

t.test('an outage ends when the name that was lost can be read again, and with no other name', async (t) => {
  const reports: boolean[] = []
  const pending = new Map<string, { resolve: (count: Count) => void; reject: (error: Error) => void }>()
  const call = (name: string) => new Promise<Count>((resolve, reject) => pending.set(name, { resolve, reject }))
  let isUp = true
  const counters = new FailoverCounters({
    shared: { increment: call, read: call },
    up: () => isUp,
    clock: () => 0,
    onShared: (isShared) => reports.push(isShared),
  })
  const lost = counters.increment('on the lost node', 1_000)
  isUp = false
  await counters.increment('on another node', 1_000)
  pending.get('on the lost node')?.reject(new Error('away'))
  t.same([(await lost).current, reports], [1, [false]])
  pending.get('on another node')?.resolve({ current: 7, ttlMs: 1 })
  isUp = true
  await setImmediate()
  t.equal((await counters.increment('on another node', 1_000)).current, 2, 'counted locally')
  t.same(reports, [false])
  pending.get('on the lost node')?.resolve({ current: 7, ttlMs: 1 })
  await setImmediate()
  t.same(reports, [false, true])
})

t.test('a request over its limit costs Redis one command', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { url } = await platform(t, fleet)
  const { get } = await redisGateway(t, server.url, { PLATFORM_URL: url, RATE_LIMIT_MAX: '2' })
  const { key } = (await createKey(get)).body
  const scripts = async () => {
    const stats = await server.command('info', 'commandstats')
    return [...stats.matchAll(/cmdstat_evalsha:calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0)
  }
  for (const credential of [someHash, key]) {
    for (const _ of [1, 2]) t.equal((await get('/v1/devices', credential)).status, 200)
    const before = await scripts()
    for (let i = 0; i < 10; i += 1) t.equal((await get('/v1/devices', credential)).status, 429)
    t.equal((await scripts()) - before, 10)
  }
})

t.test('API keys that do not exist leave no counter of their own in Redis', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { url } = await platform(t, fleet)
  const { get } = await redisGateway(t, server.url, { PLATFORM_URL: url, RATE_LIMIT_MAX: '100' })
  for (let i = 0; i < 30; i += 1) t.equal((await get('/v1/me', randomKey())).status, 401)
  t.equal(await server.command('dbsize'), '1', 'only the counter of the address')
})

t.test('while Redis is away each instance counts locally, and no request waits', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t, '--appendonly', 'yes')
  const { url } = await platform(t, fleet)
  const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '50', DEMO_TOKEN: 'demo' }
  const { get, log, store } = await redisGateway(t, server.url, env)
  const { key } = (await createKey(get)).body
  const outages = () =>
    ['Redis away: counting requests in process', 'counting requests in Redis again'].map(
      (text) => log().split(text).length - 1,
    )
  const requests: [status: number, send: () => ReturnType<typeof get>][] = [
    [503, () => get('/v1/me', key)],
    [200, () => get('/v1/me', someHash)],
    [200, () => get('/v1/me', otherHash)],
    [200, () => get('/v1/me', 'demo')],
    [401, () => get('/v1/me')],
    [200, () => get('/v1/me', randomHash())],
    [503, () => get('/v1/keys', someHash)],
    [503, () => get(`/v1/keys/${crypto.randomUUID()}`, someHash, { method: 'DELETE' })],
    [503, () => createKey(get)],
    [200, () => get('/health')],
  ]
  for (const [round, how] of (['freeze', 'stop'] as const).entries()) {
    t.equal((await get('/v1/me', someHash)).status, 200)
    await server[how]()
    const during = requests.map(async ([expected, send]) => {
      const started = performance.now()
      const response = await send()
      // With its defaults, the client of Redis would let a request wait for more than 8 s.
      const ms = performance.now() - started
      t.ok(ms < 2_000, `${response.status} after ${Math.round(ms)} ms`)
      t.equal(response.status, expected, how)
      for (const number of limitsOf(response)) t.ok(Number.isInteger(number) && number >= 0)
      if (expected !== 503) return
      isUnavailable(t, response, how)
      t.equal(response.headers.get('retry-after'), '1')
    })
    await Promise.all(during)
    const started = performance.now()
    for (let i = 0; i < 20; i += 1) t.equal((await get('/v1/me', key)).status, 503)
    t.equal((await get('/v1/me', randomKey())).body.error, 'gateway_error')
    t.equal((await get('/v1/me', otherHash)).status, 200, 'a request without a key needs no Redis')
    // Each wait would take a quarter of a second.
    t.ok(performance.now() - started < 3_000, 'no request waits for what is known to be away')
    const remaining: number[] = []
    for (const _ of [1, 2]) remaining.push(limitsOf(await get('/v1/me', someHash))[1])
    t.equal(remaining[0]! - remaining[1]!, 1, 'the headers are true for this instance')
    // A new connection counts as good until its first request fails.
    await until(async () => (await get('/v1/me', key)) && (await get('/health')).body.components.store === 'down')
    t.same(outages(), [round + 1, round])
    if (how === 'freeze') server.thaw()
    else await server.start()
    await until(async () => (await get('/v1/me', key)).status === 200)
    await until(async () => (await get('/health')).body.status === 'ok' && outages()[1] === round + 1)
    t.same(outages(), [round + 1, round + 1], 'one line when it starts and one when it ends')
  }
  t.ok(await store.keys.find(new Secret(key).digest, Date.now()), 'no key was lost')
  for (const secret of [key.slice('gps_live_'.length), someHash]) t.notOk(log().includes(secret))
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
  const { url: PLATFORM_URL } = await platform(t, fleet)
  for (const [status, begin] of refusals) {
    const server = await redisServer(t)
    const { get } = await redisGateway(t, server.url, { PLATFORM_URL, RATE_LIMIT_MAX: '12' })
    const [{ key, id }, other] = [(await createKey(get)).body, (await createKey(get)).body]
    await begin(server)
    for (let n = 0; n < 2; n += 1) {
      const served = await Promise.all([key, other.key, someHash].map((credential) => get('/v1/me', credential)))
      const remaining = served.map((response) => [response.status, limitsOf(response)[1]])
      t.same(remaining, Array(3).fill([200, 11 - n]))
    }
    t.equal((await get('/health')).body.components.store, 'down')
    isUnavailable(t, await createKey(get), 'a new key')
    const revoke = get(`/v1/keys/${id}`, someHash, { method: 'DELETE' })
    const [revoked, used] = await Promise.all([revoke, get('/v1/me', other.key)])
    t.same([revoked.status, used.status], [status, 200], 'a full one revokes')
    t.equal((await get('/v1/me', key)).status, status === 200 ? 401 : 200)
  }
})

t.test('a Redis without writes: health never says up, the log says so once', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { url: PLATFORM_URL } = await platform(t, fleet)
  const { get, log } = await redisGateway(t, server.url, { PLATFORM_URL })
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
    await until(async () => (await get('/v1/devices', someHash)) && (await health()).status === 'ok')
    t.equal((await get('/v1/devices', key)).status, 200)
    t.equal(log().match(/counting requests in process/g)?.length, outage)
    t.match(log(), /READONLY[^\n]*Redis away/, 'with the reason of Redis')
  }
})
