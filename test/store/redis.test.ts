/** The counters in Redis, shared by all instances. */
import t from 'tap'
import { redisServer, until, withoutRedis } from '../redis.js'
import { aKey, anOwner, NOW, openRedis } from './places.js'

t.test('counters', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [here, there] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])

  t.test('count the requests of all instances in one window that the first one opened', async (t) => {
    const increment = (_: unknown, i: number) => (i % 2 ? here : there).counters.increment('shared', 60_000)
    const counts = await Promise.all(Array.from({ length: 100 }, increment))
    t.same(new Set(counts.map(({ current }) => current)), new Set(Array.from({ length: 100 }, (_, i) => i + 1)))
    for (const { ttlMs } of [...counts, await there.counters.read('shared')]) t.ok(ttlMs > 50_000 && ttlMs <= 60_000)
    t.equal((await there.counters.read('shared')).current, 100)
    t.same(await here.counters.read('never'), { current: 0, ttlMs: 0 })
    t.equal((await here.counters.increment('other', 60_000)).current, 1)
  })

  t.test('start anew when the window has ended', async (t) => {
    for (let i = 0; i < 3; i++) await here.counters.increment('short', 50)
    await until(async () => (await there.counters.read('short')).current === 0)
    t.same(await here.counters.increment('short', 60_000), { current: 1, ttlMs: 60_000 })
  })

  t.test('start anew when Redis or the setting says that the window lasts longer than it may', async (t) => {
    // As after the clock of the server was set back: Redis keeps the end of a window as a wall-clock time.
    await server.command('set', 'gps:count:late', '101', 'PX', '3600000')
    t.same(await here.counters.increment('late', 60_000), { current: 1, ttlMs: 60_000 })
    t.equal((await there.counters.increment('late', 60_000)).current, 2)
  })

  t.test('share one call to Redis with everything else of the same turn', async (t) => {
    const { record } = aKey(anOwner())
    await here.store.keys.create(record, 20, NOW)
    const calls = async () => /cmdstat_evalsha:calls=(\d+)/.exec(await server.command('info', 'commandstats'))?.[1]
    const before = Number(await calls())
    const requests = Array.from({ length: 64 }, (_, i) =>
      Promise.all([
        here.store.keys.find(i % 2 ? record.digest : `unknown${i}`, NOW),
        here.counters.increment(`batch${i % 8}`, 60_000),
        here.counters.read('never'),
      ]),
    )
    const replies = await Promise.all(requests)
    t.equal(Number(await calls()) - before, 1)
    for (const [i, [found, { current }, read]] of replies.entries()) {
      t.same(found, i % 2 ? record : undefined)
      t.equal(current, Math.floor(i / 8) + 1)
      t.same(read, { current: 0, ttlMs: 0 })
    }
  })
})
