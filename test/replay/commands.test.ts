/** The commands replay, diff and record: output, exit codes and signals. */
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join, resolve } from 'node:path'
import t from 'tap'
import { nowhere } from '../faults.js'
import { type Bodies, Clock, gateway, gatewayOn, platform, sandbox, someHash } from '../helper.js'
import { GatewayProcess } from '../process.js'
import { program } from '../program.js'
import { fixtures, get } from './folders.js'
import { acme, mine, RECORD_SECRET, record, run, started } from './started.js'

t.test('replay serves what was recorded, explains a miss, and with --strict a miss makes it exit with 1', async (t) => {
  for (const flags of [[], ['--strict']]) {
    const replay = started(t, 'replay', [acme, '--port', '0', ...flags])
    const url = await replay.url()
    t.equal((await get(url, 'get_user_data')).status, 200)
    const miss = await get(url, 'get_history?device_id=999', someHash)
    t.equal(miss.status, 501)
    const { error, ...reported } = (await miss.json()) as Record<string, unknown>
    t.equal(error, 'no_recorded_response')
    const request = { action: 'get_history', query: { device_id: '999' } }
    t.match(reported, { folder: 'acme', request, nearest: { file: /^get_history/, differs: [{ sent: '999' }] } })
    t.match(replay.text(), `no recorded response: ${JSON.stringify(reported)}`)
    t.notMatch(replay.text().split('no recorded')[1], /\$2y/, 'without the credential')
    t.equal(await replay.end(), flags.length)
  }
})

t.test(
  'with --strict a request with a hash outside of /api, or without one in it, makes it exit with 1, a wrong hash does not',
  async (t) => {
    for (const [path, method, line] of [
      ['/get_devices?user_api_hash=x', 'GET', 'no recorded response: GET /get_devices is not below /api'],
      ['/api/get_devices?lang=en', 'GET', 'no recorded response: GET /api/get_devices has no user_api_hash'],
      ['/api/get_devices?user_api_hash=x', 'GET', undefined],
      ['/', 'GET', undefined],
      ['/api', 'HEAD', undefined],
    ] as const) {
      const replay = started(t, 'replay', [acme, '--port', '0', '--strict', '--hash', someHash])
      const { status } = await fetch(new URL(path, await replay.url()), { method })
      t.match(status, /401|405/)
      t.equal(await replay.end(), line === undefined ? 0 : 1, path)
      t.same(/^no recorded .*/m.exec(replay.text())?.[0], line)
    }
  },
)

t.test('the fixture that the guide writes from nothing is formatted, and served until a signal', async (t) => {
  const guide = await readFile(join(fixtures, 'README.md'), 'utf8')
  const [, code = ''] = /## A fixture from nothing\n+```\n(.*?)```/s.exec(guide) ?? []
  const folder = mine(t)
  await mkdir('fixtures')
  execFileSync('bash', ['-ec', code.replace(/^(npm|curl) .*/gm, '')])
  const commands = [...code.matchAll(/^npm run replay -- (.*)/gm)].map(([, words = '']) => words.split(' '))
  t.equal(commands.length, 2)
  const [formatting = [], serving = []] = commands
  t.match(await run(t, 'replay', formatting), { code: 0, text: 'fixtures/mine: 2 files changed' })
  const env = { DATA_DIR: join(folder, 'data') }
  const child = await new GatewayProcess(t, ['replay', ...serving, '--port', '0'], env).ready()
  const { status, text } = await child.get('/v1/devices', 'any-hash')
  t.match([status, JSON.parse(text)], [200, { count: 1, data: [{ id: 7, name: 'Van' }] }])
  child.signal('SIGINT')
  t.equal(await child.exited, 0, 'no request was a miss')
})

t.test('replay --gateway ends as a gateway does: a second signal ends it at once', async (t) => {
  const env = { DATA_DIR: join(t.testdir({}), 'data') }
  const child = await new GatewayProcess(t, ['replay', acme, '--gateway', '--port', '0'], env).ready()
  child.signal('SIGTERM')
  await child.printed(/"closing"/)
  child.signal('SIGTERM')
  t.equal(await child.exited, 1)
  t.notMatch(child.log, /"closed"/, 'it does not drain')
})

t.test('replay --gateway drains on SIGHUP, and with --strict exits with 1 after a miss', async (t) => {
  for (const isMiss of [false, true]) {
    const env = { DATA_DIR: join(t.testdir({}), 'data') }
    const args = ['replay', acme, '--gateway', '--strict', '--port', '0']
    const child = await new GatewayProcess(t, args, env).ready()
    if (isMiss) await get(await child.printed(/replay listens on (\S+)/), 'get_history?device_id=999', someHash)
    child.signal('SIGHUP')
    t.equal(await child.exited, Number(isMiss))
    t.match(child.log, /"closed"/)
  }
})

