/** The preflight check of the place where API keys are stored. */
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { check } from '../../../src/cli/check/check.js'
import { report } from '../../../src/cli/check/finding.js'
import { encryption } from '../../../src/cli/check/store.js'
import { performScript } from '../../../src/store/scripts.js'
import { mounting, program, withoutMount } from '../../program.js'
import { detour, listening, redisCluster, redisServer, tlsRedis, until, withoutRedis } from '../../redis.js'
import { dataDir, findings } from './findings.js'

t.test('a Redis user without a right that the gateway needs is found', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const used = new Set([...performScript.matchAll(/\bp?call\('([A-Z]+)'/g)].map(([, command = '']) => command))
  t.ok(used.has('SETRANGE'))
  const cases: [rights: string, commands: RegExp, role?: RegExp][] = [
    ['~gps:* +@all', /^ok: each command of the gateway was tried$/],
    ['~gps:* +@all -hdel -incr', /^fail: .*INCR gps:count:\*.*HDEL gps:owner:\*/],
    ['~gps:key:* ~gps:id:* ~gps:owner:* +@all', /^fail: .*SET gps:count:\*/],
    ['~gps:* +@all -@scripting', /^fail: .*EVAL/],
    ['~gps:* +@all -scan', /^fail: the ACL denies SCAN gps:key:\*$/],
    ['~gps:* +@all -info -config', /^ok/, /^warn: unknown/],
  ]
  for (const command of used)
    cases.push([`~gps:* +@all -${command}`, new RegExp(`^fail: the ACL denies .*\\b${command} `)])
  for (const [rights, commands, role = /./] of cases) {
    await server.command('acl', 'setuser', 'gateway', 'reset', 'on', '>a-password', ...rights.split(' '))
    const found = await findings({ REDIS_URL: server.url.replace('//', '//gateway:a-password@') })
    t.match(found, { 'Redis commands': commands, 'Redis role': role }, rights)
  }
  t.equal(await server.command('dbsize'), '0', 'nothing is left behind')
})

t.test('a Redis that is too old is found', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  // As Redis 6.0 does, the server finds a word in `SET` that it does not know.
  const old = await listening(t, (socket) => {
    const upstream = connect(server.port)
    socket.setEncoding('latin1').on('data', (sent) => upstream.write(String(sent).replaceAll('PXAT', 'WHAT'), 'latin1'))
    upstream.pipe(socket).once('close', () => upstream.destroy())
  })
  const found = await findings({ REDIS_URL: old })
  t.equal(found['Redis commands'], 'fail: Redis 6.2 or newer is needed for SET gps:count:*, SET gps:id:*')
})

t.test('a Redis whose replies the gateway does not wait for is found', { skip: withoutRedis }, async (t) => {
  const slow = await detour(t, await redisServer(t))
  slow.delayMs = 251
  t.match(await findings({ REDIS_URL: slow.url }), { Redis: /^fail: .*waits for 250 ms$/, 'Redis commands': /^ok/ })
})

t.test('a data folder that is missing, cannot be created, is open to others, or has a bad file is found', async (t) => {
  const dir = dataDir(t)
  const at = async (path: string) => (await findings({ DATA_DIR: path })).DATA_DIR
  t.match(await at(dir), /^ok/)
  chmodSync(dir, 0o755)
  t.match(await at(dir), /^fail: .*0755.*0700/)
  t.match(await at(join(dir, 'new')), /^warn: .*does not exist yet/)
  t.match(await at(join(dir, 'new', 'deeper')), /^warn: .*does not exist yet/)
  symlinkSync(join(dir, 'new'), join(dir, 'link'))
  t.match(await at(join(dir, 'link')), /^fail: .*a link that leads nowhere/)
  rmSync(join(dir, 'link'))
  writeFileSync(join(dir, 'file'), '')
  for (const path of ['/proc/nope', '/proc/nope/deeper', join(dir, 'file', 'data')])
    t.match(await at(path), /^fail: .*cannot be created/)
  t.match(await at('/proc/self'), /^fail: .*not writable; this process is user \d+: make it the owner$/)
  t.same(readdirSync(dir), ['file'], 'nothing is left behind')
  chmodSync(dir, 0o700)
  const file = join(dir, 'keys.mdb')
  writeFileSync(file, 'nonsense', { mode: 0o600 })
  t.match(await at(dir), /^warn: .*not checked/)
  writeFileSync(`${file}-lock`, '', { mode: 0o600 })
  t.match(await at(dir), /^fail: .*keys.mdb is damaged/)
  truncateSync(file)
  t.match(await at(dir), /^ok/)
  chmodSync(file, 0o644)
  t.match(await at(dir), /^fail: .*0644.*0600/)
  rmSync(file)
  mkdirSync(file, 0o700)
  t.match(await at(dir), /^fail: EISDIR/)
})

t.test('a full disk and a read-only one are found, and one of any size is not full', { skip: withoutMount() }, (t) => {
  const script = 'mount -t tmpfs -o mode=700,size=$1 tmpfs /mnt && OPS_PORT=off DATA_DIR=$2 "$3" "$4" check'
  const checkOn = (size: string, folder = '/mnt') =>
    mounting(script, 'sh', size, folder, process.execPath, program('main.js'))
  for (const size of ['4k', '200k'])
    t.match(checkOn(size), {
      status: 1,
      stdout: /^ok +DATA_DIR .*\nfail +disk +full: .* neither created nor revoked$/m,
    })
  t.match(checkOn('4k', '/mnt/new/folder'), {
    status: 1,
    stdout: /^fail +disk +full: .* neither created nor revoked$/m,
  })
  const readOnly = script.replace('mode=', 'ro,mode=')
  const found = mounting(readOnly, 'sh', '1m', '/mnt', process.execPath, program('main.js'))
  t.match(found, { status: 1, stdout: /^fail +DATA_DIR +\/mnt is not writable; EROFS: read-only file system/m })
  t.match(checkOn('1m'), { status: 0, stdout: /^warn +disk +less than 64 MB free/m })
  const ofAnySize = checkOn('0')
  t.equal(ofAnySize.status, 0)
  t.notMatch(ofAnySize.stdout, 'disk')
  t.end()
})

