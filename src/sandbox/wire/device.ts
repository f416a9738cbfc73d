/** A device, its registration and its last report in the platform's device lists. */
import type { Account, Driver } from '../account.js'
import { isExpiring, plannedOf, serviceAt, serviceRow, serviceText } from '../maintenance.js'
import type { Report } from '../program.js'
import { between, roll } from '../random.js'
import { isExpired, lastReports, shiftOf } from '../reports.js'
import { displayTime, durationText, rawTime } from '../wall-clock.js'

type Connection = { online: 'online' | 'ack' | 'engine' | 'offline'; ack: number }

const colorOf = { online: 'green', ack: 'yellow', engine: 'orange', offline: 'red' }
const path = 'frontend/images/device_icons/8.png'
/** Spread last: V8 makes a slow object of a literal that starts with a spread. */
const fixedFields = {
  icon: { id: 8, user_id: null, type: 'rotating', order: 1, width: 25, height: 33, path: path, by_status: 0 },
  ...{ icon_type: 'rotating', icon_colors: { moving: 'green', stopped: 'yellow', offline: 'red', engine: 'orange' } },
  ...{ distance_unit_hour: 'kph', unit_of_distance: 'km', unit_of_altitude: 'mt', unit_of_capacity: 'lt' },
  ...{ detect_engine: 'acc', engine_hours: 'engine_hours', inaccuracy: null, sim_expiration_date: null },
  ...{ alarm: 0, power: '-', address: '-' },
}
const onlineSeconds = 600
const ackSeconds = 60
/** How long signs of life follow the last report; less than `onlineSeconds`, or a device is offline just after one. */
const awakeSeconds = 300

/** The platform's word for the connection, and the last sign of life. */
export function connectionOf(report: Report | undefined, index: number, instant: number): Connection {
  if (!report) return { online: 'offline', ack: 0 }
  if (isExpired(index)) return { online: 'offline', ack: report.at }
  const silent = instant - report.at
  const ack = report.at + Math.floor(Math.min(silent, awakeSeconds) / ackSeconds) * ackSeconds
  if (silent > onlineSeconds) return { online: 'offline', ack }
  return { online: report.speedKmh > 0 ? 'online' : report.ignition ? 'engine' : 'ack', ack }
}

export function deviceRow(account: Account, index: number, instant: number) {
  const reports = lastReports(account, index, instant, 6)
  const report = reports.at(-1)
  const { online, ack } = connectionOf(report, index, instant)
  const driver = driverOf(account, index)
  const services = plannedOf(index).map((planned) => serviceAt(account, planned, instant))
  const stopped = report?.speedKmh === 0 ? instant - report.movedAt : 0
  const ignition = report?.ignition ? instant - report.ignitionAt : 0
  return {
    id: account.firstDeviceId + index,
    name: nameOf(index),
    online,
    time: isExpired(index) ? 'Expired' : report ? displayTime(ack, account.zoneSeconds) : 'Not connected',
    timestamp: report?.at ?? 0,
    acktimestamp: ack,
    lat: report?.lat ?? null,
    lng: report?.lng ?? null,
    course: report?.course ?? 0,
    speed: report?.speedKmh ?? 0,
    altitude: report?.altitude ?? 0,
    icon_color: colorOf[online],
    protocol: report ? protocolOf(account, index) : '-',
    driver: driver?.name ?? '-',
    driver_data: driverFields(account, driver),
    sensors: report ? sensorRows(account, index, report) : [],
    services: services.map((service) => {
      return { id: service.id, name: service.name, value: serviceText(service), expiring: isExpiring(service) }
    }),
    tail: reports.slice(0, -1).map((point) => ({ lat: String(point.lat), lng: String(point.lng) })),
    stop_duration: durationText(stopped),
    stop_duration_sec: stopped,
    ignition_duration: durationText(ignition),
    idle_duration: durationText(Math.min(stopped, ignition)),
    moved_timestamp: report?.movedAt ?? 0,
    engine_status: report ? report.ignition : null,
    total_distance: report ? Math.round(report.km * 100) / 100 : 0,
    device_data: {
      services: services.map((service) => serviceRow(account, service, Number)),
      ...deviceData(account, index, report),
    },
    ...fixedFields,
  }
}

/** One item of `get_devices_latest`: the lists inside are JSON in a string. */
export function latestRow(account: Account, index: number, instant: number) {
  const { sensors, services, tail, ...row } = deviceRow(account, index, instant)
  return { ...row, sensors: JSON.stringify(sensors), services: JSON.stringify(services), tail: JSON.stringify(tail) }
}

/** What driver rows and `driver_data` share; all null without a driver. */
export function driverFields(account: Account, driver: Driver | undefined) {
  const device_id = driver?.index === undefined ? null : account.firstDeviceId + driver.index
  const ids = { id: driver?.id ?? null, user_id: driver ? account.userId : null, device_id }
  const names = { name: driver?.name ?? null, rfid: driver?.rfid ?? null, phone: driver?.phone || null }
  const [text, time] = driver ? ['', '2025-01-02 10:00:00'] : [null, null]
  return { ...ids, ...names, email: text, description: text, created_at: time, updated_at: time }
}