t.test('replay --diff exits with 0 for equal gateways, and with 1 and the path for different ones', async (t) => {
  const clock = new Clock(Date.UTC(2026, 2, 14, 9, 30)).now
  const replay = started(t, 'replay', [acme, '--port', '0'])
  const env = { PLATFORM_URL: await replay.url() }
  const { url: one } = await gateway(t, { env, clock })
  const { url: two } = await gateway(t, { env, clock })
  const { url: empty } = await gatewayOn(t, { clock }, { get_devices: [] })
  const { url: partial } = await gatewayOn(t, { clock }, {})
  const { url: closed } = await platform(t, { '*': 401 })
  const root = one.replace('/api', '')
  // Two that fail alike prove nothing.
  const cases: [args: string[], code: number, text: string | RegExp][] = [
    [[one, two], 0, /^\d+ requests, 0 with different responses$/],
    [[one, empty], 1, /\/v1\/devices.*count/],
    [[partial, partial], 0, /^\/v1\/geofences has status 503: nothing that it lists is compared$/m],
    [[partial, partial], 0, /^\/v1\/events\?limit=200 has status 503: nothing that it lists is compared$/m],
    [[partial, partial], 0, / 0 with different responses, \d+ with the same 503: perhaps they are not recorded$/],
    [[closed, one, '--credential', someHash], 2, `${closed} rejects the credential; give one with --credential`],
    [[`${one}/`, `${one}/`], 2, /has status 404: is it the base URL of a gateway/],
    [[root, root], 2, /has status 404: is it the base URL of a gateway/],
  ]
  for (const [args, code, text] of cases) t.match(await run(t, 'replay', ['--diff', acme, ...args]), { code, text })
})

t.test('record --update stores what the platform sends, and --check fails when its shape has changed', async (t) => {
  mine(t)
  const { url, hashes } = await sandbox(t, { devices: 2 })
  const [hash = ''] = hashes
  const args = ['--platform', url, '--as', 'mine', '--port', '0', '--update']
  const recording = started(t, 'record', args, { RECORD_SECRET })
  const proxy = await recording.url()
  const bodies: Bodies = {}
  // One of them twice.
  for (const action of ['get_user_data', 'get_devices', 'get_alerts', 'get_alerts'])
    bodies[action] = await (await get(proxy, action, hash)).json()
  t.equal(await recording.end(), 0)
  t.match(recording.text(), 'stored 3 exchanges in fixtures/mine')
  const other = await platform(t, bodies)
  const check = async (at: string, PLATFORM_HASH: string, code: number, ...says: string[]) => {
    const checked = await record(t, at, ['--check'], { PLATFORM_HASH })
    for (const text of says) t.match(checked, { code, text })
  }
  await check(url, hash, 0, '3 exchanges checked: all have their recorded shape')
  await check(url, someHash, 2, `${url} rejects the hash in PLATFORM_HASH`)
  bodies.get_user_data = { ...(bodies.get_user_data as object), extra: 1 }
  await check(other.url, someHash, 0, 'get_user_data.json: $.extra new, is number')
  const alerts = { items: { alerts: [] }, status: '1' }
  Object.assign(bodies, { get_user_data: { email: 'a@b.cd' }, get_devices: '<html>', get_alerts: alerts })
  const changes = [
    'get_alerts.json: $.status changed, was number, is string',
    'get_devices.json: was status 200 with JSON, is status 200 with a page',
    'get_user_data.json: $.plan gone, was string',
    '3 exchanges checked: 3 have changed',
  ]
  await check(other.url, someHash, 1, ...changes)
  const login: RequestListener = (_, response) => response.writeHead(302, { location: '/login' }).end()
  for (const refusal of [login, { status: 0, message: 'Wrong hash' }]) {
    const { url } = await platform(t, { '*': refusal })
    const refused = { code: 2, text: `${url} rejects the hash in PLATFORM_HASH` }
    t.same(await record(t, url, ['--only', 'get_devices']), refused, 'a refusal is not recorded')
  }
})

t.test('a folder holds one account: what is sent with a second hash is forwarded and not written', async (t) => {
  const folder = mine(t)
  const { url } = await platform(t, { '*': [] })
  for (const update of [[], ['--update']]) {
    const recording = started(t, 'record', ['--platform', url, '--as', 'mine', '--port', '0', ...update])
    const proxy = await recording.url()
    const sent = { devices: 'first', alerts: 'second', events: 'first' }
    for (const [action, hash] of Object.entries(sent)) t.equal((await get(proxy, `get_${action}`, hash)).status, 200)
    t.equal(await recording.end(), update.length)
    if (update.length > 0) t.match(recording.text(), /^get_alerts: not written: a second hash was sent/m)
    const stored = /stored 2 exchanges in fixtures\/mine\n1 exchanges were not written, for the reasons above$/
    t.match(recording.text(), update.length > 0 ? stored : /nothing was written; --update writes$/)
  }
  t.same(await readdir(folder), ['account.json', 'get_devices.json', 'get_events.json'])
})

