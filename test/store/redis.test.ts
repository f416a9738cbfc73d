/** What only the shared store promises: counters, one call a turn, and a Redis that freezes, dies, comes back, or moves slots about. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { openStore } from '../../src/store/open.js'
import { type Counters, type Store, StoreUnavailable } from '../../src/store/store.js'
import { type RedisServer, redisCluster, redisServer, until, withoutRedis } from '../redis.js'
import { instance } from './instance.js'
import { aKey, anOwner, DAY_MS, NOW, redisPlace } from './places.js'

/** Far above the limit of 300 ms, so that only a request that hangs fails the test on a busy machine. */
const PROMPTLY_MS = 1000

async function open(t: Test, redisUrl: string): Promise<{ store: Store; counters: Counters; errors: Error[] }> {
  const errors: Error[] = []
  const store = await openStore(
    { redisUrl, dataDir: '' },
    { clock: () => NOW, onError: (error) => errors.push(error), onDamaged: () => {} },
  )
  t.teardown(() => store.close())
  return { store, counters: store.counters!, errors }
}

async function unavailable(t: Test, store: Store, what: string): Promise<void> {
  const { record } = aKey(anOwner())
  const verbs = {
    find: () => store.keys.find(record.digest, NOW),
    findById: () => store.keys.findById(record.id, NOW),
    list: () => store.keys.list(record.owner, NOW),
    create: () => store.keys.create(record, 20, NOW),
    revoke: () => store.keys.revoke(record.owner, record.id, NOW),
    touch: () => store.keys.touch(record, NOW),
    increment: () => store.counters!.increment('c', 60_000),
    read: () => store.counters!.read('c'),
  }
  await Promise.all(
    Object.entries(verbs).map(async ([name, verb]) => {
      const start = performance.now()
      await t.rejects(async () => void (await verb()), StoreUnavailable, `${what}: ${name} says so`)
      const tookMs = performance.now() - start
      t.ok(tookMs < PROMPTLY_MS, `${what}: ${name} says so promptly`)
    }),
  )
  t.equal(store.up(), false)
}

/** Resolves once the store answers again, without anybody doing anything to it. */
function recovered(store: Store): Promise<void> {
  return until(() =>
    store.keys.find('nobody', NOW).then(
      () => true,
      () => false,
    ),
  )
}

async function calls(server: RedisServer): Promise<number> {
  const stats = await server.command('info', 'commandstats')
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0)
}

t.test('counters', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [here, there] = await Promise.all([open(t, server.url), open(t, server.url)])

  t.test('count the requests of all instances in one window that the first one opened', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 ? here : there).counters.increment('shared', 60_000)),
    )
    t.same(new Set(answers.map(({ current }) => current)), new Set(Array.from({ length: 100 }, (_, i) => i + 1)))
    for (const { ttlMs } of answers) t.ok(ttlMs > 50_000 && ttlMs <= 60_000)
    const { current, ttlMs } = await there.counters.read('shared')
    t.equal(current, 100)
    t.ok(ttlMs > 50_000 && ttlMs <= 60_000)
    t.same(await here.counters.read('never'), { current: 0, ttlMs: 0 })
    t.equal((await here.counters.increment('other', 60_000)).current, 1)
  })

  t.test('start anew when the window has ended', async (t) => {
    for (let i = 0; i < 3; i++) await here.counters.increment('short', 50)
    await until(async () => (await there.counters.read('short')).current === 0)
    t.same(await here.counters.increment('short', 60_000), { current: 1, ttlMs: 60_000 })
  })

  t.test('whatever is asked in one turn of the event loop is one call to Redis', async (t) => {
    const { record } = aKey(anOwner())
    await here.store.keys.create(record, 20, NOW)
    const before = await calls(server)
    const asked = Array.from({ length: 64 }, (_, i) =>
      Promise.all([
        here.store.keys.find(i % 2 ? record.digest : `unknown${i}`, NOW),
        here.counters.increment(`batch${i % 8}`, 60_000),
        here.counters.read('never'),
      ]),
    )
    const answers = await Promise.all(asked)
    t.equal((await calls(server)) - before, 1)
    for (const [i, [found, { current }, read]] of answers.entries()) {
      t.same(found, i % 2 ? record : undefined)
      t.equal(current, Math.floor(i / 8) + 1)
      t.same(read, { current: 0, ttlMs: 0 })
    }
  })
})

