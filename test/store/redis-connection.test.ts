/** Recovery from every kind of outage, of one Redis and of a cluster. */
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { type KeyRecord, type Store, StoreUnavailable } from '../../src/store/store.js'
import {
  clusterReplica,
  detour,
  listening,
  type RedisServer,
  redisCluster,
  redisServer,
  stopOnceCopied,
  until,
  withoutRedis,
} from '../redis.js'
import { aKey, anOwner, DAY_MS, limited, NOW, openRedis, storedKey } from './places.js'

/** Far above the limit of 250 ms, so that only a request that hangs fails the test on a busy machine. */
const PROMPTLY_MS = 2_000

const works = (request: Promise<unknown>): Promise<boolean> => request.then(() => true).catch(() => false)

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

async function reject(t: Test, store: Store, requests: Record<string, () => Promise<unknown>>): Promise<void> {
  for (const [name, request] of Object.entries(requests)) {
    const started = performance.now()
    await t.rejects(request(), StoreUnavailable, name)
    t.ok(performance.now() - started < PROMPTLY_MS, `${name} rejects promptly`)
    t.equal(store.up(), false)
  }
}

/** How a server comes back, by how it goes away. */
const returns = { stop: 'start', freeze: 'thaw' } as const

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
    const store = await openRedis(t, proxy)
    t.equal(store.up(), true)
  })
})

t.test('when a cluster', { skip: withoutRedis }, async (t) => {
  const { url, nodes } = await redisCluster(t, '--cluster-require-full-coverage', 'no')
  // One more node, whose name has no address (it is too long for one).
  const store = await openRedis(t, `redis://${'n'.repeat(64)}:1,${url}`)
  /** A record whose slot belongs to a node. */
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

  t.test('serves a slot no longer, the reason is not a late reply', async (t) => {
    const { record, slot } = await recordAt(0)
    for (const node of nodes) await node.command('cluster', 'delslots', String(slot))
    const find = () => store.keys.find(record.digest, NOW)
    await t.rejects(find(), { cause: { message: /CLUSTERDOWN Hash slot not served/ } })
    await nodes[0]!.command('cluster', 'addslots', String(slot))
    await until(() => works(find()))
  })

  t.test('loses a node, only its keys are unavailable, and work again when it is back', async (t) => {
    const [lost, kept] = [(await recordAt(2)).record, (await recordAt(1)).record]
    const find = ({ digest }: KeyRecord) => store.keys.find(digest, NOW)
    await find(lost)
    for (const begin of ['stop', 'freeze'] as const) {
      await nodes[2]![begin]()
      await reject(t, store, { [begin]: () => find(lost) })
      const reasons = new Set<string>()
      for (let n = 0; n < 8; n++)
        await find((await recordAt(2)).record).catch(({ cause }) => reasons.add(cause.message))
      t.ok(reasons.size < 5, `the log has room for another reason than ${[...reasons].join(', ')}`)
      t.equal(await find(kept), undefined)
      await nodes[2]![returns[begin]]()
      await until(() => works(find(lost)))
      t.equal(store.up(), true)
    }
  })

  t.test('wants a user and a password, all nodes get them, also those that only the cluster names', async (t) => {
    const records = await Promise.all([0, 1, 2].map(async (node) => (await recordAt(node)).record))
    const user = ['acl', 'setuser', 'gate/way', 'on', '>invented/right', 'allkeys', 'allcommands']
    for (const node of nodes) await node.commands(user, ['config', 'set', 'requirepass', 'another'])
    const asUser = nodes[0]!.url.replace('//', '//gate%2Fway:invented%2Fright@')
    const { keys } = await openRedis(t, `${asUser},${asUser}`)
    for (const { digest } of records) t.equal(await keys.find(digest, NOW), undefined)
    for (const node of nodes) await node.commands(['auth', 'another'], ['config', 'set', 'requirepass', ''])
  })

  t.test('loses a node for good and its replica takes over, no key is lost', async (t) => {
    const replica = await clusterReplica(t, nodes[0]!, nodes)
    const { record } = await recordAt(0)
    const find = () => store.keys.find(record.digest, NOW)
    await store.keys.create(record, 20, NOW)
    await stopOnceCopied(nodes[0]!, replica)
    await until(async () => !(await works(find())))
    t.equal(await replica.command('cluster', 'failover', 'takeover'), 'OK')
    await until(() => works(find()))
    t.match(await store.keys.use(record.digest, DAY_MS, NOW), { record })
  })
})
