/** Wire shapes: the fields of platform records that the gateway reads, with the platform's names. */
import { type Read, read, type Scalar } from './shape.js'

const s = 'scalar' as const

/** Fields of one value each. */
const scalars = <Name extends string>(...names: Name[]): Readonly<Record<Name, 'scalar'>> =>
  Object.fromEntries(names.map((name) => [name, s])) as Record<Name, 'scalar'>

/** A row of `/services`, `/get_services` or `device_data.services`. */
export const wireService = {
  ...scalars('id', 'device_id', 'name', 'expiration_by', 'interval', 'last_service'),
  ...scalars('expires', 'expires_date', 'expired'),
} as const

export const wireDevice = {
  ...scalars('id', 'name', 'online', 'time', 'timestamp', 'acktimestamp', 'lat', 'lng', 'course', 'speed'),
  ...scalars('altitude', 'address', 'addr', 'protocol', 'driver', 'imei', 'plate_number'),
  driver_data: { id: s, name: s },
  sensors: [{ id: s, type: s, name: s, value: s, val: s, unit: s, formatted: s }],
  services: [{ id: s, name: s, value: s }],
  ...scalars('distance_unit_hour', 'unit_of_distance', 'unit_of_altitude', 'total_distance', 'engine_status'),
  ...scalars('moved_timestamp', 'stop_duration', 'stop_duration_sec', 'idle_duration'),
  device_data: {
    ...scalars('id', 'name', 'imei', 'plate_number', 'vin', 'sim_number', 'min_moving_speed', 'current_driver_id'),
    traccar: { lastValidLatitude: s, lastValidLongitude: s, protocol: s, time: s, moved_at: s },
    services: [wireService],
  },
} as const

/** The fields of a device that decide its id, status, driver and last update. */
export const wireDeviceState = {
  ...scalars('id', 'online', 'time', 'timestamp', 'acktimestamp', 'speed', 'distance_unit_hour', 'unit_of_distance'),
  driver_data: { id: s },
  device_data: { ...scalars('id', 'min_moving_speed', 'current_driver_id'), traccar: { time: s } },
} as const

export const wireGeofence = {
  ...scalars('id', 'name', 'active', 'type'),
  // Not `{ lat, lng }`: a corner that is no record would be left out, and the shape would be another one.
  coordinates: ['scalars'],
  center: { lat: s, lng: s },
  ...scalars('radius', 'polygon_color', 'color', 'created_at'),
} as const

export const wireEvent = {
  ...scalars('id', 'device_id', 'type', 'message', 'name', 'detail', 'device_name'),
  device: { id: s, name: s },
  alert_id: s,
  geofence: { id: s, name: s },
  ...scalars('geofence_id', 'geofence_name', 'speed', 'address'),
  ...scalars('latitude', 'longitude', 'lat', 'lng', 'time', 'created_at'),
} as const

export const wirePoint = {
  ...scalars('id', 'time', 'raw_time', 'latitude', 'longitude', 'lat', 'lng'),
  ...scalars('speed', 'altitude', 'course', 'address'),
} as const

/** A group of `/get_history`: 1 drive, 2 stop, 3 start, 4 end, 5 event. */
const wireHistoryGroup = {
  ...scalars('status', 'raw_time', 'show', 'left', 'time', 'time_seconds', 'distance', 'top_speed', 'average_speed'),
  driver: { name: s },
  message: s,
  items: [wirePoint],
} as const

/** The whole of `/get_history`; `items` are its groups. */
export const wireHistory = {
  items: [wireHistoryGroup],
  ...scalars('distance_sum', 'top_speed', 'move_duration', 'stop_duration', 'fuel_consumption'),
  sensors: [{ id: s, sufix: s }],
} as const

export const wireAlert = {
  ...scalars('id', 'name', 'active', 'type', 'state', 'overspeed_speed', 'for_all_user_devices'),
  devices: 'ids',
  // Ids, or the records of platform 2.x; not `{ zone: s }`, of which ids would be left out.
  geofences: ['scalars'],
} as const

export const wireDriver = {
  ...scalars('id', 'device_id', 'name', 'phone', 'rfid'),
  device: { id: s, name: s },
} as const

/** `/get_user_data`. */
export const wireUserData = { email: s } as const

/** `/edit_setup_data`; its body can hold password hashes, so nothing beyond these fields is ever kept. */
export const wireSetup = {
  item: { id: s, email: s, timezone_id: s, unit_of_distance: s, unit_of_altitude: s },
  timezones: [{ id: s, value: s }],
  user_dst: 'scalars',
  dst_countries: [{ id: s, value: s }],
} as const

/** What is kept for each account: texts up to this length, and this many of a list. Longer ones are left out, not cut: V8 would keep all of them. */
const [maxKeptLength, maxKeptFields, maxKeptRows, maxKeptWords] = [64, 20, 20, 100]
/** RFC 5321 4.5.3.1. */
export const maxEmailLength = 320
const isKept = (value: Scalar, maxLength = maxKeptLength): boolean =>
  typeof value !== 'string' || value.length <= maxLength

/** A record without the texts that are too long, and only the first of very many fields. */
const kept = <T extends Record<string, Scalar>>(record: T): T =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([name, value]) => isKept(name) && isKept(value, name === 'email' ? maxEmailLength : undefined))
      .slice(0, maxKeptFields),
  ) as T

/** The setup in a response. Of zones and countries it has the chosen ones: it is kept for each account, and whole lists took 28 kB. */
export function setupIn(body: unknown): WireSetup {
  const { item, user_dst, ...lists } = read(wireSetup, body)
  const setup = { ...lists, item: kept(item), user_dst: kept(user_dst) }
  const nameOf = (value: Scalar): string => String(value).trim()
  const chosen = new Set([setup.item.timezone_id, ...Object.values(setup.user_dst)].map(nameOf))
  const isChosen = ({ id }: { id: Scalar }): boolean => chosen.has(nameOf(id))
  return {
    ...setup,
    timezones: setup.timezones.filter(isChosen).slice(0, maxKeptRows).map(kept),
    dst_countries: setup.dst_countries.filter(isChosen).slice(0, maxKeptRows).map(kept),
  }
}

/** The words in a list of event types, which are kept for each account. */
export function eventTypesIn(body: unknown): string[] {
  const { types } = read({ types: [{ type: s }] } as const, body)
  const words = types.flatMap(({ type }) => (typeof type === 'string' && isKept(type) ? type.trim() : []))
  return words.slice(0, maxKeptWords)
}

export type WireService = Read<typeof wireService>
/** A device row; `group` is the title of the group it came in. */
export type WireDevice = Read<typeof wireDevice> & { group?: string | undefined }
export type WireDeviceState = Read<typeof wireDeviceState>
export type WireGeofence = Read<typeof wireGeofence>
export type WireEvent = Read<typeof wireEvent>
export type WirePoint = Read<typeof wirePoint>
export type WireHistoryGroup = Read<typeof wireHistoryGroup>
export type WireHistory = Read<typeof wireHistory>
export type WireAlert = Read<typeof wireAlert>
export type WireDriver = Read<typeof wireDriver>
export type WireSetup = Read<typeof wireSetup>
