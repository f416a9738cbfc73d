/** Histories read by the real worker over real sockets: the same response as translating the whole document. */
import t from 'tap'
import { read, type Tally } from '../../src/platform/shape.js'
import { wireHistory, wireSetup } from '../../src/platform/wire.js'
import { toHistory } from '../../src/resources/history.js'
import { toTrack } from '../../src/resources/track.js'
import { jobs } from './worker.js'

const setup = read(wireSetup, { item: { timezone_id: 7 }, timezones: [{ id: 7, value: 'UTC -03:30' }] })
const days = { deviceId: 7, from: '2026-05-11', to: '2026-05-12', positions: true }
const params = { ...days, format: 'json', setup } as const

const stamp = (second: number): string =>
  new Date(Date.UTC(2026, 4, 11) + second * 1_000).toISOString().replace('T', ' ').slice(0, 19)

const point = (at: number) => ({
  ...{ id: at + 1, device_id: 3, item_id: `i${at + 1}`, time: stamp(at * 4), raw_time: stamp(at * 4), speed: at % 90 },
  ...{ latitude: 48 + at / 1e5, longitude: '9.5', altitude: 400, course: 12, address: at % 3 ? null : 'Gate é' },
  ...{ other: `<info><odo>${at}</odo></info>`, sensors_data: [{ id: 'speed', value: at % 90 }], valid: 1 },
})

const points = (from: number, count: number) => Array.from({ length: count }, (_, at) => point(from + at))

const durations = { move_duration: '1h 5s', stop_duration: '2min' }
const totals = { ...durations, distance_sum: '9.50 Km', top_speed: '89 kph', status: 1 }

const layouts: Record<string, unknown> = {
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
  'points with numeric keys': { items: [{ status: 1, items: { 5: point(1), 6: point(2) } }], ...totals },
  'items that are no records': { items: [7, { status: 1, items: [null, point(1), 'x'] }], ...totals },
  'groups as a JSON string': { items: JSON.stringify([{ status: 1, items: points(0, 3) }]), ...totals },
  'no groups': { items: [], ...totals },
}

t.test('every layout of the platform gives the response of the whole document', async (t) => {
  let body = ''
  const { run } = await jobs(t, (_request, response) => void response.end(body))
  for (const [name, layout] of Object.entries(layouts)) {
    for (body of [JSON.stringify(layout), JSON.stringify(layout, null, 2)]) {
      const tally: Tally = { skipped: 0 }
      const expected = toHistory(read(wireHistory, layout, tally), { ...days, zone: { offsetMinutes: -210 } })
      const { json, skippedRows } = await run('get_history', params)
      t.same(JSON.parse(Buffer.from(json).toString()), JSON.parse(JSON.stringify(expected)), name)
      t.equal(skippedRows, tally.skipped, name)
      const track = await run('get_history', { ...params, format: 'geojson' })
      t.same(JSON.parse(Buffer.from(track.json).toString()), JSON.parse(JSON.stringify(toTrack(expected))), name)
    }
  }
})
