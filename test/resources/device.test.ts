/** Devices from platform rows: every variation of platform.md 3 and 13 that concerns one. */
import t from 'tap'
import { deviceId, deviceName, isKnownState, needsZone, toDevice } from '../../src/resources/device.js'
import { toLocation } from '../../src/resources/location.js'
import { device, fresh, now, seconds, server, wire } from './device-rows.js'
import { check, maps } from './rows.js'

t.test('a device of platform 3.x has exactly the documented fields (N05, N12, N14, N40)', async (t) => {
  const last = { lat: 48.208174, lng: 16.373819, speed: 43, course: 271, altitude: 171, timestamp: 1778501007 }
  const nulls = 'id user_id device_id name rfid phone email description created_at updated_at'.split(' ')
  const row = wire({
    ...{ id: 318, name: ' Van 4\t', protocol: 'Teltonika', ...last, acktimestamp: 1778501007 },
    ...{ online: 'online', time: '11-05-2026 14:03:27', alarm: 0, power: '-', address: '-', driver: '-' },
    ...{ distance_unit_hour: 'kph', unit_of_distance: 'km', unit_of_altitude: 'mt' },
    driver_data: Object.fromEntries(nulls.map((name) => [name, null])),
    sensors: [
      { id: 1, type: 'ACC', name: 'Ignition', show_in_popup: 1, value: 'On', val: true, scale_value: null },
      { id: 2, type: 'battery', name: 'Battery', show_in_popup: 0, value: '12.6 V', val: '12.60', scale_value: null },
    ],
    ...{ stop_duration: '0s', stop_duration_sec: 0, idle_duration: '1min 5s', moved_timestamp: 1778501001 },
    ...{ engine_status: true, engine_hours: 'gps', total_distance: 81450.234 },
    device_data: {
      ...{ id: 318, min_moving_speed: 6, current_driver_id: null },
      ...{ imei: 990000862471854, plate_number: 'W 4711 F ', vin: 'WDB9066571S123456', sim_number: '+4366055501420' },
    },
  })
  t.strictSame(toDevice(row, now), {
    ...{ id: 318, name: 'Van 4', status: 'moving', protocol: 'teltonika', ...last, last_seen: '2026-05-11 14:03:27' },
    ...{ driver: null, driver_id: null, address: null, group: 'Ungrouped' },
    sensors: [
      { id: 1, type: 'acc', name: 'Ignition', value: 'On', number: null },
      { id: 2, type: 'battery', name: 'Battery', value: '12.6 V', number: 12.6 },
    ],
    ...{ imei: '990000862471854', plate_number: 'W 4711 F', vin: 'WDB9066571S123456', sim_number: '+4366055501420' },
    ...{ ignition: true, odometer_km: 81450.234, engine_hours: null },
    ...{ moved_at: 1778501001, stopped_seconds: 0, idle_seconds: 65 },
  })
  t.equal(needsZone(row), false)
})

t.test('a row without a valid id is not a device (N01, N19)', async (t) => {
  for (const id of [undefined, null, 0, -3, '1e3', 'x', 1.5, {}]) t.equal(toDevice(wire({ id }), now), undefined)
  t.equal(deviceId(wire({ device_data: { id: '7' } })), 7)
  t.equal(deviceName(wire({ id: 5, name: '-' })), 'Device 5')
  t.equal(deviceName(wire({})), 'Device')
})

