/** The preflight check finds and names each problem, prints no credential, and has a reliable exit code. */
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { check } from '../../src/cli/check/check.js'
import { type Finding, report } from '../../src/cli/check/finding.js'
import { settings } from '../../src/cli/check/settings.js'
import { encryption } from '../../src/cli/check/store.js'
import { readConfig } from '../../src/config.js'
import { answers, platform, sandbox, someHash } from '../helper.js'
import { GatewayProcess } from '../process.js'
import { portOf, redisCluster, redisServer, until, withoutRedis } from '../redis.js'

/** A folder as the gateway creates it. */
function dataDir(t: Test): string {
  const dir = t.testdir({})
  chmodSync(dir, 0o700)
  return dir
}

/** Verdict and text of each finding by its name. */
const byName = (all: Finding[]): Record<string, string> =>
  Object.fromEntries(all.map(({ name, verdict, text }) => [name, `${verdict}: ${text}`]))
const findings = async (env: Record<string, string>) => byName(await check(env))
const settingsIn = (env: Record<string, string>) => byName(settings(readConfig(env), Object.keys(env)))

t.test('a sound deployment has nothing to fix', async (t) => {
  const { url, hashes } = await sandbox(t)
  const env = { PLATFORM_URL: url, PLATFORM_HASH: hashes[0] ?? '', DATA_DIR: dataDir(t) }
  const found = await check({ ...env, PUBLIC_URL: 'https://fleet.example.com/api', TRUST_PROXY: '1' })
  const failed = found.filter(({ verdict }) => verdict === 'fail')
  t.same(failed, [])
  t.match(report(found), /^(ok|warn) +platform get_devices +\d+ ms$/m)
  t.match(report(found), /\n\n0 to fix, \d+ to consider$/)
  t.notOk(report(found).includes(hashes[0] ?? ''), 'the hash is not printed')
})

t.test('every problem of the configuration is a line of its own', async (t) => {
  const text = report(await check({ PORT: 'many', TRUST_PROXY: 'true', REDIS_URL: 'http://x' }))
  for (const name of ['PORT', 'TRUST_PROXY', 'REDIS_URL']) {
    t.match(text, new RegExp(`^fail +configuration +${name} `, 'm'))
  }
})

t.test('settings that are valid and still unwise are found, with a real platform only', async (t) => {
  const https = { PUBLIC_URL: 'https://fleet.example.com/api' }
  const cases: [name: string, env: Record<string, string>, finding: RegExp][] = [
    ['TRUST_PROXY', https, /^warn: unset/],
    ['DEMO_TOKEN', { DEMO_TOKEN: 'Demo-of-the-whole-fleet' }, /^warn: easily guessed/],
    ['DEMO_TOKEN', { DEMO_TOKEN: 'k7Qz-short' }, /^warn: easily guessed/],
    ['DEMO_TOKEN', { DEMO_TOKEN: 'k7Qz-9fW2-xx04' }, /^ok/],
    ['PUBLIC_URL', {}, /^warn: .*lead nowhere/],
    ['PUBLIC_URL', { PUBLIC_URL: 'http://fleet.example.com/api' }, /^warn: .*unencrypted/],
    ['GATEWAY_CLOCK', { GATEWAY_CLOCK: '2026-05-12T09:30:00Z' }, /^fail: the clock is fixed/],
  ]
  for (const [name, env, finding] of cases) {
    t.match(settingsIn({ ...env, PLATFORM_URL: 'https://tracker.example.com/api' })[name], finding)
  }
  const onSandbox = settingsIn({ DEMO_TOKEN: 'demo', GATEWAY_CLOCK: '2026-05-12T09:30:00Z' })
  t.match(onSandbox, { PUBLIC_URL: /^ok/, DEMO_TOKEN: /^ok/, GATEWAY_CLOCK: undefined })
})

