/** The key store misbehaves: holders of keys are told, holders of hashes are served, and every key that was handed out works again afterwards. */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../src/store/open.js'
import { isUnavailable } from '../faults.js'
import { answers, gateway, platform, someHash } from '../helper.js'
import { type RedisServer, redisServer, stopOnceCopied, until, withoutRedis } from '../redis.js'

/** A gateway whose keys live behind `redisUrl`, and one key. */
async function withKey(t: Test, redisUrl: string) {
  const { url } = await platform(t, answers({ get_devices: [] }))
  const store = await openStore({ redisUrl, dataDir: '' }, { clock: Date.now, onError: () => {}, onDamaged: () => {} })
  t.teardown(() => store.close())
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url }, store })
  const create = () => {
    const body = JSON.stringify({ platform_hash: someHash })
    return get('/v1/keys', undefined, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
  const { body } = await create()
  t.match(body.key, /^gps_live_/)
  const byKey = () => get('/v1/devices', body.key)
  const byHash = () => get('/v1/devices', someHash)
  t.equal((await byKey()).status, 200)
  return { get, log, create, byKey, byHash, key: body.key as string, health: () => get('/health') }
}

type Parts = Awaited<ReturnType<typeof withKey>>

/** What holds whatever is wrong with the store, and that all is well once it is mended. */
async function endures(t: Test, parts: Parts, mend: () => Promise<unknown> | unknown): Promise<void> {
  const { byKey, byHash, create, health, log, key } = parts
  await until(async () => (await byKey()).status === 503)
  for (let n = 0; n < 3; n += 1) {
    const started = performance.now()
    isUnavailable(t, await byKey(), 'a key')
    t.ok(performance.now() - started < 1_500, 'is told in time')
  }
  isUnavailable(t, await create(), 'a new key')
  const answer = await byHash()
  t.equal(answer.status, 200, 'a hash needs no store')
  t.match(answer.headers.get('ratelimit-remaining'), /^\d+$/)
  // As of the last call: a connection made anew counts as good until the next one fails.
  await until(async () => (await byKey()) && (await health()).body.components.store === 'down')
  await mend()
  await until(async () => (await byKey()).status === 200)
  t.equal((await byHash()).status, 200)
  t.equal((await create()).status, 200)
  t.equal((await health()).body.status, 'ok')
  for (const secret of [key, key.slice('gps_live_'.length), someHash])
    t.notOk(log().includes(secret), 'nothing secret in the log')
}

t.test('when Redis', { skip: withoutRedis }, async (t) => {
  t.test('freezes', async (t) => {
    const server = await redisServer(t)
    const parts = await withKey(t, server.url)
    server.freeze()
    await endures(t, parts, () => server.thaw())
  })

  t.test('dies, and comes back with what it wrote down', async (t) => {
    const server = await redisServer(t, '--appendonly', 'yes', '--appendfsync', 'always')
    const parts = await withKey(t, server.url)
    await server.stop()
    await endures(t, parts, () => server.start())
  })

  t.test('becomes a read-only replica of a master that is away', async (t) => {
    const server = await redisServer(t)
    const parts = await withKey(t, server.url)
    await server.command('replicaof', '127.0.0.1', '1')
    t.equal((await parts.health()).body.components.store, 'down', 'whoever looks first is told')
    await endures(t, parts, () => server.command('replicaof', 'no', 'one'))
  })

  t.test('answers but takes nothing, health never calls it up, and the log tells of it once', async (t) => {
    const server = await redisServer(t)
    const parts = await withKey(t, server.url)
    const refusals: [refuse: string[], mend: string[]][] = [
      [
        ['replicaof', '127.0.0.1', '1'],
        ['replicaof', 'no', 'one'],
      ],
      [
        ['config', 'set', 'maxmemory', '1'],
        ['config', 'set', 'maxmemory', '0'],
      ],
      [
        ['config', 'set', 'min-replicas-to-write', '1'],
        ['config', 'set', 'min-replicas-to-write', '0'],
      ],
    ]
    for (const [at, [refuse, mend]] of refusals.entries()) {
      await server.command(...refuse)
      for (let n = 0; n < 5; n += 1) {
        t.equal((await parts.byHash()).status, 200)
        await parts.get('/v1/keys', someHash)
        await parts.byKey()
        t.equal((await parts.health()).body.components.store, 'down', refuse.join(' '))
      }
      await server.command(...mend)
      await until(async () => (await parts.health()).body.status === 'ok')
      t.equal((await parts.byKey()).status, 200)
      t.equal(parts.log().match(/counting requests in process/g)?.length, at + 1)
    }
  })

  t.test('is full', async (t) => {
    const server = await redisServer(t, '--maxmemory-policy', 'noeviction')
    const parts = await withKey(t, server.url)
    const key = () => server.command('--scan', '--pattern', 'gps:key:*')
    const before = await key()
    await server.command('config', 'set', 'maxmemory', '1mb')
    isUnavailable(t, await parts.create(), 'a new key')
    t.equal((await parts.byHash()).status, 200)
    const answer = await parts.byKey()
    if (answer.status !== 200) isUnavailable(t, answer, 'a key')
    t.equal(await key(), before, 'no key was lost')
    await server.command('config', 'set', 'maxmemory', '0')
    await until(async () => (await parts.create()).status === 200)
    t.equal((await parts.byKey()).status, 200)
  })

  t.test('is slow, so are answers; is it slower than anybody waits, they are 503', async (t) => {
    const server = await redisServer(t)
    const line = await detour(t, server)
    const parts = await withKey(t, line.url)
    line.delayMs = 60
    t.equal((await parts.byKey()).status, 200)
    line.delayMs = 700
    await endures(t, parts, () => {
      line.delayMs = 0
    })
  })

  t.test('fails over to its replica, keys go on working without a restart', async (t) => {
    const master = await redisServer(t)
    const replica = await redisServer(t, '--replicaof', '127.0.0.1', String(master.port))
    const line = await detour(t, master)
    await until(async () => (await replica.command('info', 'replication')).includes('master_link_status:up'))
    const parts = await withKey(t, line.url)
    await stopOnceCopied(master, replica)
    await endures(t, parts, async () => {
      await replica.command('replicaof', 'no', 'one')
      line.target = replica
    })
  })
})

/** A line to a server that can be slow, or lead to another one; connections that stand go down with their server. */
async function detour(t: Test, server: RedisServer) {
  const line = { url: '', target: server, delayMs: 0 }
  const open = new Set<Socket>()
  const listener = createServer((near) => {
    const far = connect(line.target.port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (data) => far.write(data))
    far.on('data', (data) => (line.delayMs > 0 ? setTimeout(() => near.write(data), line.delayMs) : near.write(data)))
  })
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening))
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    listener.close()
  })
  line.url = `redis://127.0.0.1:${(listener.address() as AddressInfo).port}`
  return line
}

