/** The command line for API keys, beside a gateway on the same store. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { accountIdOf, ownerOf } from '../../src/auth/credential.js'
import { commands, NotFound, UsageError } from '../../src/cli/keys/commands.js'
import { runKeys } from '../../src/cli/keys/keys.js'
import { openStore, type StoreConfig } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { embeddedStore, gatewayOn, someHash } from '../helper.js'
import { createKey, randomKey } from '../limits.js'
import { program, withEnv } from '../program.js'
import { redisServer, withoutRedis } from '../redis.js'
import { aKey, anOwner, embeddedPlace, NOW, redisPlace } from '../store/places.js'

const email = 'owner@example.com'

async function keys(env: Record<string, string>, args: string[], input = '') {
  const [out, err]: [string[], string[]] = [[], []]
  const console = { log: (line: string) => out.push(line), error: (line: string) => err.push(line) }
  const code = await runKeys(args, { env, input: async () => input, console })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** A gateway on a store, the API keys it creates, and whose they are. */
async function running(t: Test, config: StoreConfig) {
  const store = await openStore(config, { clock: Date.now, onDamaged: () => {} })
  t.teardown(() => store.close())
  const { get, log } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '100' }, store }, { get_devices: [] })
  const created = async (label: string): Promise<{ id: string; key: string }> =>
    (await createKey(get, { platform_hash: someHash, label })).body
  return { created, log, me: ({ key }: { key: string }) => get('/v1/me', key) }
}

t.test('works on the key file, as a process of its own, while a gateway runs', async (t) => {
  const { config } = await embeddedPlace(t)
  const { created, me } = await running(t, config)
  const run = async (input: string, ...args: string[]) => {
    const child = fork(program('main.js'), ['keys', ...args], withEnv({ DATA_DIR: config.dataDir }))
    // Most commands do not read it.
    child.stdin?.on('error', () => {}).end(input)
    const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout!), text(child.stderr!)])
    return { code, out, err }
  }
  const board = await created('board')
  t.equal((await me(board)).status, 200)
  t.match(await run(board.key, 'find'), { code: 0, out: `${board.id} `, err: '' })
  t.match(await run('', 'revoke', board.id), { code: 0, out: board.id, err: '' })
  t.equal((await me(board)).status, 401)
  t.match(await run('', 'revoke', board.id), { code: 1, out: '', err: /no active API key/ })
})

t.test('works on Redis while a gateway runs', { skip: withoutRedis }, async (t) => {
  const { config, put, stored } = await redisPlace(t)
  const env = { REDIS_URL: config.redisUrl ?? '' }
  const run = (...args: string[]) => keys(env, args)
  const { created, me, log } = await running(t, config)
  const board = await created('board')
  const app = await created('app')
  const bad = await created('bad')

  const limited = await run('limit', board.id.toUpperCase(), '1000')
  t.match(limited, { code: 0, out: /1000/, err: '' })
  t.equal((await me(board)).headers.get('ratelimit-limit'), '1000', 'from the next request on')
  t.equal((await me(app)).headers.get('ratelimit-limit'), '100')

  const digest = await stored('id', [bad.id])
  await put('key', [digest], 'nonsense')
  const people = await run('list', email)
  const scripts = await run('list', ' Owner@Example.com', '--json')
  t.match(people.out, /^ID +KEY +CREATED \(UTC\) +EXPIRES \(UTC\) +LAST USED \(UTC\) +LIMIT +LABEL\n/)
  const hint = `gps_live_${board.key.slice(9, 13)}…${board.key.slice(-4)}`
  t.match(people.out, new RegExp(`${board.id}  ${hint} .* 1000 +board`))
  const listed = JSON.parse(scripts.out).map(({ id, label, limit }: Record<string, unknown>) => [id, label, limit])
  t.same(listed, [
    [app.id, 'app', null],
    [board.id, 'board', 1000],
  ])
  const warning = `Skipped a damaged entry: key ${digest.slice(0, 8)}…`
  t.same([people.code, scripts.code, people.err, scripts.err], [0, 0, warning, warning])

  const account = accountIdOf('platform', email)
  const allScripts = await run('list', '--json')
  t.match((await run('list')).out, new RegExp(`^ACCOUNT +E-MAIL +KEYS\\n${account}  ${email} +2$`))
  t.same(JSON.parse(allScripts.out), [{ account, email, keys: 2 }])
  t.match(log(), `"account":"${account}"`, 'as in the log')
  const leaked = await keys(env, ['find'], `curl -H "Authorization: Bearer ${app.key}"\n`)
  t.match(leaked, { code: 0, out: new RegExp(`${app.id} .* app +${account}  ${email}$`) })
  const several = `${randomKey()} ${app.key} ${board.key} ${app.key}`
  const all = JSON.parse((await keys(env, ['find', '--json'], several)).out).map(({ id }: { id: string }) => id)
  t.same(all, [app.id, board.id], 'every active one, once')
  t.match(await keys(env, ['find'], randomKey()), { code: 1, out: '', err: /no active API key/ })

  const revoked = await run('revoke', board.id.toUpperCase())
  t.match(revoked, { code: 0, out: new RegExp(board.id) })
  t.same([(await me(board)).status, (await me(app)).status], [401, 200])
  const more = await created('more')
  const revokedByKey = await run('revoke', more.key)
  t.match(revokedByKey, { code: 0, out: new RegExp(more.id) })
  t.equal((await me(more)).status, 401)
  const again = await run('revoke', more.key)
  t.match(again, { code: 1, out: '', err: /no active API key/ })
  const unconfirmed = await run('purge', email, '--json')
  t.match(unconfirmed, { code: 2, out: '', err: /1 API key of owner@example.com would be revoked.*--yes/ })
  t.equal((await me(app)).status, 200)
  const purged = await run('purge', email, '--json', '--yes')
  t.same([purged.code, JSON.parse(purged.out)], [0, { email, revoked: 1 }])
  t.same([(await me(board)).status, (await me(app)).status], [401, 401])
  for (const { out, err } of [limited, people, scripts, allScripts, leaked, revoked, revokedByKey, again, purged]) {
    t.notMatch(out + err, /gps_live_[0-9a-f]{5}|v1\./, 'never a whole key, never a sealed hash')
  }
})

