import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireAlert, wireDevice, wireEvent, wireHistory, wireService } from '../../src/platform/wire.js'
import { toAlert } from '../../src/resources/alert.js'
import { newestFirst, toEvent } from '../../src/resources/event.js'
import { toHistory } from '../../src/resources/history.js'
import { toKey } from '../../src/resources/key.js'
import { toMaintenanceService } from '../../src/resources/maintenance.js'
import { epochDay } from '../../src/resources/time.js'

const names = new Map([
  [318, 'Van 4'],
  [31, 'Lorry 9'],
])
const nameOf = (id: number) => names.get(id)
const event = (raw: object) => toEvent(read(wireEvent, { id: 5021, ...raw }), nameOf)

t.test(
  'an event of the 2.x platform gets its type from its text and its name from the device list (N01, N35)',
  async (t) => {
    t.same(
      event({
        id: '5021',
        device_id: '31',
        message: 'Overspeed (90 kph)',
        latitude: '48.22917',
        longitude: '16.41862',
        time: '2016-07-02 18:20:31',
        address: null,
      }),
      {
        id: 5021,
        type: 'overspeed',
        message: 'Overspeed (90 kph)',
        device_id: 31,
        device: 'Lorry 9',
        lat: 48.22917,
        lng: 16.41862,
        timestamp: '2016-07-02 18:20:31',
      },
    )
  },
)

t.test("an event of the 3.x platform keeps the platform's word and the row's name (N34, N36)", async (t) => {
  for (const extra of [
    { additional: [], geofence: null },
    { additional: { overspeed_speed: 90 }, geofence: 'Harbour' },
    { additional: null, geofence: { id: 27, name: 'Harbour' } },
  ]) {
    t.same(
      event({
        device_id: 318,
        type: 'ZONE_IN',
        message: 'Zone in (Harbour)',
        name: 'Zone in',
        detail: 'Harbour',
        device_name: 'Van four',
        latitude: 48.2,
        longitude: 16.4,
        time: '2026-05-11 13:47:02',
        created_at: '2026-05-11 13:47:05',
        ...extra,
      }),
      {
        id: 5021,
        type: 'zone_in',
        message: 'Zone in (Harbour)',
        device_id: 318,
        device: 'Van four',
        lat: 48.2,
        lng: 16.4,
        timestamp: '2026-05-11 13:47:02',
      },
    )
  }
})

t.test('the type of an event without one follows its text, else it is custom (N35)', async (t) => {
  const rows = [
    ['OVERSPEED (80 kph)', 'overspeed'],
    ['Zone in', 'zone_in'],
    ['Depot: zone OUT', 'zone_out'],
    ['Door opened', 'custom'],
    [null, 'custom'],
  ] as const
  for (const [message, type] of rows) t.equal(event({ message })?.type, type)
})

t.test('what an event lacks is empty or null, and is looked for everywhere first (N35, N59)', async (t) => {
  t.same(event({}), {
    id: 5021,
    type: 'custom',
    message: '',
    device_id: null,
    device: '',
    lat: null,
    lng: null,
    timestamp: null,
  })
  t.match(
    event({
      device: { id: 7, name: 'Nested' },
      lat: '48.1',
      lng: '16.2',
      name: 'SOS',
      detail: 'cabin',
      created_at: '2026-05-11 10:00:00',
    }),
    {
      device_id: 7,
      device: 'Nested',
      lat: 48.1,
      lng: 16.2,
      message: 'SOS (cabin)',
      timestamp: '2026-05-11 10:00:00',
    },
  )
  t.match(event({ device_id: 999, name: 'SOS', latitude: 0, longitude: 0, time: '0000-00-00 00:00:00' }), {
    device_id: 999,
    device: '',
    message: 'SOS',
    lat: null,
    lng: null,
    timestamp: null,
  })
  t.equal(event({ id: null }), undefined)
})

t.test("an event's ambiguous time is settled by when its row was made (N05)", async (t) => {
  t.equal(event({ time: '04-05-2026 10:00:00', created_at: '2026-04-05 10:00:02' })?.timestamp, '2026-04-05 10:00:00')
  t.equal(event({ time: '04-05-2026 10:00:00', created_at: '2026-05-04 10:00:02' })?.timestamp, '2026-05-04 10:00:00')
})

