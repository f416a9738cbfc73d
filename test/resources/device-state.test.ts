/** The sensors, the ignition and the counters of a device row (platform.md 3.6, 8.3). */
import type { Device } from '../../src/resources/device.js'
import { device, server } from './device-rows.js'
import { check } from './rows.js'

const shows = (sensor: object, value: string | null, number: number | null): [string, object, Partial<Device>] => [
  JSON.stringify(sensor),
  { sensors: [{ name: 'S', ...sensor }] },
  { sensors: [{ id: null, type: 'other', name: 'S', value, number }] },
]
check('a sensor shows its text, else its value with unit, else null, and its number (N04, N14, N15)', device, [
  shows({ value: '64 %', val: '64.00' }, '64 %', 64),
  shows({ value: 'Off', val: false }, 'Off', null),
  shows({ value: 41207.318, unit: 'km', formatted: '41207 km' }, '41207 km', 41207),
  shows({ value: 41207.318, unit: 'km', formatted: '-' }, '41207.318 km', 41207.318),
  shows({ value: 7 }, '7', 7),
  shows({ value: true }, 'On', null),
  shows({ value: '-', val: false }, 'Off', null),
  shows({ value: '', val: 908.6, unit: 'h' }, '908.6 h', 908.6),
  shows({ value: '908', unit: 'h' }, '908', 908),
  shows({ value: '- nn' }, null, null),
  shows({ value: '-5 °C' }, '-5 °C', -5),
  shows({ value: '12.5 m3' }, '12.5 m3', 12.5),
  shows({ value: '00A1B2' }, '00A1B2', null),
  shows({ value: null, val: '-' }, null, null),
  shows({ value: '12h 30min' }, '12h 30min', null),
])

const other = { id: null, type: 'other', name: 'x', value: '1', number: 1 }
const door = { id: null, type: 'door', name: 'door', value: null, number: null }
check('sensors are read in every form (N04, N16, N17)', device, [
  ['N04 without a type', { sensors: [{ name: 'x', value: '1' }] }, { sensors: [other] }],
  ['N04 only a value', { sensors: [{ value: '1' }] }, { sensors: [{ ...other, name: 'other' }] }],
  ['without a name', { sensors: [{ type: 'Door', value: '2' }] }, { sensors: [{ ...door, value: '2', number: 2 }] }],
  ['only a type', { sensors: [{ type: 'Door' }] }, { sensors: [door] }],
  ['N17 JSON text', { sensors: '[{"id":"8","name":"x","value":"1"}]' }, { sensors: [{ ...other, id: 8 }] }],
  ['N16 empty and null', { sensors: [{}, null, 'x'] }, { sensors: [] }],
])

const sensor = (type: string, val: unknown, value: unknown = '-') => ({ type, val, value })
const [on, off, unknown] = [{ ignition: true }, { ignition: false }, { ignition: null }]
check('the ignition is that of the first ignition sensor with a state, else of the platform', device, [
  ['a boolean', { sensors: [sensor('acc', true, 'Off')] }, on],
  ['1', { sensors: [sensor('ignition', 1)] }, on],
  ['0 as text', { sensors: [sensor('ENGINE', '0', 'On')] }, off],
  ['On', { sensors: [sensor('acc', null, 'On')] }, on],
  ['off in any case', { sensors: [sensor('acc', '12.5', 'OFF')] }, off],
  ['a boolean as value', { sensors: [sensor('acc', undefined, false)] }, off],
  ['a boolean as text', { sensors: [sensor('acc', 'true', 'Encendido')] }, on],
  ['a number as value', { sensors: [sensor('acc', undefined, 0)] }, off],
  ['the first one', { sensors: [sensor('engine', false), sensor('acc', true)] }, off],
  ['the first one with a state', { sensors: [sensor('acc', '-'), sensor('engine', 7), sensor('acc', true)] }, on],
  ['a sensor of another type', { sensors: [sensor('door', true, 'On')] }, unknown],
  ['a sensor before the status', { sensors: [sensor('acc', false)], engine_status: true, online: 'engine' }, off],
  ['the status', { sensors: [sensor('acc', '-')], engine_status: false, online: 'engine' }, off],
  ['the status as number', { engine_status: 1 }, on],
  ['the status as text', { engine_status: '0' }, off],
  ['the status in words', { engine_status: 'ACC off', online: 'engine' }, off],
  ['a status in other words', { engine_status: 'unknown' }, unknown],
  ['a status without a value', { engine_status: '', online: 'engine' }, on],
  ['the state word', { engine_status: null, online: 'Engine' }, on],
  ['another state word', { online: 'online' }, unknown],
])

