/** Fleets and histories read by the real worker over real sockets: the same as parsing the whole response. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { type DeviceFilter, Fleet } from '../../src/devices/fleet.js'
import { readItems } from '../../src/devices/items.js'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { pageOf } from '../../src/platform/pages.js'
import { read, type Tally } from '../../src/platform/shape.js'
import { type WireDevice, wireDevice, wireHistory, wireSetup } from '../../src/platform/wire.js'
import { type Device, deviceId, toDevice } from '../../src/resources/device.js'
import { driverIdOf } from '../../src/resources/device-state.js'
import { toHistory, toTrack } from '../../src/resources/history.js'
import { kilobytesKept } from '../faults.js'
import { sends, stamp } from '../platform/faulty.js'
import { atOnce } from '../resources/history-rows.js'
import { jobs, list, lists, now, row, zone } from './worker.js'

/** The rows of a response that is parsed as a whole: what the worker's result is compared with. */
function rowsOf(body: unknown): WireDevice[] {
  const groups = read([{ title: 'scalar', items: [wireDevice] }] as const, pageOf(body).rows)
  const all = groups.flatMap(({ title, items }) =>
    (items as WireDevice[]).map((item) => ({ ...item, group: title === undefined ? undefined : String(title) })),
  )
  const first = new Map<number, WireDevice>()
  for (const one of all) {
    const id = deviceId(one)
    if (id !== undefined && !first.has(id)) first.set(id, one)
  }
  return [...first].sort(([a], [b]) => a - b).map(([, one]) => one)
}

const devicesOf = (rows: WireDevice[]): Device[] => rows.map((one) => toDevice(one, now, zone) as Device)

/** Sends a text in pieces of odd sizes. */
function sendInPieces(response: ServerResponse, text: string, isGzip = false): void {
  if (isGzip) response.setHeader('content-encoding', 'gzip')
  const bytes = isGzip ? gzipSync(text, { level: 1 }) : Buffer.from(text)
  for (let from = 0, size = 1; from < bytes.length; from += size, size = (size * 7919) % 65_521) {
    response.write(bytes.subarray(from, from + size))
  }
  response.end()
}

for (const count of [3, 3_000]) {
  t.test(`a list of ${count + 4} devices reads as the whole document would, packed or not`, async (t) => {
    const body = list(count)
    let isGzip = false
    const text = JSON.stringify(body)
    const { devices } = await jobs(t, (_request, response) => sendInPieces(response, text, isGzip))
    const rows = rowsOf(body)
    const expected = devicesOf(rows)
    for (isGzip of [false, true]) {
      const columns = await devices()
      const fleet = new Fleet(columns, zone)
      t.equal(fleet.length, count + 4)
      t.ok(Number.isInteger(fleet.bytes), 'as the cache needs it')
      t.ok(fleet.bytes > 1.5 * fleet.bytesOf(Math.min(500, fleet.length)), 'kept devices count, and their responses')
      assert.deepStrictEqual(fleet.slice(0, 10_000), expected)
      t.same(fleet.get(2), expected[1])
      const rowsById = fleet.ids.map((id) => fleet.row(id))
      assert.deepStrictEqual(rowsById, rows)
      const contacts = rows.map((one) => Math.max(Number(one.timestamp ?? 0), Number(one.acktimestamp ?? 0)))
      const since = Math.max(...contacts)
      const filters = [undefined, 'online', 'offline', 'moving'].flatMap((status) =>
        [undefined, since, since + 1].flatMap((updatedSince) =>
          [undefined, [], [1, 2, count, 99_999]].map((ids) => ({ status, updatedSince, ids }) as DeviceFilter),
        ),
      )
      for (const filter of filters) {
        const { status, updatedSince = 0, ids } = filter
        const isSelected = (device: Device, at: number): boolean =>
          (status ?? device.status) === device.status &&
          (contacts[at] as number) >= updatedSince &&
          (ids?.includes(device.id) ?? true)
        const some = expected.filter(isSelected)
        const found = fleet.where(filter)
        t.same([found.length, ...found.slice(1, 4)], [some.length, ...some.slice(1, 4)], JSON.stringify(filter))
      }
      t.equal(fleet.withDriver(7), rows.find((one) => driverIdOf(one) === 7)?.id)
      t.equal(fleet.withDriver(8), undefined)
      t.same(fleet.withServices('listed'), rows.filter((one) => one.device_data.services.length > 0).map(deviceId))
      t.same(fleet.withServices('shown'), rows.filter((one) => one.services.length > 0).map(deviceId))
      t.same(columns.unknownStates, [['Busy', 1]])
      t.equal(columns.skippedRows, 5, 'two groups, two items that are no records, and a record without an id')
      t.equal(fleet.get(count + 1), fleet.get(count + 1), 'a device that is read again is the same object')
      t.equal(fleet.get(99_999), undefined)
      t.notOk(fleet.has(99_999))
    }
  })
}

