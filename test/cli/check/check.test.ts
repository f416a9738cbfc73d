/** The preflight check finds and names each problem, prints no credential, and has a reliable exit code. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import t from 'tap'
import { check } from '../../../src/cli/check/check.js'
import { report } from '../../../src/cli/check/finding.js'
import { memory } from '../../../src/cli/check/settings.js'
import { certificate, nowhere } from '../../faults.js'
import { type Bodies, platform, sandbox, someHash } from '../../helper.js'
import { only } from '../../only.js'
import { GatewayProcess } from '../../process.js'
import { portOf } from '../../redis.js'
import { dataDir, findings, settingsIn } from './findings.js'

/** A sandbox for all of the file, and a deployment on it. */
const { url, hashes } = await sandbox(t)
const [hash = ''] = hashes
const env = { PLATFORM_URL: url, DATA_DIR: dataDir(t) }

/** The findings about a platform. */
const on = async (bodies: Bodies, more: Record<string, string> = { PLATFORM_HASH: someHash }) =>
  findings({ ...env, PLATFORM_URL: (await platform(t, bodies)).url, ...more })

t.test('a sound deployment has nothing to fix', async (t) => {
  const https = { PUBLIC_URL: 'https://fleet.example.com/api', TRUST_PROXY: '1' }
  const text = report(await check({ ...env, PLATFORM_HASH: hash, ...https }))
  t.match(text, /^(ok|warn) +platform get_devices +\d+ ms$/m)
  t.match(text, /\n\n0 to fix, \d+ to consider$/)
  t.notOk(text.includes(hash), 'the hash is not printed')
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
    ['TRUST_PROXY', https, /^warn: no proxy trusted/],
    ['DEMO_TOKEN', { DEMO_TOKEN: 'Demo-of-the-whole-fleet' }, /^warn: easily guessed/],
    ['DEMO_TOKEN', { DEMO_TOKEN: 'k7Qz-short' }, /^warn: easily guessed/],
    ['DEMO_TOKEN', { DEMO_TOKEN: 'k7Qz-9fW2-xx04' }, /^ok/],
    ['PUBLIC_URL', {}, /^warn: .*lead nowhere/],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://fleet.example.com' }, /^warn: .*lead nowhere without \/api/],
    ['PUBLIC_URL', { PUBLIC_URL: 'http://fleet.example.com/api' }, /^warn: .*unencrypted/],
    ['GATEWAY_CLOCK', { GATEWAY_CLOCK: '2026-05-12T09:30:00Z' }, /^fail: the clock is fixed/],
  ]
  for (const [name, env, finding] of cases) {
    t.match(settingsIn({ ...env, PLATFORM_URL: 'https://tracker.example.com/api' })[name], finding)
  }
  const onSandbox = settingsIn({ DEMO_TOKEN: 'demo', GATEWAY_CLOCK: '2026-05-12T09:30:00Z' })
  t.match(onSandbox, { PUBLIC_URL: /^ok/, DEMO_TOKEN: /^ok/, GATEWAY_CLOCK: undefined })
})

t.test('a container that the heap may fill is found', async (t) => {
  const mb = (n: number) => n * 1024 ** 2
  for (const [heap, limit] of [
    [259, 512],
    [96, 256],
    [4_144, 2 ** 44],
  ] as const)
    t.same(memory(mb(heap), mb(limit)), [], `${heap} of ${limit}`)
  for (const unknown of [0, undefined]) t.same(memory(mb(259), unknown), [])
  for (const limit of [256, 384])
    t.match(memory(mb(259), mb(limit)), only({ verdict: 'warn', text: `${limit} MB, of which` }))
})

