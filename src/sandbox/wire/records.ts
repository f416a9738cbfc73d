/** Geofences, alerts, events, drivers and the account itself as the platform writes them. */
import { type Account, type Alert, type Driver, type Geofence, maxAlertDevices } from '../account.js'
import { type FleetEvent, reportOf } from '../events.js'
import { positionId } from '../reports.js'
import { rawTime } from '../wall-clock.js'
import { deviceData, driverFields, nameOf } from './device.js'

const createdTimes = { created_at: '2025-02-03 08:15:00', updated_at: '2025-02-10 16:40:12' }

export function geofenceRow(account: Account, { id, name, active, color, area }: Geofence) {
  const row = { id, user_id: account.userId, active: active ? 1 : 0, name, polygon_color: color, ...createdTimes }
  const rest = { device_id: null, speed_limit: 0 }
  if ('radius' in area) {
    const center = { lat: area.center.lat.toFixed(6), lng: area.center.lng.toFixed(6) }
    return { ...row, group_id: null, type: 'circle', coordinates: '[]', radius: area.radius, center, ...rest }
  }
  const [{ lat: south, lng: west }, { lat: north, lng: east }] = [area.southWest, area.northEast]
  const corner = (lat: number, lng: number) => ({ lat, lng })
  const corners = [corner(south, west), corner(north, west), corner(north, east), corner(south, east)]
  const center = { lat: 0, lng: 0 }
  return { ...row, group_id: 0, type: 'polygon', coordinates: JSON.stringify(corners), radius: 0, center, ...rest }
}

export function alertRow(account: Account, alert: Alert) {
  const { id, name, type, active, value, nth, geofences } = alert
  const covered = Array.from({ length: Math.min(account.devices, maxAlertDevices) }, (_, index) => index)
  return {
    ...{ id, user_id: account.userId, active: active ? 1 : 0, name, type },
    ...(type === 'ignition' ? { state: value } : value > 0 && type !== 'custom' ? { [type]: value } : {}),
    notifications: active ? { push: { active: 1 }, email: { active: 0, input: account.email } } : [],
    ...{ for_all_user_devices: 0, schedules: null, zone: 0, schedule: 0, command: null, ...createdTimes },
    devices: covered.filter((index) => index % nth === 0).map((index) => account.firstDeviceId + index),
    ...{ drivers: [], geofences, events_custom: type === 'custom' ? [id] : [] },
  }
}

/** `Zone in` for `zone_in`. */
const titleOf = (type: string) => `${type.charAt(0).toUpperCase()}${type.slice(1).replace('_', ' ')}`

/** All types of events, whether the account has alerts for them or not. */
export const eventTypes = [
  ...['zone_in', 'zone_out', 'overspeed', 'ignition_on', 'ignition_off', 'idle_duration', 'stop_duration'],
  ...['offline_duration', 'move_start', 'driver', 'driver_unauthorized', 'sos', 'custom', 'service'],
].map((type) => ({ type, title: titleOf(type) }))

const geofenceOf = (account: Account, event: FleetEvent) => account.geofences.find(({ id }) => id === event.geofence)

function detailOf(account: Account, event: FleetEvent): string | null {
  if (event.type === 'overspeed') return `${event.alert.value} kph`
  if (event.type.endsWith('_duration')) return `${event.alert.value} min`
  return geofenceOf(account, event)?.name.trim() ?? null
}

/** A custom event and a reminder have a name of their own. */
const nameOfEvent = ({ type, alert }: FleetEvent) =>
  type === 'custom' || type === 'service' ? alert.name : titleOf(type)

export function eventMessage(account: Account, event: FleetEvent): string {
  const detail = detailOf(account, event)
  return detail ? `${nameOfEvent(event)} (${detail})` : nameOfEvent(event)
}

export function eventRow(account: Account, event: FleetEvent) {
  const { id, at, type, alert, index } = event
  const { lat, lng, altitude, course, speedKmh, at: fixedAt } = reportOf(account, event)
  const geofence = geofenceOf(account, event)
  const created = rawTime(at + 3, account.zoneSeconds)
  return {
    id,
    user_id: account.userId,
    device_id: account.firstDeviceId + index,
    device_name: nameOf(index),
    geofence_id: geofence?.id ?? null,
    geofence: geofence ? { id: geofence.id, name: geofence.name } : null,
    position_id: positionId(fixedAt),
    alert_id: alert.id || null,
    type,
    name: nameOfEvent(event),
    detail: detailOf(account, event),
    message: eventMessage(account, event),
    altitude,
    course,
    latitude: lat,
    longitude: lng,
    speed: speedKmh,
    time: rawTime(at, account.zoneSeconds),
    created_at: created,
    updated_at: created,
    additional: type === 'overspeed' ? { overspeed_speed: alert.value } : [],
    ...{ poi_id: null, address: null, power: null, deleted: 0, silent: null },
  }
}

export function driverRow(account: Account, driver: Driver) {
  const device = driver.index === undefined ? null : deviceData(account, driver.index)
  return { ...driverFields(account, driver), device_port: null, device }
}

/** The smallest response that needs a valid hash. */
export function userData({ email, plan, devices }: Account) {
  return { email, expiration_date: null, days_left: null, plan, devices_limit: devices, group_id: 2 }
}

const options = (titles: Record<string, string>) => Object.entries(titles).map(([id, value]) => ({ id, value }))

/** Every quarter of an hour from -14:00, which is 1, to +14:00. */
const timezones = Array.from({ length: 113 }, (_, n) => {
  const clock = new Date(Math.abs(n - 56) * 900_000).toISOString().slice(11, 16)
  return { id: n + 1, value: `UTC ${n < 56 ? '-' : '+'}${clock}` }
})

/** The account's settings and the lists to choose from. Older platforms leak secrets here; the sandbox has none. */
export function setupData({ userId, email, devices, zoneSeconds }: Account) {
  return {
    item: {
      ...{ id: userId, active: 1, group_id: 2, manager_id: null, billing_plan_id: null, map_id: 1, email, lang: 'en' },
      ...{ devices_limit: devices, subscription_expiration: '0000-00-00 00:00:00', loged_at: '2025-02-10 16:40:12' },
      ...{ open_geofence_groups: '["0"]', open_device_groups: '["0"]', ...createdTimes },
      ...{ unit_of_altitude: 'mt', unit_of_distance: 'km', unit_of_capacity: 'lt', duration_format: 'standart' },
      timezone_id: 57 + zoneSeconds / 900,
    },
    timezones: timezones,
    units_of_distance: options({ km: 'Kilometer', mi: 'Mile' }),
    units_of_capacity: options({ lt: 'Liter', gl: 'Gallon' }),
    units_of_altitude: options({ mt: 'Meter', ft: 'Feet' }),
    dst_types: options({ none: 'None', exact: 'Exact date', automatic: 'Automatic', other: 'Other' }),
    ...{ groups: [], user_dst: null, status: 1 },
  }
}