t.test('every layout of the platform is read', async (t) => {
  const items = [row(1), row(2)]
  const layouts: Record<string, unknown> = {
    groups: [{ title: 'A', items }],
    'groups in items': { items: [{ title: 'A', items }], total: '2', per_page: 5 },
    'groups in data with pagination': { data: { 4: { title: 'A', items } }, pagination: { total: 2, last_page: '2' } },
    'a paginator in items': { items: { total: 2, current_page: 1, data: [{ title: 'A', items }] } },
    'groups with numeric keys': { 0: { title: 'A', items }, 7: { title: 'B', items: [] } },
    'groups as a JSON string': { items: JSON.stringify([{ title: 'A', items }]) },
    'items with numeric keys': [{ title: 'A', items: { 3: row(1), 9: row(2) } }],
    'pretty-printed': `${JSON.stringify([{ title: 'A', items }], null, 4)}\n`,
    'a byte order mark': `\ufeff\ufeff \n${JSON.stringify([{ title: 'A', items }])}`,
    'no group title': [{ items }],
    'N19 a device in two groups': [
      { title: 'A', items: [row(1)] },
      { title: 'B', items: [{ ...row(1), id: '1' }, row(2)] },
    ],
    'no devices': [],
    'no devices in an object': { data: {} },
    'no devices in a group': [{ title: 'A', items: [] }],
    'no devices under numeric keys': { status: 1, pagination: { total: 0 } },
  }
  let text = ''
  const { fleet } = await lists(t, (_request, response) => sendInPieces(response, text))
  for (const [name, body] of Object.entries(layouts)) {
    text = typeof body === 'string' ? body : JSON.stringify(body)
    const found = await fleet()
    t.same(found.slice(0, 9), devicesOf(rowsOf(JSON.parse(text.trimStart()))), name)
    t.equal(found.length, name.startsWith('no devices') ? 0 : 2, name)
  }
})

t.test('a part of a response that begins with < is no page', async (t) => {
  async function* body() {
    for (const part of ['[{"items":[{"id":1,"name":"', '<b>"}]}]']) yield Buffer.from(part)
  }
  const options = { shape: wireDevice, onRow: () => {}, maxEnvelopeBytes: 100, bytes: () => 0 }
  await t.resolves(
    readItems({ action: 'get_devices', query: {} }, body(), options, { reservation: new ByteBudget(1e6).open('a') }),
  )
})

t.test('a group has the first 200 characters of its title, and no half of one', async (t) => {
  const titles = ['G'.repeat(100_000), `${'x'.repeat(199)}🚚`, `${'x'.repeat(198)}🚚🚚`]
  const groups = titles.map((title, at) => ({ title, items: [{ id: at + 1 }] }))
  const found = await (await lists(t, sends(JSON.stringify(groups)))).fleet()
  const kept = found.slice(0, 3).map(({ group }) => group)
  t.same(kept, ['G'.repeat(200), 'x'.repeat(199), `${'x'.repeat(198)}🚚`])
})

t.test('a list of 100,000 devices has every one of them', async (t) => {
  const items = Array.from({ length: 100_001 }, (_, at) => ({ id: at + 1, lat: '48.1', lng: '9.2' }))
  const { fleet } = await lists(t, sends(JSON.stringify([{ items }])))
  const found = await fleet()
  t.equal(found.length, 100_001)
  t.match(found.get(77_777), { id: 77_777, lat: 48.1 })
})

t.test("a device's name is the same, read alone or with the device", async (t) => {
  const texts = ['Van 4', '', '-', '  ', 'a"b', 'a\\', '\\"', '","', 'Ö 🚚', '\u0000\n', '[1,"x"', 'x'.repeat(20_000)]
  const names = [...texts, null, 7, true]
  const ids = [(id: number) => id, (id: number) => `${id}`, (id: number) => `x,"${id}`]
  const items = names.flatMap((name, at) =>
    ids.flatMap((idOf, kind) =>
      ['Spare', null, '"'].map((own, other) => {
        const id = 1 + 9 * at + 3 * kind + other
        return { id: idOf(id), name, device_data: { id, name: own } }
      }),
    ),
  )
  const { fleet } = await lists(t, sends(JSON.stringify([{ title: 'A', items }])))
  const found = await fleet()
  t.equal(found.length, items.length)
  for (const id of found.ids) t.equal(found.name(id), found.get(id)?.name, JSON.stringify(items[id - 1]).slice(0, 80))
  t.equal(found.name(9_999), undefined)
})