t.test('lookups of addresses are tried with the hash of an account', async (t) => {
  const looking = { ...env, ADDRESS_LOOKUPS_PER_MINUTE: '60' }
  t.match((await findings(env)).addresses, /^ok: not looked up/)
  t.match((await findings(looking)).addresses, /^warn: at most 60 lookups a minute, not tried/)
  t.match((await findings({ ...looking, PLATFORM_HASH: hash })).addresses, /^ok: at most 60 lookups a minute$/)
  const broken = await on({}, { ADDRESS_LOOKUPS_PER_MINUTE: '60', PLATFORM_HASH: someHash })
  t.match(broken.addresses, /^warn: .*addresses stay null/)
})

t.test('a platform that is away, slow, another service, or in another time is recognized', async (t) => {
  const at = (url: string) => findings({ ...env, PLATFORM_URL: url })
  const behind = (listener: RequestListener | string, more = {}) => on({ '*': listener }, more)
  const refusal = (status: number, body: string, headers = {}): RequestListener => {
    return (_, response) => response.writeHead(status, headers).end(body)
  }
  const foreign = /^fail: refuses.* but not as the platform does/
  const refuse = refusal(401, '{"status":0,"error":"Unauthorized"}')
  const late = behind((request, response) => {
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString())
    setTimeout(() => refuse(request, response), 1_100)
  })
  const cases: [found: ReturnType<typeof at>, finding: RegExp][] = [
    [at('http://127.0.0.1:1/api'), /^fail: .*ECONNREFUSED/],
    [at(`https://${nowhere}/api`), /^fail: cannot be reached/],
    [on({}, {}), /^fail: accepts an invented hash/],
    [behind('<html>'), /^fail: .*PLATFORM_URL/],
    [behind(() => {}, { PLATFORM_TIMEOUT_MS: '1500' }), /^fail: no response in time/],
    [behind(refusal(401, '')), foreign],
    [behind(refusal(401, '<html>Authorization Required')), foreign],
    [behind(refusal(403, '<h1>cloudflare</h1>')), foreign],
    [behind(refusal(403, '{"message":"Forbidden"}')), foreign],
    [behind(refusal(302, '', { location: '/login' })), foreign],
  ]
  for (const [found, finding] of cases) t.match((await found).platform, finding)
  t.match((await behind(refuse)).clock, /^ok: [01] s apart/)
  t.match(await late, { platform: /^warn: responds as expected, in \d{4,} ms/, clock: /^fail: 3[56]\d\d s apart/ })
})

t.test('no hash is sent to a platform whose certificate is not trusted or not valid; why is told', async (t) => {
  const { key, cert } = certificate(t.testdir({}), 'DNS:other.example')
  const sent: unknown[] = []
  const onRequest: RequestListener = (request) => sent.push(request.url)
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, onRequest).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const settings = { ...env, PLATFORM_URL: `https://127.0.0.1:${portOf(server)}/api` }
  const untrusted = await findings(settings)
  const finding = 'fail: its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): set NODE_EXTRA_CA_CERTS'
  t.match(untrusted.platform, finding)
  const trusting = new GatewayProcess(t, ['check'], { ...settings, NODE_EXTRA_CA_CERTS: cert })
  t.equal(await trusting.exited, 1)
  t.match(trusting.log, /^fail +platform +its certificate is not valid \(ERR_TLS_CERT_ALTNAME_INVALID\)$/m)
  t.same(sent, [])
})

t.test('each action is tried with the hash of an account', async (t) => {
  const get_alerts: RequestListener = (_, response) => response.writeHead(403).end('{"message":"No permission"}')
  const found = await on({ get_devices: [], get_events: { something: 'else' }, get_alerts })
  t.match(found['platform get_devices'], /^(ok: \d{1,3}|warn: \d{4,}) ms$/)
  t.match(found['platform get_alerts'], /^warn: the account lacks the permission/)
  t.match(found['platform services'], /^warn: missing on this platform/)
  t.match(found['platform get_events'], 'fail: unusable response: wrong_shape (fields: something)')
  // An invented hash is refused, or the whole platform would be missing.
  const get_user_data: RequestListener = ({ url = '' }, response) =>
    response.writeHead(url.includes(encodeURIComponent(someHash)) ? 404 : 401).end('{"error":"Unauthorized"}')
  const bare = await on({ get_user_data })
  t.match(bare['platform get_user_data'], 'fail: has no action get_user_data: is PLATFORM_URL its API base?')
  t.match(bare['platform get_devices'], 'fail: has no action get_devices: is PLATFORM_URL its API base?')
  t.match(bare['platform get_geofences'], /^warn: missing on this platform/)
})

