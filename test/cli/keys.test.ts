/** The operator's command line for API keys, as a process beside a gateway that runs on the same store. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { commands, NothingFound, UsageError } from '../../src/cli/keys/commands.js'
import { openStore } from '../../src/store/open.js'
import { answers, embeddedStore, type Gateway, gateway, platform, someHash } from '../helper.js'
import { plainly, program } from '../program.js'
import { redisServer, withoutRedis } from '../redis.js'
import { aKey, NOW } from '../store/places.js'

const email = 'owner@example.com'

interface Ended {
  code: number
  out: string
  err: string
}

async function keys(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const child = fork(join(program(), 'cli/keys/main.js'), args, plainly(env))
  const read = async (stream: NodeJS.ReadableStream | null) => {
    let text = ''
    for await (const chunk of stream ?? []) text += chunk
    return text
  }
  const [[code], out, err] = await Promise.all([once(child, 'close'), read(child.stdout), read(child.stderr)])
  return { code, out, err }
}

const made = async ({ get }: Gateway, label: string): Promise<{ id: string; key: string }> => {
  const body = JSON.stringify({ platform_hash: someHash, label })
  const headers = { 'content-type': 'application/json' }
  return (await get('/v1/keys', undefined, { method: 'POST', body, headers })).body
}

/** What an operator does, on the store that `env` means and the gateway uses. */
async function operate(t: Test, env: Record<string, string>): Promise<void> {
  const { url } = await platform(t, answers({ get_devices: [] }))
  const settings = { redisUrl: env.REDIS_URL, dataDir: env.DATA_DIR ?? '' }
  const store = await openStore(settings, { clock: Date.now, onError: () => {}, onDamaged: () => {} })
  t.teardown(() => store.close())
  const there = await gateway(t, { env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '100' }, store })
  const [board, app] = [await made(there, 'board'), await made(there, 'app')]
  const status = async ({ key }: { key: string }) => (await there.get('/v1/me', key)).status

  const limited = await keys(env, 'limit', board.id, '1000')
  t.match(limited, { code: 0, out: /1000/, err: '' })
  t.equal((await there.get('/v1/me', board.key)).headers.get('ratelimit-limit'), '1000', 'from the next request on')
  t.equal((await there.get('/v1/me', app.key)).headers.get('ratelimit-limit'), '100')

  const [people, scripts] = await Promise.all([
    keys(env, 'list', email),
    keys(env, 'list', ' Owner@Example.com', '--json'),
  ])
  t.match(people.out, /^ID +KEY +CREATED \(UTC\) +EXPIRES \(UTC\) +LAST USED \(UTC\) +LIMIT +LABEL\n/)
  t.match(
    people.out,
    new RegExp(`${board.id}  gps_live_${board.key.slice(9, 13)}…${board.key.slice(-4)} .* 1000 +board`),
  )
  const listed = JSON.parse(scripts.out)
  t.same(
    listed.map(({ id, label, limit }: Record<string, unknown>) => [id, label, limit]),
    [
      [app.id, 'app', null],
      [board.id, 'board', 1000],
    ],
  )
  t.same([people.code, scripts.code, people.err, scripts.err], [0, 0, '', ''])

  const revoked = await keys(env, 'revoke', board.id)
  t.match(revoked, { code: 0, out: new RegExp(board.id), err: '' })
  t.same([await status(board), await status(app)], [401, 200])
  const purged = await keys(env, 'purge', email, '--json')
  t.same([purged.code, JSON.parse(purged.out)], [0, { email, revoked: 1 }])
  t.same([await status(board), await status(app)], [401, 401])
  for (const { out, err } of [limited, people, scripts, revoked, purged]) {
    t.notMatch(out + err, /gps_live_[0-9a-f]{5}|v1\./, 'never a whole key, never a sealed hash')
  }
}

t.test('works on the embedded store while the gateway runs', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gps-keys-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  await operate(t, { DATA_DIR: dir })
})

t.test('works on Redis while gateways run', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  await operate(t, { REDIS_URL: server.url })
})

t.test('says what is wrong, and by its exit code what kind of wrong', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gps-keys-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const missing = join(dir, 'missing')
  const [help, none, option, folder, redis, environment] = await Promise.all([
    keys({}, '--help'),
    keys({}),
    keys({}, 'list', '--nonsense'),
    keys({ DATA_DIR: missing }, 'list', email),
    keys({ REDIS_URL: 'redis://:invented-pass@127.0.0.1:1' }, 'list', email),
    keys({ REDIS_URL: 'http://x', PORT: 'none' }, 'list', email),
  ] as const)
  t.match(help, { code: 0, out: /purge <account e-mail>/, err: '' })
  t.match(none, { code: 2, out: '', err: /limit <key-id> <requests per window>/ })
  t.match(option, { code: 2, out: '', err: /nonsense/ })
  t.match(folder, { code: 1, out: '', err: missing })
  t.same(readdirSync(dir), [], 'a store is not made by looking for it')
  t.match(redis, { code: 1, out: '', err: /^Redis cannot answer: / })
  t.match(environment, { code: 1, out: '', err: /REDIS_URL/ })
  t.match(environment.err, /PORT/)
  for (const { err } of [none, option, folder, redis, environment]) t.notMatch(err, / at .*:\d+:\d+|invented-pass/)
})

t.test('a command that is not understood touches nothing', async (t) => {
  const { keys: store } = await embeddedStore(t)
  const { record } = aKey('somebody', { label: 'line\u001b[31m' })
  await store.create(record, 20, NOW)
  const wrong: [command: string, ...args: string[]][] = [
    ['list'],
    ['list', 'not an e-mail'],
    ['list', email, 'more'],
    ['revoke'],
    ['purge', ''],
    ['limit', record.id],
    ...['0', '-5', '1.5', 'many', '', '1e3', '99999999999'].map((limit): [string, string, string] => [
      'limit',
      record.id,
      limit,
    ]),
  ]
  for (const [name, ...args] of wrong) {
    await t.rejects(commands[name]!.run(store, args, NOW), UsageError, [name, ...args].join(' '))
  }
  for (const args of [
    ['limit', 'unknown', '5'],
    ['revoke', 'unknown'],
  ] as const) {
    const [name, ...rest] = args
    await t.rejects(commands[name]!.run(store, rest, NOW), NothingFound)
  }
  t.same(await store.find(record.digest, NOW), record)
  const { json } = await commands.limit!.run(store, [record.id, 'default'], NOW)
  t.same(json, { id: record.id, limit: null })
  t.match(await commands.list!.run(store, [email], NOW), { json: [], text: 'has no active API keys' })
})

t.test('a label cannot steer the terminal it is listed on', async (t) => {
  const { keys: store } = await embeddedStore(t)
  const { ownerOf } = await import('../../src/auth/credential.js')
  await store.create(aKey(ownerOf(email), { label: 'a\u001b[2Jb' }).record, 20, NOW)
  const { text } = await commands.list!.run(store, [email], NOW)
  t.notOk(text.includes('\u001b'))
  t.match(text, /a\ufffd\[2Jb/)
})