function sensorRows(account: Account, index: number, report: Report) {
  const base = (account.firstDeviceId + index) * 10
  const row = (n: number, type: string, name: string, value: string, val: string | number | boolean) => {
    return { id: base + n, type, name, show_in_popup: n < 3 ? 1 : 0, value, val, scale_value: null }
  }
  const wobble = (key: number, seconds: number) => roll(account.seed, key, index, Math.floor(report.at / seconds))
  const volts = (report.ignition ? 13.6 : 12.3) + 0.5 * wobble(21, 3600)
  const hours = Math.round(report.engineSeconds / 360) / 10
  const gsm = between(40, 100, wobble(22, 600))
  const rows = [
    row(1, 'acc', 'Ignition', report.ignition ? 'On' : 'Off', report.ignition),
    row(2, 'battery', 'Battery', `${volts.toFixed(1)} V`, volts.toFixed(2)),
    row(3, 'odometer', 'Odometer', `${Math.round(report.km)} km`, Math.round(report.km * 1000) / 1000),
    row(4, 'engine_hours', 'Engine hours', `${hours} h`, hours),
    row(5, 'gsm', 'SIM network', `${gsm} %`, gsm.toFixed(2)),
  ]
  return index % 6 === 1 ? [...rows, row(6, 'temperature', 'Cargo', '-', '-')] : rows
}

const kinds = { day: 'Van', late: 'Truck', night: 'Courier' }
const protocols = ['teltonika', 'gt06', 'osmand', 'queclink', 'h02']
const models = ['TX-100', 'TX-200', 'Cargo Mini']
const staticData = {
  ...{ user_id: null, icon_id: 8, active: 1, deleted: 0, tail_color: '#33cc33', tail_length: 5, min_moving_speed: 6 },
  ...{ fuel_measurement_id: 1, fuel_quantity: '0.00', fuel_price: '0.00', fuel_per_km: '0.00' },
  ...{ engine_hours: 'engine_hours', detect_engine: 'acc', created_at: '2025-01-02 09:30:00' },
}

export const nameOf = (index: number) => `${kinds[shiftOf(index)]} ${String(index + 1).padStart(2, '0')}`
/** The tracker's own number, which history points carry; it may equal another device's id. */
const trackerIdOf = (account: Account, index: number) => account.firstDeviceId + index + 7
const imeiOf = (account: Account, index: number) => `99000${String(account.firstDeviceId + index).padStart(10, '0')}`
const protocolOf = (account: Account, index: number) =>
  protocols[between(0, protocols.length - 1, roll(account.seed, 20, index))]!
const driverOf = (account: Account, index: number) => account.drivers.find((driver) => driver.index === index)

export function groupOf(account: Account, index: number) {
  const [none, north, south, night] = account.groups
  if (index % 10 === 9) return none!
  if (shiftOf(index) === 'night') return night!
  return index % 2 === 0 ? north! : south!
}

/** The `device_data` of a device, which driver and service rows repeat. */
export function deviceData(account: Account, index: number, report?: Report | undefined) {
  const id = account.firstDeviceId + index
  const current_driver_id = driverOf(account, index)?.id ?? null
  const group_id = groupOf(account, index).id
  return {
    id,
    traccar_device_id: trackerIdOf(account, index),
    name: nameOf(index),
    imei: imeiOf(account, index),
    sim_number: `+34600${String(id).padStart(6, '0')}`,
    msisdn: null,
    device_model: models[index % models.length]!,
    plate_number: `SBX ${String(id).padStart(6, '0')}`,
    vin: `SBXAA1A1XSB${String(id).padStart(6, '0')}`,
    registration_number: `R-${id}`,
    object_owner: index % 5 === 4 ? 'Example Leasing' : 'Example Logistics',
    expiration_date: isExpired(index) ? '2025-01-31 00:00:00' : null,
    current_driver_id,
    group_id,
    pivot: { user_id: account.userId, device_id: id, group_id, current_driver_id, active: 1, timezone_id: null },
    traccar: report ? traccarOf(account, index, report) : null,
    ...staticData,
  }
}

/** The tracker server's own row; its times are UTC. */
function traccarOf(account: Account, index: number, report: Report) {
  const [time, received] = [rawTime(report.at, 0), rawTime(report.at + 1, 0)]
  return {
    id: trackerIdOf(account, index),
    uniqueId: imeiOf(account, index),
    lastValidLatitude: report.lat,
    lastValidLongitude: report.lng,
    speed: report.speedKmh.toFixed(2),
    course: report.course,
    altitude: report.altitude,
    protocol: protocolOf(account, index),
    time,
    device_time: time,
    server_time: received,
    ack_time: received,
    moved_at: rawTime(report.movedAt, 0),
    other: `<info><ignition>${report.ignition}</ignition></info>`,
  }
}