t.test('lookups of addresses are tried with the hash of an account', async (t) => {
  const { url, hashes } = await sandbox(t)
  const env = { PLATFORM_URL: url, DATA_DIR: dataDir(t) }
  const looking = { ...env, ADDRESS_LOOKUPS_PER_MINUTE: '60' }
  t.match((await findings(env)).addresses, /^ok: not looked up/)
  t.match((await findings(looking)).addresses, /^ok: at most 60 lookups a minute, not tried/)
  const tried = await findings({ ...looking, PLATFORM_HASH: hashes[0] ?? '' })
  t.match(tried.addresses, /^ok: at most 60 lookups a minute$/)
  t.match((await findings({ ...looking, PLATFORM_HASH: 'refused' })).addresses, /^warn: .*addresses stay null/)
})

t.test('a platform that is away, slow, another service, or in another time is recognized', async (t) => {
  const env = { DATA_DIR: dataDir(t), PLATFORM_TIMEOUT_MS: '1500' }
  const at = (url: string) => findings({ ...env, PLATFORM_URL: url })
  const behind = async (listener: RequestListener) => at((await platform(t, listener)).url)
  const cases: [found: ReturnType<typeof at>, finding: RegExp][] = [
    [at('http://127.0.0.1:1/api'), /^fail: .*ECONNREFUSED/],
    [at('https://nowhere.invalid/api'), /^fail: cannot be reached/],
    [behind(answers({})), /^fail: accepts an invented hash/],
    [behind((_, response) => response.end('<html>')), /^fail: .*PLATFORM_URL/],
    [behind(() => {}), /^fail: no response in time/],
  ]
  const refuse: RequestListener = (_, response) => response.writeHead(401).end('{"status":0,"error":"Unauthorized"}')
  for (const [status, body, location] of [
    [401, '', ''],
    [401, '<html>Authorization Required', ''],
    [403, '<h1>cloudflare</h1>', ''],
    [403, '{"message":"Forbidden"}', ''],
    [302, '', '/login'],
  ] as const) {
    const foreign = behind((_, response) => response.writeHead(status, location ? { location } : {}).end(body))
    cases.push([foreign, /^fail: refuses.* but not as the platform does/])
  }
  for (const [found, finding] of cases) t.match((await found).platform, finding)
  t.match((await behind(refuse)).clock, /^ok: [01] s apart/)
  const late = await behind((request, response) => {
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString())
    setTimeout(() => refuse(request, response), 1_100)
  })
  t.match(late.platform, /^warn: responds as expected, in 1\d{3} ms/)
  t.match(late.clock, /^fail: 3[56]\d\d s apart/)
})

t.test('each action is tried with the hash of an account', async (t) => {
  const { url } = await platform(t, (request, response) => {
    if (request.url?.includes('get_alerts')) response.writeHead(403).end('{"message":"No permission"}')
    else if (request.url?.includes('get_events')) response.end('{"something":"else"}')
    else answers({ get_devices: [], get_geofences: { items: [] } })(request, response)
  })
  const found = await findings({ PLATFORM_URL: url, PLATFORM_HASH: someHash, DATA_DIR: dataDir(t) })
  t.match(found['platform get_devices'], /^ok/)
  t.match(found['platform get_alerts'], /^warn: the account lacks the permission/)
  t.match(found['platform services'], /^warn: missing on this platform/)
  t.match(found['platform get_events'], 'fail: unusable response: wrong_shape (fields: something)')
})

t.test('an account whose Unix times are its wall clock is found', async (t) => {
  const timesOf = async (aheadS: number): Promise<string | undefined> => {
    const timestamp = Math.floor(Date.now() / 1000) + aheadS
    const edit_setup_data = { item: { timezone_id: 79 }, timezones: [] }
    const { url } = await platform(t, answers({ get_devices: [{ items: [{ id: 1, timestamp }] }], edit_setup_data }))
    const found = await findings({ PLATFORM_URL: url, PLATFORM_HASH: someHash, DATA_DIR: dataDir(t) })
    return found['platform times']
  }
  t.match(await timesOf(19_802), /^warn: Unix times are the wall clock/)
  t.match(await timesOf(7_200), /^warn: devices with a time in the future: 1/)
  t.match(await timesOf(-60), /^ok/)
})

