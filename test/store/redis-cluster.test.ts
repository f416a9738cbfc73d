/** Recovery from every kind of outage of a cluster. */
import t from 'tap'
import { type KeyRecord, StoreUnavailable } from '../../src/store/store.js'
import {
  clusterReplica,
  detour,
  freePort,
  type RedisServer,
  redisCluster,
  redisServer,
  stopOnceCopied,
  until,
  withoutRedis,
} from '../redis.js'
import { aKey, anOwner, DAY_MS, NOW, openRedis, reject, returns, works } from './places.js'

t.test('when a cluster', { skip: withoutRedis }, async (t) => {
  const { url, nodes } = await redisCluster(t, '--cluster-require-full-coverage', 'no')
  // One more node, whose name has no address (it is too long for one).
  const store = await openRedis(t, `redis://${'n'.repeat(64)}:1,${url}`)
  const line = await detour(t, nodes[1]!)
  /** A record whose slot belongs to a node. */
  const recordAt = async (node: number, asked = nodes[0]!) => {
    for (;;) {
      const { record } = aKey(anOwner())
      const slot = Number(await asked.command('cluster', 'keyslot', `gps:key:${record.digest}`))
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

  t.test('moves a slot while a store is idle, the next command goes there, though the old node hangs', async (t) => {
    const { record, slot } = await recordAt(2)
    const idle = await openRedis(t, url)
    await idle.keys.find(record.digest, NOW)
    const [source, target] = [await nodes[2]!.command('cluster', 'myid'), await nodes[1]!.command('cluster', 'myid')]
    // So that no late message of its former owner takes it back.
    await nodes[1]!.command('cluster', 'setslot', String(slot), 'importing', source)
    for (const at of [1, 2, 0]) await nodes[at]!.command('cluster', 'setslot', String(slot), 'node', target)
    const asked = async () => {
      const stats = await Promise.all(nodes.map((node) => node.command('info', 'commandstats')))
      return stats.reduce((sum, text) => sum + Number(/cmdstat_cluster.slots:calls=(\d+)/.exec(text)?.[1] ?? 0), 0)
    }
    const before = await asked()
    await until(async () => (await asked()) > before + 4)
    await nodes[2]!.freeze()
    try {
      t.equal(await idle.keys.find(record.digest, NOW), undefined)
    } finally {
      await nodes[2]!.thaw()
    }
  })

  t.test('serves a slot no longer, the reason is not a late reply', async (t) => {
    const { record, slot } = await recordAt(0)
    for (const node of nodes) await node.command('cluster', 'delslots', String(slot))
    const find = () => store.keys.find(record.digest, NOW)
    await t.rejects(find(), { cause: { message: /CLUSTERDOWN Hash slot not served/ } })
    await nodes[0]!.command('cluster', 'addslots', String(slot))
    await until(() => works(find()))
  })

  t.test('is down because a node hangs, each command fails for that reason', async (t) => {
    const { record } = await recordAt(0)
    const find = () => store.keys.find(record.digest, NOW)
    await find()
    const isIn = async (state: string, node: RedisServer) =>
      (await node.command('cluster', 'info')).includes(`cluster_state:${state}`)
    const needAll = (value: string) => ['config', 'set', 'cluster-require-full-coverage', value]
    for (const node of nodes) await node.command(...needAll('yes'))
    await nodes[2]!.freeze()
    try {
      await until(() => isIn('fail', nodes[0]!))
      for (let n = 0; n < 8; n++) await t.rejects(find(), { cause: { message: 'CLUSTERDOWN The cluster is down' } })
    } finally {
      await nodes[2]!.thaw()
    }
    for (const node of nodes) await node.command(...needAll('no'))
    // Each looks at its own state ten times a second.
    for (const node of nodes) await until(() => isIn('ok', node))
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

  t.test('moves a key whose slot is on its way, and denies ASKING, the command fails alone', async (t) => {
    for (const node of nodes)
      await node.command('acl', 'setuser', 'least', 'on', '>invented', '~gps:*', '+@all', '-asking')
    const asLeast = nodes[0]!.url.replace('//', '//least:invented@')
    const { keys } = await openRedis(t, `${asLeast},${asLeast}`)
    const { record, slot } = await recordAt(0)
    await keys.create(record, 20, NOW)
    const [from, to] = [await nodes[0]!.command('cluster', 'myid'), await nodes[1]!.command('cluster', 'myid')]
    await nodes[1]!.command('cluster', 'setslot', String(slot), 'importing', from)
    await nodes[0]!.command('cluster', 'setslot', String(slot), 'migrating', to)
    const { port } = new URL(nodes[1]!.url)
    await nodes[0]!.command('migrate', '127.0.0.1', port, `gps:key:${record.digest}`, '0', '1000')
    await t.rejects(keys.find(record.digest, NOW), StoreUnavailable)
    t.same(await store.keys.find(record.digest, NOW), record, 'another user has the right')
    for (const node of nodes) await node.command('cluster', 'setslot', String(slot), 'node', to)
    await until(() => works(keys.find(record.digest, NOW)))
  })

  t.test('loses a reply, the command fails, and is not sent again: Redis may have executed it', async (t) => {
    const { port } = new URL(line.url)
    await nodes[1]!.command('config', 'set', 'cluster-announce-port', port)
    for (const node of nodes) await until(async () => (await node.command('cluster', 'nodes')).includes(`:${port}@`))
    const { keys } = await openRedis(t, `${nodes[0]!.url},${nodes[0]!.url}`)
    const [created, { record: lost }] = [(await recordAt(1)).record, await recordAt(1)]
    await keys.create(created, 20, NOW)
    const calls: Record<string, () => Promise<unknown>> = {
      use: () => keys.use(created.digest, DAY_MS, NOW),
      write: () => keys.create(lost, 20, NOW),
      DEL: () => keys.revoke(created.owner, created.id, NOW),
    }
    for (const [command, call] of Object.entries(calls)) {
      line.loses = new RegExp(`gps:key:[0-9a-f]{64}\r\n.\\d\r\n${command}\r\n`)
      await t.rejects(call(), StoreUnavailable, command)
      t.equal(line.loses, undefined, 'the reply was lost')
      await until(() => works(keys.find(created.digest, NOW)))
    }
    t.equal(await keys.find(created.digest, NOW), undefined)
  })

  t.test('loses a node for good and its replica takes over, no key is lost', async (t) => {
    const replica = await clusterReplica(t, nodes[0]!, nodes)
    const { record } = await recordAt(0)
    const find = () => store.keys.find(record.digest, NOW)
    await store.keys.create(record, 20, NOW)
    const onlyOneNamed = await openRedis(t, `${nodes[0]!.url},${nodes[0]!.url}`)
    await stopOnceCopied(nodes[0]!, replica)
    await until(async () => !(await works(find())))
    t.equal(await replica.command('cluster', 'failover', 'takeover'), 'OK')
    await until(() => works(find()))
    t.match(await store.keys.use(record.digest, DAY_MS, NOW), { record })
    const findAll = async (): Promise<void> => {
      for (const node of [0, 1, 2]) await onlyOneNamed.keys.find((await recordAt(node, replica)).record.digest, NOW)
    }
    await until(() => works(findAll()))
  })
})

t.test('a cluster without slots yet is asked once for each attempt to connect', { skip: withoutRedis }, async (t) => {
  const port = String(await freePort())
  const options = ['--cluster-enabled', 'yes', '--cluster-port', port, '--cluster-announce-ip', '127.0.0.1']
  const node = await redisServer(t, ...options, '--cluster-require-full-coverage', 'no')
  const { keys } = await openRedis(t, `${node.url},${node.url}`)
  const calls = async (name: string) =>
    Number(
      new RegExp(`cmdstat_cluster.${name}:calls=(\\d+)`).exec(await node.command('info', 'commandstats'))?.[1] ?? 0,
    )
  await until(async () => (await calls('slots')) >= 10)
  await node.command('config', 'resetstat')
  await node.command('cluster', 'addslotsrange', '0', '16383')
  await until(() => works(keys.find(aKey(anOwner()).record.digest, NOW)))
  // The node may stay down for another five seconds: each attempt to connect asks for the slots, and then for the state.
  t.ok((await calls('info')) <= (await calls('slots')) + 1, 'none is sent for the attempts before')
})