t.test('events are newest first, by id within a second, those without a time last', async (t) => {
  const rows = [
    event({ id: 1, time: '2026-05-11 10:00:00' }),
    event({ id: 9 }),
    event({ id: 3, time: '2026-05-11 10:00:00' }),
    event({ id: 2, time: '2026-05-12 10:00:00' }),
  ]
  t.same(
    rows
      .filter((row) => row !== undefined)
      .sort(newestFirst)
      .map(({ id }) => id),
    [2, 3, 1, 9],
  )
})

const pause = async () => {}
const asked = { deviceId: 318, from: '2026-05-11', to: '2026-05-12' }
const history = (raw: unknown) => toHistory(read(wireHistory, raw), asked, pause)
const point = (id: unknown, time: string, more: object = {}) => ({
  id,
  device_id: 5,
  raw_time: `2026-05-11 ${time}`,
  time: `11-05-2026 ${time}`,
  latitude: 48.2,
  longitude: 16.3,
  lat: 48.2,
  lng: 16.3,
  speed: 14,
  ...more,
})

t.test(
  "a history's totals are the platform's own, and its points those of drives and stops (N24, N26, N27, N28, N29, N30)",
  async (t) => {
    const result = await history({
      items: [
        { status: 3, time: null, driver: null, items: [point(1, '07:00:00')] },
        {
          status: 1,
          time_seconds: 900,
          distance: 3,
          driver: '',
          items: [point(1, '07:00:00'), point(2, '07:01:00', { speed: '21.5', address: 'Quay 3' })],
        },
        {
          status: 5,
          time: null,
          message: 'Door',
          items: [{ raw_time: '2026-05-11 07:01:30', speed: 0, lat: '-12.5', lng: '-41.5' }],
        },
        {
          status: 2,
          time_seconds: 100,
          distance: 1,
          driver: { id: 1 },
          items: [
            point(3, '07:02:00', { speed: 0, valid: 0 }),
            point(4, '07:03:00', { latitude: 0, longitude: 0, lat: 0, lng: 0 }),
          ],
        },
        { status: 4, items: [point(3, '07:02:00')] },
      ],
      distance_sum: '23.41 Km',
      top_speed: '58 Kph',
      move_duration: '18min 50s',
      stop_duration: '47h 12min 9s',
      sensors: [{ id: 'speed', name: 'Speed', sufix: 'kph' }],
      device: { id: 318 },
      status: 1,
    })
    t.same(result, {
      object: 'history',
      device_id: 318,
      from: '2026-05-11',
      to: '2026-05-12',
      distance_km: 23.41,
      top_speed: 58,
      move_duration: '18min 50s',
      stop_duration: '47h 12min 9s',
      move_seconds: 1130,
      stop_seconds: 169_929,
      positions: [
        { time: '2026-05-11 07:00:00', lat: 48.2, lng: 16.3, speed: 14, address: null },
        { time: '2026-05-11 07:01:00', lat: 48.2, lng: 16.3, speed: 21.5, address: 'Quay 3' },
        { time: '2026-05-11 07:02:00', lat: 48.2, lng: 16.3, speed: 0, address: null },
      ],
    })
  },
)

t.test('a history of the 2.x platform, texts and an object of groups, reads the same (N01, N31)', async (t) => {
  const old = point('12', '07:00:00', { latitude: '48.2', longitude: '16.3', speed: '8', valid: '1' })
  const result = await history({
    items: { 0: { status: '1', items: { 0: old, 1: { ...old, id: '13', raw_time: '2026-05-11 06:59:00' } } } },
    distance_sum: '1 234.5 km',
    top_speed: 8,
    move_duration: '01:02:03',
    stop_duration: '5 fortnights',
  })
  t.match(result, {
    distance_km: 1234.5,
    top_speed: 8,
    move_seconds: 3723,
    stop_duration: '5 fortnights',
    stop_seconds: null,
  })
  t.same(
    result.positions.map(({ time }) => time),
    ['2026-05-11 06:59:00', '2026-05-11 07:00:00'],
    'in time order',
  )
})

t.test('an empty history has zeros and no positions (N32, N61)', async (t) => {
  const zeros = {
    distance_km: 0,
    top_speed: 0,
    move_duration: '0s',
    stop_duration: '0s',
    move_seconds: 0,
    stop_seconds: 0,
    positions: [],
  }
  t.match(
    await history({ items: [], distance_sum: '0 Km', top_speed: '0 kph', move_duration: '0s', stop_duration: '0s' }),
    zeros,
  )
  for (const nothing of [
    {},
    null,
    [],
    { items: null, distance_sum: null, top_speed: '-', sensors: {} },
    { items: [{ status: 1, items: '[{' }] },
  ])
    t.match(await history(nothing), zeros)
})