t.test('when one Redis', { skip: withoutRedis }, async (t) => {
  t.test('freezes, every verb says so promptly, and all is well when it thaws', async (t) => {
    const server = await redisServer(t)
    const { store, errors } = await open(t, server.url)
    const { record } = aKey(anOwner())
    await store.keys.create(record, 20, NOW)
    server.freeze()
    await unavailable(t, store, 'just frozen')
    await until(() => errors.length > 0)
    await unavailable(t, store, 'given up')
    server.thaw()
    await recovered(store)
    t.equal(store.up(), true)
    t.same(await store.keys.find(record.digest, NOW), record)
    t.equal(errors.length, 1, 'one outage is reported once')
  })

  t.test('dies and comes back, the store finds it by itself', async (t) => {
    const server = await redisServer(t)
    const { store, errors } = await open(t, server.url)
    await server.stop()
    await unavailable(t, store, 'dead')
    await until(() => errors.length > 0)
    await server.start()
    await recovered(store)
    t.equal(
      await store.keys.create(aKey(anOwner()).record, 20, NOW),
      'created',
      'scripts are known to the new server too',
    )
    await server.stop()
    await until(() => errors.length > 1)
    t.equal(errors.length, 2, 'the next outage is reported again')
  })

  t.test('is away at the start, the store opens degraded and finds it later', async (t) => {
    const server = await redisServer(t)
    await server.stop()
    const start = performance.now()
    const { store } = await open(t, server.url)
    t.ok(performance.now() - start < 2 * PROMPTLY_MS)
    await unavailable(t, store, 'away')
    await server.start()
    await until(() => store.up())
    t.equal(await store.keys.find('nobody', NOW), undefined)
  })

  t.test('accepts connections and never says a word, the store opens degraded', async (t) => {
    const mute: Server = createServer().listen(0, '127.0.0.1')
    t.teardown(() => mute.close())
    await once(mute, 'listening')
    const address = mute.address()
    if (address === null || typeof address === 'string') throw new Error('No port')
    const { store, errors } = await open(t, `redis://127.0.0.1:${address.port}`)
    await unavailable(t, store, 'mute')
    await until(() => errors.length > 0)
  })

  t.test('refuses our password, nobody is told the password', async (t) => {
    const server = await redisServer(t, '--requirepass', 'invented-right')
    const { store, errors } = await open(t, server.url.replace('//', '//:invented-wrong@'))
    const failure = await store.keys.find('nobody', NOW).catch((error) => error)
    t.type(failure, StoreUnavailable)
    await until(() => errors.length > 0)
    t.notMatch(inspect([failure, ...errors], { depth: 9, showHidden: true }), 'invented-wrong')
    const { store: welcome } = await open(t, server.url.replace('//', '//:invented-right@'))
    t.equal(await welcome.keys.find('nobody', NOW), undefined)
  })

  t.test('fails on one record, the error does not carry the record', async (t) => {
    const server = await redisServer(t, '--maxmemory', '1', '--maxmemory-policy', 'noeviction')
    const { store } = await open(t, server.url)
    const { record } = aKey(anOwner())
    const failure = await store.keys.create(record, 20, NOW).catch((error) => error)
    t.type(failure, StoreUnavailable)
    t.match(failure.cause.message, /OOM/)
    const shown = inspect(failure, { depth: 9, showHidden: true })
    for (const part of [record.email, record.sealed, record.digest]) t.notOk(shown.includes(part))
  })
})

t.test('a key that expires leaves nothing in Redis', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { store } = await open(t, server.url)
  const now = Date.now()
  const { record } = aKey(anOwner(), { createdAt: now, expiresAt: now + 300 })
  await store.keys.create(record, 20, now)
  t.equal(await server.command('dbsize'), '3')
  await until(async () => (await server.command('dbsize')) === '0')
})

t.test('a key that is revoked leaves nothing in Redis, however late it is used', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { store } = await open(t, server.url)
  const { record } = aKey(anOwner())
  await store.keys.create(record, 20, NOW)
  const late = [store.keys.revoke(record.owner, record.id, NOW), store.keys.setLimit(record.id, 5, NOW)]
  await Promise.all([...late, store.keys.touch(record, NOW)])
  await store.keys.touch(record, NOW)
  t.equal(await server.command('dbsize'), '0')
})