const counter = (type: string, raw: object) => ({ sensors: [{ type, name: 'S', ...raw }] })
const odometers = (...values: string[]) => ({ sensors: values.map((value) => ({ type: 'odometer', value })) })
check('the odometer is in km, from its sensor, else from the total distance (N14, N15, N64)', device, [
  ['text', counter('odometer', { value: '81 450.5 km', val: 3 }), { odometer_km: 81450.5 }],
  ['text in miles', { ...counter('odometer', { value: '100 mi' }), unit_of_distance: 'km' }, { odometer_km: 160.93 }],
  ['formatted text', counter('odometer', { value: 7, unit: 'm', formatted: '9 km' }), { odometer_km: 9 }],
  ['a number with its unit', counter('odometer', { value: 41207, unit: 'm' }), { odometer_km: 41.21 }],
  ['only val', { ...counter('odometer', { value: '-', val: '100' }), unit_of_distance: 'mi' }, { odometer_km: 160.93 }],
  ['a dash', { ...counter('odometer', { value: '-' }), total_distance: '12' }, { odometer_km: 12 }],
  ['no sensor', { total_distance: 100, unit_of_distance: 'mi' }, { odometer_km: 160.93 }],
  ['platform 2.x in miles', { total_distance: 100, distance_unit_hour: 'mph' }, { odometer_km: 160.93 }],
  ['platform 2.x in nautical miles', { total_distance: 100, distance_unit_hour: 'kn' }, { odometer_km: 185.2 }],
  ['neither', { total_distance: '-' }, { odometer_km: null }],
  [
    'the first sensor with a value',
    { ...odometers('- km', 'n/a', '7 km', '9 km'), total_distance: 12 },
    { odometer_km: 7 },
  ],
])

const engine = (raw: object) => counter('engine_hours', raw)
check('engine hours are hours, from a sensor that states its unit', device, [
  ['hours', engine({ value: '1523.4 h', val: 9 }), { engine_hours: 1523.4 }],
  ['seconds', engine({ value: 23391882, unit: 's', formatted: '23391882 s' }), { engine_hours: 6497.75 }],
  ['minutes', engine({ value: '90 min' }), { engine_hours: 1.5 }],
  ['a number with its unit', engine({ value: '-', val: 5400, unit: 'Seconds' }), { engine_hours: 1.5 }],
  ['a duration', engine({ value: '1523h 30min' }), { engine_hours: 1523.5 }],
  ['no unit', engine({ value: '1523.4', val: 1523.4 }), { engine_hours: null }],
  ['another unit', engine({ value: '12 km' }), { engine_hours: null }],
  ['a second sensor', { sensors: ['9', '7 h'].map((value) => ({ type: 'engine_hours', value })) }, { engine_hours: 7 }],
])

check('movement and standstill are Unix seconds and seconds, null where the platform does not tell', device, [
  ['never moved', { moved_timestamp: 0 }, { moved_at: null }],
  ['the time of the server', server({ moved_at: '2026-05-11 12:03:21' }), { moved_at: 1778501001 }],
  ['only texts', { stop_duration: '1h 1s', idle_duration: '00:01:05' }, { stopped_seconds: 3601, idle_seconds: 65 }],
  ['only numbers', { stop_duration: 100, idle_duration: '300' }, { stopped_seconds: 100, idle_seconds: 300 }],
  ['fractions', { stop_duration_sec: 90.7 }, { stopped_seconds: 90 }],
  ['no durations', { stop_duration_sec: -5, idle_duration: 'Parado' }, { stopped_seconds: null, idle_seconds: null }],
])

check('the driver has an id, from the row or its registration', device, [
  ['driver_data first', { driver_data: { id: '4' }, device_data: { current_driver_id: 5 } }, { driver_id: 4 }],
  ['the registration', { driver_data: [], device_data: { current_driver_id: '5' } }, { driver_id: 5 }],
])
