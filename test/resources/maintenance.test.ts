/** Maintenance services from platform rows and the counters of their devices. */
import { read } from '../../src/platform/shape.js'
import { wireDevice, wireService } from '../../src/platform/wire.js'
import { serviceDevice, toMaintenanceService } from '../../src/resources/maintenance.js'
import { epochDay } from '../../src/resources/time.js'
import { check } from './rows.js'

const today = epochDay('2026-05-11')
/** The service of a row; without an `owner` its device is unknown. */
const service = (raw: object, owner?: object, offsetMinutes = 0) =>
  toMaintenanceService(
    read(wireService, { id: 7, device_id: 318, name: 'Tyres', ...raw }),
    7,
    owner && serviceDevice(read(wireDevice, { id: 318, name: 'Van 4', ...owner })),
    { setup: undefined, zone: { offsetMinutes }, today, dayFirst: undefined },
  )

const withBase = (base: object) => (raw: object, owner?: object) => service({ ...base, ...raw }, owner)

const ownFields = { id: 7, name: 'Tyres', device_id: 318, device: 'Van 4', expired: false }
const amounts = { interval: '30000', last_service: '52000', expired: '0' }
const old = { id: '7', device_id: '318', ...amounts, expires: '"Sensor" was not found.', expires_date: null }
const dates = { last_service: '2026-03-01', expires: 'Expired', expires_date: '2026-05-30' }
check('a service of each platform has all documented fields (N01, N45, N46, N47)', service, [
  [
    'by odometer, of platform 2.x',
    { ...old, expiration_by: 'odometer' },
    {
      ...{ ...ownFields, expiration_by: 'odometer', interval: 30000, last_service: 52000, expires_at: 82000 },
      ...{ remaining: 1450.5, last_service_date: null, expires_date: null },
    },
    { total_distance: 80549.5 },
  ],
  [
    'by days, of platform 3.x',
    { expiration_by: 'days', interval: 90, ...dates, expired: false },
    {
      ...{ ...ownFields, expiration_by: 'days', interval: 90, last_service: epochDay('2026-03-01') },
      ...{ expires_at: epochDay('2026-05-30'), remaining: 19 },
      ...{ last_service_date: '2026-03-01', expires_date: '2026-05-30' },
    },
    {},
  ],
])

const noDay = { last_service: null, last_service_date: null }
const text = (value: string) => ({ services: [{ id: 7, value }] })
const shown = (time: string) => ({ time, timestamp: Date.parse('2026-05-11T12:03:27Z') / 1000 })
const ambiguous = { last_service: '05-04-2026', expires_date: '04-05-2026' }
const dayFirst = { last_service_date: '2026-04-05', remaining: -26, expired: true }
const monthFirst = { last_service_date: '2026-05-04', remaining: 3, expired: false }
const sent = (interval: number | null, last_service: string | null, expires_date: string) => ({
  ...{ interval, last_service, expires_date },
})
const dated = (last_service_date: string | null, expires_date: string, remaining: number) => ({
  ...{ last_service_date, expires_date, remaining, expired: remaining < 0 },
})
check('a day service is overdue from the day after its date (N47)', withBase({ expiration_by: 'days', interval: 10 }), [
  ['due today', { last_service: '2026-05-01' }, { remaining: 0, expired: false }],
  ['due yesterday', { last_service: '2026-04-30' }, { remaining: -1, expired: true }],
  ['display format', { last_service: '30-04-2026' }, { last_service_date: '2026-04-30' }],
  ['not in the future', { last_service: '01-06-2026' }, { last_service_date: '2026-01-06', remaining: -115 }],
  ['with a due date that fits', sent(90, '05-02-2026', '06-05-2026'), dated('2026-02-05', '2026-05-06', -5)],
  ['month first', sent(30, '04-05-2026', '05-05-2026'), dated('2026-04-05', '2026-05-05', -6)],
  ['ambiguous: near today', { last_service: '05-04-2026' }, { last_service_date: '2026-05-04' }],
  ['ambiguous: day first, as the time of its device', ambiguous, dayFirst, shown('11-05-2026 14:03:27')],
  ['ambiguous: day first, as the day of its device', ambiguous, dayFirst, shown('13-05-2026 14:03:27')],
  ['ambiguous: month first, as the time of its device', ambiguous, monthFirst, shown('05/11/2026 2:03 PM')],
  ['ambiguous: the device is no help', ambiguous, monthFirst, shown('05-05-2026 14:03:27')],
  ['ambiguous: the device has sent nothing', ambiguous, monthFirst, { time: '11-05-2026 14:03:27' }],
  ['an order that its device does not have', { last_service: '04-13-2026' }, { remaining: -18 }, shown('11-05-2026')],
  ['as the text says', sent(365, '05-02-2026', '05-02-2027'), dated('2026-02-05', '2027-02-05', 270), text('270d.')],
  [
    'as the text says, overdue',
    sent(365, '05-02-2025', '05-02-2026'),
    dated('2025-02-05', '2026-02-05', -95),
    text('-95d.'),
  ],
  ['as the text says, no interval', sent(null, null, '05-02-2027'), dated(null, '2027-05-02', 356), text('356d.')],
  ['N47 a number of days', { last_service: String(today) }, { last_service_date: '2026-05-11', remaining: 10 }],
  ['a fraction of a day', { last_service: today + 0.5 }, { last_service: today, remaining: 10 }],
  ['not a day', { last_service: 1e9 }, noDay],
  ['zero days', { last_service: '0' }, noDay],
  ['N59 zero date', { last_service: '0000-00-00', expires_date: '2026-05-20' }, { ...noDay, remaining: 9 }],
  ['no interval', { interval: null, expires_date: '2026-05-20' }, { expires_date: '2026-05-20', remaining: 9 }],
  ['only a text', {}, { remaining: 6, expired: false }, text('6d.')],
  ['an overdue text', {}, { remaining: -2, expired: true }, text('-2d.')],
])

