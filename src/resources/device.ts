/** The device resource: its schema and its translation from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireDevice } from '../platform/wire.js'
import { displayTime } from './display-time.js'
import { Paging } from './list.js'
import { Id, Nullable, OptionalPosition, Resource, WallClock, Word } from './schema.js'
import { asIfUtc, unixSeconds } from './time.js'
import { coordinates, id, number, text, toKmh, toMetres } from './units.js'
import { wallClock, type Zone } from './zone.js'

export const DeviceStatus = Word(['online', 'offline', 'moving'], {
  description: '`moving` is connected and driving, `online` is connected, `offline` is not connected or never seen',
})
export type DeviceStatus = Static<typeof DeviceStatus>

const Sensor = Type.Object(
  {
    type: Type.String({ description: "The platform's word in lower case; `other` if it sends none" }),
    name: Type.String({ description: 'Name given to the sensor' }),
    value: Nullable(Type.String({ description: 'Value with its unit; null if the sensor has none' })),
  },
  { additionalProperties: false, title: 'Sensor' },
)
type Sensor = Static<typeof Sensor>

export const Device = Resource(
  'Device',
  'A vehicle with its last known state',
  {
    id: Id('Unique device identifier'),
    name: Type.String({ description: 'Name given to the vehicle' }),
    status: DeviceStatus,
    protocol: Nullable(Type.String({ description: 'Tracker protocol in lower case; null if unknown' })),
    ...OptionalPosition,
    speed: Type.Number({ minimum: 0, description: 'Speed in km/h' }),
    course: Type.Number({ minimum: 0, maximum: 360, description: 'Degrees; 0 is north, 90 is east' }),
    altitude: Type.Number({ description: 'Metres above sea level' }),
    last_seen: Nullable(WallClock('When data was last received; null if never or unknown')),
    timestamp: Type.Integer({ minimum: 0, description: 'Unix seconds of the last data; 0 if never' }),
    driver: Nullable(Type.String({ description: 'Name of the assigned driver; null if none' })),
    address: Nullable(Type.String({ description: 'Approximate address; null if the platform has none' })),
    sensors: Type.Array(Sensor, { description: 'Additional sensors' }),
    group: Type.String({ description: 'Name of the device group' }),
  },
  {
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
    driver: 'Jo Brandt',
    address: null,
    sensors: [{ type: 'battery', name: 'Battery', value: '12.6 V' }],
    group: 'Vans',
  },
)
export type Device = Static<typeof Device>

export const DevicesQuery = Type.Object({
  status: Type.Optional(DeviceStatus),
  ...Paging({ default: 50, max: 500 }),
})
export type DevicesQuery = Static<typeof DevicesQuery>

/** The fields of a row that decide a device's id and status and whether `last_seen` needs the zone. */
export type DeviceState = Pick<
  WireDevice,
  'id' | 'online' | 'time' | 'timestamp' | 'acktimestamp' | 'speed' | 'distance_unit_hour'
> & { device_data: Pick<WireDevice['device_data'], 'id' | 'min_moving_speed'> }

/** A device in an unknown state counts as online if its last data is at most this old. */
const FRESH_S = 300
const DEFAULT_MOVING_KMH = 6
const CONNECTED = new Set(['online', 'ack', 'engine', 'moving'])

const stateOf = (wire: DeviceState): string | undefined => text(wire.online)?.toLowerCase()

/** "Not connected" or "Expired", in any language, in place of a time. */
const isWord = (time: string | undefined): boolean => time !== undefined && !/\d/.test(time)

const fixOf = (wire: DeviceState): number => unixSeconds(number(wire.timestamp))
const heartbeatOf = (wire: DeviceState): number => unixSeconds(number(wire.acktimestamp))

/** Unix seconds of the last fix or heartbeat, whichever is later; 0 if never. */
const lastContact = (wire: DeviceState): number => Math.max(fixOf(wire), heartbeatOf(wire))

/** Unix seconds of the last fix, else of the last heartbeat, else the tracker server's UTC time; 0 if never. */
function timestampOf(wire: WireDevice): number {
  const own = fixOf(wire) || heartbeatOf(wire)
  const server = own > 0 ? undefined : displayTime(wire.device_data.traccar.time)
  return server === undefined ? own : unixSeconds(asIfUtc(server))
}

function positionOf(wire: WireDevice): { lat: number; lng: number } | undefined {
  if (isWord(text(wire.time)) && lastContact(wire) === 0) return undefined
  const { lastValidLatitude, lastValidLongitude } = wire.device_data.traccar
  return coordinates(wire.lat, wire.lng) ?? coordinates(lastValidLatitude, lastValidLongitude)
}

/** Speed in km/h. */
const speedOf = (wire: DeviceState): number => Math.max(0, toKmh(number(wire.speed) ?? 0, wire.distance_unit_hour))

