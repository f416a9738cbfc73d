/** Events from platform rows, and their order. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { type WireSetup, wireEvent, wireSetup } from '../../src/platform/wire.js'
import { newestFirst, toEvent } from '../../src/resources/event.js'

const names = new Map([
  [318, 'Van 4'],
  [31, 'Lorry 9'],
])
const kph = read(wireSetup, { item: { unit_of_distance: 'km' } })
const event = (raw: object, setup: WireSetup | undefined = kph) =>
  toEvent(read(wireEvent, { id: 5021, ...raw }), (id) => names.get(id), setup)

t.test('an event of platform 2.x has a type from its message and a name from the device list (N01, N35)', async (t) => {
  const message = 'Overspeed (90 kph)'
  const place = { latitude: '48.22917', longitude: '16.41862', address: null }
  t.strictSame(event({ id: '5021', device_id: '31', message, ...place, time: '2016-07-02 18:20:31' }), {
    ...{ id: 5021, type: 'overspeed', message, device_id: 31, device: 'Lorry 9' },
    ...{ lat: 48.22917, lng: 16.41862, timestamp: '2016-07-02 18:20:31' },
  })
})

t.test("an event of platform 3.x has the platform's type and the name in the row (N34, N36)", async (t) => {
  const texts = { type: 'ZONE_IN', message: 'Zone in (Harbour)', name: 'Zone in', detail: 'Harbour' }
  const times = { time: '2026-05-11 13:47:02', created_at: '2026-05-11 13:47:05' }
  const raw = { device_id: 318, device_name: 'Van four', ...texts, latitude: 48.2, longitude: 16.4, ...times }
  for (const ignored of [
    { additional: [], geofence: null },
    { additional: { overspeed_speed: 90 }, geofence: 'Harbour' },
    { additional: null, geofence: { id: 27, name: 'Harbour' } },
  ]) {
    t.strictSame(event({ ...raw, ...ignored }), {
      ...{ id: 5021, type: 'zone_in', message: 'Zone in (Harbour)', device_id: 318, device: 'Van four' },
      ...{ lat: 48.2, lng: 16.4, timestamp: '2026-05-11 13:47:02' },
    })
  }
})

t.test('an empty event has empty texts and nulls; without a valid id there is none (N35)', async (t) => {
  const nulls = { device_id: null, lat: null, lng: null, timestamp: null }
  t.strictSame(event({}), { id: 5021, type: 'custom', message: '', device: '', ...nulls })
  t.equal(event({ id: null }), undefined)
})

t.test('each field is taken from the first place that has it (N35, N59)', async (t) => {
  const rows: [name: string, raw: object, expected: object][] = [
    ['N35 overspeed', { message: ' OVERSPEED (80 kph)' }, { type: 'overspeed' }],
    ['N35 only at the beginning', { message: 'No overspeed' }, { type: 'custom' }],
    ['N35 zone in', { message: 'Zone in' }, { type: 'zone_in' }],
    ['N35 zone out', { message: 'Depot: zone OUT' }, { type: 'zone_out' }],
    ['N35 other message', { message: 'Door opened' }, { type: 'custom' }],
    ['type before message', { type: 'sos', message: 'Zone in' }, { type: 'sos' }],
    ['name and detail', { name: 'SOS', detail: 'cabin' }, { message: 'SOS (cabin)' }],
    ['only a name', { name: 'SOS' }, { message: 'SOS' }],
    ['only a detail', { detail: 'cabin' }, { message: 'cabin' }],
    ['nested device', { device: { id: 7, name: 'Nested' } }, { device_id: 7, device: 'Nested' }],
    ['row before nested device', { device_id: 318, device: { id: 7 } }, { device_id: 318, device: 'Van 4' }],
    ['unknown device', { device_id: 999 }, { device_id: 999, device: '' }],
    ['lat and lng', { lat: '48.1', lng: '16.2' }, { lat: 48.1, lng: 16.2 }],
    ['latitude before lat', { latitude: 48.2, longitude: 16.4, lat: 1, lng: 2 }, { lat: 48.2, lng: 16.4 }],
    ['N08 no position', { latitude: 0, longitude: 0 }, { lat: null, lng: null }],
    ['created_at', { created_at: '2026-05-11 10:00:00' }, { timestamp: '2026-05-11 10:00:00' }],
    ['N59 zero date', { time: '0000-00-00 00:00:00' }, { timestamp: null }],
  ]
  for (const [name, raw, expected] of rows) t.hasStrict(event(raw), expected, name)
})

t.test('an ambiguous time is the one nearest to the creation of the row (N05)', async (t) => {
  const time = '04-05-2026 10:00:00'
  t.equal(event({ time, created_at: '2026-04-05 10:00:02' })?.timestamp, '2026-04-05 10:00:00')
  t.equal(event({ time, created_at: '2026-05-04 10:00:02' })?.timestamp, '2026-05-04 10:00:00')
})

t.test('events are newest first, within a second by id, and last without a time', async (t) => {
  const rows = [
    event({ id: 1, time: '2026-05-11 10:00:00' }),
    event({ id: 9 }),
    event({ id: 3, time: '2026-05-11 10:00:00' }),
    event({ id: 10 }),
    event({ id: 2, time: '2026-05-12 10:00:00' }),
  ].filter((row) => row !== undefined)
  for (const order of [rows, rows.toReversed()])
    t.strictSame(
      order.toSorted(newestFirst).map(({ id }) => id),
      [2, 3, 1, 10, 9],
    )
})