t.test('miles become kilometres throughout, also where only the unit of speeds is told (N24, N64)', async (t) => {
  const sensors = [{ id: 'speed', sufix: 'mph' }]
  const items = [{ status: 1, distance: '10', items: [point(1, '07:00:00', { speed: 62 })] }]
  const whole = await history({ items, sensors, distance_sum: '10.6 mi', top_speed: '62 mph' })
  t.match(whole, { distance_km: 17.06, top_speed: 99.8, positions: [{ speed: 99.8 }] })
  t.match(await history({ items, sensors, distance_sum: '10.6', top_speed: 62 }), {
    distance_km: 17.06,
    top_speed: 99.8,
  })
  t.match(
    await history({ items, sensors }),
    { distance_km: 16.09, top_speed: 99.8 },
    'without totals: sum of groups, fastest point',
  )
  t.match(
    await history({ items, top_speed: '62 mph' }),
    { positions: [{ speed: 99.8 }] },
    'the unit of the top speed is that of the points',
  )
})

t.test('where there are only start and end, their points count; events never do (N27, N28)', async (t) => {
  const result = await history({
    items: [
      { status: 3, items: [point(1, '07:00:00')] },
      { status: 5, items: [point(9, '07:30:00')] },
      { status: 4, items: [point(2, '08:00:00'), point(1, '07:00:00')] },
    ],
  })
  t.same(
    result.positions.map(({ time }) => time.slice(11)),
    ['07:00:00', '08:00:00'],
  )
})

t.test(
  'points without an id count once for a time and place; display dates follow the days asked for (N05)',
  async (t) => {
    const bare = { time: '05-11-2026 07:00:00', lat: '48.2', lng: '16.3' }
    const result = await history({
      items: [{ status: 1, items: [bare, bare, { ...bare, lng: '16.4' }, { lat: 48, lng: 16, time: 'soon' }] }],
    })
    t.same(
      result.positions.map(({ time, lng }) => [time, lng]),
      [
        ['2026-05-11 07:00:00', 16.3],
        ['2026-05-11 07:00:00', 16.4],
      ],
    )
  },
)

t.test('a history of 100,000 points is whole and in order, and others get their turn meanwhile', async (t) => {
  const start = Date.parse('2026-05-11T00:00:00Z')
  const stamp = (at: number) => new Date(start + at * 1000).toISOString().slice(0, 19).replace('T', ' ')
  const items = Array.from({ length: 1000 }, (_, group) => ({
    status: 1 + (group % 2),
    items: Array.from({ length: 100 }, (_, at) => point(group * 100 + at, '', { raw_time: stamp(group * 100 + at) })),
  }))
  const wire = read(wireHistory, { items: items.reverse() })
  let turns = 0
  const result = await toHistory(wire, asked, async () => {
    turns++
    await setImmediate()
  })
  t.equal(result.positions.length, 100_000)
  t.ok(turns >= 40, `${turns} turns`)
  t.ok(result.positions.every(({ time }, at) => at === 0 || time > (result.positions[at - 1]?.time ?? '')))
})

const alert = (raw: object) => toAlert(read(wireAlert, { id: 61, name: 'Rule', ...raw }), nameOf)

t.test('an alert of the 2.x platform is told by its speed (N01, N41)', async (t) => {
  t.same(
    alert({
      id: '61',
      active: '1',
      name: 'Fast',
      email: '',
      overspeed_speed: '95',
      overspeed_distance: '1',
      ac_alarm: '0',
      devices: ['31'],
    }),
    {
      object: 'alert',
      id: 61,
      name: 'Fast',
      type: 'overspeed',
      types: ['overspeed'],
      active: true,
      devices: [{ id: 31, name: 'Lorry 9' }],
    },
  )
  t.equal(alert({ overspeed_speed: '0' })?.type, 'custom')
})

t.test('an alert of the 3.x platform in both directions has both types (N42, N43)', async (t) => {
  t.same(alert({ active: 1, name: 'Harbour watch', type: 'geofence_inout', notifications: [], devices: [318, 500] }), {
    object: 'alert',
    id: 61,
    name: 'Harbour watch',
    type: 'geofence_in',
    types: ['geofence_in', 'geofence_out'],
    active: true,
    devices: [
      { id: 318, name: 'Van 4' },
      { id: 500, name: '' },
    ],
  })
})

