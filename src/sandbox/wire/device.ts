/** Pure: a vehicle and its last report as the platform's device lists show them (`platform.md` 3). */
import type { Account, Driver } from '../account.js'
import { displayTime, durationText, rawTime } from '../clock.js'
import { depotOf, type Fleet, kindOf, stateOf } from '../fleet.js'
import { servicesOf } from '../maintenance.js'
import { between, roll } from '../random.js'
import { lastReports } from '../reports.js'
import type { Kind, Report } from '../tour.js'
import { serviceRow, serviceText } from './service.js'

const KIND_NAMES: Record<Kind, string> = { shuttle: 'Truck', day: 'Van', night: 'Courier', yard: 'Crane' }
const PROTOCOLS = ['teltonika', 'gt06', 'osmand', 'queclink', 'h02']
const COLORS = { moving: 'green', stopped: 'yellow', offline: 'red', engine: 'orange' }
/** A tracker silent for longer is offline. */
const ONLINE_SECONDS = 600
const UNITS = { distance_unit_hour: 'kph', unit_of_distance: 'km', unit_of_altitude: 'mt', unit_of_capacity: 'lt' }

export const nameOf = (index: number) => `${KIND_NAMES[kindOf(index)]} ${String(index + 1).padStart(2, '0')}`
/** The tracker's own number, which history points carry; not the device id, though it may be another device's. */
export const trackerIdOf = (account: Account, index: number) => account.firstId + index + 7
export const imeiOf = (account: Account, index: number) => `99000${String(account.firstId + index).padStart(10, '0')}`

/** The group of a vehicle; 0 is no group. */
export function groupOf(account: Account, index: number): { id: number; title: string } {
  const [north, south, night] = account.groups
  if (index % 9 === 8) return { id: 0, title: 'Ungrouped' }
  if (kindOf(index) === 'night') return night!
  return depotOf(index) === 0 ? north! : south!
}

function onlineOf(report: Report | undefined, index: number, instant: number): 'online' | 'ack' | 'engine' | 'offline' {
  if (!report || stateOf(index) !== 'working' || instant - report.at > ONLINE_SECONDS) return 'offline'
  if (report.speedKmh > 0) return 'online'
  return report.ignition ? 'engine' : 'ack'
}

/** One item of `get_devices`. */
export function deviceRow(account: Account, fleet: Fleet, index: number, instant: number) {
  const reports = lastReports(fleet, index, instant, 6)
  const report = reports.at(-1)
  const online = onlineOf(report, index, instant)
  const driver = account.drivers.find((candidate) => candidate.index === index)
  const services = servicesOf(account, fleet, index, instant)
  const standing = report ? Math.max(0, instant - report.movedAt) : 0
  const color = { online: 'moving', ack: 'stopped', engine: 'engine', offline: 'offline' }[
    online
  ] as keyof typeof COLORS
  const time = stateOf(index) === 'expired' ? 'Expired' : report && displayTime(report.at, account.zoneSeconds)
  return {
    id: account.firstId + index,
    alarm: 0,
    name: nameOf(index),
    online,
    time: time ?? 'Not connected',
    timestamp: report?.at ?? 0,
    acktimestamp: report
      ? online === 'offline'
        ? report.at
        : report.at + Math.floor((instant - report.at) / 60) * 60
      : 0,
    lat: report?.lat ?? null,
    lng: report?.lng ?? null,
    course: report?.course ?? 0,
    speed: report?.speedKmh ?? 0,
    altitude: report?.altitude ?? 0,
    icon_type: 'rotating',
    icon_color: COLORS[color],
    icon_colors: COLORS,
    power: '-',
    address: '-',
    protocol: report ? protocolOf(account, index) : '-',
    driver: driver?.name ?? '-',
    driver_data: driverData(account, driver),
    sensors: report ? sensorRows(account, index, report) : [],
    services: services.map((service) => ({ id: service.id, name: service.name, ...serviceText(service) })),
    tail: reports.slice(0, -1).map((point) => ({ lat: String(point.lat), lng: String(point.lng) })),
    ...UNITS,
    stop_duration: report?.speedKmh === 0 ? durationText(standing) : '0s',
    stop_duration_sec: report?.speedKmh === 0 ? standing : 0,
    moved_timestamp: report?.movedAt ?? 0,
    engine_status: report ? report.ignition : null,
    detect_engine: 'acc',
    engine_hours: 'engine_hours',
    total_distance: report ? Math.round(report.km * 100) / 100 : 0,
    inaccuracy: null,
    sim_expiration_date: null,
    device_data: {
      ...deviceData(account, index, report),
      services: services.map((service) => serviceRow(account, service)),
    },
  }
}

