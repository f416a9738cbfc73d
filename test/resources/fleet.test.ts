import t from 'tap'
import { fleetOf } from '../../src/devices/fleet.js'
import { read } from '../../src/platform/shape.js'
import { type WireDevice, wireDevice, wireDriver, wireGeofence } from '../../src/platform/wire.js'
import { deviceId, deviceName, needsZone, toDevice } from '../../src/resources/device.js'
import { driverContext, toDriver } from '../../src/resources/driver.js'
import { toGeofence, toGeofenceDetail } from '../../src/resources/geofence.js'
import { toLocation } from '../../src/resources/location.js'

const now = Date.parse('2026-05-11T12:03:30Z')
const seconds = now / 1000
const wire = (raw: object): WireDevice => read(wireDevice, raw)
const device = (raw: object) => {
  const result = toDevice(wire({ id: 1, ...raw }), now)
  if (!result) throw new Error('no device')
  return result
}

const old = {
  id: 31,
  name: 'Lorry 9',
  online: 'offline',
  alarm: '',
  time: '2016-07-02 18:20:31',
  timestamp: 1467476431,
  acktimestamp: 0,
  speed: 0,
  lat: 48.2081,
  lng: 16.3738,
  course: '0',
  power: '-',
  altitude: 171,
  address: '-',
  protocol: 'osmand',
  driver: 'Jo Brandt',
  sensors: [{ name: 'Tank', value: '- l', show_in_popup: '0' }],
  services: [{ name: 'Tyres', value: 'Odometer Left (1000 )' }],
  distance_unit_hour: 'kph',
  device_data: { id: '31', active: '1', name: 'Lorry 9', min_moving_speed: '6', current_driver_id: '4' },
}

const recent = {
  id: 318,
  alarm: 0,
  name: ' Van 4\t',
  online: 'online',
  time: '11-05-2026 14:03:27',
  timestamp: 1778501007,
  acktimestamp: 1778501007,
  lat: 48.208174,
  lng: 16.373819,
  course: 271,
  speed: 43,
  altitude: 171,
  power: '-',
  address: '-',
  protocol: 'Teltonika',
  driver: '-',
  driver_data: {
    id: null,
    user_id: null,
    device_id: null,
    name: null,
    rfid: null,
    phone: null,
    email: null,
    description: null,
    created_at: null,
    updated_at: null,
  },
  sensors: [
    { id: 1, type: 'ACC', name: 'Ignition', show_in_popup: 1, value: 'On', val: true, scale_value: null },
    { id: 2, type: 'battery', name: 'Battery', show_in_popup: 0, value: '12.6 V', val: '12.60', scale_value: null },
  ],
  services: [],
  distance_unit_hour: 'kph',
  unit_of_distance: 'km',
  unit_of_altitude: 'mt',
  device_data: { id: 318, min_moving_speed: 6 },
  group: undefined,
}

t.test('a device of the 2.x platform is documented whole (N01, N02, N03, N04, N60)', async (t) => {
  t.same(toDevice({ ...wire(old), group: 'Lorries' }, now), {
    id: 31,
    name: 'Lorry 9',
    status: 'offline',
    protocol: 'osmand',
    lat: 48.2081,
    lng: 16.3738,
    speed: 0,
    course: 0,
    altitude: 171,
    last_seen: '2016-07-02 18:20:31',
    timestamp: 1467476431,
    driver: 'Jo Brandt',
    address: null,
    sensors: [{ type: 'other', name: 'Tank', value: null }],
    group: 'Lorries',
  })
})

t.test('a device of the 3.x platform is documented whole (N05, N12, N14, N40)', async (t) => {
  t.same(toDevice(wire(recent), now), {
    id: 318,
    name: 'Van 4',
    status: 'moving',
    protocol: 'teltonika',
    lat: 48.208174,
    lng: 16.373819,
    speed: 43,
    course: 271,
    altitude: 171,
    last_seen: '2026-05-11 14:03:27',
    timestamp: 1778501007,
    driver: null,
    address: null,
    sensors: [
      { type: 'acc', name: 'Ignition', value: 'On' },
      { type: 'battery', name: 'Battery', value: '12.6 V' },
    ],
    group: 'Ungrouped',
  })
})

