/** A gateway whose Redis is away: keys get 503, hashes are served, and every key works again afterwards. */
import t, { type Test } from 'tap'
import { isUnavailable } from '../faults.js'
import { answers, platform, someHash } from '../helper.js'
import { createKey, redisGateway } from '../limits.js'
import { redisServer, until, withoutRedis } from '../redis.js'

/** A gateway on `redisUrl`, and one key. */
async function withKey(t: Test, redisUrl: string) {
  const { url: PLATFORM_URL } = await platform(t, answers({ get_devices: [] }))
  const { get, log } = await redisGateway(t, redisUrl, { PLATFORM_URL })
  const create = () => createKey(get)
  const key: string = (await create()).body.key
  const byKey = () => get('/v1/devices', key)
  const byHash = () => get('/v1/devices', someHash)
  t.equal((await byKey()).status, 200)
  return { log, create, byKey, byHash, key, health: async () => (await get('/health')).body }
}

t.test('while Redis is away, only what needs it fails, in time', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { byKey, byHash, create, health, log, key } = await withKey(t, server.url)
  server.freeze()
  for (let n = 0; n < 3; n += 1) {
    const started = performance.now()
    isUnavailable(t, await byKey(), 'a key')
    t.ok(performance.now() - started < 3_000, 'in time')
  }
  const refused = await create()
  isUnavailable(t, refused, 'a new key')
  t.match(refused.body.message, 'store', 'nothing was to be checked')
  const response = await byHash()
  t.equal(response.status, 200, 'a hash needs no store')
  t.match(response.headers.get('ratelimit-remaining'), /^\d+$/)
  // A new connection counts as good until its first request fails.
  await until(async () => (await byKey()) && (await health()).components.store === 'down')
  server.thaw()
  await until(async () => (await byKey()).status === 200)
  t.same([(await byHash()).status, (await create()).status], [200, 200])
  t.equal((await health()).status, 'ok')
  for (const secret of [key, key.slice('gps_live_'.length), someHash]) {
    t.notOk(log().includes(secret), 'nothing secret in the log')
  }
})

t.test('a Redis without writes: health never says up, the log says so once', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { byKey, byHash, health, log } = await withKey(t, server.url)
  for (const outage of [1, 2]) {
    await server.command('replicaof', '127.0.0.1', '1')
    t.equal((await health()).components.store, 'down', 'also for the first to look')
    for (let n = 0; n < 5; n += 1) {
      t.equal((await byHash()).status, 200)
      isUnavailable(t, await byKey(), 'a key')
      t.equal((await health()).components.store, 'down')
    }
    await server.command('replicaof', 'no', 'one')
    await until(async () => (await byHash()) && (await health()).status === 'ok')
    t.equal((await byKey()).status, 200)
    t.equal(log().match(/counting requests in process/g)?.length, outage)
    t.match(log(), /READONLY[^\n]*Redis away/, 'with the reason of Redis')
  }
})
