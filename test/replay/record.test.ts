/** A recorder in front of a platform: what it forwards, compares and writes. */
import { execFileSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { check } from '../../src/replay/check.js'
import { type Exchange, format } from '../../src/replay/exchange.js'
import { readFolder } from '../../src/replay/folder.js'
import { recordOne } from '../../src/replay/record.js'
import { buildReplay, hashOf } from '../../src/replay/replay.js'
import { nowhere } from '../faults.js'
import { type Bodies, gateway, platform, sandbox } from '../helper.js'
import { only } from '../only.js'
import { filesIn, get, listening, pseudonyms, recording, scrub, unscrubbed } from './folders.js'
import { mine, started } from './started.js'

const hash = hashOf('a test')

t.test('a recorder writes only when told to, and names the differences from what is stored', async (t) => {
  const answer: RequestListener = (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': `session=${hash}` }).end('[ ]')
  for (const update of [false, true]) {
    const { folder, send } = await recording(t, answer, scrub, update)
    for (const line of [/get_devices\.id=5\.json: new/, update ? /: 0 differences, stored$/ : /: new$/]) {
      const { lines, ...response } = await send('get_devices?id=5', hash)
      t.same(response, { status: 200, text: '[ ]' }, 'the proxy changes nothing')
      t.match(lines, { length: 1, 0: line })
    }
    const files = await filesIn(folder)
    t.same(files, update ? ['account.json', 'get_devices.id=5.json'] : [])
    if (update) t.notMatch(await readFile(join(folder, files[1] ?? ''), 'utf8'), /\$2y|session/)
  }
  const bodies: Bodies = { '*': [], get_devices: { total: 1, page: 1 } }
  const { calls, send, folder } = await recording(t, bodies, unscrubbed, true)
  await send('get_devices')
  bodies.get_devices = { total: 2, last: true, page: 1 }
  const was = ['  $.responses[0].json.total: 1 | 2', '  $.responses[0].json.last: undefined | true']
  t.match((await send('get_devices')).lines, only(/: 2 differences, stored$/, ...was))
  await send('get_devices?id[]=5&id[]=6')
  t.match(decodeURIComponent(calls.at(-1) ?? ''), '?id[]=5&id[]=6&', 'a list reaches the platform')
  const list = scrub((await readFolder(folder)).exchanges[0] as Exchange).query
  t.same(list, { 'id[]': `${pseudonyms.id(5)}`, 'id[1]': `${pseudonyms.id(6)}` }, 'and is recorded whole')
  const [many, others] = [500, 900].map((from) => Array.from({ length: 200 }, (_, n) => `id[]=${from + n}`).join('&'))
  for (const one of [many, others]) t.match((await send(`get_devices?${one}`)).lines, only(/ stored$/))
  t.equal((await filesIn(folder)).length, 5, 'a long one, too')
})

t.test('no response that is cut or has a status above 599 is written, and the line names the platform', async (t) => {
  const cut: RequestListener = (_, response) =>
    response.writeHead(200, { 'content-length': '10' }).write('[ ]', () => response.destroy())
  const odd: RequestListener = (_, response) => response.writeHead(999).end('[ ]')
  for (const [on, what] of [
    [cut, 'does not respond (UND_ERR_SOCKET)'] as const,
    [`http://${nowhere}/api`, 'does not respond (ENOTFOUND)'] as const,
    [odd, 'responds with status 999'] as const,
  ]) {
    const { url, folder, send, counts } = await recording(t, on, scrub)
    t.match(await send('get_devices'), { status: 502, lines: only(`get_devices: ${url} ${what}`) })
    t.same(await filesIn(folder), [])
    t.same(counts, { stored: 0, rejected: 1 })
  }
})

t.test('the end of a recording does not wait for the platform: it names what it drops, and exits with 1', async (t) => {
  mine(t)
  const events = new EventEmitter()
  const asked = once(events, 'asked')
  const { url } = await platform(t, { '*': () => void events.emit('asked') })
  const recording = started(t, 'record', ['--platform', url, '--as', 'mine', '--port', '0', '--update'])
  get(await recording.url(), 'get_devices').catch(() => {})
  await asked
  t.equal(await recording.end(), 1)
  t.match(recording.text(), /^get_devices: \S+ does not respond \(the recording has ended\)\nstored 0 exchanges/m)
})

t.test('a recording has the scrubbed responses, and nothing that identifies the account', async (t) => {
  const ids = { id: 47_110, imei: '356938035643809', plate_number: '1234 BCD', vin: 'WVWZZZ1JZXW000001' }
  const traccar = { uniqueId: '789832', latest_positions: '41.387917/2.169919;' }
  const fix = { lat: 41.387917, lng: 2.169919, course: 92, traccar }
  const device = { ...ids, ...fix, name: 'Falcon 12', driver: 'Ana Ruiz', device_data: { sim_number: '34600123456' } }
  const event = { id: 9, device_id: 47_110, device_name: 'Falcon 12', geofence_id: 8123, message: 'Zone in (Harbour)' }
  const service = { id: 5, device_id: 47_110, description: 'Garage Molina', email: 'shop@molina.test' }
  const bodies: Bodies = {
    get_user_data: { email: 'ops@fleet.test', plan: 'Gold', days_left: 3 },
    get_devices: [{ title: 'Northern Depot', items: [device] }],
    'services/47110': { status: 1, data: [service] },
    get_events: { status: 1, items: { data: [event] } },
  }
  const identifying =
    /Falcon|47110|356938|789832|1234 BCD|WVWZZZ|346001|fleet\.test|molina|North|41\.38|2\.169|Ruiz|8123|Harbour|Gold|\$2y/i
  const one = await recording(t, bodies, scrub)
  for (const [action, body] of Object.entries(bodies)) t.same(JSON.parse((await one.send(action, hash)).text), body)
  const files = await filesIn(one.folder)
  t.equal(files.length, 5)
  for (const file of files) t.notMatch(file + (await readFile(join(one.folder, file), 'utf8')), identifying, file)
  const { exchanges } = await readFolder(one.folder)
  for (const [action, json] of Object.entries(bodies)) {
    const { responses, ...request } = scrub({ action, query: {}, responses: [{ json }] })
    t.match(exchanges.find((one) => one.action === request.action)?.responses, responses)
  }
})

t.test('an exchange that holds a leak, or whose file is damaged, is not written, and others are', async (t) => {
  const get_alerts = { type: Buffer.from('mail ops@fleet.test').toString('base64') }
  const { folder, send, counts } = await recording(t, { get_alerts, '*': [] })
  await mkdir(folder)
  await writeFile(join(folder, 'get_devices.json'), 'edited')
  await mkdir(join(folder, 'get_events.json'))
  const cases: [action: string, line: RegExp][] = [
    ['get_alerts', /^get_alerts: not written: \$\.responses\[0\]\.json\.type: an e-mail address/],
    ['get_devices', /^get_devices: not written: .*get_devices\.json: line 1/],
    ['get_events', /^get_events: not written: EISDIR/],
    ['get_geofences', /get_geofences\.json: new, stored$/],
  ]
  for (const [action, line] of cases) t.match(await send(action), { status: 200, lines: { length: 1, 0: line } })
  t.same(await filesIn(folder), ['account.json', 'get_devices.json', 'get_events.json', 'get_geofences.json'])
  t.same(counts, { stored: 1, rejected: 3 })
})

t.test('a full disk leaves what was recorded before, and nothing is called stored that is not', async (t) => {
  const one = await recording(t, { '*': Array(1_000).fill('online') }, scrub)
  // A file that may not grow behaves like a full disk; the signal would end the process.
  process.on('SIGXFSZ', () => {})
  const limitFiles = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
  t.teardown(() => limitFiles('unlimited'))
  const send = async (bytes: string) => {
    limitFiles(bytes)
    const { lines } = await one.send('get_devices')
    limitFiles('unlimited')
    return lines.map((line) => line.replace(/.*\//, ''))
  }
  const failed = ['get_devices: not written: EFBIG: file too large, write']
  t.same(await send('10'), failed, 'not even the manifest')
  t.same(await send('2000'), failed)
  t.same(await filesIn(one.folder), ['account.json'], 'nor is a part left')
  t.same(await send('unlimited'), ['get_devices.json: new, stored'])
  const before = await readFolder(one.folder)
  t.same(await send('2000'), failed)
  t.same(await readFolder(one.folder), before)
  t.same(one.counts, { stored: 1, rejected: 3 })
})

t.test('a gateway on a recording of the device list alone has each device', async (t) => {
  const { url, hashes } = await sandbox(t, { devices: 3 })
  const folder = join(t.testdir({}), 'account')
  const options = { platform: url, folder, update: true, scrub: unscrubbed, fingerprint: '', log: () => {} }
  for (const action of ['get_user_data', 'get_devices'])
    t.ok(await recordOne({ action, query: {} }, hashes[0] ?? '', options))
  const PLATFORM_URL = await listening(t, buildReplay([await readFolder(folder)]))
  const { get } = await gateway(t, { env: { PLATFORM_URL } })
  t.match(await get('/v1/devices', hash), { status: 200, body: { count: 3 } })
  t.match(await get('/v1/devices/1002', hash), { status: 200, body: { id: 1002 } })
  t.match(await get('/v1/devices/7', hash), { status: 404 })
})

t.test('an address is recorded without the place, as a text or as JSON', async (t) => {
  const geo_address = { location: { address: 'Carrer Major 12', road: 'Carrer Major', house: '12', zip: '08005' } }
  const bodies = { address: 'Carrer Major 12, 08005 Girona', geo_address, 'address/reverse': geo_address }
  const { url, calls, send, folder: path } = await recording(t, bodies, scrub)
  const place = '?lat=41.387917&lng=2.16992'
  for (const action of [`address${place}`, `address/reverse${place}`, 'geo_address?lat=41.387917&lon=2.16992'])
    t.match(await send(action), { status: 200 })
  const { exchanges, ...folder } = await readFolder(path)
  t.notMatch(format(exchanges), /41\.38|2\.1699|Carrer|Major|Girona|"12|\b12\b|08005/)
  t.match(
    exchanges,
    only(
      { action: 'address', responses: only({ text: /^[A-Z]\w{5} [A-Z]\w{4} \d\d, \d{5} [A-Z]\w{5}$/ }) },
      { action: 'address/reverse', responses: only({ json: { location: { zip: /^\d{5}$/ } } }) },
      { action: 'geo_address', responses: only({ json: { location: { zip: /^\d{5}$/ } } }) },
    ),
  )
  calls.length = 0
  const user = { action: 'get_user_data', query: {}, responses: [{ json: {} }] }
  t.ok(await check(url, { ...folder, exchanges: [...exchanges, user] }, hash, () => {}, pseudonyms))
  t.match(calls, only(/get_user_data/, /get_user_data/), 'the check repeats no lookup')
})

t.test('a recorder forwards nothing that could change data and follows no redirect', async (t) => {
  const get_devices: RequestListener = (_, response) => response.writeHead(302, { location: '/login' }).end()
  const { calls, folder, send } = await recording(t, { get_devices, '*': [] }, scrub)
  for (const action of ['destroy_device', 'get_devices/../destroy_device', 'services/5/x', ''])
    t.match(await send(action), { status: 405 }, action)
  t.match(await send('get_devices', 'x', { method: 'POST' }), { status: 405 })
  t.same(calls, [])
  t.match(await send('get_user_data', 'x'), { status: 200 })
  t.match(await send('get_devices', 'x', { redirect: 'manual' }), { status: 302 })
  t.equal(calls.length, 2)
  const [{ responses } = { responses: [] }] = (await readFolder(folder)).exchanges
  t.same(responses, [{ status: 302, headers: { location: '/login' } }])
})