t.test('a device whose row is longer than 16 KiB is decoded each time, any other is kept', async (t) => {
  const items = ['x'.repeat(20_000), 'Van 2'].map((name, at) => ({ id: at + 1, name }))
  const found = await (await lists(t, sends(JSON.stringify([{ items }])))).fleet()
  t.not(found.get(1), found.get(1))
  t.equal(found.get(2), found.get(2))
})

const setup = read(wireSetup, {
  item: { timezone_id: 7, unit_of_distance: 'mi' },
  timezones: [{ id: 7, value: 'UTC -03:30' }],
})
const days = { deviceId: 7, from: '2026-05-11', to: '2026-05-12', positions: true }
const params = { ...days, format: 'json', setup } as const

const point = (at: number) => ({
  ...{ id: at + 1, device_id: 3, item_id: `i${at + 1}`, time: stamp(at * 4), raw_time: stamp(at * 4), speed: at % 90 },
  ...{ latitude: 48 + at / 1e5, longitude: '9.5', altitude: 400, course: 12, address: at % 3 ? null : 'Gate é' },
  ...{ other: `<info><odo>${at}</odo></info>`, sensors_data: [{ id: 'speed', value: at % 90 }], valid: 1 },
})

const points = (from: number, count: number) => Array.from({ length: count }, (_, at) => point(from + at))

const durations = { move_duration: '1h 5s', stop_duration: '2min' }
const totals = { ...durations, distance_sum: '9.50 Km', top_speed: '89 kph', status: 1 }

const historyLayouts: Record<string, unknown> = {
  'drives and stops': {
    items: [
      { status: 1, distance: 9.5, time: '2min 40s', top_speed: '39', driver: { name: 'Jo' }, items: points(0, 40) },
      { status: 2, time_seconds: 4, left: '11-05-2026 00:02:44', items: [point(40)] },
      { status: 5, raw_time: stamp(161), message: 'Door', items: [{ lat: '48.1', lng: '9.5', raw_time: stamp(161) }] },
      { status: 1, items: points(41, 700) },
    ],
    ...totals,
    sensors: [{ id: 'speed', sufix: 'mph' }],
    fuel_consumption: '11.27 Liters',
  },
  'groups with numeric keys': { items: { 2: { status: '2', items: points(0, 3) } }, ...totals },
  'points with numeric keys': { items: [{ status: 1, items: { 5: point(1), 6: point(2) } }], ...durations },
  'items that are no records': { items: [7, { status: 1, items: [null, point(1), 'x'] }], ...totals },
  'groups as a JSON string': { items: JSON.stringify([{ status: 1, items: points(0, 3) }]), ...totals },
  'no groups': { items: [], ...totals },
}

t.test('every layout of a history gives the response of the whole document', async (t) => {
  let body = ''
  const { run } = await jobs(t, (_request, response) => void response.end(body))
  for (const [name, layout] of Object.entries(historyLayouts)) {
    for (body of [JSON.stringify(layout), JSON.stringify(layout, null, 2)]) {
      const tally: Tally = { skipped: 0 }
      const context = { ...days, zone: { offsetMinutes: -210 }, units: { unit_of_distance: 'mi' } }
      const expected = atOnce(toHistory(read(wireHistory, layout, tally), context))
      const { json, skippedRows } = await run('get_history', params)
      t.same(JSON.parse(Buffer.from(json).toString()), JSON.parse(JSON.stringify(expected)), name)
      t.equal(skippedRows, tally.skipped, name)
      const track = await run('get_history', { ...params, format: 'geojson' })
      t.same(JSON.parse(Buffer.from(track.json).toString()), JSON.parse(JSON.stringify(toTrack(expected))), name)
    }
  }
})

t.test('a fleet of a device that does not exist counts for at least the heap that it takes', async (t) => {
  const { devices } = await jobs(t, sends('[]'))
  const columns = await devices(1)
  const fleets: Fleet[] = []
  const kilobytes = await kilobytesKept(() => fleets.push(new Fleet(structuredClone(columns), undefined)), 3_000)
  t.ok(Number(fleets[0]?.bytes) >= kilobytes * 1024, `${kilobytes} kB`)
})
