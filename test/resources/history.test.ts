/** Histories from the platform's groups: totals, positions, their order and units. */
import { check } from '@placemarkio/check-geojson'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { Track, toTrack } from '../../src/resources/history.js'
import { clocks, envelope, history, point, told, zone } from './history-rows.js'
import { maps } from './rows.js'

t.test('a history has exactly the documented fields (N24, N26, N27, N28, N29, N30)', async (t) => {
  const drive = [point(1, '07:00:00', told), point(2, '07:01:00', { ...told, speed: '21.5', address: 'Quay 3' })]
  const at = (time: string, timestamp: number) => ({ time: `2026-05-11 ${time}`, timestamp, lat: 48.2, lng: 16.3 })
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
    fuel_l: null,
    trips: [
      {
        ...{ from: '2026-05-11 07:00:00', to: '2026-05-11 07:15:00', duration_seconds: 900, distance_km: 3 },
        ...{ top_speed: 21.5, average_speed: null, driver: null },
        ...{ start: { lat: 48.2, lng: 16.3 }, end: { lat: 48.2, lng: 16.3 } },
      },
    ],
    stops: [
      {
        ...{ from: '2026-05-11 07:02:00', to: '2026-05-11 07:03:40', duration_seconds: 100 },
        ...{ lat: 48.2, lng: 16.3, address: null },
      },
    ],
    events: [{ time: '2026-05-11 07:01:30', lat: -12.5, lng: -41.5, message: 'Door' }],
    positions: [
      { ...at('07:00:00', 1778475600), ...told, speed: 14, address: null },
      { ...at('07:01:00', 1778475660), ...told, speed: 21.5, address: 'Quay 3' },
      { ...at('07:02:00', 1778475720), ...told, speed: 0, course: null, altitude: null, address: null },
    ],
  })
})

t.test('a position has altitude in metres, course within a circle, timestamp if the zone is known', async (t) => {
  const items = [{ status: 1, items: [point(1, '07:00:00', { course: -90, altitude: '100' })] }]
  const sensors = [{ id: 'altitude', sufix: 'ft' }]
  t.hasStrict(history({ items, sensors }).positions, [{ course: 270, altitude: 30.5, timestamp: 1778475600 }])
  t.hasStrict(history({ items }, {}).positions, [{ timestamp: null, altitude: 100 }])
  const units = { unit_of_altitude: 'ft' }
  t.hasStrict(history({ items }, { units }).positions, [{ altitude: 30.5 }], "else in the account's unit")
  const summer = { from: '03-29 02:00', to: '10-25 02:00' }
  const [position] = history({ items }, { zone: { offsetMinutes: 60, summer } }).positions
  t.equal(position?.timestamp, 1778475600)
})

t.test('consecutive points of one second, place and speed are one position, others keep their order', async (t) => {
  const at = (id: number, longitude: number) => point(id, '07:00:01', { speed: 15, longitude })
  const points = [
    ...[point(1, '07:00:00'), point(2, '07:00:00'), point(3, '07:00:00')],
    ...[point(8, '07:00:02'), point(4, '07:00:00', { speed: 15 })],
    ...[at(5, 16.3), at(6, 16.4), at(7, 16.3), at(9, 16.2)],
  ]
  const legs = [points.slice(0, 3), points.slice(3)].map((items) => ({ status: 1, items }))
  const shown = (items: object[]): string[] =>
    history({ items }).positions.map(({ time, lng, speed }) => `${time.slice(17)} ${lng} ${speed}`)
  const later = ['01 16.3 15', '01 16.4 15', '01 16.3 15', '01 16.2 15', '02 16.3 14']
  t.strictSame(shown(legs), ['00 16.3 14', '00 16.3 15', ...later])
  t.strictSame(shown(legs.toReversed()), ['00 16.3 15', '00 16.3 14', ...later], 'by time, also across groups')
})

const minutesAfter = (start: string, positions: { timestamp: number | null }[]) =>
  positions.map(({ timestamp }) => ((timestamp ?? 0) * 1000 - Date.parse(start)) / 60_000)