t.test('an account whose Unix times are its wall clock is found', async (t) => {
  const cases: [aheadS: number, times: RegExp][] = [
    [19_802, /^warn: Unix times are the wall clock/],
    [7_200, /^warn: devices with a time in the future: 1/],
    [-60, /^ok/],
  ]
  for (const [aheadS, times] of cases) {
    const timestamp = Math.floor(Date.now() / 1000) + aheadS
    const edit_setup_data = { item: { timezone_id: 79 }, timezones: [] }
    const found = await on({ get_devices: [{ items: [{ id: 1, timestamp }] }], edit_setup_data })
    t.match(found['platform times'], times)
  }
})

t.test('a refused hash is one failure, and what was not tried is not ok', async (t) => {
  const refused = await check({ ...env, ADDRESS_LOOKUPS_PER_MINUTE: '60', PLATFORM_HASH: someHash })
  const failed = refused.filter(({ verdict }) => verdict === 'fail')
  t.match(failed, { length: 1, 0: { name: 'PLATFORM_HASH', text: /refuses it/ } })
  t.notOk(refused.some(({ name }) => /^(platform (get_|times)|addresses)/.test(name)))
  const refuse: RequestListener = (_, response) => response.writeHead(401).end('{"status":0,"error":"Unauthorized"}')
  const later = await on({ get_devices: [], get_alerts: refuse })
  t.match(later.PLATFORM_HASH, /^fail: the platform refuses it on get_alerts/)
  t.match(later['platform get_devices'], /ms$/, 'what worked before is shown')
  t.match((await findings(env))['platform actions'], /^warn: not tried/)
  const away = await check({ ...env, PLATFORM_URL: 'http://127.0.0.1:1/api', PLATFORM_HASH: someHash })
  const ofPlatform = away.filter(({ name }) => /^(clock|platform)/.test(name))
  t.match(ofPlatform, { length: 1, 0: { name: 'platform', verdict: 'fail' } }, 'an outage is one failure')
})

t.test('a misspelt variable is found, and a name of something else is not', async (t) => {
  const wrong = {
    ...{ PLATFROM_URL: 'PLATFORM_URL', platform_url: 'PLATFORM_URL', LOGLEVEL: 'LOG_LEVEL', REDIS_URI: 'REDIS_URL' },
    ...{ PROT: 'PORT', POSITION_TTL: 'POSITION_TTL_MS', RATE_LIMIT_WINDOW: 'RATE_LIMIT_WINDOW_S' },
  }
  const right = 'POST SORT PORTS HOSTS DB_PORT PATH HOME HOSTNAME PWD NODE_ENV SHELL DATA_DIR'.split(' ')
  const found = settingsIn({ ...wrong, ...Object.fromEntries(right.map((name) => [name, ''])) })
  for (const [name, meant] of Object.entries(wrong)) t.equal(found[name], `warn: is ignored: is ${meant} meant?`)
  for (const name of right) t.notMatch(found[name] ?? '', /meant/)
})

// That it is 0 for a sound deployment: every command of the README is run as pasted.
t.test('the exit code is 1 when something needs fixing', async (t) => {
  const child = new GatewayProcess(t, ['--check'], { ...env, PLATFORM_URL: 'http://127.0.0.1:1/api' })
  t.equal(await child.exited, 1)
  t.match(child.log, /^fail +platform /m)
})