t.test("alert types become the documented words, others stay the platform's (N42)", async (t) => {
  const rows: [object, string[]][] = [
    [{ type: 'ignition', state: 1 }, ['ignition_on']],
    [{ type: 'ignition', state: '2' }, ['ignition_off']],
    [{ type: 'ignition', state: 0 }, ['ignition_on', 'ignition_off']],
    [{ type: 'ignition' }, ['ignition_on', 'ignition_off']],
    [{ type: 'offline_duration' }, ['device_offline']],
    [{ type: 'SOS' }, ['sos']],
    [{ type: 'geofence_out' }, ['geofence_out']],
    [{ type: 'ignition_duration' }, ['ignition_duration']],
    [{ type: 'constructor' }, ['constructor']],
  ]
  for (const [raw, types] of rows) t.match(alert(raw), { type: types[0], types })
})

t.test('alert flags and devices are read in every shape, each device once (N43, N44, N51)', async (t) => {
  for (const active of ['0', 0, false]) t.equal(alert({ active, notifications: null })?.active, false)
  t.equal(alert({ notifications: { push: { active: '1' } } })?.active, true)
  t.same(
    alert({ devices: [{ id: 318, name: 'x' }, { id: '31' }, 31, 'x', null] })?.devices.map(({ id }) => id),
    [318, 31],
  )
  t.same(alert({ devices: { 2: 318 } })?.devices, [{ id: 318, name: 'Van 4' }])
  t.same(alert({ devices: {}, name: null, type: 'sos' }), {
    object: 'alert',
    id: 61,
    name: 'sos',
    type: 'sos',
    types: ['sos'],
    active: true,
    devices: [],
  })
  t.equal(alert({ id: undefined }), undefined)
})

const day = epochDay('2026-05-11') ?? 0
const device = (raw: object) => read(wireDevice, { id: 318, name: 'Van 4', ...raw })
const service = (raw: object, owner?: object) =>
  toMaintenanceService(read(wireService, { id: 7, device_id: 318, name: 'Tyres', ...raw }), owner && device(owner), day)

t.test('an odometer service of the 2.x platform counts from the device (N01, N45, N46)', async (t) => {
  const row = {
    id: '7',
    device_id: '318',
    expiration_by: 'odometer',
    interval: '30000',
    last_service: '52000',
    expires: '"Sensor" was not found.',
    expires_date: null,
    expired: '0',
  }
  t.same(service(row, { total_distance: 80549.5 }), {
    id: 7,
    name: 'Tyres',
    device_id: 318,
    device: 'Van 4',
    expiration_by: 'odometer',
    interval: 30000,
    last_service: 52000,
    expires_at: 82000,
    remaining: 1450.5,
    expired: false,
    last_service_date: null,
    expires_date: null,
  })
})

t.test('a day service of the 3.x platform is numbers and two dates (N47)', async (t) => {
  const row = {
    expiration_by: 'days',
    interval: 90,
    last_service: '2026-03-01',
    expires: 'Expired',
    expires_date: '2026-05-30',
    expired: false,
  }
  t.same(service(row, {}), {
    id: 7,
    name: 'Tyres',
    device_id: 318,
    device: 'Van 4',
    expiration_by: 'days',
    interval: 90,
    last_service: epochDay('2026-03-01'),
    expires_at: epochDay('2026-05-30'),
    remaining: 19,
    expired: false,
    last_service_date: '2026-03-01',
    expires_date: '2026-05-30',
  })
})

t.test('days are due at midnight of the account, overdue from the day after (N47)', async (t) => {
  const due = (last_service: string) => service({ expiration_by: 'days', interval: 10, last_service })
  t.match(due('2026-05-01'), { remaining: 0, expired: false })
  t.match(due('2026-04-30'), { remaining: -1, expired: true })
  t.match(due('30-04-2026'), { last_service_date: '2026-04-30' }, 'display format')
  t.match(service({ expiration_by: 'days', interval: null, last_service: '0000-00-00', expires_date: '2026-05-20' }), {
    last_service: null,
    last_service_date: null,
    expires_date: '2026-05-20',
    remaining: 9,
  })
  t.match(
    service({ expiration_by: 'days', last_service: String(day), interval: 3 }),
    { last_service_date: '2026-05-11', remaining: 3 },
    'days as a number',
  )
})

