/** The check of a recording: what it sends, and what counts as a change. */
import { readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { check } from '../../src/replay/check.js'
import type { Exchange } from '../../src/replay/exchange.js'
import { hashOf } from '../../src/replay/replay.js'
import { type Bodies, platform, sandbox } from '../helper.js'
import { only } from '../only.js'
import { exchange, folderOf, pseudonyms } from './folders.js'
import { mine, record } from './started.js'

const hash = hashOf('a test')

t.test('a check sends the real ids, and the ids of an invented recording and other numbers as they are', async (t) => {
  const { url, calls } = await platform(t, { get_devices: {} })
  const { fingerprint } = pseudonyms
  const { manifest, ...folder } = folderOf([
    exchange('get_devices', { device_id: '501', id: '501', 'id[1]': '501', page: '501' }, { json: {} }),
  ])
  for (const origin of ['invented', 'recorded'] as const) {
    t.ok(await check(url, { ...folder, manifest: { ...manifest, origin, fingerprint } }, hash, () => {}, pseudonyms))
    const id = origin === 'recorded' ? pseudonyms.originalId(501) : 501
    t.match(calls.at(-1), `?device_id=${id}&id=${id}&id%5B1%5D=${id}&page=501&`)
  }
})

t.test('record --check sends the real ids, which only the secret of the recording reveals', async (t) => {
  const folder = mine(t)
  const { url, hashes } = await sandbox(t, { devices: 2 })
  const recordWith = (RECORD_SECRET: string, ...args: string[]) =>
    record(t, url, args, { PLATFORM_HASH: hashes[0] ?? '', RECORD_SECRET })
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  for (const action of [['get_devices'], ['get_history', '--day', day], ['services']])
    t.match(await recordWith('a secret', '--only', ...action, '--device', '1001'), { code: 0 })
  const sound = { code: 0, text: '3 exchanges checked: all have their recorded shape' }
  t.same(await recordWith('a secret', '--check'), sound)
  for (const secret of ['', 'another secret'])
    t.match(await recordWith(secret, '--check'), { code: 2, text: /^the ids .* are invented: set RECORD_SECRET/ })
  const manifest = join(folder, 'account.json')
  const { fingerprint, ...others } = JSON.parse(await readFile(manifest, 'utf8'))
  t.match(fingerprint, /^[0-9a-f]{4}$/)
  await writeFile(manifest, JSON.stringify(others))
  const unknown = { code: 2, text: /, or record again with one$/ }
  t.match(await recordWith('a secret', '--check'), unknown, 'without a fingerprint every secret may be another one')
})

/** What a check of these exchanges returns and logs. */
async function checked(t: Test, bodies: Bodies, ...exchanges: Exchange[]) {
  const { url, calls } = await platform(t, { get_user_data: {}, ...bodies })
  const lines: string[] = []
  const ok = await check(url, folderOf(exchanges), hash, (line) => lines.push(line))
  return { ok, lines, calls }
}

t.test('a response has its recorded shape when it has that of any response of the sequence', async (t) => {
  const sequence = exchange('get_alerts', {}, { json: { total: 1 } }, { status: 503 })
  const sound = { ok: true, lines: only('1 exchanges checked: all have their recorded shape') }
  t.match(await checked(t, { get_alerts: { total: 2 } }, sequence), sound)
  const changed = only('get_alerts.json: $.total changed, was number, is string', '1 exchanges checked: 1 have changed')
  t.match(await checked(t, { get_alerts: { total: '2' } }, sequence), { ok: false, lines: changed })
})

t.test('null and a refusal have another shape than any other response', async (t) => {
  const cases: [was: unknown, is: unknown, text: string][] = [
    [[1], 'null', 'was status 200 with JSON, is status 200 with null'],
    [{}, 'null', 'was status 200 with JSON, is status 200 with null'],
    [[], { status: 0, message: 'Wrong hash.' }, 'was status 200 with JSON, is status 200 with a refusal'],
  ]
  for (const [json, is, text] of cases) {
    const get_alerts: RequestListener = (_, response) => response.end(is === 'null' ? is : JSON.stringify(is))
    const { ok, lines } = await checked(t, { get_alerts }, exchange('get_alerts', {}, { json }))
    t.match([ok, lines], [false, only(`get_alerts.json: ${text}`, '1 exchanges checked: 1 have changed')])
  }
})

t.test('a check names the requests that it cannot repeat, and fails where none is left', async (t) => {
  const any = exchange('get_events', { date_from: '*' }, { json: {} })
  const { ok, lines, calls } = await checked(t, { get_alerts: {} }, any, exchange('get_alerts', {}, { json: {} }))
  const skipped = 'get_events.date_from=%2A.json: not checked: no value is recorded for date_from'
  t.match([ok, lines], [true, only(skipped, '1 exchanges checked: all have their recorded shape')])
  t.notMatch(calls.join(), 'get_events')
  for (const exchanges of [[], [any]])
    await t.rejects(checked(t, {}, ...exchanges), { message: 'test has no exchange to check' })
  const alone = { code: 2, text: '--check goes without --update, --only, --device and --day' }
  for (const words of ['--only get_alerts', '--device 5', '--day 2026-11-20', '--update'])
    t.same(await record(t, 'http://127.0.0.1:9/api', ['--check', ...words.split(' ')]), alone)
})
