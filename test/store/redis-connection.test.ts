/** Recovery from every kind of outage of one Redis. */
import { connect } from 'node:net'
import t from 'tap'
import { type KeyRecord, type Store, StoreUnavailable } from '../../src/store/store.js'
import { detour, listening, type RedisServer, redisServer, until, withoutRedis } from '../redis.js'
import {
  aKey,
  anOwner,
  DAY_MS,
  limited,
  NOW,
  openRedis,
  PROMPTLY_MS,
  reject,
  returns,
  storedKey,
  works,
} from './places.js'

/** The methods that cannot work without writing, those that only read, and the one that also works on a full server. */
const methods = ({ keys, counters }: Store, record: KeyRecord) => ({
  writes: {
    create: () => keys.create(aKey(anOwner()).record, 20, NOW),
    use: () => keys.use(record.digest, DAY_MS, NOW),
    update: () => keys.update(record.digest, limited(5), NOW),
    increment: () => counters!.increment('c', 60_000),
    read: () => counters!.read('c'),
  },
  reads: {
    find: () => keys.find(record.digest, NOW),
    findById: () => keys.findById(record.id, NOW),
    list: () => keys.list(record.owner, NOW),
  },
  revoke: () => keys.revoke(record.owner, record.id, NOW),
})

interface Outage {
  options?: string[]
  begin: (server: RedisServer) => unknown
  end: (server: RedisServer) => unknown
  /** Otherwise only writes fail. */
  isTotal?: true
  /** Keys can be used, but are not counted. */
  isUsable?: true
}

const setting = (name: string, bad: string, good: string): Outage => ({
  begin: (server) => server.command('config', 'set', name, bad),
  end: (server) => server.command('config', 'set', name, good),
})

const outages: Record<string, Outage> = {
  freezes: { begin: (server) => server.freeze(), end: (server) => server.thaw(), isTotal: true },
  'dies, and comes back with what it wrote down': {
    options: ['--appendonly', 'yes', '--appendfsync', 'always'],
    begin: (server) => server.stop(),
    end: (server) => server.start(),
    isTotal: true,
  },
  'becomes the replica of a master that is away': {
    begin: (server) => server.command('replicaof', '127.0.0.1', '1'),
    end: (server) => server.command('replicaof', 'no', 'one'),
  },
  'is full': { ...setting('maxmemory', '1', '0'), isUsable: true },
  'lacks the replicas that it needs to write': setting('min-replicas-to-write', '1', '0'),
}

t.test('when one Redis', { skip: withoutRedis }, async (t) => {
  t.jobs = 3 // most of their time is waiting
  for (const [name, { options = [], begin, end, isTotal, isUsable }] of Object.entries(outages)) {
    t.test(`${name}, requests fail promptly, and work again by themselves afterwards`, async (t) => {
      const server = await redisServer(t, ...options)
      const store = await openRedis(t, server.url)
      const record = await storedKey(store)
      const { writes, reads, revoke } = methods(store, record)
      for (let round = 1; round <= 2; round += 1) {
        await begin(server)
        const { use, ...others } = writes
        await reject(t, store, isTotal ? { ...writes, ...reads, revoke } : isUsable ? others : writes)
        if (isUsable) t.same(await use(), { record, count: null })
        if (!isTotal) for (const read of Object.values(reads)) await until(() => works(read()))
        t.equal(store.up(), false, 'reads alone do not make it whole')
        await end(server)
        await until(() => works(round === 1 ? writes.increment() : writes.use()))
        t.equal(store.up(), true, 'one write is enough')
        t.match(await store.keys.use(record.digest, DAY_MS, NOW), { record })
        t.equal(await writes.create(), 'created')
      }
    })
  }

  t.test('was late once, then refused commands, the store is up again without a further request', async (t) => {
    const server = await redisServer(t)
    const rights = (...changes: string[]) => server.command('acl', 'setuser', 'default', ...changes)
    const store = await openRedis(t, server.url)
    await rights('-ping', '-evalsha')
    server.freeze()
    await t.rejects(store.counters.increment('c', 60_000), StoreUnavailable)
    server.thaw()
    t.equal(store.up(), false)
    // The late command is the first.
    await until(async () => /count\s+:[2-9]/.test(await server.command('acl', 'log')))
    await rights('+evalsha')
    await until(() => store.up())
  })

  t.test('is slow, so are requests; when it is too slow, they fail', async (t) => {
    const line = await detour(t, await redisServer(t))
    const store = await openRedis(t, line.url)
    line.delayMs = 60
    t.equal(await store.keys.find('unknown', NOW), undefined)
    line.delayMs = 700
    await reject(t, store, methods(store, aKey(anOwner()).record).reads)
    line.delayMs = 0
    await until(() => works(store.keys.find('unknown', NOW)))
  })

  t.test('is demoted, the store finds its successor behind the same name', async (t) => {
    const [master, successor] = [await redisServer(t), await redisServer(t)]
    const line = await detour(t, master)
    const store = await openRedis(t, line.url)
    line.target = successor
    await master.command('replicaof', '127.0.0.1', String(successor.port))
    await reject(t, store, { create: methods(store, aKey(anOwner()).record).writes.create })
    await until(() => works(storedKey(store)))
    t.not(await successor.command('dbsize'), '0')
  })

  for (const begin of ['stop', 'freeze'] as const)
    t.test(`is away at the start (${begin}), the store opens degraded and connects later`, async (t) => {
      const server = await redisServer(t)
      await server[begin]()
      const started = performance.now()
      const store = await openRedis(t, server.url)
      t.ok(performance.now() - started < 2 * PROMPTLY_MS)
      await reject(t, store, methods(store, aKey(anOwner()).record).writes)
      await server[returns[begin]]()
      await until(() => store.up())
      t.equal(await store.keys.find('unknown', NOW), undefined)
    })

  t.test('resets the first connection, the store opens with the second', async (t) => {
    const { port } = await redisServer(t)
    let connections = 0
    const proxy = await listening(t, (near) => {
      connections += 1
      if (connections === 1) return void near.resetAndDestroy()
      const far = connect(port)
      for (const socket of [near, far]) socket.on('error', () => {})
      near.pipe(far).pipe(near)
    })
    const started = performance.now()
    const store = await openRedis(t, proxy)
    // On a busy machine, both may take longer than opening waits.
    t.ok(store.up() || performance.now() - started >= 999)
    await until(() => store.up())
    t.equal(connections, 2)
  })
})
