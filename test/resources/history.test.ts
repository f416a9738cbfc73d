/** Histories from the platform's groups: totals, positions, their order and units. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireHistory } from '../../src/platform/wire.js'
import { type History, toHistory } from '../../src/resources/history.js'

const requested = { deviceId: 318, from: '2026-05-11', to: '2026-05-12' }
const history = (raw: unknown) => toHistory(read(wireHistory, raw), requested)
const place = { latitude: 48.2, longitude: 16.3, lat: 48.2, lng: 16.3 }
/** A point on 11 May 2026. Its `device_id` is not the id of the device (N29). */
const point = (id: unknown, time: string, more: object = {}) => ({
  ...{ id, device_id: 5, raw_time: `2026-05-11 ${time}`, time: `11-05-2026 ${time}`, ...place, speed: 14, ...more },
})
const clocks = ({ positions }: History): string[] => positions.map(({ time }) => time.slice(11))

const envelope = { object: 'history', device_id: 318, from: '2026-05-11', to: '2026-05-12' }

t.test('a history has exactly the documented fields (N24, N26, N27, N28, N29, N30)', async (t) => {
  const drive = [point(1, '07:00:00'), point(2, '07:01:00', { speed: '21.5', address: 'Quay 3' })]
  const nowhere = { latitude: 0, longitude: 0, lat: 0, lng: 0 }
  const stop = [point(3, '07:02:00', { speed: 0, valid: 0 }), point(4, '07:03:00', nowhere)]
  const event = { raw_time: '2026-05-11 07:01:30', speed: 0, lat: '-12.5', lng: '-41.5' }
  const items = [
    { status: 3, time: null, driver: null, items: [point(1, '07:00:00')] },
    { status: 1, time_seconds: 900, distance: 3, driver: '', items: drive },
    { status: 5, time: null, message: 'Door', items: [event] },
    { status: 2, time_seconds: 100, distance: 1, driver: { id: 1 }, items: stop },
    { status: 4, items: [point(3, '07:02:00')] },
  ]
  const durations = { move_duration: '18min 50s', stop_duration: '47h 12min 9s' }
  const sensors = [{ id: 'speed', name: 'Speed', sufix: 'kph' }]
  const totals = { ...durations, distance_sum: '23.41 Km', top_speed: '58 Kph', sensors, device: { id: 318 } }
  t.strictSame(history({ items, ...totals, status: 1 }), {
    ...{ ...envelope, ...durations, distance_km: 23.41, top_speed: 58, move_seconds: 1130, stop_seconds: 169_929 },
    positions: [
      { time: '2026-05-11 07:00:00', lat: 48.2, lng: 16.3, speed: 14, address: null },
      { time: '2026-05-11 07:01:00', lat: 48.2, lng: 16.3, speed: 21.5, address: 'Quay 3' },
      { time: '2026-05-11 07:02:00', lat: 48.2, lng: 16.3, speed: 0, address: null },
    ],
  })
})

t.test('a history of platform 2.x, with texts and groups in an object, is the same (N01, N31)', async (t) => {
  const old = point('12', '07:00:00', { latitude: '48.2', longitude: '16.3', speed: '8', valid: '1' })
  const result = history({
    items: { 0: { status: '1', items: { 0: old, 1: { ...old, id: '13', raw_time: '2026-05-11 06:59:00' } } } },
    distance_sum: '1 234.5 km',
    top_speed: 8,
    move_duration: '01:02:03',
    stop_duration: '5 fortnights',
  })
  const totals = { distance_km: 1234.5, top_speed: 8, move_seconds: 3723, stop_seconds: null }
  t.hasStrict(result, { ...totals, stop_duration: '5 fortnights' })
  t.strictSame(clocks(result), ['06:59:00', '07:00:00'], 'in time order')
})

t.test('an empty history has zeros and no positions (N32, N61)', async (t) => {
  const durations = { move_duration: '0s', stop_duration: '0s' }
  const zeros = { distance_km: 0, top_speed: 0, ...durations, move_seconds: 0, stop_seconds: 0, positions: [] }
  for (const raw of [
    { items: [], distance_sum: '0 Km', top_speed: '0 kph', ...durations },
    {},
    null,
    [],
    { items: null, distance_sum: null, top_speed: '-', sensors: {} },
    { items: [{ status: 1, items: '[{' }] },
  ])
    t.strictSame(history(raw), { ...envelope, ...zeros }, JSON.stringify(raw))
})