const lordHowe = { offsetMinutes: 630, name: 'Australia/Lord_Howe' }
t.test('the time that the end of summer repeats keeps its order, and trips start and end by time', async (t) => {
  const summer = { from: '03-29 02:00', to: '05-11 01:00' }
  const times = ['01:40', '01:55', '01:10', '01:25', '02:05']
  const points = times.map((time, at) => point(at + 1, `${time}:00`, { longitude: 16 + at / 10 }))
  const event = { status: 5, raw_time: '2026-05-11 01:50:00', items: [{ lat: '48.2', lng: '16', time: '01:50' }] }
  for (const groups of [[points], [points.slice(0, 2), points.slice(2)], points.map((one) => [one])]) {
    const items = groups.flatMap((items) => [{ status: 1, raw_time: items[0]?.raw_time, items }, event])
    const { positions, trips } = history({ items }, { zone: { offsetMinutes: 60, summer } })
    t.equal(positions.map(({ time }) => time.slice(11, 16)).join(), times.join())
    t.strictSame(minutesAfter('2026-05-10T23:40Z', positions), [0, 15, 30, 45, 85])
    if (groups.length === 1) t.hasStrict(trips, [{ start: { lng: 16 }, end: { lng: 16.4 } }])
  }
  const onLordHowe = ['01:20', '01:40', '01:58', '01:35', '01:55', '02:10'].map((time, at) =>
    point(at, '', { raw_time: `2026-04-05 ${time}:00`, time: '' }),
  )
  const halfHour = history({ items: [{ status: 1, items: onLordHowe }] }, { zone: lordHowe }).positions
  t.strictSame(minutesAfter('2026-04-04T14:20Z', halfHour), [0, 20, 38, 45, 65, 80])
  const jitter = ['01:40', '01:55', '01:54', '01:10', '01:11', '01:10', '01:30', '02:05'].map((time, at) =>
    point(at + 1, `${time}:30`, { longitude: 16 + at / 10 }),
  )
  const inOrder = history({ items: [{ status: 1, items: jitter }] }, { zone: { offsetMinutes: 60, summer } }).positions
  const minutes = minutesAfter('2026-05-10T23:40:30Z', inOrder)
  t.strictSame(minutes, [0, 14, 15, 30, 30, 31, 50, 85], 'points out of order by up to a minute swap no hour')
  const [a, c] = [point(2, '07:00:00', { longitude: 16 }), point(3, '07:02:00', { longitude: 17 })]
  const items = [{ status: 1, raw_time: '2026-05-11 07:00:00', items: [c, point(1, '07:01:00'), a] }]
  for (const context of [{ zone }, {}])
    t.hasStrict(history({ items }, context).trips, [{ start: { lng: 16 }, end: { lng: 17 } }])
})

t.test('the track is valid GeoJSON with one time for each coordinate', async (t) => {
  const moved = (id: number) => point(id, `07:0${id}:00`, { longitude: 16 + id / 10 })
  for (const count of [0, 1, 2, 9]) {
    const items = [{ status: 1, items: Array.from({ length: count }, (_, id) => moved(id)) }]
    const { positions, ...properties } = history({ items })
    const track = toTrack(history({ items }))
    t.strictSame(check(JSON.stringify(track)).type, 'Feature')
    t.ok(Compile(Track).Check(track))
    const expected = positions.map(({ lng, lat }) => [lng, lat])
    const { geometry } = track
    t.strictSame(geometry?.type === 'Point' ? [geometry.coordinates] : (geometry?.coordinates ?? []), expected)
    t.strictSame(track.properties, { ...properties, times: positions.map(({ time }) => time) })
  }
})

const durations = { move_duration: '0s', stop_duration: '0s' }
const zeros = { distance_km: 0, top_speed: 0, ...durations, move_seconds: 0, stop_seconds: 0 }
const empty = { ...envelope, ...zeros, fuel_l: null, trips: [], stops: [], events: [], positions: [] }
maps('an empty history has zeros and no positions (N32, N61)', (raw: unknown) => history(raw), [
  [empty, { items: [], distance_sum: '0 Km', top_speed: '0 kph', ...durations }, {}, null, []],
  [empty, { items: null, distance_sum: null, top_speed: '-', sensors: {} }],
  [empty, { items: [{ status: 1, items: '[{' }] }, { status: 0, message: 'No data found' }],
])

t.test("how long a device moved and stood is null without the platform's totals, though it has trips", async (t) => {
  const items = [{ status: 1, time: '20min', time_seconds: 1200, items: [point(1, '07:00:00')] }]
  for (const none of [{}, { move_duration: '-', stop_duration: '' }, { move_duration: null }])
    t.hasStrict(history({ items, ...none }), { ...durations, move_seconds: null, stop_seconds: null })
  t.hasStrict(history({ items, move_duration: '0s' }), { move_seconds: 0, stop_seconds: null })
  t.hasStrict(history({ items, stop_duration: 'ages' }), { stop_duration: 'ages', stop_seconds: null })
})