t.test('when the disk of the key file is full, no key is handed out, others work on, and space heals it', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const store = await openStore(
    { redisUrl: undefined, dataDir },
    { clock: Date.now, onError: () => {}, onDamaged: () => {} },
  )
  t.teardown(() => store.close())
  const { url } = await platform(t, answers({ get_devices: [] }))
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url, MAX_KEYS_PER_ACCOUNT: '1000' }, store })
  const create = () => {
    const body = JSON.stringify({ platform_hash: someHash, label: 'x'.repeat(90) })
    return get('/v1/keys', undefined, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
  const keys: string[] = [(await create()).body.key]
  // A file that may grow no further is as good as a full disk, and needs no disk of its own.
  const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
  // For good: a write that is still under way when the test has ended would otherwise end the process.
  process.on('SIGXFSZ', () => {})
  t.teardown(() => limit('unlimited'))
  limit(String(statSync(join(dataDir, 'keys.mdb')).size))
  let answer = await create()
  for (; answer.status === 200; answer = await create()) keys.push(answer.body.key)
  isUnavailable(t, answer, 'a new key')
  for (const key of keys) t.equal((await get('/v1/me', key)).status, 200)
  limit('unlimited')
  t.equal((await create()).status, 200)
  for (const key of keys) t.notOk(log().includes(key))
  t.notOk(log().includes(someHash))
})
