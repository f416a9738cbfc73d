/** The command line for API keys, as a process beside a gateway on the same store. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { accountIdOf, ownerOf } from '../../src/auth/credential.js'
import { commands, NotFound, UsageError } from '../../src/cli/keys/commands.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { answers, embeddedStore, type Gateway, gateway, platform, someHash } from '../helper.js'
import { randomKey } from '../limits.js'
import { plainly, program } from '../program.js'
import { redisServer, withoutRedis } from '../redis.js'
import { aKey, embeddedPlace, NOW, type Place, redisPlace } from '../store/places.js'

const email = 'owner@example.com'

function keys(env: Record<string, string>, ...args: string[]) {
  return keysWith('', env, ...args)
}

async function keysWith(input: string, env: Record<string, string>, ...args: string[]) {
  // Those with input through the entry point, which takes twice as long to start.
  const [file, command] = input === '' ? ['cli/keys/main.js', []] : ['main.js', ['keys']]
  const child = fork(join(program(), file), [...command, ...args], plainly(env))
  // Most commands do not read it.
  child.stdin?.on('error', () => {}).end(input)
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout!), text(child.stderr!)])
  return { code, out, err }
}

const created = async ({ get }: Gateway, label: string): Promise<{ id: string; key: string }> => {
  const body = JSON.stringify({ platform_hash: someHash, label })
  const headers = { 'content-type': 'application/json' }
  return (await get('/v1/keys', undefined, { method: 'POST', body, headers })).body
}

t.test('works on the key file while a gateway runs', async (t) => operate(t, await embeddedPlace(t)))
t.test('works on Redis while a gateway runs', { skip: withoutRedis }, async (t) => operate(t, await redisPlace(t)))

async function operate(t: Test, { config, put, stored }: Place): Promise<void> {
  const env: Record<string, string> = config.redisUrl ? { REDIS_URL: config.redisUrl } : { DATA_DIR: config.dataDir }
  const { url } = await platform(t, answers({ get_devices: [] }))
  const store = await openStore(config, { clock: Date.now, onError: () => {}, onDamaged: () => {} })
  t.teardown(() => store.close())
  const running = await gateway(t, { env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '100' }, store })
  const [board, app, bad] = [
    await created(running, 'board'),
    await created(running, 'app'),
    await created(running, 'bad'),
  ]
  const me = ({ key }: { key: string }) => running.get('/v1/me', key)

  const limited = await keys(env, 'limit', board.id, '1000')
  t.match(limited, { code: 0, out: /1000/, err: '' })
  t.equal((await me(board)).headers.get('ratelimit-limit'), '1000', 'from the next request on')
  t.equal((await me(app)).headers.get('ratelimit-limit'), '100')

  const digest = await stored('id', [bad.id])
  await put('key', [digest], 'nonsense')
  const lists = [keys(env, 'list', email), keys(env, 'list', ' Owner@Example.com', '--json')] as const
  const [people, scripts] = await Promise.all(lists)
  t.match(people.out, /^ID +KEY +CREATED \(UTC\) +EXPIRES \(UTC\) +LAST USED \(UTC\) +LIMIT +LABEL\n/)
  const hint = `gps_live_${board.key.slice(9, 13)}…${board.key.slice(-4)}`
  t.match(people.out, new RegExp(`${board.id}  ${hint} .* 1000 +board`))
  const listed = JSON.parse(scripts.out).map(({ id, label, limit }: Record<string, unknown>) => [id, label, limit])
  t.same(listed, [
    [app.id, 'app', null],
    [board.id, 'board', 1000],
  ])
  const warning = `Skipped a damaged entry: key ${digest.slice(0, 8)}…\n`
  t.same([people.code, scripts.code, people.err, scripts.err], [0, 0, warning, warning])

  const account = accountIdOf('platform', email)
  const accounts = [keys(env, 'list'), keys(env, 'list', '--json')] as const
  const [allPeople, allScripts] = await Promise.all(accounts)
  t.match(allPeople.out, new RegExp(`^ACCOUNT +E-MAIL +KEYS\\n${account}  ${email} +2\\n$`))
  t.same(JSON.parse(allScripts.out), [{ account, email, keys: 2 }])
  t.match(running.log(), `"account":"${account}"`, 'as in the log')
  const leaked = await keysWith(`curl -H "Authorization: Bearer ${app.key}"\n`, env, 'find')
  t.match(leaked, { code: 0, out: new RegExp(`${app.id} .* app +${account}  ${email}\\n$`) })
  t.match(await keysWith(randomKey(), env, 'find'), { code: 1, out: '', err: /no active API key/ })

  const revoked = await keys(env, 'revoke', board.id)
  t.match(revoked, { code: 0, out: new RegExp(board.id) })
  t.same([(await me(board)).status, (await me(app)).status], [401, 200])
  const more = await created(running, 'more')
  const revokedByKey = await keys(env, 'revoke', more.key)
  t.match(revokedByKey, { code: 0, out: new RegExp(more.id) })
  t.equal((await me(more)).status, 401)
  const again = await keys(env, 'revoke', more.key)
  t.match(again, { code: 1, out: '', err: /no active API key/ })
  const unconfirmed = await keys(env, 'purge', email, '--json')
  t.match(unconfirmed, { code: 2, out: '', err: /1 API key of owner@example.com would be revoked.*--yes/ })
  t.equal((await me(app)).status, 200)
  const purged = await keys(env, 'purge', email, '--json', '--yes')
  t.same([purged.code, JSON.parse(purged.out)], [0, { email, revoked: 1 }])
  t.same([(await me(board)).status, (await me(app)).status], [401, 401])
  for (const { out, err } of [limited, people, scripts, allScripts, leaked, revoked, revokedByKey, again, purged]) {
    t.notMatch(out + err, /gps_live_[0-9a-f]{5}|v1\./, 'never a whole key, never a sealed hash')
  }
}

t.test('says what is wrong, and its exit code what kind of wrong', async (t) => {
  const dir = t.testdir({})
  const missing = join(dir, 'missing')
  const server = withoutRedis ? undefined : await redisServer(t)
  await server?.command('set', `gps:owner:${ownerOf(email)}`, 'text')
  const [help, none, option, folder, redis, environment, damaged] = await Promise.all([
    keys({}, '--help'),
    keys({}),
    keys({}, 'list', '--nonsense'),
    keys({ DATA_DIR: missing }, 'list', email),
    keys({ REDIS_URL: 'redis://:invented-pass@127.0.0.1:1' }, 'list', email),
    keys({ REDIS_URL: 'http://x', PORT: 'none' }, 'list', email),
    keys({ REDIS_URL: server?.url ?? '' }, 'list', email),
  ] as const)
  t.match(help, { code: 0, out: /purge <account e-mail>/, err: '' })
  for (const { usage, help: text, example } of Object.values(commands)) {
    for (const part of [usage, text, `Example: gps-fleet-gateway keys ${example}`]) t.ok(help.out.includes(part), part)
  }
  t.match(none, { code: 2, out: '', err: /limit <key-id> <requests per window>/ })
  t.match(option, { code: 2, out: '', err: /nonsense/ })
  t.match(folder, { code: 1, out: '', err: missing })
  t.same(readdirSync(dir), [], 'looking for a store does not create one')
  t.match(redis, { code: 1, out: '', err: /^Redis is unavailable: / })
  t.match(environment, { code: 1, out: '', err: /REDIS_URL/ })
  t.match(environment.err, /PORT/)
  if (server) t.match(damaged, { code: 1, out: '', err: /^gps:owner:\S{8}… is no hash in Redis\n$/ })
  for (const { err } of [none, option, folder, redis, environment]) t.notMatch(err, / at .*:\d+:\d+|invented-pass/)
})

/** Runs a command in this process, without input. */
const runOn =
  (store: Store) =>
  (name: string, ...args: string[]) =>
    commands[name]!.run({ store, args, now: NOW, isConfirmed: false, input: async () => '' })