t.test('distances are in km and speeds in km/h, whichever field has the unit (N24, N64)', async (t) => {
  const sensors = [{ id: 'speed', sufix: 'mph' }]
  const items = [
    { status: 1, distance: '10', items: [point(1, '07:00:00', { speed: 62 })] },
    { status: 3, distance: '5', items: [] },
  ]
  const rows: [name: string, raw: object, expected: object][] = [
    [
      'units in the totals',
      { sensors, distance_sum: '10.6 mi', top_speed: '62 mph' },
      { distance_km: 17.06, top_speed: 99.8 },
    ],
    [
      'unit of the speed sensor',
      { sensors, distance_sum: '10.6', top_speed: 62 },
      { distance_km: 17.06, top_speed: 99.8 },
    ],
    ['sum of drives and stops, fastest point', { sensors }, { distance_km: 16.09, top_speed: 99.8 }],
    ['the same in km', {}, { distance_km: 10, top_speed: 62 }],
    ['unit of the top speed', { top_speed: '62 mph' }, { positions: [{ speed: 99.8 }] }],
    ['unit of another sensor', { sensors: [{ id: 'x', sufix: 'mph' }] }, { positions: [{ speed: 62 }] }],
    ['negative totals', { distance_sum: '-5 km', top_speed: '-3 kph' }, { distance_km: 0, top_speed: 0 }],
  ]
  for (const [name, raw, expected] of rows) t.hasStrict(history({ items, ...raw }), expected, name)
  const negative = [{ status: 1, distance: -4, items: [point(1, '07:00:00', { speed: -5 })] }]
  t.hasStrict(history({ items: negative }), { distance_km: 0, top_speed: 0, positions: [{ speed: 0 }] })
})

t.test('start and end points count only without drives and stops; event points never do (N27, N28)', async (t) => {
  const start = { status: 3, items: [point(1, '07:00:00')] }
  const event = { status: 5, items: [point(9, '07:30:00')] }
  const end = { status: 4, items: [point(2, '08:00:00'), point(1, '07:00:00')] }
  t.strictSame(clocks(history({ items: [start, event, end] })), ['07:00:00', '08:00:00'])
  const stop = { status: 2, items: [point(3, '07:45:00')] }
  t.strictSame(clocks(history({ items: [start, event, stop, end] })), ['07:45:00'])
})

t.test('points without an id count once per time and place, with a date near the requested days (N05)', async (t) => {
  const bare = { time: '05-11-2026 07:00:00', lat: '48.2', lng: '16.3' }
  const result = history({
    items: [{ status: 1, items: [bare, bare, { ...bare, lng: '16.4' }, { lat: 48, lng: 16, time: 'soon' }] }],
  })
  t.strictSame(
    result.positions.map(({ time, lng }) => [time, lng]),
    [
      ['2026-05-11 07:00:00', 16.3],
      ['2026-05-11 07:00:00', 16.4],
    ],
  )
})

t.test('points of the same second keep their order', async (t) => {
  const later = point(1, '07:00:02', { longitude: 16 })
  const same = [1, 2].map((lng) => point(lng + 1, '07:00:01', { longitude: lng }))
  const { positions } = history({ items: [{ status: 1, items: [later, ...same] }] })
  t.strictSame(
    positions.map(({ lng }) => lng),
    [1, 2, 16],
  )
})

t.test('a history of 100,000 points is complete and in order', async (t) => {
  const start = Date.parse('2026-05-11T00:00:00Z')
  const stamp = (at: number) => new Date(start + at * 1000).toISOString().slice(0, 19).replace('T', ' ')
  const items = Array.from({ length: 1000 }, (_, group) => ({
    status: 1 + (group % 2),
    items: Array.from({ length: 100 }, (_, at) => point(group * 100 + at, '', { raw_time: stamp(group * 100 + at) })),
  }))
  const wire = read(wireHistory, { items: items.reverse() })
  const result = toHistory(wire, requested)
  t.equal(result.positions.length, 100_000)
  t.ok(result.positions.every(({ time }, at) => at === 0 || time > (result.positions[at - 1]?.time ?? '')))
})
