/** What only Redis promises: counters shared by all instances, few calls, nothing left of a key, and TLS. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { batched } from '../../src/store/batch.js'
import { StoreUnavailable, usedAt } from '../../src/store/store.js'
import { freePort, RedisServer, redisServer, tlsRedis, until, withoutRedis } from '../redis.js'
import { instance } from './instance.js'
import { aKey, anOwner, DAY_MS, NOW, openRedis, storedKey } from './places.js'

t.test('a reply that is not one per key fails the requests that wait for it, and nothing else', async (t) => {
  for (const reply of [null, undefined, 'OK', 7, {}, [], [null], [1, 2]]) {
    const request = batched(async () => reply, false)
    await t.rejects(request('find', 'k'), StoreUnavailable, JSON.stringify(reply))
  }
})

t.test('a request made while a call is in flight is not part of it', async (t) => {
  let second: Promise<unknown> | undefined
  const request = batched(async (_command, keys) => {
    const replies = [...keys]
    second ??= request('find', 'b')
    return replies
  }, false)
  t.equal(await request('find', 'a'), 'a')
  t.equal(await second, 'b')
})

t.test('in Redis', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [here, there] = await Promise.all([openRedis(t, server.url), openRedis(t, server.url)])
  const { keys, counters } = here

  t.test('nothing is left of a key that has expired', async (t) => {
    const now = Date.now()
    await keys.create(aKey(anOwner(), { createdAt: now, expiresAt: now + 300 }).record, 20, now)
    await until(async () => (await server.command('dbsize')) === '0')
    t.match(await server.command('info', 'stats'), /^expired_keys:3\r$/m)
  })

  t.test('nothing is left of a revoked key, however late it is used', async (t) => {
    const record = await storedKey(here)
    const use = () => keys.update(record.digest, usedAt(NOW), NOW)
    await Promise.all([keys.revoke(record.owner, record.id, NOW), use()])
    await use()
    t.equal(await server.command('dbsize'), '0')
  })

  t.test('a key is listed until it expires, although another key of its owner expires before', async (t) => {
    const [owner, now] = [anOwner(), Date.now()]
    const [long, short] = [DAY_MS, 300].map((ms) => aKey(owner, { createdAt: now, expiresAt: now + ms }).record)
    for (const record of [long, short]) if (record) await keys.create(record, 20, now)
    await until(async () => (await server.command('exists', `gps:key:${short?.digest}`)) === '0')
    t.same(await keys.list(owner, Date.now()), [long])
    await keys.create(aKey(owner).record, 20, Date.now())
    t.equal(await server.command('hlen', `gps:owner:${owner}`), '2', 'of which the next creation leaves nothing')
  })

  t.test('a clock that is ahead hides no key from the others', async (t) => {
    const record = await storedKey(here, { expiresAt: NOW + DAY_MS })
    const ahead = record.expiresAt + 1
    t.equal(await there.keys.create(aKey(record.owner, { expiresAt: ahead + DAY_MS }).record, 1, ahead), 'created')
    t.ok((await keys.list(record.owner, NOW)).some(({ id }) => id === record.id))
  })

  t.test('a clock that is so far behind that Redis would drop a new key at once does not get one', async (t) => {
    const past = Date.now() - 2 * DAY_MS
    const { record } = aKey(anOwner(), { createdAt: past, expiresAt: past + DAY_MS })
    await t.rejects(keys.create(record, 20, past), { cause: { message: /expired by the clock of Redis/ } })
    t.same(await keys.list(record.owner, past), [])
  })

  t.test('what a crash in the middle of a creation leaves', async (t) => {
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

  t.test('a listing a minute ahead in the middle of a creation hides no key', async (t) => {
    for (let at = 0; at < 40; at += 1) {
      const { record } = aKey(anOwner())
      const creation = keys.create(record, 1, NOW)
      const listings = Array.from({ length: 4 }, () => there.keys.list(record.owner, NOW + 60_001))
      for (const listing of listings) await listing
      await creation
      t.same(await keys.list(record.owner, NOW), [record])
    }
  })

  t.test('an API key sent in place of an id does not arrive', async (t) => {
    await keys.list(anOwner(), NOW)
    const before = await server.scripts()
    t.equal(await keys.findById(aKey(anOwner()).key.reveal(), NOW), undefined)
    t.equal(await server.scripts(), before)
  })

  t.test('a revoked key is no longer cached: each request with it is one call', async (t) => {
    for (const store of [here, there]) {
      const record = await storedKey(store)
      const use = () => keys.use(record.digest, DAY_MS, NOW)
      t.match(await use(), { record })
      await store.keys.revoke(record.owner, record.id, NOW)
      // The first request after another instance has revoked the key finds the cached record outdated.
      if (store !== here) await use()
      const before = await server.scripts()
      t.equal(await use(), undefined)
      t.equal((await server.scripts()) - before, 1)
    }
  })

  t.test('counts of the same turn share one call, as do all requests that are alike', async (t) => {
    const record = await storedKey(here)
    const before = await server.scripts()
    const requests = Array.from({ length: 64 }, (_, i) =>
      Promise.all([
        keys.find(i % 2 ? record.digest : `unknown${i}`, NOW),
        counters.increment(`batch${i % 8}`, 60_000),
        counters.read('never'),
      ]),
    )
    const replies = await Promise.all(requests)
    t.equal((await server.scripts()) - before, 3)
    for (const [i, [found, { current }, read]] of replies.entries()) {
      t.same([found, current], [i % 2 ? record : undefined, Math.floor(i / 8) + 1])
      t.same(read, { current: 0, ttlMs: 0 })
    }
  })
})

t.test('the certificate of a Redis behind TLS must be trusted', { skip: withoutRedis }, async (t) => {
  const { tlsUrl, cert } = await tlsRedis(t)
  const config = { redisUrl: tlsUrl, dataDir: '' }
  const { record } = aKey(anOwner())
  const [trusting, wary] = await Promise.all([instance(t, config, { NODE_EXTRA_CA_CERTS: cert }), instance(t, config)])
  t.equal(await trusting.call({ create: record, max: 1 }), 'created')
  t.same(await trusting.call({ find: record }), record)
  t.match(await wary.call({ find: record }), /^StoreUnavailable/)
})

t.test('a backup of Redis has its keys, restored as the README says', { skip: withoutRedis }, async (t) => {
  const [saved, empty] = await Promise.all([redisServer(t), redisServer(t)])
  const record = await storedKey(await openRedis(t, saved.url))
  await Promise.all([saved.command('save'), empty.stop()])
  const found = async (port: number, appendonly: string, prepare?: (server: RedisServer) => Promise<unknown>) => {
    copyFileSync(join(saved.dir, 'dump.rdb'), join(empty.dir, 'dump.rdb'))
    const server = new RedisServer(port, empty.dir, ['--appendonly', appendonly])
    t.teardown(() => server.stop())
    await server.start()
    await prepare?.(server)
    const key = await (await openRedis(t, server.url)).keys.find(record.digest, NOW)
    await server.stop()
    return key
  }
  const rewritten = async (server: RedisServer) => {
    await server.command('config', 'set', 'appendonly', 'yes')
    await until(async () => (await server.command('info', 'persistence')).includes('aof_rewrite_in_progress:0'))
  }
  t.same(await found(await freePort(), 'no', rewritten), record)
  t.same(await found(await freePort(), 'yes'), record, 'also once it is started as before')
})
