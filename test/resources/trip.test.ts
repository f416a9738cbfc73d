/** The trips, stops and events of a history. */
import t from 'tap'
import { history, point } from './history-rows.js'
import { maps } from './rows.js'

t.test('trips and stops follow what their group says, in the units of the account', async (t) => {
  const mph = { sensors: [{ id: 'speed', sufix: 'mph' }] }
  const start = { raw_time: '2026-05-11 07:00:00' }
  const points = [point(1, '07:00:00', { speed: 10 }), point(2, '07:10:00', { longitude: 16.5, speed: 62 })]
  const rows: [name: string, group: object, expected: object][] = [
    ['the text before the seconds', { time: '2min', time_seconds: 700 }, { to: '2026-05-11 07:02:00' }],
    ['the seconds', { time: null, time_seconds: '703' }, { to: '2026-05-11 07:11:43', duration_seconds: 703 }],
    ['its end', { left: '11-05-2026 07:30:00' }, { to: '2026-05-11 07:30:00', duration_seconds: 1800 }],
    ['its last point', { items: points }, { to: '2026-05-11 07:10:00', duration_seconds: 600 }],
    ['nothing', { time: 'soon' }, { from: '2026-05-11 07:00:00', to: '2026-05-11 07:00:00', duration_seconds: null }],
    ['an end before its start', { left: '2026-05-11 06:00:00' }, { to: '2026-05-11 07:00:00', duration_seconds: 0 }],
    ['its start in display format', { raw_time: null, show: '11-05-2026 06:00:00' }, { from: '2026-05-11 06:00:00' }],
    ['its first point', { raw_time: '-', items: points }, { from: '2026-05-11 07:00:00' }],
    ['a duration beyond every calendar', { time: '999999999d' }, { to: '2026-05-11 07:00:00' }],
  ]
  for (const [name, group, span] of rows) {
    const legs = { trips: 1, stops: '2' } as const
    for (const list of ['trips', 'stops'] as const)
      t.hasStrict(history({ items: [{ ...start, status: legs[list], ...group }] })[list], [span], `${list}: ${name}`)
  }
  const trip = (group: object, more: object = {}) =>
    history({ items: [{ ...start, status: 1, ...group }], ...more }).trips
  t.hasStrict(trip({ distance: '10', top_speed: 62, average_speed: '31 mph' }, mph), [
    { distance_km: 16.09, top_speed: 99.8, average_speed: 49.9 },
  ])
  const legs = ['10 mi', 1].map((distance, at) => ({ status: at + 1, distance }))
  t.equal(history({ items: legs }).distance_km, 17.09)
  t.hasStrict(trip({ items: points }, mph), [{ distance_km: 0, top_speed: 99.8, average_speed: null }])
  t.hasStrict(trip({ items: points }), [{ start: { lat: 48.2, lng: 16.3 }, end: { lat: 48.2, lng: 16.5 } }])
  for (const driver of [' Jo ', { name: 'Jo' }]) t.hasStrict(trip({ driver }), [{ driver: 'Jo' }])
  for (const driver of ['', '-', null]) t.hasStrict(trip({ driver }), [{ driver: null }])
  t.hasStrict(trip({}), [{ start: { lat: null, lng: null }, end: { lat: null, lng: null } }])
  const addresses = [point(1, '07:00:00'), point(2, '07:01:00', { address: 'Quay 3' })]
  t.hasStrict(history({ items: [{ ...start, status: 2, items: addresses }] }).stops, [{ lat: 48.2, address: 'Quay 3' }])
  t.strictSame(history({ items: [{ status: 1 }, { status: 2 }, { status: 5 }] }), history({}), 'none without a time')
})

t.test('a stop over a change of the clock ends when the clock of the account says so', async (t) => {
  const spring = { from: '03-29 02:00', to: '10-25 02:00' }
  const stop = { status: 2, raw_time: '2026-03-28 18:00:00', left: '2026-03-29 07:00:00' }
  const ends = { from: '2026-03-28 18:00:00', to: '2026-03-29 07:00:00', duration_seconds: 12 * 3600 }
  for (const summer of [{ summer: spring }, { name: 'Europe/Vienna' }]) {
    const stops = (group: object) => history({ items: [group] }, { zone: { offsetMinutes: 60, ...summer } }).stops
    for (const group of [stop, { ...stop, time: '12h 0min 0s' }, { ...stop, time: '12h 0min 0s', left: null }])
      t.hasStrict(stops(group), [ends])
    const autumn = { status: 2, raw_time: '2026-10-24 18:00:00', time: '14h 0min 0s' }
    t.hasStrict(stops(autumn), [{ to: '2026-10-25 07:00:00' }])
    t.hasStrict(stops({ status: 2, raw_time: '2026-03-29 02:30:00' }), [{ to: '2026-03-29 02:30:00' }])
  }
})

t.test('trips, stops and events are oldest first', async (t) => {
  const group = (status: number, time: string) => ({ status, raw_time: `2026-05-11 ${time}`, message: time })
  const kinds = [1, 2, 5].flatMap((status) => ['09:00:00', '08:00:00', '10:00:00'].map((time) => group(status, time)))
  const { trips, stops, events } = history({ items: kinds })
  const spans = ['08:00:00', '09:00:00', '10:00:00'].map((time) => ({ from: `2026-05-11 ${time}` }))
  t.hasStrict({ trips, stops }, { trips: spans, stops: spans })
  t.hasStrict(events, [{ message: '08:00:00' }, { message: '09:00:00' }, { message: '10:00:00' }])
})