t.test('a refused hash is one failure, and what was not tried is not ok', async (t) => {
  const { url } = await sandbox(t)
  const env = { PLATFORM_URL: url, DATA_DIR: dataDir(t) }
  const refused = await check({ ...env, PLATFORM_HASH: someHash })
  t.match(
    refused.filter(({ verdict }) => verdict === 'fail'),
    [{ name: 'PLATFORM_HASH', text: /refuses it/ }],
  )
  t.notOk(refused.some(({ name }) => name.startsWith('platform get_')))
  t.match((await findings(env))['platform actions'], /^warn: not tried/)
  const away = await check({ ...env, PLATFORM_URL: 'http://127.0.0.1:1/api', PLATFORM_HASH: someHash })
  t.same(
    away.filter(({ name }) => /^(clock|platform)/.test(name)).map(({ name, verdict }) => [name, verdict]),
    [['platform', 'fail']],
    'an outage is one failure',
  )
})

t.test('a misspelt variable is found, and a name of something else is not', async (t) => {
  const wrong = {
    PLATFROM_URL: 'PLATFORM_URL',
    platform_url: 'PLATFORM_URL',
    LOGLEVEL: 'LOG_LEVEL',
    REDIS_URI: 'REDIS_URL',
    PROT: 'PORT',
  }
  const right = { PATH: '', HOME: '', HOSTNAME: '', PWD: '', NODE_ENV: '', SHELL: '', DATA_DIR: '' }
  const found = settingsIn({ ...wrong, ...right })
  for (const [name, meant] of Object.entries(wrong)) t.equal(found[name], `warn: is ignored: is ${meant} meant?`)
  for (const name of Object.keys(right)) t.notMatch(found[name] ?? '', /meant/)
})

t.test('a Redis user without a right that the gateway needs is found', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const cases: [rights: string, commands: RegExp, role?: RegExp][] = [
    ['~gps:* +@all', /^ok: each command of the gateway was tried$/],
    ['~gps:* +@all -hdel -incr', /^fail: .*INCR gps:count:\*.*HDEL gps:owner:\*/],
    ['~gps:key:* ~gps:id:* ~gps:owner:* +@all', /^fail: .*SET gps:count:\*/],
    ['~gps:* +@all -@scripting', /^fail: .*EVAL/],
    ['~gps:* +@all -scan', /^fail: the ACL denies SCAN gps:key:\*$/],
    ['~gps:* +@all -info -config', /^ok/, /^warn: unknown/],
  ]
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
  const old = createServer((socket) => {
    const upstream = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.setEncoding('latin1').on('data', (sent) => upstream.write(String(sent).replaceAll('PXAT', 'WHAT'), 'latin1'))
    upstream.pipe(socket).once('close', () => upstream.destroy())
  })
  old.listen(0, '127.0.0.1')
  await once(old, 'listening')
  t.teardown(() => old.close())
  const found = await findings({ REDIS_URL: `redis://127.0.0.1:${portOf(old)}` })
  t.equal(found['Redis commands'], 'fail: Redis 6.2 or newer is needed for SET gps:count:*, SET gps:id:*')
})

t.test(
  'a data folder that is missing, cannot be created, is open to other users, or has a bad file is found',
  async (t) => {
    const dir = dataDir(t)
    const at = async (path: string) => (await findings({ DATA_DIR: path })).DATA_DIR
    t.match(await at(dir), /^ok/)
    chmodSync(dir, 0o755)
    t.match(await at(dir), /^fail: .*0755.*0700/)
    t.match(await at(join(dir, 'new')), /^warn: .*does not exist yet/)
    t.match(await at(join(dir, 'new', 'deeper')), /^warn: .*does not exist yet/)
    writeFileSync(join(dir, 'file'), '')
    for (const path of ['/proc/nope', '/proc/nope/deeper', join(dir, 'file', 'data')])
      t.match(await at(path), /^fail: .*cannot be created/)
    t.match(await at('/proc/self'), /^fail: .*not writable/)
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
  },
)