t.test('a last position carries what the device shows', async (t) => {
  t.same(toLocation(device({ ...recent })), {
    object: 'location',
    device_id: 318,
    lat: 48.208174,
    lng: 16.373819,
    speed: 43,
    course: 271,
    altitude: 171,
    status: 'moving',
    address: null,
    timestamp: 1778501007,
    last_seen: '2026-05-11 14:03:27',
  })
})

t.test('a row without a usable id is no device; numbers as names and ids as text are fine (N01, N19)', async (t) => {
  for (const id of [undefined, null, 0, -3, '1e3', 'x', 1.5, {}]) t.equal(toDevice(wire({ id }), now), undefined)
  t.equal(deviceId(wire({ device_data: { id: '7' } })), 7)
  t.equal(device({ name: 207 }).name, '207')
  t.equal(device({ device_data: { name: 'Inner' } }).name, 'Inner')
  t.equal(deviceName(wire({ id: 5, name: '-' })), 'Device 5')
})

t.test('the status follows word, speed and freshness (N06, N07, N09, N10, N11, N65)', async (t) => {
  const fresh = seconds - 100
  const rows: [object, string, string][] = [
    [{ online: 'offline', speed: 63, timestamp: fresh }, 'offline', 'N09 stale speed'],
    [{ online: 'Offline ', speed: 63 }, 'offline', 'any case'],
    [{ online: 'ack', speed: 0 }, 'online', 'N10 standing'],
    [{ online: 'ack', speed: 40 }, 'moving', 'N10 driving'],
    [{ online: 'ack', speed: 6 }, 'moving', 'at the default threshold'],
    [{ online: 'ack', speed: 5.9 }, 'online', 'below the default threshold'],
    [
      { online: 'ack', speed: 10, device_data: { min_moving_speed: '12' } },
      'online',
      "below the device's own threshold",
    ],
    [{ online: 'ack', speed: 12, device_data: { min_moving_speed: 12 } }, 'moving', "at the device's own threshold"],
    [{ online: 'ack', speed: 5, device_data: { min_moving_speed: 0 } }, 'online', 'a threshold of 0 is unset'],
    [{ online: 'ack', speed: 5, distance_unit_hour: 'mph' }, 'moving', '5 mph are 8 km/h'],
    [{ online: 'ack', speed: '-' }, 'online', 'no speed'],
    [{ online: 'engine', speed: 0 }, 'online', 'N11 idle'],
    [{ online: 'online', speed: 0 }, 'online', 'the word online, standing'],
    [{ online: 'online', speed: 1 }, 'moving', 'the word online, any speed'],
    [{ online: 'moving', speed: 0 }, 'moving', 'the word moving'],
    [{ online: 'blocked', speed: 40, timestamp: fresh }, 'online', 'N65 unknown and fresh'],
    [{ online: 'nack', timestamp: seconds - 301 }, 'offline', 'N65 unknown and stale'],
    [{ online: 'nack', timestamp: 1, acktimestamp: fresh }, 'online', 'N65 a sign of life is fresh too'],
    [{ online: 'constructor' }, 'offline', 'unknown and never heard of'],
    [{ timestamp: fresh }, 'online', 'no word, fresh'],
    [{}, 'offline', 'nothing at all'],
    [{ online: true, timestamp: fresh }, 'online', 'no text'],
    [{ online: 'online', time: 'Not connected', timestamp: 0, speed: 9 }, 'offline', 'N06 never connected'],
    [{ online: 'ack', time: 'Expired', timestamp: fresh, speed: 9 }, 'offline', 'N07 expired'],
  ]
  for (const [raw, status, name] of rows) t.equal(device(raw).status, status, name)
})

t.test('a device that never connected keeps its place, without position or time (N06)', async (t) => {
  const never = device({
    online: 'offline',
    time: 'Not connected',
    timestamp: 0,
    acktimestamp: 0,
    lat: null,
    lng: null,
  })
  t.match(never, { status: 'offline', lat: null, lng: null, last_seen: null, timestamp: 0 })
  t.equal(toLocation(never), undefined)
  const stray = device({ time: 'Not connected', timestamp: 0, lat: 48, lng: 16 })
  t.equal(stray.lat, null, 'coordinates of a device that never connected are none')
})