t.test('a Redis that would lose API keys is found', { skip: withoutRedis }, async (t) => {
  const { server, tlsUrl } = await tlsRedis(t)
  const untrusted = await findings({ REDIS_URL: tlsUrl })
  t.match(untrusted.Redis, /^fail: cannot be used: self-signed certificate.*: set NODE_EXTRA_CA_CERTS/)
  const found = () => findings({ REDIS_URL: server.url })
  t.match(await found(), { Redis: /^ok: version \d/, 'Redis eviction': /^ok/, 'Redis persistence': /^fail: none/ })
  await server.command('config', 'set', 'maxmemory-policy', 'allkeys-lru')
  await server.command('config', 'set', 'save', '900 1')
  t.match(await found(), { 'Redis eviction': /^fail: .*allkeys-lru/, 'Redis persistence': /^warn: snapshots/ })
  await server.command('config', 'set', 'min-replicas-to-write', '1')
  t.match(await found(), { 'Redis commands': /^fail: NOREPLICAS[^:]+: SET gps:count:\*,.* HSET gps:key:\*/ })
  await server.command('config', 'set', 'appendonly', 'yes')
  await server.command('acl', 'setuser', 'uninformed', 'on', '>invented', '~gps:*', '+@all', '-info')
  const asUninformed = await findings({ REDIS_URL: server.url.replace('//', '//uninformed:invented@') })
  t.match(asUninformed, { 'Redis persistence': /^warn: unknown/ }, 'no verdict without the right to INFO')
  await server.command('replicaof', '127.0.0.1', '1')
  const replica = { 'Redis persistence': /^ok: append-only/, 'Redis role': /^fail: .* no API key can be used,/ }
  t.match(await found(), { ...replica, 'Redis commands': /^fail: READONLY[^:;]+: SET gps:count:\*,[^;]+$/ })
  const encrypted = await findings({ REDIS_URL: server.url.replace('redis:', 'rediss:') })
  const late = 'no reply in time, or it is still loading its data, or the server expects no TLS'
  t.equal(encrypted.Redis, `fail: cannot be used: ${late}`)
  await server.stop()
  const away = report(await check({ REDIS_URL: server.url.replace('//', '//:a-password@') }))
  t.match(away, /^fail +Redis +cannot be used/m)
  t.notMatch(away, /a-password/)
  t.notMatch(away, /Redis TLS/, 'no verdict on what was not reached')
})

t.test('a cluster named by one node, or lacking slots or a master, is found', { skip: withoutRedis }, async (t) => {
  const { url, nodes } = await redisCluster(t)
  t.match(await findings({ REDIS_URL: url }), { 'Redis commands': /^ok/ })
  t.match(await findings({ REDIS_URL: url.split(',')[0] ?? '' }), { Redis: /^fail: is a node of a cluster/ })
  const least = ['acl', 'setuser', 'least', 'on', '>invented', '~gps:*', '+@all', '-asking']
  await Promise.all(nodes.map((node) => node.command(...least)))
  const asLeast = { REDIS_URL: url.replaceAll('//', '//least:invented@') }
  t.match(await findings(asLeast), { 'Redis commands': /^fail: the ACL denies ASKING / })
  await Promise.all(nodes.map((node) => node.command('cluster', 'delslots', '0')))
  const info = () => Promise.all(nodes.map((node) => node.command('cluster', 'info')))
  await until(async () => (await info()).every((text) => text.includes('cluster_state:fail')))
  t.match(await findings({ REDIS_URL: url }), { Redis: /^fail: cannot be used: .*not all slots/ })
  await Promise.all(nodes.map((node) => node.command('config', 'set', 'cluster-require-full-coverage', 'no')))
  await until(async () => (await info()).every((text) => text.includes('cluster_state:ok')))
  await nodes[2]!.stop()
  // Until the others agree on that, a busy machine may make them doubt each other, too, and serve nothing.
  const survivors = () => Promise.all(nodes.slice(0, 2).map((node) => node.command('cluster', 'info')))
  await until(async () => (await survivors()).every((text) => /cluster_state:ok.*cluster_slots_fail:[1-9]/s.test(text)))
  const dead = new RegExp(`^fail: cannot be used: 127.0.0.1:${nodes[2]!.port}: `)
  t.match(await findings({ REDIS_URL: url }), { Redis: dead })
})

t.test('Redis without TLS is accepted on private addresses only', async (t) => {
  const verdict = (host: string) => encryption(`redis://${host}:6379`).verdict
  const names = ['localhost', 'redis', 'redis.internal']
  const near = ['127.0.0.1', '10.1.2.3', '192.168.1.2', '172.16.0.1', '172.31.9.9']
  const near6 = ['[::1]', '[fc00::1]', '[FD12:3456::1]', '[fe80::1]']
  for (const host of [...names, ...near, ...near6]) t.equal(verdict(host), 'ok', host)
  const far = [
    'redis.example.com',
    '10.example.com',
    '192.168.example.com',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '[2001:db8::1]',
    '[fc::1]',
    '[::2]',
  ]
  for (const host of far) t.equal(verdict(host), 'warn', host)
  t.equal(encryption('rediss://redis.example.com').verdict, 'ok')
})