t.test('record --only records, scrubs and stores one exchange, and prints how to replay it', async (t) => {
  const folder = mine(t)
  const point = { id: 1, raw_time: '2026-11-20 08:00:00', lat: 41.38, lng: 2.17, speed: 40 }
  const history = { items: [{ status: 1, items: [point] }], device: { name: 'Falcon', imei: '356938035643809' } }
  const { url, calls } = await platform(t, { get_history: history, '*': [] })
  const only = async (words: string) => {
    const result = await record(t, url, ['--only', ...words.split(' ')])
    t.equal(result.code, 0, result.text)
    return { ...result, sent: Object.fromEntries(new URL(calls.at(-1) ?? '', url).searchParams) }
  }
  const { text, sent } = await only('get_history --device 501 --day 2026-11-20')
  t.match(sent, { from_date: '2026-11-20', from_time: '00:00:00', to_date: '2026-11-20' })
  const [, file = ''] = (await readdir(folder)).sort()
  t.match(file, /^get_history\.device_id=/)
  t.notMatch(await readFile(join(folder, file), 'utf8'), /Falcon|356938|41\.38|\$2y/)
  const [, main = '', words = '', target = ''] =
    /^replay it with: node (\S+) replay (.*) 9000\nthen send it with: curl '(\S+)'$/m.exec(text) ?? []
  t.equal(resolve(main), program('main.js'))
  const replay = started(t, 'replay', [...words.split(' '), '0'])
  const { pathname, search } = new URL(target)
  t.equal((await fetch(new URL(pathname + search, await replay.url()))).status, 200)
  const always = { lang: 'en', user_api_hash: someHash }
  const day = { date_from: '2026-11-20 00:00:00', date_to: '2026-11-20 23:59:59' }
  const events = await only('get_events --device 5 --day 2026-11-20')
  t.same(events.sent, { device_id: '5', ...day, limit: '50', page: '1', ...always }, 'as the gateway sends')
  t.same((await only('get_user_drivers')).sent, { page: '1', ...always })
  t.same((await only('get_services --device 5')).sent, { device_id: '5', page: '1', ...always })
  t.same((await only('services')).sent, { limit: '100', page: '1', ...always })
  t.match(calls.at(-1), /\/services\?/)
})

t.test('--help explains every option', async (t) => {
  const commands: ['replay' | 'record', options: string][] = [
    ['replay', 'credential diff format gateway hash port strict'],
    ['record', 'as check day device only platform port update'],
  ]
  for (const [command, options] of commands) {
    const { code, text } = await run(t, command, ['--help'])
    const named = new Set([...text.matchAll(/--([a-z]+)/g)].map(([, name]) => name))
    t.same([code, [...named].sort()], [0, options.split(' ')])
  }
})

t.test('whatever is wrong on the command line is one sentence and exit code 2', async (t) => {
  const away = `http://${nowhere}/api`
  const { url } = await sandbox(t)
  const used = new URL(url).port
  const target = `record --platform ${away} --as x`
  const noName = /^--as must be the name of a folder, of letters, digits and _ @ \+ \. -$/
  const cases: [words: string, sentence: RegExp][] = [
    ['replay --nonsense', /nonsense/],
    ['replay --update', /^Unknown option '--update'/],
    [`${target} --strict`, /^Unknown option '--strict'/],
    ['replay fixtures/none', /fixtures\/none is not a folder with an account\.json/],
    [`replay ${acme}/account.json`, /account\.json is not a folder with an account\.json/],
    ['replay --port x', /--port must be/],
    [`replay ${acme} --port ${used}`, /^listen EADDRINUSE: .*; choose another --port$/],
    [`replay ${acme} ${acme} --hash x`, /^--hash needs exactly one folder$/],
    [`replay --diff ${acme} ${away} ${away}`, /^http:\S+ does not respond \(ENOTFOUND\)/],
    ['record --platform ftp://x --as x', /^--platform must be the platform's base URL, such as https:/],
    ['record --platform http://u:p@x/api --as x', /^--platform must be .*, without user, query and fragment$/],
    [`record --platform ${away}`, /--as must be/],
    ...['', '.', '..', 'a/b', 'a$b'].map((bad): [string, RegExp] => [`record --platform ${away} --as ${bad}`, noName]),
    [`${target} more`, /^Unexpected argument 'more'/],
    [`${target} --only get_alerts`, /PLATFORM_HASH/],
    [`record --platform ${url.slice(0, -4)} --as x --only get_alerts`, /^http:\S+ has status 404: .*with \/api\?$/],
    [`${target} --day 2026-11-20`, /^--device and --day go with --only$/],
    [`${target} --only destroy_device`, /^destroy_device is not an action that only reads$/],
    [`${target} --only get_alerts --day 2026-11-20`, /^--day goes with get_history and get_events only$/],
    [`${target} --only get_history --day 2026-02-30`, /^--day must be a day such as 2026-11-20$/],
    [`${target} --only get_history --device 5`, /^--only get_history needs --device and --day$/],
    [`${target} --only get_history --device x`, /^--device must be the id of a device$/],
  ]
  for (const [words, sentence] of cases) {
    const [command, ...args] = words.split(' ') as ['replay' | 'record', ...string[]]
    const env = sentence.source === 'PLATFORM_HASH' ? {} : { PLATFORM_HASH: someHash }
    const { code, text } = await run(t, command, args, env)
    t.match({ code, lines: text.split('\n') }, { code: 2, lines: { length: 1, 0: sentence } }, words)
  }
})
