/** The counters in Redis, shared by all instances. */
import t from 'tap'
import { redisServer, withoutRedis } from '../redis.js'
import { aKey, anOwner, NOW, openRedis } from './places.js'

t.test('counters', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [here, there] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])

  t.test('start anew when Redis or the setting says that the window lasts longer than it may', async (t) => {
    // As after the clock of the server was set back: Redis keeps the end of a window as a wall-clock time.
    await server.command('set', 'gps:count:late', '101', 'PX', '3600000')
    t.same(await here.counters.increment('late', 60_000), { current: 1, ttlMs: 60_000 })
    t.equal((await there.counters.increment('late', 60_000)).current, 2)
  })

  t.test('of the same turn share one call to Redis, as do all requests that are alike', async (t) => {
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
    t.equal(Number(await calls()) - before, 3)
    for (const [i, [found, { current }, read]] of replies.entries()) {
      t.same(found, i % 2 ? record : undefined)
      t.equal(current, Math.floor(i / 8) + 1)
      t.same(read, { current: 0, ttlMs: 0 })
    }
  })
})
