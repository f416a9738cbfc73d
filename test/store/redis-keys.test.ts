/** What only API keys in Redis promise: nothing is left of a key, by expiry, revocation or a crash. */
import t from 'tap'
import { usedAt } from '../../src/store/store.js'
import { redisServer, until, withoutRedis } from '../redis.js'
import { aKey, anOwner, DAY_MS, NOW, openRedis } from './places.js'

t.test('nothing is left in Redis', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { store } = await openRedis(t, server.url)

  t.test('of a key that has expired', async (t) => {
    const now = Date.now()
    const { record } = aKey(anOwner(), { createdAt: now, expiresAt: now + 300 })
    await store.keys.create(record, 20, now)
    t.equal(await server.command('dbsize'), '3')
    await until(async () => (await server.command('dbsize')) === '0')
  })

  t.test('of a revoked key, however late it is used', async (t) => {
    const { record } = aKey(anOwner())
    await store.keys.create(record, 20, NOW)
    const use = () => store.keys.update(record.digest, usedAt(NOW), NOW)
    await Promise.all([store.keys.revoke(record.owner, record.id, NOW), use()])
    await use()
    t.equal(await server.command('dbsize'), '0')
  })
})

t.test('what a crash in the middle of a creation leaves', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { keys } = (await openRedis(t, server.url)).store
  const { record } = aKey(anOwner())
  const index = `gps:owner:${record.owner}`
  const reserved = `${record.digest} ${NOW + DAY_MS} ${NOW}`
  await server.command('hset', index, record.id, reserved)
  const create = (now: number) => keys.create(aKey(record.owner).record, 1, now)

  t.same(await keys.list(record.owner, NOW + 60_000), [], 'is never listed')
  t.equal(await server.command('hget', index, record.id), reserved, 'may belong to a creation in flight')
  t.equal(await create(NOW + 60_000), 'too_many', 'and keeps its place')
  t.equal(await create(NOW + 60_001), 'created', 'but not for longer than a minute')
  t.equal(await server.command('hget', index, record.id), '')
})

t.test('an API key sent in place of an id does not reach Redis', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { keys } = (await openRedis(t, server.url)).store
  const calls = async () => /cmdstat_evalsha:calls=\d+/.exec(await server.command('info', 'commandstats'))?.[0]
  await keys.list(anOwner(), NOW)
  const before = await calls()
  t.equal(await keys.findById(aKey(anOwner()).key.reveal(), NOW), undefined)
  t.equal(await calls(), before)
})

t.test('a revoked key is no longer cached: each request with it is one call', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [here, there] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])
  const calls = async () =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await server.command('info', 'commandstats'))?.[1])
  for (const { store } of [here, there]) {
    const { record } = aKey(anOwner())
    const use = () => here.store.keys.use(record.digest, DAY_MS, NOW)
    await store.keys.create(record, 20, NOW)
    t.match(await use(), { record })
    await store.keys.revoke(record.owner, record.id, NOW)
    // The first request after another instance has revoked the key finds the cached record outdated.
    if (store !== here.store) await use()
    const before = await calls()
    t.equal(await use(), undefined)
    t.equal((await calls()) - before, 1)
  }
})