t.test('what a crash in the middle of a creation leaves', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { store } = await open(t, server.url)
  const { record } = aKey(anOwner())
  const index = `gps:owner:${record.owner}`
  const reserved = `${record.digest} ${NOW + DAY_MS} ${NOW}`
  await server.command('hset', index, record.id, reserved)

  t.same(await store.keys.list(record.owner, NOW + 60_000), [], 'is never listed')
  t.equal(await server.command('hget', index, record.id), reserved, 'is left to a creation that may be under way')
  t.equal(await store.keys.create(aKey(record.owner).record, 1, NOW), 'too_many', 'and keeps its place for it')
  t.equal(
    await store.keys.create(aKey(record.owner).record, 1, NOW + 60_001),
    'created',
    'but not for longer than a minute',
  )
  t.equal(await server.command('hget', index, record.id), '')
})

t.test('a process killed while it creates keys loses none that it handed out', { skip: withoutRedis }, async (t) => {
  const place = await redisPlace(t)
  const { keys } = await place.open()
  const owner = anOwner()
  for (let round = 1; round <= 2; round++) {
    const acknowledged = await (await instance(t, place.config)).killAfter(50 * round, owner)
    t.ok(acknowledged.length >= 50 * round)
    const listed = (await keys.list(owner, NOW)).map(({ id }) => id)
    t.equal(new Set(listed).size, listed.length, 'none is listed twice')
    t.same(
      acknowledged.filter(({ id }) => !listed.includes(id)),
      [],
    )
    for (const record of acknowledged) t.same(await keys.find(record.digest, NOW), record)
  }
})

t.test('when a cluster', { skip: withoutRedis }, async (t) => {
  const { url, nodes } = await redisCluster(t, '--cluster-require-full-coverage', 'no')
  const { store, counters } = await open(t, url)
  /** A record whose slot a node owns. */
  const recordAt = async (node: number) => {
    for (;;) {
      const { record } = aKey(anOwner())
      const slot = Number(await nodes[0]!.command('cluster', 'keyslot', `gps:key:${record.digest}`))
      if (Math.floor(slot / 5461.5) === node) return { record, slot }
    }
  }

  t.test('moves a slot to another node, the store follows', async (t) => {
    const { record, slot } = await recordAt(0)
    t.equal(await store.keys.find(record.digest, NOW), undefined)
    const target = await nodes[1]!.command('cluster', 'myid')
    for (const node of nodes) await node.command('cluster', 'setslot', String(slot), 'node', target)
    t.equal(await store.keys.create(record, 20, NOW), 'created')
    t.same(await store.keys.find(record.digest, NOW), record)
    t.equal(await nodes[1]!.command('exists', `gps:key:${record.digest}`), '1')
  })

  t.test('counts in one turn many names in many slots', async (t) => {
    const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => counters.increment(`name${i % 16}`, 60_000)))
    t.equal(
      answers.reduce((sum, { current }) => sum + current, 0),
      16 * (1 + 2 + 3 + 4),
    )
  })

  t.test(
    'loses a node, its keys are unavailable promptly, the others work on, and all is well when it is back',
    async (t) => {
      const [lost, kept] = [(await recordAt(2)).record, (await recordAt(1)).record]
      await store.keys.find(lost.digest, NOW)
      for (const away of ['freeze', 'stop'] as const) {
        await nodes[2]![away]()
        const start = performance.now()
        await t.rejects(store.keys.find(lost.digest, NOW), StoreUnavailable, away)
        t.ok(performance.now() - start < PROMPTLY_MS)
        t.equal(await store.keys.find(kept.digest, NOW), undefined)
        if (away === 'freeze') nodes[2]!.thaw()
        else await nodes[2]!.start()
        await until(() =>
          store.keys.find(lost.digest, NOW).then(
            () => true,
            () => false,
          ),
        )
        t.equal(store.up(), true)
      }
    },
  )

  t.test('wants a password, the nodes that only the cluster names get it too', async (t) => {
    const records = await Promise.all([0, 1, 2].map(async (node) => (await recordAt(node)).record))
    for (const node of nodes) await node.command('config', 'set', 'requirepass', 'invented-right')
    const url = nodes[0]!.url.replace('//', '//:invented-right@')
    const { store } = await open(t, `${url},${url}`)
    for (const { digest } of records) t.equal(await store.keys.find(digest, NOW), undefined)
  })
})