t.test('trips, stops and events of the hour that the end of summer repeats are oldest first', async (t) => {
  const summer = { from: '03-29 02:00', to: '05-11 01:00' }
  const times = ['01:30', '01:55', '01:10', '01:50', '02:20']
  const items = times.flatMap((time) =>
    [1, 2, 5].map((status) => ({ status, raw_time: `2026-05-11 ${time}:00`, time: '20min 0s', message: time })),
  )
  const { trips, stops, events } = history({ items }, { zone: { offsetMinutes: 60, summer } })
  const ends = ['01:50', '01:15', '01:30', '02:10', '02:40']
  const spans = times.map((time, at) => ({ from: `2026-05-11 ${time}:00`, to: `2026-05-11 ${ends[at]}:00` }))
  t.hasStrict({ trips, stops }, { trips: spans, stops: spans })
  t.equal(events.map(({ message }) => message).join(), times.join())
})

t.test('a stop behind a drive through the repeated hour ends by the clock, too', async (t) => {
  const zone = { offsetMinutes: 60, summer: { from: '03-29 02:00', to: '10-25 01:00' } }
  const times = ['01:40', '01:55', '01:10', '01:47'].map((time) => `2026-10-25 ${time}:00`)
  const points = times.map((raw_time, id) => ({ id: id + 1, lat: 48, lng: 16 + id / 10, raw_time }))
  const [drive, left] = [points.slice(0, 3), '2026-10-25 02:41:00']
  const items = [
    { status: 1, raw_time: times[0], items: drive },
    { status: 2, raw_time: times[3], items: points.slice(3), left, time: '54min 0s' },
  ]
  t.hasStrict(history({ items }, { zone }).stops, [{ from: times[3], to: left, duration_seconds: 3240 }])
})

/** The hour from 2:00 on is repeated on 25 October. */
const berlin = { zone: { offsetMinutes: 60, summer: { from: '03-29 02:00', to: '10-25 02:00' } } }
const clock = (time: string) => `2026-10-25 ${time}:00`
/** A group that starts at a time on the clock, with a point there. */
const leg = (status: number, start: string, more: object) => {
  const raw_time = clock(start)
  return { status, raw_time, items: [{ raw_time, lat: 48 + status, lng: Number(start.slice(-2)) }], ...more }
}

t.test('the end of a drive or stop shows which of two hours it is in, though a parked tracker sleeps', async (t) => {
  const groups = [
    leg(1, '01:50', { left: clock('02:10'), time: '20min 0s' }),
    leg(2, '02:10', { left: clock('02:20'), time: '1h 10min 0s' }),
    leg(1, '02:20', { left: clock('02:50'), time: '30min 0s' }),
    leg(2, '02:50', { left: clock('03:05'), time_seconds: 900 }),
  ]
  const { positions, trips, stops } = history({ items: groups }, berlin)
  const seconds = positions.map(({ timestamp }) => (timestamp ?? 0) - Date.parse('2026-10-24T23:50Z') / 1000)
  t.strictSame(seconds, [0, 1_200, 5_400, 7_200])
  const spans = [...trips, ...stops].map(({ from, to }) => `${from.slice(11, 16)} ${to.slice(11, 16)}`)
  t.strictSame(spans, ['01:50 02:10', '02:20 02:50', '02:10 02:20', '02:50 03:05'])
  const alone = history({ items: [leg(1, '02:42', { left: clock('03:01'), time_seconds: 1_140 })] }, berlin)
  t.hasStrict(alone.trips, [{ to: clock('03:01') }], 'a single one, by its own end')
  t.strictSame(
    alone.positions.map(({ timestamp }) => timestamp),
    [Date.parse('2026-10-25T01:42Z') / 1000],
  )
  const overlapping = [leg(1, '02:10', { left: clock('02:25'), time_seconds: 900 }), leg(2, '02:20', {})]
  const first = history({ items: overlapping }, berlin).positions.map(({ timestamp }) => timestamp)
  t.strictSame(
    first,
    ['00:10', '00:20'].map((time) => Date.parse(`2026-10-25T${time}Z`) / 1000),
    'not the second hour',
  )
})

t.test('without a duration, a drive or stop lasts until its end, also from one of two hours to the next', async (t) => {
  const items = [leg(1, '02:40', { left: clock('02:10') }), leg(2, '02:10', { left: clock('03:20') })]
  const { trips, stops } = history({ items }, berlin)
  t.hasStrict({ trips, stops }, { trips: [{ duration_seconds: 1_800 }], stops: [{ duration_seconds: 4_200 }] })
})

maps('fuel is in litres, or null', (fuel_consumption) => history({ fuel_consumption }).fuel_l, [
  [11.27, '11.27 Liters'],
  [7.5, '7,5 l'],
  [3, '3 Litros'],
  [0, '0 lt'],
  [2, ...'l lt ltr liter liters litre litres litro litros'.split(' ').map((unit) => `2 ${unit}`)],
  [null, '3 gal', '-1 l', 12, '12', null, '-'],
])