t.test('says what is wrong, and its exit code what kind of wrong', async (t) => {
  const dir = t.testdir({})
  const missing = join(dir, 'missing')
  const server = withoutRedis ? undefined : await redisServer(t)
  await server?.command('set', `gps:owner:${ownerOf(email)}`, 'text')
  const help = await keys({}, ['--help'])
  const none = await keys({}, [])
  const option = await keys({}, ['list', '--nonsense'])
  const folder = await keys({ DATA_DIR: missing }, ['list', email])
  const empty = await keys({ DATA_DIR: dir }, ['list', email])
  const redis = await keys({ REDIS_URL: 'redis://:invented-pass@127.0.0.1:1' }, ['list', email])
  const redisAccounts = await keys({ REDIS_URL: 'redis://127.0.0.1:1' }, ['list'])
  const environment = await keys({ REDIS_URL: 'http://x', PORT: 'none' }, ['list', email])
  t.match(help, { code: 0, out: /purge <account e-mail>/, err: '' })
  for (const { usage, help: text, example } of Object.values(commands)) {
    for (const part of [usage, text, `Example: gps-fleet-gateway keys ${example}`]) t.ok(help.out.includes(part), part)
  }
  t.match(none, { code: 2, out: '', err: /limit <key-id> <requests per window>/ })
  t.match(option, { code: 2, out: '', err: /nonsense/ })
  t.match(folder, { code: 1, out: '', err: missing })
  t.match(empty, { code: 1, out: '', err: `no key file in ${dir}.` })
  t.same(readdirSync(dir), [], 'looking for a store does not create one')
  writeFileSync(join(dir, 'keys.mdb'), 'nonsense')
  const torn = await keys({ DATA_DIR: dir }, ['list', email])
  t.match(torn, { code: 1, out: '', err: /^\S+ is damaged, or not a key file; [^:]+$/ })
  t.equal(statSync(join(dir, 'keys.mdb-lock')).mode & 0o777, 0o600)
  truncateSync(join(dir, 'keys.mdb'))
  rmSync(join(dir, 'keys.mdb-lock'))
  mkdirSync(join(dir, 'keys.mdb-lock'))
  const { err: once } = await keys({ DATA_DIR: dir }, ['list', email])
  t.match(once, /^Cannot use \S+ for API keys: EISDIR: [^:]+$/, 'the reason once')
  t.match(redis, { code: 1, out: '', err: 'Redis is unavailable: connect ECONNREFUSED 127.0.0.1:1' })
  t.equal(redisAccounts.err, redis.err)
  t.match(environment, { code: 1, out: '', err: /REDIS_URL/ })
  t.match(environment.err, /PORT/)
  const damaged = server && (await keys({ REDIS_URL: server.url }, ['list', email]))
  if (damaged) t.match(damaged, { code: 1, out: '', err: /^gps:owner:\S{8}… is no hash in Redis$/ })
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
  const incomplete = [['revoke'], ['purge', ''], ['purge', email], ['limit', record.id]]
  const malformed = [['list', ' '], ['list', email, 'more'], ['find', 'gps_live_0'], ...limits]
  for (const [name = '', ...args] of [...incomplete, ...malformed]) {
    await t.rejects(run(name, ...args), UsageError, [name, ...args].join(' '))
  }
  await t.rejects(run('limit', 'unknown', '5'), NotFound)
  await t.rejects(run('revoke', 'unknown'), NotFound)
  t.same(await store.keys.find(record.digest, NOW), record)
  t.same((await run('limit', record.id, 'default')).json, { id: record.id, limit: null })
  t.match(await run('list', 'other@example.com'), { json: [], text: 'has no active API keys' })
})

t.test('an account is found by what its platform has for an e-mail, also a name', async (t) => {
  const store = await embeddedStore(t)
  const name = 'Fleet Admin'
  const { record } = aKey(ownerOf(name), { email: name })
  await store.keys.create(record, 20, NOW)
  t.match((await runOn(store)('list', name)).json, [{ id: record.id }])
  const purge = { store, args: ['fleet admin'], now: NOW, isConfirmed: true, input: async () => '' }
  t.match(await commands.purge?.run(purge), { json: { revoked: 1 } })
})

t.test('a label cannot control the terminal it is listed on', async (t) => {
  const store = await embeddedStore(t)
  const run = runOn(store)
  await store.keys.create(aKey(ownerOf(email), { label: 'a\u001b[2Jb' }).record, 20, NOW)
  const { text } = await run('list', email)
  t.notOk(text.includes('\u001b'))
  t.match(text, /a\ufffd\[2Jb/)
})

t.test('an account without an e-mail shows no fingerprint: its keys do not show that of the log', async (t) => {
  const store = await embeddedStore(t)
  await store.keys.create(aKey(anOwner(), { email: '' }).record, 20, NOW)
  const call = { store, args: [], now: NOW, isConfirmed: false, input: async () => '' }
  const { json, text } = (await commands.list?.run(call)) ?? {}
  t.same(json, [{ account: null, email: '', keys: 1 }])
  t.match(text, /\n- +1$/)
})