t.test('an expired device has its last position, and a time once the zone is known (N07)', async (t) => {
  const row = wire({ id: 1, time: 'Expired', timestamp: 1778501007, lat: 48.1, lng: 16.2 })
  t.equal(needsZone(row), true)
  t.equal(toDevice(row, now)?.last_seen, null, 'never a guess')
  t.equal(toDevice(row, now, { offsetMinutes: 120 })?.last_seen, '2026-05-11 14:03:27')
  t.match(toLocation(device({ ...row })), { lat: 48.1, lng: 16.2, status: 'offline', timestamp: 1778501007 })
  t.equal(needsZone(wire(recent)), false)
  t.equal(needsZone(wire({ time: 'Not connected', timestamp: 0 })), false)
})

t.test('0/0 and unreadable coordinates are no position; the last valid one stands in (N08)', async (t) => {
  for (const place of [
    { lat: 0, lng: 0 },
    { lat: '0', lng: '0' },
    { lat: null, lng: 16 },
    { lat: '-', lng: '-' },
    { lat: 95, lng: 16 },
  ]) {
    t.match(device(place), { lat: null, lng: null })
    t.equal(toLocation(device(place)), undefined)
    const traccar = { lastValidLatitude: '48.5', lastValidLongitude: '16.5' }
    t.match(device({ ...place, device_data: { traccar } }), { lat: 48.5, lng: 16.5 })
  }
})

t.test('a driver is found in either place, and ten nulls or a list are none (N03, N12, N13)', async (t) => {
  t.equal(device({ driver: '-', driver_data: { id: 4, name: 'Jo' } }).driver, 'Jo')
  t.equal(device({ driver: 'Ann', driver_data: { name: 'Jo' } }).driver, 'Ann')
  t.equal(device({ driver: '-', driver_data: { id: null, name: null } }).driver, null)
  t.equal(device({ driver: null, driver_data: [] }).driver, null)
})

t.test('a sensor shows its text, else its value with unit, else nothing (N04, N14, N15)', async (t) => {
  const value = (sensor: object) => device({ sensors: [{ name: 'S', ...sensor }] }).sensors[0]?.value
  t.equal(value({ value: '64 %', val: '64.00' }), '64 %')
  t.equal(value({ value: 'Off', val: false }), 'Off')
  t.equal(value({ value: 41207.318, unit: 'km', formatted: '41207 km' }), '41207 km')
  t.equal(value({ value: 41207.318, unit: 'km' }), '41207.318 km')
  t.equal(value({ value: 7 }), '7')
  t.equal(value({ value: true }), 'On')
  t.equal(value({ value: '-', val: false }), 'Off')
  t.equal(value({ value: '', val: 908.6, unit: 'h' }), '908.6 h')
  t.equal(value({ value: '- nn' }), null)
  t.equal(value({ value: '-5 °C' }), '-5 °C')
  t.equal(value({ value: null, val: '-' }), null)
})

t.test('a sensor without type is other, without name its type; an empty one is none (N04)', async (t) => {
  t.same(device({ sensors: [{ value: '1' }, { type: 'Door', value: '2' }, {}, null, 'x'] }).sensors, [
    { type: 'other', name: 'other', value: '1' },
    { type: 'door', name: 'door', value: '2' },
  ])
})

t.test(
  'sensors may be null, JSON text, broken JSON text or an object with numbered keys (N16, N17, N18, N51)',
  async (t) => {
    const sensors = (raw: unknown) => device({ sensors: raw }).sensors
    t.same(sensors(null), [])
    t.same(sensors('[{"name":"x","value":"1"}]'), [{ type: 'other', name: 'x', value: '1' }])
    t.same(sensors('[{"name":"x"'), [])
    t.same(sensors({ 1: { name: 'x', value: '1' } }), [{ type: 'other', name: 'x', value: '1' }])
  },
)

t.test('speed, course and altitude are in our units (N02, N64)', async (t) => {
  t.match(device({ speed: 62, distance_unit_hour: 'mph', altitude: 1000, unit_of_altitude: 'ft' }), {
    speed: 99.8,
    altitude: 304.8,
  })
  t.match(device({ speed: '-', course: null, altitude: '-' }), { speed: 0, course: 0, altitude: 0 })
  t.equal(device({ speed: -3 }).speed, 0)
  t.equal(device({ course: -90 }).course, 270)
  t.equal(device({ course: '725.5' }).course, 5.5)
  t.equal(device({ course: 360 }).course, 0)
})

