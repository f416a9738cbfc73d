/** The command line for API keys, beside a gateway on the same store. */
import { constants } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { accountIdOf, keyOwnerOf } from '../../src/auth/credential.js'
import { commands, NotFound, UsageError } from '../../src/cli/keys/commands.js'
import { runKeys } from '../../src/cli/keys/keys.js'
import type { StoreConfig } from '../../src/store/open.js'
import { temporaryFolder } from '../folder.js'
import { embeddedStore, gatewayOn, someHash } from '../helper.js'
import { createKey, randomKey } from '../limits.js'
import { program, withEnv } from '../program.js'
import { redisServer, withoutRedis } from '../redis.js'
import { aKey, anOwner, embeddedPlace, NOW, opened, redisPlace } from '../store/places.js'

const email = 'owner@example.com'

async function keys(env: Record<string, string>, args: string[], input: Iterable<string> = '') {
  const [out, err]: [string[], string[]] = [[], []]
  const console = { log: (line: string) => out.push(line), error: (line: string) => err.push(line) }
  const code = await runKeys(args, { env, input: () => input, console })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** A gateway on a store, the API keys it creates, and the status that each of some keys gets. */
async function running(t: Test, config: StoreConfig) {
  const store = await opened(t, config, { clock: Date.now })
  const { get, log } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '100' }, store }, { get_devices: [] })
  const created = async (label: string): Promise<{ id: string; key: string }> =>
    (await createKey(get, { platform_hash: someHash, label })).body
  const statuses = async (...all: { key: string }[]): Promise<number[]> =>
    (await Promise.all(all.map(({ key }) => get('/v1/me', key)))).map(({ status }) => status)
  return { created, get, log, statuses }
}

t.test('works on the key file, as a process of its own, while a gateway runs', async (t) => {
  const { config } = await embeddedPlace(t)
  const { created, statuses } = await running(t, config)
  const { env } = withEnv({ DATA_DIR: config.dataDir })
  const run = (input: string, ...args: string[]) =>
    spawnSync(process.execPath, [program('main.js'), 'keys', ...args], { env, input, encoding: 'utf8' })
  const board = await created('board')
  t.same(await statuses(board), [200])
  t.match(await keys({ DATA_DIR: config.dataDir, GATEWAY_CLOCK: '2999-01-01' }, ['list']), { out: /no active/ })
  t.match(run(board.key, 'find'), { status: 0, stdout: `${board.id} `, stderr: '' })
  t.match(run('', 'revoke', board.id), { status: 0, stdout: board.id, stderr: '' })
  t.same(await statuses(board), [401])
  t.match(run('', 'revoke', board.id), { status: 1, stdout: '', stderr: /no active API key/ })
})

t.test('`find` reads more than a string can hold', async (t) => {
  const { config } = await embeddedPlace(t)
  const { created } = await running(t, config)
  const board = await created('board')
  const line = 'x'.repeat(2 ** 20)
  function* log() {
    for (let i = 0; i * line.length < constants.MAX_STRING_LENGTH; i += 1) yield line
    yield* [board.key.slice(0, 20), board.key.slice(20)]
  }
  t.match(await keys({ DATA_DIR: config.dataDir }, ['find'], log()), { code: 0, out: board.id, err: '' })
})