t.test('miles become kilometres in all four numbers (N64)', async (t) => {
  const row = { expiration_by: 'odometer', interval: 1000, last_service: 5000 }
  const km = { interval: 1609.34, last_service: 8046.72, expires_at: 9656.06, remaining: 160.93 }
  t.match(service(row, { unit_of_distance: 'mi', total_distance: 5900 }), { ...km, remaining: 160.93 })
  t.match(
    service(row, { distance_unit_hour: 'mph', total_distance: '5900' }),
    { interval: 1609.34 },
    '2.x shows only the unit of speeds',
  )
  t.match(
    service(row, { unit_of_distance: 'mi', sensors: [{ type: 'odometer', value: '9495.13 km' }] }),
    { remaining: 160.93 },
    "a sensor's own unit counts",
  )
  t.match(service(row, { unit_of_distance: 'mi', services: [{ id: 7, value: 'Odometer Left (100 )' }] }), {
    remaining: 160.93,
  })
})

t.test('the odometer is the sensor, else the counter; a text of what is left stands in (N14, N15, N45)', async (t) => {
  const row = { expiration_by: 'odometer', interval: 100, last_service: 1000 }
  t.equal(
    service(row, {
      sensors: [{ type: 'Odometer', value: 1060.4, unit: 'km', formatted: '1060 km' }],
      total_distance: 5,
    })?.remaining,
    40,
  )
  t.equal(service(row, { sensors: [{ type: 'odometer', value: '-', val: '1070' }] })?.remaining, 30)
  t.equal(
    service(row, {
      services: [
        { id: 8, value: 'Left (1 km)' },
        { name: 'Tyres', value: 'Odometer Left (812 km)' },
      ],
    })?.remaining,
    812,
  )
  t.match(service(row, { services: [{ id: '7', value: 'Odometer Left (-12 km)' }] }), { remaining: -12, expired: true })
  t.equal(service({ ...row, expires: 'Odometer Left (55 km)' }, {})?.remaining, 55)
})

t.test('engine hours are trusted only where a text says hours', async (t) => {
  const row = { expiration_by: 'engine_hours', interval: 250, last_service: '1300' }
  t.match(service(row, { sensors: [{ type: 'engine_hours', value: '1523.5 h' }] }), {
    expires_at: 1550,
    remaining: 26.5,
  })
  for (const sensor of [{ value: '5484600 s' }, { value: 1523.5 }, { value: '-' }])
    t.match(service(row, { sensors: [{ type: 'engine_hours', ...sensor }] }), { expires_at: 1550, remaining: null })
  t.equal(service(row, { services: [{ id: 7, value: 'Engine hours Left (20 )' }] })?.remaining, 20)
  t.equal(service({ expiration_by: 'days', interval: 1 }, { services: [{ id: 7, value: '6d.' }] })?.remaining, 6)
})

t.test("what cannot be known is null, and expired follows the platform's flag (N45, N46)", async (t) => {
  t.match(service({ expiration_by: 'odometer', interval: 100, expired: '1' }), {
    device: '',
    last_service: null,
    expires_at: null,
    remaining: null,
    expired: true,
  })
  for (const expired of [0, '0', false, null])
    t.equal(service({ interval: 100, last_service: 0, expired })?.expired, false)
  t.match(service({ expiration_by: 'odometer', expires: '1100' }, { total_distance: 1000 }), {
    expires_at: 1100,
    remaining: 100,
  })
  t.match(service({ expiration_by: 'odometer', expired: 1, interval: 10, last_service: 100 }, { total_distance: 50 }), {
    remaining: 60,
    expired: true,
  })
  t.match(service({ name: null, device_id: null }), { name: 'Service 7', device_id: null })
  t.equal(service({ id: '-' }), undefined)
})

t.test('a listed key shows what the store calls its hint', async (t) => {
  const stored = {
    id: '0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3',
    hint: 'gps_live_5d0b…1b92',
    label: 'Board',
    createdAt: 1,
    expiresAt: 2,
    lastUsedAt: null,
    digest: 'x',
    sealed: 'y',
  }
  t.same(toKey(stored), {
    object: 'api_key',
    id: stored.id,
    key: stored.hint,
    label: 'Board',
    created_at: 1,
    expires_at: 2,
    last_used_at: null,
    status: 'active',
  })
})