t.test('a malformed command changes nothing', async (t) => {
  const store = await embeddedStore(t)
  const run = runOn(store)
  const { record } = aKey(ownerOf(email))
  await store.keys.create(record, 20, NOW)
  const limits = ['0', '-5', '1.5', 'many', '', '1e3', '99999999999'].map((limit) => ['limit', record.id, limit])
  const malformed = [
    ['list', 'not an e-mail'],
    ['list', email, 'more'],
    ['revoke'],
    ['purge', ''],
    ['purge', email],
    ['find', 'gps_live_0'],
    ['limit', record.id],
  ]
  for (const [name = '', ...args] of [...malformed, ...limits]) {
    await t.rejects(run(name, ...args), UsageError, [name, ...args].join(' '))
  }
  await t.rejects(run('limit', 'unknown', '5'), NotFound)
  await t.rejects(run('revoke', 'unknown'), NotFound)
  t.same(await store.keys.find(record.digest, NOW), record)
  t.same((await run('limit', record.id, 'default')).json, { id: record.id, limit: null })
  t.match(await run('list', 'other@example.com'), { json: [], text: 'has no active API keys' })
})

t.test('a label cannot control the terminal it is listed on', async (t) => {
  const store = await embeddedStore(t)
  const run = runOn(store)
  await store.keys.create(aKey(ownerOf(email), { label: 'a\u001b[2Jb' }).record, 20, NOW)
  const { text } = await run('list', email)
  t.notOk(text.includes('\u001b'))
  t.match(text, /a\ufffd\[2Jb/)
})