t.test('works on Redis while a gateway runs', { skip: withoutRedis }, async (t) => {
  const { config, put, stored } = await redisPlace(t)
  const printed: string[] = []
  const runWith = async (input: Iterable<string>, ...args: string[]) => {
    const result = await keys({ REDIS_URL: config.redisUrl ?? '' }, args, input)
    printed.push(result.out, result.err)
    return result
  }
  const run = (...args: string[]) => runWith('', ...args)
  const { created, get, log, statuses } = await running(t, config)
  const [board, app, bad] = [await created('board'), await created('app'), await created('bad')]
  const none = { code: 1, out: '', err: /no active API key/ }

  t.match(await run('limit', board.key, '900'), { code: 0, out: `${board.id} may send 900`, err: '' })
  t.match(await run('limit', board.id.toUpperCase(), '1000'), { code: 0, out: /1000/, err: '' })
  for (const [{ key }, limit] of [[board, '1000'] as const, [app, '100'] as const])
    t.equal((await get('/v1/me', key)).headers.get('ratelimit-limit'), limit, 'from the next request on')

  const digest = await stored('id', [bad.id])
  await put('key', [digest], 'nonsense')
  const people = await run('list', email)
  const scripts = await run('list', ' Owner@Example.com', '--json')
  t.match(people.out, /^ID +KEY +CREATED \(UTC\) +EXPIRES \(UTC\) +LAST USED \(UTC\) +LIMIT +LABEL\n/)
  const hint = `gps_live_${board.key.slice(9, 13)}…${board.key.slice(-4)}`
  t.match(people.out, new RegExp(`${board.id}  ${hint} .* 1000 +board`))
  const listed: { id: string; label: string; limit: number | null }[] = JSON.parse(scripts.out)
  const rows = listed.map(({ id, label, limit }) => `${id} ${label} ${limit}`)
  t.same(rows, [`${app.id} app null`, `${board.id} board 1000`])
  const warning = `Skipped a damaged entry: key ${digest.slice(0, 8)}…`
  t.same([people.code, scripts.code, people.err, scripts.err], [0, 0, warning, warning])

  const account = accountIdOf('platform', email)
  t.match((await run('list')).out, new RegExp(`^ACCOUNT +E-MAIL +KEYS\\n${account}  ${email} +2$`))
  t.same(JSON.parse((await run('list', '--json')).out), [{ account, email, keys: 2 }])
  t.match(log(), `"account":"${account}"`, 'as in the log')
  const leaked = await runWith(`curl -H "Authorization: Bearer ${app.key}"\n`, 'find')
  t.match(leaked, { code: 0, out: new RegExp(`${app.id} .* app +${account}  ${email}$`) })
  const several = `${randomKey()} ${app.key} ${board.key} ${app.key}`
  const all = JSON.parse((await runWith(several, 'find', '--json')).out)
  t.match(all, { length: 2, 0: { id: app.id }, 1: { id: board.id } }, 'every active one, once')
  t.match(await runWith(randomKey(), 'find'), none)

  const misplaced = [['list', app.key], ['purge', app.key, '--yes'], [app.key], [`--${app.key}`], ['find', app.key]]
  for (const [at, code] of [0, 1, 2, 2, 2].entries()) t.equal((await run(...misplaced[at]!)).code, code)
  for (const several of [`${app.key}\n${board.key}`, `${app.id} ${board.id}`, `${app.key},`])
    t.match(await run('revoke', several), { code: 2, out: '', err: /one key/ })
  t.same(await statuses(board, app), [200, 200])

  t.match(await run('revoke', board.id.toUpperCase()), { code: 0, out: board.id })
  t.same(await statuses(board, app), [401, 200])
  const more = await created('more')
  for (const [table, name] of [['id', [more.id]] as const, ['owner', [keyOwnerOf(email), more.id]] as const])
    await put(table, name, 'lost')
  t.match(await run('revoke', more.key), { code: 0, out: more.id })
  t.same(await statuses(more), [401])
  t.match(await run('revoke', more.key), none)
  const unconfirmed = await run('purge', email, '--json')
  t.match(unconfirmed, { code: 2, out: '', err: /1 API key of owner@example.com would be revoked.*--yes/ })
  t.same(await statuses(app), [200])
  const purged = await run('purge', account, '--json', '--yes')
  t.same([purged.code, JSON.parse(purged.out)], [0, { email, revoked: 1 }])
  t.same(await statuses(board, app), [401, 401])
  t.match(await run('purge', email, '--yes'), { code: 1, out: '', err: `There are no active API keys of ${email}.` })
  t.notMatch(printed.join('\n'), /gps_live_[0-9a-f]{5}|v1\./, 'never a whole key, never a sealed hash')
})

