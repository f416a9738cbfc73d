/** The check of a recording: what it sends, and what counts as a change. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { check } from '../../src/replay/check.js'
import { hashOf } from '../../src/replay/replay.js'
import { platform, sandbox } from '../helper.js'
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