const [online, offline, moving] = [{ status: 'online' }, { status: 'offline' }, { status: 'moving' }] as const
check('the status follows state, speed and age (N06, N07, N09, N10, N11, N65)', device, [
  ['N09 stale speed', { online: 'offline', speed: 63, timestamp: fresh }, offline],
  ['a state in any case', { online: 'Offline ', speed: 63, timestamp: fresh }, offline],
  ['N10 standing', { online: 'ack', speed: 0 }, online],
  ['N10 driving', { online: 'ack', speed: 40 }, moving],
  ['at the default threshold', { online: 'ack', speed: 6 }, moving],
  ['below the default threshold', { online: 'ack', speed: 5.9 }, online],
  ['below its own threshold', { online: 'ack', speed: 10, device_data: { min_moving_speed: '12' } }, online],
  ['at its own threshold', { online: 'ack', speed: 12, device_data: { min_moving_speed: 12 } }, moving],
  ['a threshold of 0 is unset', { online: 'ack', speed: 5, device_data: { min_moving_speed: 0 } }, online],
  ['5 mph are 8 km/h', { online: 'ack', speed: 5, unit_of_distance: 'mi' }, moving],
  ['no speed', { online: 'ack', speed: '-' }, online],
  ['N11 idle', { online: 'engine', speed: 0 }, online],
  ['the state online, standing', { online: 'online', speed: 0 }, online],
  ['the state online, at any speed', { online: 'online', speed: 1 }, moving],
  ['the state moving', { online: 'moving', speed: 0 }, moving],
  ['N65 unknown and fresh', { online: 'blocked', speed: 40, timestamp: fresh }, online],
  ['N65 unknown, at the age limit', { online: 'nack', timestamp: seconds - 300 }, online],
  ['N65 unknown and stale', { online: 'nack', timestamp: seconds - 301 }, offline],
  ['N65 a fresh heartbeat', { online: 'nack', timestamp: 1, acktimestamp: fresh }, online],
  ['no state, fresh', { timestamp: fresh }, online],
  ['no state, fresh and driving', { timestamp: fresh, speed: 40 }, moving],
  ['no state, stale', { timestamp: seconds - 301, speed: 40 }, offline],
  ['an empty row', {}, offline],
  ['N06 never connected', { online: 'online', time: 'Not connected', timestamp: 0, speed: 9 }, offline],
  ['an expired tracker that still sends', { online: 'expired', timestamp: fresh, speed: 9 }, offline],
  ['N07 expired', { online: 'ack', time: 'Expired', timestamp: fresh, speed: 9 }, offline],
  ['a time in Arabic digits', { online: 'ack', time: '١١-٠٥-٢٠٢٦ ١٤:٠٣:٢٧', timestamp: fresh, speed: 9 }, moving],
])

maps('known states and absent ones are known, all others are not (N65)', (online) => isKnownState(wire({ online })), [
  [true, 'online', ' ACK ', 'engine', 'moving', 'Offline', '', '-', null],
  [false, 'nack', 'blocked', 'constructor', 5],
])

const valid = { device_data: { traccar: { lastValidLatitude: '48.5', lastValidLongitude: '16.5' } } }
check('without a position, coordinates are null; the last valid one replaces an invalid one (N06, N08)', device, [
  ['N08 zero island', { lat: 0, lng: 0 }, { lat: null, lng: null }],
  ['N08 with a last valid position', { lat: 0, lng: 0, ...valid }, { lat: 48.5, lng: 16.5 }],
  ['a valid position is not replaced', { lat: 48.1, lng: 16.1, ...valid }, { lat: 48.1, lng: 16.1 }],
  ['N06 never connected', { time: 'Not connected', timestamp: 0, lat: 48, lng: 16 }, { lat: null, lng: null }],
  ['N07 expired', { time: 'Expired', timestamp: fresh, lat: 48.1, lng: 16.2 }, { lat: 48.1, lng: 16.2 }],
  ['N07 expired, only a heartbeat', { time: 'Expired', acktimestamp: fresh, lat: 48, lng: 16 }, { lat: 48, lng: 16 }],
])

check('the last data has a time as text and as Unix seconds (N05, N06, N62, N63)', device, [
  ['N06 never connected', { time: 'Not connected', timestamp: 0, acktimestamp: 0 }, { last_seen: null, timestamp: 0 }],
  ['N62 text', { timestamp: '1778501007' }, { timestamp: 1778501007 }],
  ['the fix before the heartbeat', { timestamp: 1778501007, acktimestamp: 1778501099 }, { timestamp: 1778501007 }],
  ['only a heartbeat', { timestamp: 0, acktimestamp: 1778501000 }, { timestamp: 1778501000 }],
  ['only a server time', { timestamp: 0, ...server({ time: '2026-05-11 12:03:27' }) }, { timestamp: 1778501007 }],
  [
    'N63 time and timestamp disagree: both as sent',
    { time: '19-06-2025 17:31:05', timestamp: 1750335640, acktimestamp: 1750334465 },
    { last_seen: '2025-06-19 17:31:05', timestamp: 1750335640 },
  ],
])