t.test('distances are in km and speeds in km/h, whichever field has the unit (N24, N64)', async (t) => {
  const sensors = [{ id: 'speed', sufix: 'mph' }]
  const items = [
    { status: 1, distance: '10', items: [point(1, '07:00:00', { speed: 62 })] },
    { status: 3, distance: '5', items: [] },
  ]
  const totals = { distance_km: 17.06, top_speed: 99.8 }
  const rows: [name: string, raw: object, expected: object][] = [
    ['units in the totals', { sensors, distance_sum: '10.6 mi', top_speed: '62 mph' }, totals],
    ['unit of the speed sensor', { sensors, distance_sum: '10.6', top_speed: 62 }, totals],
    ['sum of drives and stops, fastest point', { sensors }, { distance_km: 16.09, top_speed: 99.8 }],
    ['the same in km', {}, { distance_km: 10, top_speed: 62 }],
    [
      'unit of the total distance',
      { distance_sum: '10.6 mi' },
      { distance_km: 17.06, trips: [{ distance_km: 16.09, top_speed: 99.8 }], positions: [{ speed: 99.8 }] },
    ],
    ['unit of the top speed', { top_speed: '62 mph' }, { positions: [{ speed: 99.8 }] }],
    ['nautical miles', { distance_sum: '10 nm' }, { distance_km: 18.52, positions: [{ speed: 114.8 }] }],
    ['knots', { distance_sum: 10, top_speed: '10 knots' }, { distance_km: 18.52, top_speed: 18.5 }],
    ['metres are no unit of speed', { distance_sum: '900 m' }, { distance_km: 0.9, positions: [{ speed: 62 }] }],
    ['unit of another sensor', { sensors: [{ id: 'x', sufix: 'mph' }] }, { positions: [{ speed: 62 }] }],
    ['negative totals', { distance_sum: '-5 km', top_speed: '-3 kph' }, { distance_km: 0, top_speed: 0 }],
  ]
  for (const [name, raw, expected] of rows) t.hasStrict(history({ items, ...raw }), expected, name)
  const bare = { distance_sum: 10.6, top_speed: 62 }
  const units = { unit_of_distance: 'mi' }
  t.hasStrict(history({ items, ...bare }, { units }), totals, "else the account's unit")
  t.hasStrict(history({ items, ...bare, top_speed: '62 kph' }, { units }), { distance_km: 10.6 })
  const negative = [{ status: 1, distance: -4, items: [point(1, '07:00:00', { speed: -5 })] }]
  t.equal(history({ items }, { positions: false }).top_speed, 62, 'also where the points are not shown')
  t.hasStrict(history({ items: negative }), { distance_km: 0, top_speed: 0, positions: [{ speed: 0 }] })
})

t.test('start and end points count only without drives and stops; event points never do (N27, N28)', async (t) => {
  const start = { status: 3, items: [point(1, '07:00:00')] }
  const event = { status: 5, items: [point(9, '07:30:00')] }
  const end = { status: 4, items: [point(2, '08:00:00'), point(1, '07:00:00')] }
  t.strictSame(clocks(history({ items: [start, event, end] })), ['07:00:00', '08:00:00'])
  t.strictSame(clocks(history({ items: [start, event] })), ['07:00:00'])
  const stop = { status: 2, items: [point(3, '07:45:00')] }
  t.strictSame(clocks(history({ items: [start, event, stop, end] })), ['07:45:00'])
})

t.test('a point that two groups share counts once, as the first of them has it', async (t) => {
  const shared = { id: 7, time: '05-11-2026 07:00:00', lat: '48.2', lng: '16.3' }
  const groups = [5, 0].map((speed, at) => ({ status: 1 + at, items: [{ ...shared, speed }] }))
  const { positions } = history({ items: groups })
  t.strictSame([positions.length, positions[0]?.speed], [1, 5])
})

t.test('points without an id count once per time and place, with a date near the requested days (N05)', async (t) => {
  const bare = { time: '05-11-2026 07:00:00', lat: '48.2', lng: '16.3' }
  for (const id of [undefined, null, 0, '', '-']) {
    const points = [bare, bare, { ...bare, lng: '16.4' }, { lat: 48, lng: 16, time: 'soon' }]
    const { positions } = history({ items: [{ status: 1, items: points.map((point) => ({ ...point, id })) }] })
    const shown = positions.map(({ time, lng }) => `${time} ${lng}`)
    t.strictSame(shown, ['2026-05-11 07:00:00 16.3', '2026-05-11 07:00:00 16.4'], `${id}`)
  }
  const monthFirst = { ...bare, raw_time: bare.time, time: '07:00' }
  const { positions, trips } = history({ items: [{ status: 1, raw_time: bare.time, items: [monthFirst] }] })
  t.same([positions[0]?.time, trips[0]?.from], ['2026-05-11 07:00:00', '2026-05-11 07:00:00'], 'also in `raw_time`')
})

t.test('of day and month the reading on a requested day counts, wherever the other one is (N05)', async (t) => {
  const days = { from: '2026-05-01', to: '2026-05-31' }
  const times = ['05-06-2026 10:00:00', '05-01-2026 00:00:00', '05-31-2026 23:59:59', '05-12-2026 23:59:59']
  const items = times.map((time) => ({ status: 1, items: [{ time, lat: '48.2', lng: '16.3' }] }))
  const shown = history({ items }, days).positions.map(({ time }) => time.slice(0, 10))
  t.same(shown, ['2026-05-01', '2026-05-06', '2026-05-12', '2026-05-31'])
})