t.test('a Redis that would lose API keys is found', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const found = () => findings({ REDIS_URL: server.url })
  t.match(await found(), { Redis: /^ok: version \d/, 'Redis eviction': /^ok/, 'Redis persistence': /^fail: none/ })
  await server.command('config', 'set', 'maxmemory-policy', 'allkeys-lru')
  await server.command('config', 'set', 'save', '900 1')
  t.match(await found(), { 'Redis eviction': /^fail: .*allkeys-lru/, 'Redis persistence': /^warn: snapshots/ })
  await server.command('config', 'set', 'min-replicas-to-write', '1')
  t.match(await found(), { 'Redis commands': /^fail: NOREPLICAS[^:]+: SET gps:count:\*,.* HSET gps:key:\*/ })
  await server.command('config', 'set', 'appendonly', 'yes')
  await server.command('replicaof', '127.0.0.1', '1')
  t.match(await found(), { 'Redis persistence': /^ok: append-only/, 'Redis role': /^fail: a replica/ })
  const encrypted = await findings({ REDIS_URL: server.url.replace('redis:', 'rediss:') })
  t.equal(encrypted.Redis, 'fail: cannot be used: no reply in time, or the server expects no TLS')
  await server.stop()
  const away = report(await check({ REDIS_URL: server.url.replace('//', '//:a-password@') }))
  t.match(away, /^fail +Redis +cannot be used/m)
  t.notMatch(away, /a-password/)
  t.notMatch(away, /Redis TLS/, 'no verdict on what was not reached')
})

t.test('a cluster that is named by one node only, or lacks slots, is found', { skip: withoutRedis }, async (t) => {
  const { url, nodes } = await redisCluster(t)
  t.match(await findings({ REDIS_URL: url }), { 'Redis commands': /^ok/ })
  t.match(await findings({ REDIS_URL: url.split(',')[0] ?? '' }), { Redis: /^fail: is a node of a cluster/ })
  await Promise.all(nodes.map((node) => node.command('cluster', 'delslots', '0')))
  const info = () => Promise.all(nodes.map((node) => node.command('cluster', 'info')))
  await until(async () => (await info()).every((text) => text.includes('cluster_state:fail')))
  t.match(await findings({ REDIS_URL: url }), { Redis: /^fail: cannot be used: .*not all slots/ })
})

// That it is 0 for a sound deployment: every command of the README is run as pasted.
t.test('the exit code is 1 when something needs fixing', async (t) => {
  const child = new GatewayProcess(['check'], { DATA_DIR: dataDir(t), PLATFORM_URL: 'http://127.0.0.1:1/api' })
  t.equal(await child.exited, 1)
  t.match(child.log, /^fail +platform /m)
})

t.test('Redis without TLS is accepted on private addresses only', async (t) => {
  const verdict = (host: string) => encryption(`redis://${host}:6379`).verdict
  const names = ['localhost', 'redis', 'redis.internal']
  const near = ['127.0.0.1', '10.1.2.3', '192.168.1.2', '172.16.0.1', '172.31.9.9']
  const near6 = ['[::1]', '[fc00::1]', '[FD12:3456::1]', '[fe80::1]']
  for (const host of [...names, ...near, ...near6]) t.equal(verdict(host), 'ok', host)
  const far = ['redis.example.com', '8.8.8.8', '172.15.0.1', '172.32.0.1', '[2001:db8::1]', '[fc::1]', '[::2]']
  for (const host of far) t.equal(verdict(host), 'warn', host)
  t.equal(encryption('rediss://redis.example.com').verdict, 'ok')
})