t.test('the timestamp is whole seconds from wherever there is one (N62)', async (t) => {
  t.equal(device({ timestamp: '1778501007' }).timestamp, 1778501007)
  t.equal(device({ timestamp: 1778501007000 }).timestamp, 1778501007)
  t.equal(device({ timestamp: 0, acktimestamp: 1778501000 }).timestamp, 1778501000)
  t.equal(device({ timestamp: 0, device_data: { traccar: { time: '2026-05-11 12:03:27' } } }).timestamp, 1778501007)
  t.equal(device({ timestamp: 1e300 }).timestamp, 0)
})

t.test('where time and timestamp disagree, the shown time stays as it is shown (N63)', async (t) => {
  t.match(device({ time: '19-06-2025 17:31:05', timestamp: 1750335640, acktimestamp: 1750334465 }), {
    last_seen: '2025-06-19 17:31:05',
    timestamp: 1750335640,
  })
})

t.test('day and month are told apart by the timestamp or the last sign of life (N05)', async (t) => {
  const may4 = Date.parse('2026-05-04T09:00:00Z') / 1000
  t.equal(device({ time: '04-05-2026 10:00:00', timestamp: may4 }).last_seen, '2026-05-04 10:00:00')
  t.equal(device({ time: '05/04/2026 10:00 AM', timestamp: may4 }).last_seen, '2026-05-04 10:00:00')
  t.equal(device({ time: '05/04/2026 10:00 AM', timestamp: 5, acktimestamp: may4 }).last_seen, '2026-05-04 10:00:00')
})

const fence = (raw: object) => toGeofenceDetail(read(wireGeofence, { id: 27, ...raw }))
const corners = [
  { lat: 48.22, lng: 16.41 },
  { lat: 48.24, lng: 16.42 },
  { lat: 48.22, lng: 16.43 },
]
const ring = [
  [16.43, 48.22],
  [16.42, 48.24],
  [16.41, 48.22],
  [16.43, 48.22],
]

t.test('a geofence of the 2.x platform is a polygon in the list and alone (N01, N39)', async (t) => {
  const raw = {
    id: '27',
    user_id: '2',
    active: '1',
    name: 'Harbour',
    coordinates: JSON.stringify(corners, null, 2),
    polygon_color: '#1f7a4d',
    created_at: '2016-02-03 10:20:30',
  }
  const item = {
    id: 27,
    name: 'Harbour',
    type: 'polygon',
    active: true,
    color: '#1F7A4D',
    created_at: '2016-02-03 10:20:30',
  }
  t.same(toGeofence(read(wireGeofence, raw)), item)
  t.same(fence(raw), { ...item, geometry: { type: 'Polygon', coordinates: [ring] }, radius: null })
})

t.test('a circle of the 3.x platform is a point with a radius (N37, N40)', async (t) => {
  const raw = {
    active: 0,
    name: 'Yard\t',
    type: 'circle',
    coordinates: '[]',
    center: { lat: '48.25', lng: '16.40' },
    radius: 50,
    polygon_color: '#7aa3c1',
    created_at: '2026-01-09T07:00:00.000000Z',
  }
  t.same(fence(raw), {
    id: 27,
    name: 'Yard',
    type: 'circle',
    active: false,
    color: '#7AA3C1',
    created_at: '2026-01-09 07:00:00',
    geometry: { type: 'Point', coordinates: [16.4, 48.25] },
    radius: 50,
  })
})

t.test('a polygon has no centre and no radius, whatever the row says (N38)', async (t) => {
  t.match(fence({ type: 'polygon', coordinates: corners, radius: 0, center: { lat: 0, lng: 0 } }), {
    radius: null,
    geometry: { type: 'Polygon' },
  })
  t.match(fence({ type: 'Polygon', coordinates: corners, radius: 90, center: null }), { radius: null, type: 'polygon' })
})