t.test('says what is wrong, and its exit code what kind of wrong', async (t) => {
  const dir = t.testdir({})
  const missing = join(dir, 'missing')
  const help = await keys({}, ['--help'])
  t.match(help, { code: 0, out: /purge <account e-mail>/, err: '' })
  for (const { usage, help: text, example } of Object.values(commands)) {
    for (const part of [usage, text, `Example: gps-fleet-gateway keys ${example}`]) t.ok(help.out.includes(part), part)
  }
  const list = ['list', email]
  const away = /^Redis is unavailable: connect ECONNREFUSED 127.0.0.1:1$/
  const cases: [env: Record<string, string>, args: string[], code: number, err: RegExp][] = [
    [{}, [], 2, /^Name a command: list, find, limit, revoke, purge\.\nSee gps-fleet-gateway keys --help\.$/],
    [{}, ['nonsense'], 2, /^Unknown command: nonsense\nSee \S+ keys --help\.$/],
    [{}, ['list', '--nonsense'], 2, /^Unknown option '--nonsense'.*\nSee \S+ keys --help\.$/],
    [{ DATA_DIR: missing }, list, 1, new RegExp(missing)],
    [{ DATA_DIR: dir }, list, 1, new RegExp(`no key file in ${dir}\\. .*is this its user`)],
    [{ REDIS_URL: 'redis://:invented-pass@127.0.0.1:1' }, list, 1, away],
    [{ REDIS_URL: 'redis://127.0.0.1:1' }, ['list'], 1, away],
    [{ REDIS_URL: 'redis://127.0.0.1:1,redis://127.0.0.1:2' }, list, 1, /^Redis is unavailable: connect ECONN/],
    [{ REDIS_URL: 'http://x', PORT: 'none' }, list, 1, /(?=.*REDIS_URL).*PORT|(?=.*PORT).*REDIS_URL/s],
  ]
  if (!withoutRedis) {
    const server = await redisServer(t)
    await server.command('set', `gps:owner:${keyOwnerOf(email)}`, 'text')
    cases.push([{ REDIS_URL: server.url }, list, 1, /^gps:owner:\S{8}… is no hash in Redis$/])
  }
  for (const [env, args, code, says] of cases) {
    const { err, ...result } = await keys(env, args)
    t.same(result, { code, out: '' }, String(says))
    t.match(err, says)
    t.notMatch(err, / at .*:\d+:\d+|invented-pass/)
  }
  t.same(readdirSync(dir), [], 'looking for a store does not create one')
  const [file, lock] = [join(dir, 'keys.mdb'), join(dir, 'keys.mdb-lock')]
  writeFileSync(file, 'nonsense')
  const torn = await keys({ DATA_DIR: dir }, list)
  t.match(torn, { code: 1, out: '', err: /^\S+ is damaged, or not a key file; [^:]+$/ })
  t.equal(statSync(lock).mode & 0o777, 0o600)
  truncateSync(file)
  rmSync(lock)
  mkdirSync(lock)
  const { err: once } = await keys({ DATA_DIR: dir }, list)
  t.match(once, /^Cannot use \S+ \(DATA_DIR\): EISDIR: [^:]+$/, 'the reason once')
})

t.test('a command whose output is lost, as on a full disk, fails', (t) => {
  const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const
  for (const args of [['--help'], ['keys', '--help'], ['check']]) {
    const { status, stderr } = spawnSync(process.execPath, [program('main.js'), ...args], { stdio: [...stdio] })
    t.match([status, String(stderr)], [1, /^The output cannot be written: ENOSPC/], args.join(' '))
  }
  t.end()
})

/** Runs the program as a user who is not root; `withoutStranger` is the reason to skip where that user cannot. */
const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const asStranger = (args: string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [program('main.js'), ...args], { ...withEnv(env), ...stranger, encoding: 'utf8' })
const withoutStranger = asStranger(['--help']).status === 0 ? false : 'other users cannot read the checkout'

