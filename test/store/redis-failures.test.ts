/** Why Redis is unavailable: the cause in the error, which the log shows. */
import { connect, type Socket } from 'node:net'
import { inspect } from 'node:util'
import t from 'tap'
import { StoreUnavailable } from '../../src/store/store.js'
import { randomKey } from '../limits.js'
import { gatewayProcess } from '../process.js'
import { listening, type RedisServer, redisServer, tlsRedis, until, withoutRedis } from '../redis.js'
import { aKey, anOwner, DAY_MS, NOW, openRedis, storedKey, works } from './places.js'

/** Gives rights to a user; `urlOfUser` connects as that user. */
const grant = (server: RedisServer, ...rights: string[]) =>
  server.command('acl', 'setuser', 'gateway', 'on', '>a-password', '~gps:*', ...rights)
const urlOfUser = ({ url }: RedisServer): string => url.replace('//', '//gateway:a-password@')

t.test('when one Redis', { skip: withoutRedis }, async (t) => {
  t.test('dies before it replies, the reason is the lost connection, not a setting of the client', async (t) => {
    const server = await redisServer(t)
    const store = await openRedis(t, server.url)
    // The last where the machine is slower than the limit on a reply.
    const reason = /^(Not connected|connect ECONN|read ECONN|No reply)/
    server.freeze()
    const lost = t.rejects(store.keys.find('unknown', NOW), { cause: { message: reason } })
    await server.stop()
    await lost
  })

  t.test('refuses the password, no error holds the password', async (t) => {
    const server = await redisServer(t, '--requirepass', 'invented-right')
    const store = await openRedis(t, server.url.replace('//', '//:invented-wrong@'))
    const failure = await store.keys.find('unknown', NOW).catch((error) => error)
    t.type(failure, StoreUnavailable)
    t.match(failure.cause.message, 'WRONGPASS', 'not that there is no connection')
    t.notMatch(inspect(failure, { depth: 9, showHidden: true }), 'invented-wrong')
    const welcome = await openRedis(t, server.url.replace('//', '//:invented-right@'))
    t.equal(await welcome.keys.find('unknown', NOW), undefined)
  })

  t.test('has no command for passwords, no error holds the password', async (t) => {
    const unnamed = ['AUTH', 'HELLO'].flatMap((name) => ['--rename-command', name, `NO-${name}`])
    const store = await openRedis(t, (await redisServer(t, ...unnamed)).url.replace('//', '//:invented@'))
    const failure = await store.keys.find('unknown', NOW).catch((error) => error)
    t.match(failure.cause.message, /^ERR unknown command 'auth'$/)
    t.notMatch(inspect(failure, { depth: 9, showHidden: true }), 'invented')
  })

  t.test('refuses the database, the store uses no other, and works once Redis is mended', async (t) => {
    const server = await redisServer(t, '--databases', '2')
    await grant(server, '+@all', '-select')
    const refuses = async (url: string, message: RegExp) => {
      const store = await openRedis(t, url)
      for (let n = 0; n < 3; n += 1) await t.rejects(storedKey(store), { cause: { message } })
      t.equal(store.up(), false)
      return store
    }
    await refuses(`${server.url}/2`, /^ERR DB index is out of range$/)
    const store = await refuses(`${urlOfUser(server)}/1`, /^NOPERM .*'select' command/)
    await grant(server, '+select')
    await until(() => store.up())
    await storedKey(store)
    t.match(await server.command('info', 'keyspace'), /Keyspace\s+db1:keys=3,/)
  })

  t.test('is loading its data, the reason says that it may be, and the store soon tries again', async (t) => {
    const slowly = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024']
    const server = await redisServer(t, ...slowly)
    const fill = "for i = 1, 100000 do redis.call('SET', i, i) end"
    await server.commands(['eval', fill, '0'], ['save'])
    await server.stop()
    // It takes minutes.
    void server.start().catch(() => {})
    await until(async () => (await server.command('ping').catch(String)).startsWith('LOADING'))
    const store = await openRedis(t, server.url)
    await t.rejects(store.keys.find('unknown', NOW), { cause: { message: /still loading/ } })
    // Those of this test are not counted.
    let own = 0
    await until(async () => {
      own += 1
      const [, calls] = /cmdstat_info:calls=(\d+)/.exec(await server.command('info', 'commandstats')) ?? []
      return Number(calls ?? 0) - own > 4
    })
  })

  t.test('denies a command, it is unavailable until that one succeeds, or for 15 minutes', async (t) => {
    const server = await redisServer(t)
    await grant(server, '+@all')
    const store = await openRedis(t, urlOfUser(server))
    const record = await storedKey(store)
    await grant(server, '-incr')
    await t.rejects(store.counters.increment('c', 60_000), {
      cause: { message: /can't run this command|no permissions to run the 'incr' command/ },
    })
    await grant(server, '-evalsha')
    await t.rejects(store.counters.increment('c', 60_000), { cause: { message: /'evalsha' command/ } })
    await grant(server, '+evalsha')
    t.ok(await store.keys.use(record.digest, DAY_MS, NOW))
    t.equal(store.up(), true, 'any command shows that scripts may run again')
    await grant(server, '+incr', '-@hash')
    const hint = { cause: { message: /; gps-fleet-gateway check names the right$/ } }
    await t.rejects(store.keys.use(record.digest, DAY_MS, NOW), hint)
    t.match(await store.counters.increment('c', 60_000), { current: 1 })
    t.equal(store.up(), false)
    await grant(server, '+@hash')
    t.ok(await store.keys.use(record.digest, DAY_MS, NOW))
    t.equal(store.up(), true)
    await grant(server, '-hgetall')
    await t.rejects(store.keys.list(record.owner, NOW), StoreUnavailable)
    t.ok(await store.keys.use(record.digest, DAY_MS, NOW))
    t.equal(store.up(), false)
    const now = performance.now()
    for (const [minutes, isUp] of [
      [14, false],
      [15, true],
    ] as const) {
      const later = t.intercept(performance, 'now', { value: () => now + minutes * 60_000 })
      t.equal(store.up(), isUp)
      later.restore()
    }
  })

  t.test('denies a command of a creation, nothing is left of the key, and its place is free', async (t) => {
    const server = await redisServer(t)
    await grant(server, '+@all')
    const store = await openRedis(t, urlOfUser(server))
    const owner = anOwner()
    const create = () => store.keys.create(aKey(owner).record, 1, NOW)
    for (const denied of ['set', 'hset', 'pexpireat', 'time']) {
      await grant(server, '+@all', `-${denied}`)
      for (let n = 0; n < 2; n += 1) await t.rejects(create(), StoreUnavailable, denied)
      t.equal(await server.command('dbsize'), '0', denied)
    }
    await grant(server, '+@all')
    t.equal(await create(), 'created')
  })

  t.test('replies to a creation too late, the next one finds the place free', async (t) => {
    const server = await redisServer(t)
    const { keys } = await openRedis(t, server.url)
    const owner = anOwner()
    const create = () => keys.create(aKey(owner).record, 1, NOW)
    server.freeze()
    await t.rejects(create(), StoreUnavailable)
    server.thaw()
    await until(() => works(keys.find('unknown', NOW)))
    t.equal(await create(), 'created')
  })

  t.test('refuses writes, an account is listed although its index has an entry without a record', async (t) => {
    const server = await redisServer(t)
    const { keys } = await openRedis(t, server.url)
    const { record } = aKey(anOwner())
    const create = () => keys.create(aKey(record.owner).record, 2, NOW)
    await keys.create(record, 20, NOW)
    await server.command('hset', `gps:owner:${record.owner}`, 'lost', `${'0'.repeat(64)} ${NOW + DAY_MS} 0`)
    await server.command('config', 'set', 'min-replicas-to-write', '1')
    t.same(await keys.list(record.owner, NOW), [record])
    await t.rejects(create(), StoreUnavailable, 'not that it has too many')
    await server.command('config', 'set', 'min-replicas-to-write', '0')
    t.equal(await create(), 'created')
  })

  t.test('grants only the commands of the first release, API keys are used, revoked, then unknown', async (t) => {
    const server = await redisServer(t)
    const ofHashes = '+hset +hget +hmget +hgetall +hexists +hdel +pexpireat'
    const rights = `+info +eval +evalsha +time ${ofHashes} +set +get +del +incr +pttl +pexpire +setrange`
    await grant(server, ...rights.split(' '))
    const { keys, up } = await openRedis(t, urlOfUser(server))
    const { record } = aKey(anOwner())
    t.equal(await keys.create(record, 20, NOW), 'created')
    t.match(await keys.use(record.digest, DAY_MS, NOW), { record, count: { current: 1 } })
    t.equal(await keys.revoke(record.owner, record.id, NOW), true)
    t.equal(await keys.use(record.digest, DAY_MS, NOW), undefined)
    t.equal(up(), true)
  })

  t.test('accepts writes again, the metrics of a gateway without requests soon say so', async (t) => {
    const server = await redisServer(t)
    const child = await gatewayProcess(t, { REDIS_URL: server.url })
    const isUp = async () => (await child.metric('gateway_store_up')) === 1
    await until(isUp)
    await server.command('config', 'set', 'maxmemory', '1')
    await child.get('/health')
    await until(async () => !(await isUp()))
    await server.command('config', 'set', 'maxmemory', '0')
    await until(isUp)
  })

  t.test('has an address of the other family only, it is not found', async (t) => {
    const url = (await redisServer(t)).url.replace('127.0.0.1', 'localhost')
    await t.rejects((await openRedis(t, `${url}?family=6`)).keys.find('unknown', NOW), StoreUnavailable)
    t.equal(await (await openRedis(t, `${url}?family=4`)).keys.find('unknown', NOW), undefined)
  })

  t.test('refuses a record, the error does not hold the record', async (t) => {
    const server = await redisServer(t, '--maxmemory', '1', '--maxmemory-policy', 'noeviction')
    const store = await openRedis(t, server.url)
    const { record } = aKey(anOwner())
    const failure = await store.keys.create(record, 20, NOW).catch((error) => error)
    t.match(failure.cause.message, /OOM/)
    const shown = inspect(failure, { depth: 9, showHidden: true })
    for (const part of [record.email, record.sealed, record.digest]) t.notOk(shown.includes(part))
  })
})

t.test('when no node of a cluster can be used, the reason is that of a node', { skip: withoutRedis }, async (t) => {
  const { server, tlsUrl } = await tlsRedis(t, '--requirepass', 'invented-right')
  const wrong = server.url.replace('//', '//:invented-wrong@')
  const plain = server.url.replace('//', '//:invented-right@')
  const cases: [url: string, reason: RegExp][] = [
    [wrong, /^WRONGPASS/],
    [tlsUrl, /^self-signed certificate/],
    [plain, /^ERR This instance has cluster support disabled$/],
    ['redis://127.0.0.1:1', /^connect ECONNREFUSED 127.0.0.1:1$/],
    // Too long for a name: no server is asked for its address.
    [`redis://${'n'.repeat(64)}:1`, /^getaddrinfo E/],
  ]
  const fails = async ([url, reason]: (typeof cases)[number]) => {
    const store = await openRedis(t, `${url},${url}`)
    const failure = await store.keys.find('unknown', NOW).catch((error) => error)
    t.type(failure, StoreUnavailable)
    t.match(failure.cause.message, reason)
    t.notMatch(inspect(failure, { depth: 9, showHidden: true }), 'invented-wrong')
  }
  await Promise.all(cases.map(fails))
})

t.test('a broken TLS record costs a connection, and not the process', { skip: withoutRedis }, async (t) => {
  const { tlsUrl, cert } = await tlsRedis(t)
  const alert = Buffer.from('15030300020228', 'hex')
  const open = new Set<Socket>()
  const way = await listening(t, (socket) => {
    const upstream = connect(Number(new URL(tlsUrl).port), '127.0.0.1')
    open.add(socket.on('error', () => {}))
    socket.pipe(upstream.on('error', () => {})).pipe(socket)
    socket.once('close', () => open.delete(socket) && upstream.destroy())
  })
  const REDIS_URL = `rediss://localhost:${new URL(way).port}`
  const child = await gatewayProcess(t, { REDIS_URL, NODE_EXTRA_CA_CERTS: cert })
  const status = async () => (await child.get('/v1/me', randomKey())).status
  await until(async () => (await status()) === 401)
  const before = [...open]
  // What the client answers gets no further: only the client can end the connection.
  for (const socket of before) socket.unpipe().resume().write(alert)
  await until(async () => (await status()) === 401 && !before.some((socket) => open.has(socket)))
})
