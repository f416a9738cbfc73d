/** Wire shapes: the fields of platform records that the gateway reads, with the platform's names. */
import type { Read } from './shape.js'

const s = 'scalar' as const

/** A row of `/services`, `/get_services` or `device_data.services`. */
export const wireService = {
  id: s,
  device_id: s,
  name: s,
  expiration_by: s,
  interval: s,
  last_service: s,
  expires: s,
  expires_date: s,
  expired: s,
} as const

export const wireDevice = {
  id: s,
  name: s,
  online: s,
  time: s,
  timestamp: s,
  acktimestamp: s,
  lat: s,
  lng: s,
  course: s,
  speed: s,
  altitude: s,
  address: s,
  protocol: s,
  driver: s,
  driver_data: { id: s, name: s },
  sensors: [{ id: s, type: s, name: s, value: s, val: s, unit: s, formatted: s }],
  services: [{ id: s, name: s, value: s }],
  distance_unit_hour: s,
  unit_of_distance: s,
  unit_of_altitude: s,
  total_distance: s,
  engine_status: s,
  moved_timestamp: s,
  stop_duration: s,
  stop_duration_sec: s,
  idle_duration: s,
  device_data: {
    id: s,
    name: s,
    imei: s,
    plate_number: s,
    vin: s,
    sim_number: s,
    min_moving_speed: s,
    current_driver_id: s,
    traccar: { lastValidLatitude: s, lastValidLongitude: s, protocol: s, time: s, moved_at: s },
    services: [wireService],
  },
} as const

/** A group of `/get_devices`; its title travels on each of its devices as `group`. */
export const wireGroup = { title: s, items: [wireDevice] } as const

export const wireGeofence = {
  id: s,
  name: s,
  active: s,
  type: s,
  coordinates: [{ lat: s, lng: s }],
  center: { lat: s, lng: s },
  radius: s,
  polygon_color: s,
  color: s,
  created_at: s,
} as const

export const wireEvent = {
  id: s,
  device_id: s,
  type: s,
  message: s,
  name: s,
  detail: s,
  device_name: s,
  device: { id: s, name: s },
  alert_id: s,
  geofence: { id: s, name: s },
  geofence_id: s,
  geofence_name: s,
  speed: s,
  address: s,
  latitude: s,
  longitude: s,
  lat: s,
  lng: s,
  time: s,
  created_at: s,
} as const

export const wirePoint = {
  id: s,
  time: s,
  raw_time: s,
  latitude: s,
  longitude: s,
  lat: s,
  lng: s,
  speed: s,
  altitude: s,
  course: s,
  address: s,
} as const

/** A group of `/get_history`: 1 drive, 2 stop, 3 start, 4 end, 5 event. */
export const wireHistoryGroup = {
  status: s,
  raw_time: s,
  show: s,
  left: s,
  time: s,
  time_seconds: s,
  distance: s,
  top_speed: s,
  average_speed: s,
  driver: { name: s },
  message: s,
  items: [wirePoint],
} as const

/** The whole of `/get_history`; `items` are its groups. */
export const wireHistory = {
  items: [wireHistoryGroup],
  distance_sum: s,
  top_speed: s,
  move_duration: s,
  stop_duration: s,
  fuel_consumption: s,
  sensors: [{ id: s, sufix: s }],
} as const

export const wireAlert = {
  id: s,
  name: s,
  active: s,
  type: s,
  state: s,
  overspeed_speed: s,
  for_all_user_devices: s,
  devices: 'ids',
} as const

export const wireDriver = {
  id: s,
  device_id: s,
  name: s,
  phone: s,
  rfid: s,
  device: { id: s, name: s },
} as const

/** `/get_user_data`. */
export const wireUserData = { email: s, status: s, active: s } as const

/** `/edit_setup_data`; its body can hold password hashes, so nothing beyond these fields is ever kept. */
export const wireSetup = {
  item: { id: s, active: s, email: s, timezone_id: s, unit_of_distance: s },
  timezones: [{ id: s, value: s }],
  user_dst: 'scalars',
  dst_countries: [{ id: s, value: s }],
} as const

export type WireService = Read<typeof wireService>
/** A device row; `group` is the title of the group it came in. */
export type WireDevice = Read<typeof wireDevice> & { group?: string | undefined }
export type WireGeofence = Read<typeof wireGeofence>
export type WireEvent = Read<typeof wireEvent>
export type WirePoint = Read<typeof wirePoint>
export type WireHistoryGroup = Read<typeof wireHistoryGroup>
export type WireHistory = Read<typeof wireHistory>
export type WireAlert = Read<typeof wireAlert>
export type WireDriver = Read<typeof wireDriver>
export type WireSetup = Read<typeof wireSetup>