t.test('a key file of another user is not taken for a damaged one', { skip: withoutStranger }, async (t) => {
  const dataDir = temporaryFolder(t)
  writeFileSync(join(dataDir, 'keys.mdb'), 'nonsense', { mode: 0 })
  chmodSync(dataDir, 0o777)
  const foreign = asStranger(['keys', 'list'], { DATA_DIR: dataDir })
  t.match(foreign, { status: 1, stdout: '', stderr: `Cannot use ${dataDir} (DATA_DIR): EACCES: permission denied` })
  t.match(foreign.stderr, /^(?!.*damaged).*; this process is user \d+: make it the owner\n$/)
})

/** A store with an API key, and a way to run commands on it without input. */
async function runOn(t: Test, { record } = aKey(keyOwnerOf(email))) {
  const store = await embeddedStore(t)
  await store.keys.create(record, 20, NOW)
  const run = ([name = '', ...args]: string[], isConfirmed = false) =>
    commands[name]!.run({ store, args, now: NOW, isConfirmed, input: () => '' })
  return { store, record, run }
}

t.test('a malformed command changes nothing', async (t) => {
  const { store, record, run } = await runOn(t)
  const limits = ['0', '-5', '1.5', 'many', '', '1e3', '99999999999'].map((limit) => ['limit', record.id, limit])
  const incomplete = [['revoke'], ['purge', ''], ['purge', email], ['limit', record.id]]
  const malformed = [['list', ' '], ['list', email, 'more'], ['find', 'gps_live_0'], ['revoke', 'board'], ...limits]
  for (const words of [...incomplete, ...malformed]) await t.rejects(run(words), UsageError, words.join(' '))
  const unknown = aKey(anOwner()).record.id
  await t.rejects(run(['limit', unknown, '5']), NotFound)
  await t.rejects(run(['revoke', unknown]), NotFound)
  t.same(await store.keys.find(record.digest, NOW), record)
  t.same((await run(['limit', record.id, 'default'])).json, { id: record.id, limit: null })
  t.match(await run(['list', 'other@example.com']), { json: { length: 0 }, text: 'has no active API keys' })
})

t.test('an account is found by what its platform has for an e-mail, also a name', async (t) => {
  const { record, run } = await runOn(t, aKey(keyOwnerOf('Fleet Admin'), { email: 'Fleet Admin' }))
  t.match((await run(['list', 'Fleet Admin'])).json, { length: 1, 0: { id: record.id } })
  t.match(await run(['purge', 'fleet admin'], true), { json: { revoked: 1 } })
})

t.test('neither a label nor an e-mail can control the terminal it is shown on', async (t) => {
  const { run, record } = await runOn(t, aKey(keyOwnerOf(email), { label: 'a\u001b[2Jb', email: '\u001b[2Jc' }))
  for (const words of [['list', email], ['list'], ['revoke', record.id]]) {
    const { text } = await run(words)
    t.notOk(text.includes('\u001b'), words.join(' '))
    t.match(text, /\ufffd\[2J[bc]/)
  }
})

t.test('an account without an e-mail shows no fingerprint: its keys do not show that of the log', async (t) => {
  const { run } = await runOn(t, aKey(anOwner(), { email: '' }))
  const { json, text } = await run(['list'])
  t.same(json, [{ account: null, email: '', keys: 1 }])
  t.match(text, /\n- +1$/)
})

t.test('an account without an e-mail is found by its fingerprint in the log', async (t) => {
  const account = accountIdOf('platform', 'the print of its hash')
  const { record, run } = await runOn(t, aKey(keyOwnerOf(account), { email: '' }))
  t.match((await run(['list', account])).json, { length: 1, 0: { id: record.id } })
  t.match(await run(['purge', account], true), { json: { revoked: 1 } })
})