const days = { expiration_by: 'days', interval: 20 }
const at = (time: string) => ({ ...days, last_service: `2026-04-20 ${time}`, expires_date: `2026-05-10 ${time}` })
const on = (raw: object, hours = 0) => service(raw, undefined, hours * 60)
check("a day service is due on the account's day, where the platform writes midnight in UTC, too", on, [
  ['east of UTC', at('21:00:00'), dated('2026-04-21', '2026-05-11', 0), 3],
  ['far east of UTC', at('18:30:00'), dated('2026-04-21', '2026-05-11', 0), 5.5],
  ['west of UTC', at('05:00:00'), dated('2026-04-20', '2026-05-10', -1), -5],
  ['any other time', at('23:15:00'), dated('2026-04-20', '2026-05-10', -1), 3],
  ['a day with a time of zero', at('00:00:00'), dated('2026-04-20', '2026-05-10', -1), -5],
])

const odometer = (fields: object) => ({ sensors: [{ type: 'Odometer', ...fields }], total_distance: 5 })
const mi = { unit_of_distance: 'mi' }
const miles = { expiration_by: 'odometer', interval: 1000, last_service: 5000 }
const left160 = { interval: 1609.34, last_service: 8046.72, expires_at: 9656.06, remaining: 160.93 }
check('miles become kilometres in all four numbers (N64)', withBase(miles), [
  ['the counter', {}, left160, { ...mi, total_distance: 5900 }],
  ['2.x: unit of speed', {}, left160, { distance_unit_hour: 'MPH', total_distance: '5900' }],
  ['a sensor without a unit', {}, left160, { ...mi, ...odometer({ value: 5900 }) }],
  ['a text without a unit', {}, left160, { ...mi, ...text('Left (100 )') }],
  ['a text in km', {}, { remaining: 100 }, { ...mi, ...text('Left (100 km)') }],
])

const otherText = { services: [{ id: 8, name: 'Tyres', value: 'Left (1 km)' }] }
const namedText = { services: [otherText.services[0], { name: 'Tyres', value: 'Odometer Left (812 km)' }] }
const km = { expiration_by: 'odometer', interval: 100, last_service: 1000 }
check('the odometer is the sensor, else the counter, else a text has the remainder (N14, N15, N45)', withBase(km), [
  ['N14 val', {}, { remaining: 30 }, odometer({ value: '-', val: '1070' })],
  ['text by name', {}, { remaining: 812 }, namedText],
  ['text by id, not by name', {}, { remaining: null }, otherText],
  ['no text by a missing name', { name: null }, { remaining: null }, { services: [{ value: 'Left (1 km)' }] }],
  ['overdue text', {}, { remaining: -12, expired: true }, text('Left (-12 km)')],
  ['text of the row', { expires: 'Odometer Left (55 km)' }, { remaining: 55 }, {}],
  ['text of the device before that of the row', { expires: 'Left (55 km)' }, { remaining: 5 }, text('Left (5 km)')],
  ['counter before text', {}, { remaining: 20 }, { total_distance: 1080, ...text('Left (1 km)') }],
])

const hourSensor = (fields: object) => ({ sensors: [{ type: 'engine_hours', ...fields }] })
const hours = { expiration_by: 'engine_hours', interval: 250, last_service: '1300' }
check('engine hours count from a sensor that states its unit', withBase(hours), [
  ['hours', {}, { expires_at: 1550, remaining: 26.5 }, hourSensor({ value: '1523.5 h' })],
  ['no unit', {}, { expires_at: 1550, remaining: null }, hourSensor({ value: 1523.5 })],
  ['a text', {}, { remaining: 20 }, text('Engine hours Left (20 )')],
  ['a text in hours', {}, { remaining: -2.5, expired: true }, text('Left (-2.5 h)')],
  ['a text in minutes', {}, { remaining: 1.5 }, text('Left (90 min.)')],
  ['a text in seconds', {}, { remaining: 0.5 }, text('Left (1800 s)')],
  ['a text of several units', {}, { remaining: 1.5 }, text('Left (1h 30min)')],
  ['a text in another unit', {}, { remaining: null }, text('Left (20 km)')],
  ['miles do not convert hours', {}, { interval: 250, expires_at: 1550 }, mi],
  ['the odometer does not count', {}, { remaining: null }, odometer({ value: '5 h' })],
])

const unknown = { device: '', last_service: null, expires_at: null, remaining: null }
check("an unknown amount is null, and `expired` follows the platform's flag (N45, N46)", withBase({ interval: 10 }), [
  ['N46 flag', { expired: '1' }, { ...unknown, expired: true }],
  ['N46 no flag', { expired: null }, { expired: false }],
  ['only expires', { expires: '1100' }, { expires_at: 1100, remaining: 100 }, { total_distance: 1000 }],
  ['flag before amount', { expired: 1, last_service: 100 }, { remaining: 60, expired: true }, { total_distance: 50 }],
  ['by amount', { last_service: 100 }, { remaining: -10, expired: true }, { total_distance: 120 }],
  ['no unit', { expiration_by: null }, { expiration_by: 'odometer' }],
  ['another unit', { expiration_by: 'Trips', last_service: 1 }, { expiration_by: 'trips', expires_at: 11 }, mi],
  ['no name, no device', { name: null, device_id: null }, { name: 'Service 7', device_id: null }],
  ['the id of its device', { device_id: null }, { device_id: 318, device: 'Van 4' }, {}],
])