/** One item of `get_devices_latest`: the lists inside are JSON in a string. */
export function latestRow(account: Account, fleet: Fleet, index: number, instant: number) {
  const { sensors, services, tail, ...row } = deviceRow(account, fleet, index, instant)
  const text = { sensors: JSON.stringify(sensors), services: JSON.stringify(services), tail: JSON.stringify(tail) }
  return { ...row, ...text }
}

const protocolOf = (account: Account, index: number) =>
  PROTOCOLS[between(0, PROTOCOLS.length - 1, roll(account.region.seed, 20, index))]!

function driverData(account: Account, driver: Driver | undefined) {
  return {
    id: driver?.id ?? null,
    user_id: driver ? account.userId : null,
    device_id: driver?.index === undefined ? null : account.firstId + driver.index,
    name: driver?.name ?? null,
    rfid: driver?.rfid ?? null,
    phone: driver?.phone ?? null,
    email: driver ? '' : null,
    description: driver ? '' : null,
    created_at: driver ? '2025-01-02 10:00:00' : null,
    updated_at: driver ? '2025-01-02 10:00:00' : null,
  }
}

function sensorRows(account: Account, index: number, report: Report) {
  const base = (account.firstId + index) * 10
  const row = (n: number, type: string, name: string, value: string, val: string | number | boolean) => {
    return { id: base + n, type, name, show_in_popup: n < 3 ? 1 : 0, value, val, scale_value: null }
  }
  const volts =
    (report.ignition ? 13.6 : 12.3) + 0.5 * roll(account.region.seed, 21, index, Math.floor(report.at / 3600))
  const hours = Math.round(report.engineSeconds / 360) / 10
  const gsm = between(40, 100, roll(account.region.seed, 22, index, Math.floor(report.at / 600)))
  const rows = [
    row(1, 'acc', 'Ignition', report.ignition ? 'On' : 'Off', report.ignition),
    row(2, 'battery', 'Battery', `${volts.toFixed(1)} V`, volts.toFixed(2)),
    row(3, 'odometer', 'Odometer', `${Math.round(report.km)} km`, Math.round(report.km * 1000) / 1000),
    row(4, 'engine_hours', 'Engine hours', `${hours} h`, hours),
    row(5, 'gsm', 'SIM network', `${gsm} %`, gsm.toFixed(2)),
  ]
  if (index % 6 === 1) rows.push(row(6, 'temperature', 'Cargo', '-', '-'))
  return rows
}

/** The registration of a vehicle, as it also stands in driver and service rows. */
export function deviceData(account: Account, index: number, report?: Report | undefined) {
  const id = account.firstId + index
  const driver = account.drivers.find((candidate) => candidate.index === index)
  return {
    id,
    user_id: null,
    traccar_device_id: trackerIdOf(account, index),
    icon_id: 8,
    active: 1,
    deleted: 0,
    name: nameOf(index),
    imei: imeiOf(account, index),
    fuel_measurement_id: 1,
    fuel_quantity: '0.00',
    fuel_price: '0.00',
    fuel_per_km: '0.00',
    sim_number: '',
    device_model: '',
    plate_number: `SBX ${String(id).padStart(6, '0')}`,
    vin: '',
    registration_number: '',
    object_owner: '',
    expiration_date: stateOf(index) === 'expired' ? '2025-01-31 00:00:00' : null,
    tail_color: '#33cc33',
    tail_length: 5,
    engine_hours: 'engine_hours',
    detect_engine: 'acc',
    min_moving_speed: 6,
    snap_to_road: 0,
    created_at: '2025-01-02 09:30:00',
    updated_at: '2025-01-02 09:30:00',
    current_driver_id: driver?.id ?? null,
    group_id: groupOf(account, index).id,
    pivot: pivotOf(account, index, driver),
    users: [{ id: account.userId, email: account.email }],
    traccar: report ? traccarOf(account, index, report) : null,
  }
}

function pivotOf(account: Account, index: number, driver: Driver | undefined) {
  const group = groupOf(account, index).id
  const ids = { user_id: account.userId, device_id: account.firstId + index, group_id: group }
  return { ...ids, current_driver_id: driver?.id ?? null, active: 1, timezone_id: null }
}

/** The tracker server's own row; its times are UTC. */
function traccarOf(account: Account, index: number, report: Report) {
  const time = rawTime(report.at, 0)
  return {
    id: trackerIdOf(account, index),
    name: nameOf(index),
    uniqueId: imeiOf(account, index),
    lastValidLatitude: report.lat,
    lastValidLongitude: report.lng,
    speed: report.speedKmh.toFixed(2),
    course: report.course.toFixed(2),
    altitude: report.altitude.toFixed(2),
    time,
    device_time: time,
    server_time: rawTime(report.at + 1, 0),
    ack_time: rawTime(report.at + 1, 0),
    moved_at: rawTime(report.movedAt, 0),
    protocol: protocolOf(account, index),
    other: `<info><ignition>${report.ignition}</ignition></info>`,
  }
}