const may4 = Date.parse('2026-05-04T09:00:00Z') / 1000
const april5 = Date.parse('2026-04-05T09:00:00Z') / 1000
const ambiguous = '05/04/2026 10:00 AM'
const [asMay, asApril] = [{ last_seen: '2026-05-04 10:00:00' }, { last_seen: '2026-04-05 10:00:00' }]
check('an ambiguous time is the one nearest to the last fix or heartbeat (N05)', device, [
  ['day first', { time: '04-05-2026 10:00:00', timestamp: may4 }, asMay],
  ['month first', { time: ambiguous, timestamp: may4 }, asMay],
  ['heartbeat', { time: ambiguous, timestamp: 5, acktimestamp: may4 }, asMay],
  ['a fix on one, a heartbeat near the other', { time: ambiguous, timestamp: april5, acktimestamp: may4 - 9 }, asApril],
  [
    'near a fix, the other between fix and heartbeat',
    { time: ambiguous, timestamp: april5 + 50_400, acktimestamp: may4 + 2_000_000 },
    asApril,
  ],
  ['only a heartbeat', { time: ambiguous, acktimestamp: may4 }, asMay],
  ['neither: day first', { time: ambiguous }, asApril],
])

t.test('an expired device has a last time once the zone is known, and none before (N07)', async (t) => {
  const expired = wire({ id: 1, time: 'Expired', timestamp: 1778501000, acktimestamp: 1778501007 })
  t.equal(needsZone(expired), true)
  t.equal(toDevice(expired, now)?.last_seen, null)
  t.equal(toDevice(expired, now, { offsetMinutes: 120 })?.last_seen, '2026-05-11 14:03:27')
  const never = wire({ id: 1, time: 'Not connected', timestamp: 0 })
  t.equal(needsZone(never), false)
  t.equal(toDevice(never, now, { offsetMinutes: 120 })?.last_seen, null)
})

check('names, driver, address and protocol are found in every field that may have them (N03, N12)', device, [
  ['a name in device_data', { device_data: { name: 'Inner' } }, { name: 'Inner' }],
  ['no name', { name: '-' }, { name: 'Device 1' }],
  ['driver_data', { driver: '-', driver_data: { id: 4, name: 'Jo' } }, { driver: 'Jo' }],
  ['driver before driver_data', { driver: 'Ann', driver_data: { name: 'Jo' } }, { driver: 'Ann' }],
  ['N12 only nulls', { driver: '-', driver_data: { id: null, name: null } }, { driver: null }],
  ['number plate and IMEI beside the name', { imei: 9901, plate_number: 'W 1' }, { imei: '9901', plate_number: 'W 1' }],
  ['an address of another name', { address: '-', addr: 'Quay 3' }, { address: 'Quay 3' }],
  ['protocol of the server', { protocol: '-', device_data: { traccar: { protocol: 'GT06' } } }, { protocol: 'gt06' }],
])

const ids = (id: string) => ({ device_data: { imei: id, plate_number: id, vin: id, sim_number: id } })
const noIds = { imei: null, plate_number: null, vin: null, sim_number: null }
check('a dash or an empty text is no identifier and no address (N03)', device, [
  ['a dash', { address: '-', ...ids('-') }, { address: null, ...noIds }],
  ['an empty text', { address: '', ...ids('') }, { address: null, ...noIds }],
])

check('speed is in km/h, altitude in metres, course in 0 to 360 degrees (N02, N64)', device, [
  ['mph', { speed: 62, distance_unit_hour: 'mph' }, { speed: 99.8 }],
  ['miles, without a unit of speed', { speed: 62, distance_unit_hour: '', unit_of_distance: 'mi' }, { speed: 99.8 }],
  ['kph, beside miles', { speed: 62, distance_unit_hour: 'kph', unit_of_distance: 'mi' }, { speed: 62 }],
  ['feet', { altitude: 1000, unit_of_altitude: 'ft' }, { altitude: 304.8 }],
  ['nothing', { speed: '-', course: null, altitude: '-' }, { speed: 0, course: 0, altitude: 0 }],
  ['a negative course', { course: -90 }, { course: 270 }],
])

t.test('a location has the position and movement of the device, and nothing else', async (t) => {
  const movement = { speed: 43, course: 271, altitude: 171, status: 'moving' } as const
  const last = { ...movement, address: 'Quay 3', timestamp: 1778501007, last_seen: '2026-05-11 14:03:27' }
  const shown = { ...toDevice(wire({ id: 318 }), now)!, lat: 48.208174, lng: 16.373819, ...last }
  t.strictSame(toLocation(shown), { object: 'location', device_id: 318, lat: 48.208174, lng: 16.373819, ...last })
  for (const missing of [{ lat: null, lng: null }, { lat: null }, { lng: null }])
    t.equal(toLocation({ ...shown, ...missing }), undefined, 'without a position there is none (N06, N08)')
})
