/** The check of a deployment: it finds what is wrong, names it, prints no credential, and its exit code can be relied on. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { check, table } from '../../src/cli/check/check.js'
import { answers, platform, sandbox, someHash } from '../helper.js'
import { GatewayProcess } from '../process.js'
import { redisServer, withoutRedis } from '../redis.js'

/** A folder as the gateway would make it. */
function dataDir(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'gateway-'))
  chmodSync(dir, 0o700)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Verdict and text by the name of the check. */
async function found(env: Record<string, string>): Promise<Record<string, string>> {
  return Object.fromEntries((await check(env)).map(({ name, verdict, text }) => [name, `${verdict}: ${text}`]))
}

t.test('a sound deployment has nothing to fix', async (t) => {
  const { url, hashes } = await sandbox(t)
  const findings = await check({
    PLATFORM_URL: url,
    PLATFORM_HASH: hashes[0] ?? '',
    PUBLIC_URL: 'https://fleet.example.com/api',
    TRUST_PROXY: '1',
    DATA_DIR: dataDir(t),
  })
  t.same(
    findings.filter(({ verdict }) => verdict === 'fail'),
    [],
  )
  const text = table(findings)
  t.match(text, /^(ok|warn) +platform get_devices +(took )?\d+ ms$/m)
  t.notOk(text.includes(hashes[0] ?? ''), 'the hash is not printed')
})

t.test('every problem of the configuration is a line of its own', async (t) => {
  const text = table(await check({ PORT: 'many', TRUST_PROXY: 'true', REDIS_URL: 'http://x' }))
  for (const name of ['PORT', 'TRUST_PROXY', 'REDIS_URL'])
    t.match(text, new RegExp(`^fail +configuration +${name} `, 'm'))
})

t.test('what is valid and still unwise is told', async (t) => {
  const { url } = await sandbox(t)
  const env = { PLATFORM_URL: url, DATA_DIR: dataDir(t) }
  const careless = await found({ ...env, PUBLIC_URL: 'https://fleet.example.com/api', DEMO_TOKEN: 'demo' })
  t.match(careless.TRUST_PROXY, /^warn: unset/)
  t.match(careless.DEMO_TOKEN, /^warn: easily guessed/)
  t.match((await found(env)).PUBLIC_URL, /^warn: .*lead nowhere/)
  t.match((await found({ ...env, PUBLIC_URL: 'http://fleet.example.com/api' })).PUBLIC_URL, /^warn: .*unencrypted/)
})

t.test('a platform that is away, is none, is slow or lives in another time is told apart', async (t) => {
  const env = { DATA_DIR: dataDir(t), PLATFORM_TIMEOUT_MS: '1500' }
  const told = async (listener: RequestListener) => found({ ...env, PLATFORM_URL: (await platform(t, listener)).url })
  t.match((await found({ ...env, PLATFORM_URL: 'http://127.0.0.1:1/api' })).platform, /^fail: .*ECONNREFUSED/)
  t.match((await found({ ...env, PLATFORM_URL: 'https://nowhere.invalid/api' })).platform, /^fail: cannot be reached/)
  t.match((await told(answers({}))).platform, /^fail: let a made-up hash in/)
  t.match((await told((_, response) => response.end('<html>'))).platform, /^fail: .*PLATFORM_URL/)
  t.match((await told(() => {})).platform, /^fail: no answer in time/)
  const refuse: RequestListener = (_, response) => response.writeHead(401).end()
  t.match((await told(refuse)).clock, /^ok: [01] s apart/)
  const late = await told((request, response) => {
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString())
    setTimeout(() => refuse(request, response), 1_100)
  })
  t.match(late.platform, /^warn: answers as expected, but took 1\d{3} ms/)
  t.match(late.clock, /^fail: 3[56]\d\d s apart/)
})

t.test('each action is tried with the hash of an account', async (t) => {
  const { url } = await platform(t, (request, response) => {
    if (request.url?.includes('get_alerts')) response.writeHead(403).end()
    else if (request.url?.includes('get_events')) response.end('{"something":"else"}')
    else answers({ get_devices: [], get_geofences: { items: [] } })(request, response)
  })
  const told = await found({ PLATFORM_URL: url, PLATFORM_HASH: someHash, DATA_DIR: dataDir(t) })
  t.match(told['platform get_devices'], /^ok/)
  t.match(told['platform get_alerts'], /^warn: the account lacks the permission/)
  t.match(told['platform services'], /^warn: unknown to this platform/)
  t.match(told['platform get_events'], /^fail: answers unusably: wrong_shape/)
})

t.test('a data folder that others can read, or that is none, is told', async (t) => {
  const dir = dataDir(t)
  t.match((await found({ DATA_DIR: dir })).DATA_DIR, /^ok/)
  chmodSync(dir, 0o755)
  t.match((await found({ DATA_DIR: dir })).DATA_DIR, /^fail: .*0755.*0700/)
  t.match((await found({ DATA_DIR: join(dir, 'new') })).DATA_DIR, /^warn: .*does not exist yet/)
  t.match((await found({ DATA_DIR: join(dir, 'no', 'way') })).DATA_DIR, /^fail: .*cannot be made/)
})

t.test('a Redis that would lose API keys is told', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const env = { REDIS_URL: `${server.url}` }
  const bare = await found(env)
  t.match(bare.Redis, /^ok: version \d/)
  t.match(bare['Redis eviction'], /^ok: noeviction/)
  t.match(bare['Redis persistence'], /^fail: none/)
  await server.command('config', 'set', 'maxmemory-policy', 'allkeys-lru')
  await server.command('config', 'set', 'save', '900 1')
  const leaky = await found(env)
  t.match(leaky['Redis eviction'], /^fail: .*allkeys-lru/)
  t.match(leaky['Redis persistence'], /^warn: snapshots/)
  await server.command('config', 'set', 'appendonly', 'yes')
  t.match((await found(env))['Redis persistence'], /^ok: append-only/)
  await server.command('replicaof', '127.0.0.1', '1')
  t.match((await found(env))['Redis role'], /^fail: a replica/)
  await server.stop()
  const away = table(await check({ REDIS_URL: server.url.replace('//', '//:a-password@') }))
  t.match(away, /^fail +Redis +cannot be reached/m)
  t.notMatch(away, /a-password/)
  t.match((await found({ REDIS_URL: 'redis://cache.example.com:1' }))['Redis TLS'], /^warn/)
})

t.test('the exit code is 1 when something is to be fixed, else 0', async (t) => {
  const dir = dataDir(t)
  const run = async (env: Record<string, string>) => {
    const child = new GatewayProcess(['--check'], { DATA_DIR: dir, ...env })
    return { code: await child.exited, log: child.log }
  }
  const [sound, broken] = await Promise.all([run({}), run({ PLATFORM_URL: 'http://127.0.0.1:1/api' })])
  t.equal(sound.code, 0, sound.log)
  t.match(sound.log, /0 to fix/)
  t.equal(broken.code, 1)
  t.match(broken.log, /^fail +platform /m)
})
