/** Pure: geofences, alerts, events, drivers and the account itself as the platform writes them (`platform.md` 4, 5, 7, 9). */
import { type Account, type Alert, type Driver, type Geofence, WATCHED } from '../account.js'
import { rawTime } from '../clock.js'
import { type FleetEvent, reportOf } from '../events.js'
import type { Fleet } from '../fleet.js'
import { deviceData, nameOf } from './device.js'
import { positionId } from './history.js'

const CREATED = { created_at: '2025-02-03 08:15:00', updated_at: '2025-02-10 16:40:12' }

export function geofenceRow(account: Account, geofence: Geofence) {
  const { area } = geofence
  const circle = 'radius' in area
  return {
    id: geofence.id,
    user_id: account.userId,
    group_id: circle ? null : 0,
    active: geofence.active ? 1 : 0,
    name: geofence.name,
    coordinates: circle ? '[]' : JSON.stringify(area.polygon),
    polygon_color: geofence.color,
    ...CREATED,
    type: circle ? 'circle' : 'polygon',
    radius: circle ? area.radius : 0,
    center: circle ? { lat: area.center.lat.toFixed(6), lng: area.center.lng.toFixed(6) } : { lat: 0, lng: 0 },
    device_id: null,
    speed_limit: 0,
  }
}

export function alertRow(account: Account, alert: Alert) {
  const watched = Array.from({ length: Math.min(account.devices, WATCHED) }, (_, index) => index)
  const attribute =
    alert.type === 'ignition' ? { state: alert.value } : alert.value > 0 ? { [alert.type]: alert.value } : {}
  return {
    id: alert.id,
    user_id: account.userId,
    active: alert.active ? 1 : 0,
    name: alert.name,
    type: alert.type,
    ...attribute,
    for_all_user_devices: 0,
    schedules: null,
    notifications: alert.active ? { push: { active: 1 }, email: { active: 0, input: account.email } } : [],
    ...CREATED,
    zone: 0,
    schedule: 0,
    command: null,
    devices: watched.filter((index) => index % alert.nth === 0).map((index) => account.firstId + index),
    drivers: [],
    geofences: alert.geofences,
    events_custom: [],
  }
}

const EVENT_NAMES: Record<FleetEvent['type'], string> = {
  overspeed: 'Overspeed',
  zone_in: 'Zone in',
  zone_out: 'Zone out',
  ignition_on: 'Ignition ON',
  ignition_off: 'Ignition OFF',
  sos: 'SOS',
  offline_duration: 'Offline duration',
  idle_duration: 'Idle duration',
  stop_duration: 'Stop duration',
}

export const eventTypes = () => Object.entries(EVENT_NAMES).map(([type, title]) => ({ type, title }))

function eventDetail(account: Account, event: FleetEvent): string | null {
  if (event.type === 'overspeed') return `${event.alert.value} kph`
  if (event.geofence !== undefined) return geofenceOf(account, event)!.name.trim()
  return event.type.endsWith('_duration') ? `${event.alert.value} min` : null
}

const geofenceOf = (account: Account, event: FleetEvent) => account.geofences.find(({ id }) => id === event.geofence)

/** What a person reads: the name and, in brackets, the detail. */
export function eventMessage(account: Account, event: FleetEvent): string {
  const detail = eventDetail(account, event)
  return detail ? `${EVENT_NAMES[event.type]} (${detail})` : EVENT_NAMES[event.type]
}

export function eventRow(account: Account, fleet: Fleet, event: FleetEvent) {
  const report = reportOf(fleet, event)
  const geofence = geofenceOf(account, event)
  const created = rawTime(event.at + 3, account.zoneSeconds)
  return {
    id: event.id,
    user_id: account.userId,
    device_id: account.firstId + event.index,
    geofence_id: event.geofence ?? null,
    poi_id: null,
    position_id: positionId(report.at),
    alert_id: event.alert.id,
    type: event.type,
    message: eventMessage(account, event),
    address: null,
    altitude: report.altitude,
    course: report.course,
    latitude: report.lat,
    longitude: report.lng,
    power: null,
    speed: report.speedKmh,
    time: rawTime(event.at, account.zoneSeconds),
    deleted: 0,
    created_at: created,
    updated_at: created,
    additional: event.type === 'overspeed' ? { overspeed_speed: event.alert.value } : [],
    silent: null,
    name: EVENT_NAMES[event.type],
    detail: eventDetail(account, event),
    geofence: geofence ? { id: geofence.id, name: geofence.name } : null,
    device_name: nameOf(event.index),
  }
}

export function driverRow(account: Account, driver: Driver) {
  const { index } = driver
  return {
    id: driver.id,
    user_id: account.userId,
    device_id: index === undefined ? null : account.firstId + index,
    device_port: null,
    name: driver.name,
    rfid: driver.rfid,
    phone: driver.phone || null,
    email: '',
    description: '',
    ...CREATED,
    device: index === undefined ? null : deviceData(account, index),
  }
}

/** The smallest answer that needs a valid hash. */
export function userData(account: Account) {
  const { email, plan, devices } = account
  return { email, expiration_date: null, days_left: null, plan, devices_limit: devices, group_id: 2 }
}

/** The account's settings and the lists to choose from. The real one leaks secrets in older versions; this one has none. */
export function setupData(account: Account) {
  return {
    item: {
      id: account.userId,
      active: 1,
      group_id: 2,
      manager_id: null,
      billing_plan_id: null,
      map_id: 1,
      devices_limit: account.devices,
      email: account.email,
      subscription_expiration: '0000-00-00 00:00:00',
      loged_at: '2025-02-10 16:40:12',
      open_geofence_groups: '["0"]',
      open_device_groups: '["0"]',
      ...CREATED,
      unit_of_altitude: 'mt',
      lang: 'en',
      unit_of_distance: 'km',
      unit_of_capacity: 'lt',
      timezone_id: 57 + account.zoneSeconds / 900,
      duration_format: 'standart',
    },
    timezones: timezones(),
    units_of_distance: [
      { id: 'km', value: 'Kilometer' },
      { id: 'mi', value: 'Mile' },
    ],
    dst_types: ['none', 'exact', 'automatic', 'other'].map((id) => ({ id, value: id })),
    user_dst: null,
    status: 1,
  }
}

/** Every quarter of an hour from -14:00, which is 1, to +14:00. */
function timezones(): { id: number; value: string }[] {
  return Array.from({ length: 113 }, (_, n) => {
    const minutes = Math.abs(n - 56) * 15
    const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
    return { id: n + 1, value: `UTC ${n < 56 ? '-' : '+'}${clock}` }
  })
}