/** The status that `toDevice` sets (platform.md 3.3). @param now Unix milliseconds. */
export function statusOf(wire: DeviceState, now: number): DeviceStatus {
  const state = stateOf(wire) ?? ''
  if (state === 'offline' || isWord(text(wire.time))) return 'offline'
  if (!CONNECTED.has(state)) return now / 1000 - lastContact(wire) <= FRESH_S ? 'online' : 'offline'
  const minSpeed = number(wire.device_data.min_moving_speed) ?? 0
  const speedKmh = speedOf(wire)
  const isMoving =
    state === 'moving' ||
    speedKmh >= (minSpeed > 0 ? minSpeed : DEFAULT_MOVING_KMH) ||
    (state === 'online' && speedKmh > 0)
  return isMoving ? 'moving' : 'online'
}

/** The platform's display time, else the time of the last data on the account's clock (platform.md 3.5). */
function lastSeen(wire: DeviceState, zone: Zone | undefined): string | null {
  const [fix, heartbeat] = [fixOf(wire), heartbeatOf(wire)]
  // The display time shows either of the two.
  const near = fix + heartbeat > 0 ? [fix || heartbeat, heartbeat || fix] : []
  const shown = displayTime(wire.time, near)
  if (shown !== undefined) return shown
  return near.length > 0 && zone ? (wallClock(Math.max(...near) * 1000, zone) ?? null) : null
}

/** Whether `last_seen` needs the account's zone: the instant is known, its display text is not. */
export const needsZone = (wire: DeviceState): boolean => lastContact(wire) > 0 && lastSeen(wire, undefined) === null

/** Degrees from 0 up to 360. */
const courseOf = (value: number): number => (((value % 360) + 360) % 360) + 0

/** A text without a value, such as `- nn`, is a dash with a unit. */
const withValue = (value: string | undefined): string | undefined => (/^-+(\s|$)/.test(value ?? '') ? undefined : value)

type WireSensor = WireDevice['sensors'][number]

function sensorValue(value: WireSensor['value'], unit: string | undefined): string | undefined {
  if (typeof value === 'boolean') return value ? 'On' : 'Off'
  const written = withValue(text(value))
  return typeof value === 'number' && unit !== undefined ? `${written} ${unit}` : written
}

/** The sensor of a row (platform.md 3.6); undefined for an empty row. */
function sensorOf(wire: WireSensor): Sensor | undefined {
  const type = text(wire.type)?.toLowerCase()
  const name = text(wire.name)
  const unit = text(wire.unit)
  const value = withValue(text(wire.formatted)) ?? sensorValue(wire.value, unit) ?? sensorValue(wire.val, unit)
  if (type === undefined && name === undefined && value === undefined) return undefined
  return { type: type ?? 'other', name: name ?? type ?? 'other', value: value ?? null }
}

/** The device's id; undefined for a row that is not a device. */
export const deviceId = (wire: DeviceState): number | undefined => id(wire.id) ?? id(wire.device_data.id)

/** The device's name; `Device <id>` if the platform has none. */
export const deviceName = (wire: WireDevice): string =>
  text(wire.name) ?? text(wire.device_data.name) ?? `Device ${deviceId(wire) ?? ''}`.trim()

/** Whether the platform's state of a device is one of the known words, or absent. */
export const isKnownState = (wire: DeviceState): boolean => {
  const state = stateOf(wire)
  return state === undefined || state === 'offline' || CONNECTED.has(state)
}

/**
 * The device of a platform row (spec.md, Device; platform.md 11.1); undefined without a valid id.
 * @param now Unix milliseconds, for the status of a device in an unknown state.
 * @param zone the account's zone if known, for rows that `needsZone`.
 */
export function toDevice(wire: WireDevice, now: number, zone?: Zone): Device | undefined {
  const id = deviceId(wire)
  if (id === undefined) return undefined
  const position = positionOf(wire)
  return {
    id,
    name: deviceName(wire),
    status: statusOf(wire, now),
    protocol: (text(wire.protocol) ?? text(wire.device_data.traccar.protocol))?.toLowerCase() ?? null,
    lat: position?.lat ?? null,
    lng: position?.lng ?? null,
    speed: speedOf(wire),
    course: courseOf(number(wire.course) ?? 0),
    altitude: toMetres(number(wire.altitude) ?? 0, wire.unit_of_altitude),
    last_seen: lastSeen(wire, zone),
    timestamp: timestampOf(wire),
    driver: text(wire.driver) ?? text(wire.driver_data.name) ?? null,
    address: text(wire.address) ?? null,
    sensors: wire.sensors.map(sensorOf).filter((sensor) => sensor !== undefined),
    group: text(wire.group) ?? 'Ungrouped',
  }
}