t.test('a ring is closed once and runs counter-clockwise, whichever way it came (RFC 7946)', async (t) => {
  const rings = [corners, corners.toReversed(), [...corners, corners[0]], [corners[0], ...corners]].map(
    (coordinates) => {
      const geometry = fence({ coordinates })?.geometry
      return geometry?.type === 'Polygon' ? geometry.coordinates[0] : undefined
    },
  )
  for (const own of rings) {
    t.equal(own?.length, 4)
    t.same(own?.[0], own?.at(-1))
    const area = (own ?? [])
      .slice(1)
      .reduce((sum, [x = 0, y = 0], at) => sum + (own?.[at]?.[0] ?? 0) * y - x * (own?.[at]?.[1] ?? 0), 0)
    t.ok(area > 0)
  }
})

t.test('a shape that is none is null, and the geofence stays (N18)', async (t) => {
  const shapes = [
    '[{"lat":1',
    [],
    corners.slice(0, 2),
    [corners[0], corners[0], corners[0], corners[1]],
    [{ lat: 'x', lng: 1 }, ...corners.slice(1)],
  ]
  for (const coordinates of shapes) t.equal(fence({ coordinates })?.geometry, null)
  t.match(fence({ type: 'circle', center: { lat: 0, lng: 0 }, radius: 50 }), { geometry: null, radius: 50 })
  t.match(fence({ type: 'corridor', coordinates: corners }), { type: 'corridor', geometry: null })
})

t.test('what a geofence lacks has a documented stand-in (N59)', async (t) => {
  t.match(fence({ name: '-', created_at: '0000-00-00 00:00:00' }), {
    name: 'Geofence 27',
    type: 'polygon',
    active: true,
    color: '#000000',
    created_at: null,
  })
  t.equal(
    fence({ radius: '60', coordinates: [], center: { lat: 48, lng: 16 } })?.type,
    'circle',
    'a radius and no corners',
  )
  for (const [color, expected] of [
    ['abc', '#AABBCC'],
    ['#1f7a4d', '#1F7A4D'],
    ['red', '#000000'],
    [5, '#000000'],
  ] as const)
    t.equal(fence({ color })?.color, expected)
  t.equal(toGeofence(read(wireGeofence, { name: 'x' })), undefined)
})

const driversOf = (...rows: WireDevice[]) => driverContext(fleetOf([], rows))
const fleet = driversOf(
  wire({ id: 318, name: 'Van 4', driver_data: { id: 12, name: 'Jo' } }),
  wire({ id: 31, name: 'Lorry 9', device_data: { current_driver_id: '4' } }),
  wire({ id: 32, name: 'Lorry 10', device_data: { current_driver_id: '4' } }),
  wire({ name: 'no id', driver_data: { id: 13 } }),
)
const driver = (raw: object) => toDriver(read(wireDriver, raw), fleet)

t.test('a driver of the 2.x platform has text for numbers and its device in the row (N01, N49)', async (t) => {
  t.same(
    driver({ id: '1', device_id: '31', name: 'Ann', rfid: '', phone: '', device: { id: '31', name: 'Lorry nine' } }),
    {
      id: 1,
      name: 'Ann',
      phone: '',
      rfid: '',
      assigned_device_id: 31,
      assigned_device: 'Lorry nine',
    },
  )
})

t.test('a driver of the 3.x platform is found by the device that names it, in either field (N12, N49)', async (t) => {
  t.same(driver({ id: 12, device_id: null, name: ' Jo ', rfid: '7C21E9', phone: '+43 1 5550142', device: null }), {
    id: 12,
    name: 'Jo',
    phone: '+43 1 5550142',
    rfid: '7C21E9',
    assigned_device_id: 318,
    assigned_device: 'Van 4',
  })
  t.match(driver({ id: 4 }), { assigned_device_id: 31, assigned_device: 'Lorry 9' }, 'the first device counts')
})

t.test('missing text is empty and no vehicle is null (N49)', async (t) => {
  t.same(driver({ id: 99, name: null, rfid: '-', phone: null }), {
    id: 99,
    name: '',
    phone: '',
    rfid: '',
    assigned_device_id: null,
    assigned_device: null,
  })
  t.match(
    driver({ id: 99, device_id: 500 }),
    { assigned_device_id: 500, assigned_device: null },
    'a device that the list lacks',
  )
  t.match(driver({ id: 99, device_id: 31, device: [] }), { assigned_device: 'Lorry 9' })
  t.equal(driver({ id: 'x', name: 'Jo' }), undefined)
})
