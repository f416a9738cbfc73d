/** A device as we document it, and how it comes from the platform's row; must not know who asks. */
import { type Static, Type } from 'typebox'
import type { Scalar } from '../platform/shape.js'
import type { WireDevice } from '../platform/wire.js'
import { Paging } from './list.js'
import { Id, Latitude, Longitude, Nullable, WallClock, Word } from './schema.js'
import { asIfUtc, displayTime, unixSeconds } from './time.js'
import { coordinates, id, number, text, toKmh, toMetres } from './units.js'
import { wallClock, type Zone } from './zone.js'

export const DeviceStatus = Word(['online', 'offline', 'moving'], {
  description: '`moving` is connected and driving, `online` connected, `offline` not connected or never seen',
})
export type DeviceStatus = Static<typeof DeviceStatus>

const Sensor = Type.Object(
  {
    type: Type.String({ description: "The platform's word, lower-cased; `other` where it names none" }),
    name: Type.String({ description: 'Name given to the sensor' }),
    value: Nullable(Type.String({ description: 'Value with its unit; null where the sensor has none' })),
  },
  { additionalProperties: false, title: 'Sensor' },
)
type Sensor = Static<typeof Sensor>

export const Device = Type.Object(
  {
    id: Id('Unique device identifier'),
    name: Type.String({ description: 'Name given to the vehicle' }),
    status: DeviceStatus,
    protocol: Nullable(Type.String({ description: 'Tracker protocol, in lower case; null where unknown' })),
    lat: Nullable(Type.Number({ ...Latitude, description: 'Latitude in decimal degrees; null without a position' })),
    lng: Nullable(Type.Number({ ...Longitude, description: 'Longitude in decimal degrees; null without a position' })),
    speed: Type.Number({ minimum: 0, description: 'Speed in km/h' }),
    course: Type.Number({ minimum: 0, maximum: 360, description: 'Degrees; 0 is north, 90 is east' }),
    altitude: Type.Number({ description: 'Metres above sea level' }),
    last_seen: Nullable(WallClock('When data last came in; null if never or unknown')),
    timestamp: Type.Integer({ minimum: 0, description: 'Unix seconds of the last data; 0 if there is none' }),
    driver: Nullable(Type.String({ description: 'Name of the assigned driver; null without one' })),
    address: Nullable(Type.String({ description: 'Approximate address; null where the platform has none' })),
    sensors: Type.Array(Sensor, { description: 'Additional sensors' }),
    group: Type.String({ description: 'Name of the device group' }),
  },
  {
    additionalProperties: false,
    title: 'Device',
    description: 'A vehicle with its last known state',
    examples: [
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
    ],
  },
)
export type Device = Static<typeof Device>

export const DevicesQuery = Type.Object({
  status: Type.Optional(DeviceStatus),
  ...Paging({ default: 50, max: 500 }),
})
export type DevicesQuery = Static<typeof DevicesQuery>

/** What of a row tells a device's id, status and whether its time needs the zone; a long list is sorted out by that alone. */
export type DeviceState = Pick<
  WireDevice,
  'id' | 'online' | 'time' | 'timestamp' | 'acktimestamp' | 'speed' | 'distance_unit_hour'
> & { device_data: Pick<WireDevice['device_data'], 'id' | 'min_moving_speed'> }

/** A device whose state word we do not know is online when it was heard of within this many seconds. */
const FRESH_S = 300
const DEFAULT_MOVING_KMH = 6
const CONNECTED = new Set(['online', 'ack', 'engine', 'moving'])

/** "Not connected" or "Expired", in any language: a word in place of a time. */
const isWord = (time: string | undefined): boolean => time !== undefined && !/\d/.test(time)

/** Unix seconds of the last fix, else of the last sign of life, else what the tracker server noted in UTC; 0 if never. */
function timestampOf(wire: WireDevice): number {
  const fix = unixSeconds(number(wire.timestamp))
  const sign = fix > 0 ? fix : unixSeconds(number(wire.acktimestamp))
  if (sign > 0) return sign
  const noted = displayTime(wire.device_data.traccar.time)
  return noted === undefined ? 0 : unixSeconds(asIfUtc(noted))
}

const heardOf = (wire: DeviceState): number =>
  Math.max(unixSeconds(number(wire.timestamp)), unixSeconds(number(wire.acktimestamp)))

function positionOf(wire: WireDevice): { lat: number; lng: number } | undefined {
  if (isWord(text(wire.time)) && heardOf(wire) === 0) return undefined
  const { lastValidLatitude, lastValidLongitude } = wire.device_data.traccar
  return coordinates(wire.lat, wire.lng) ?? coordinates(lastValidLatitude, lastValidLongitude)
}

const speedOf = (wire: DeviceState): number => Math.max(0, toKmh(number(wire.speed) ?? 0, wire.distance_unit_hour))

/** The status that `toDevice` finds. @param now Unix milliseconds. */
export function statusOf(wire: DeviceState, now: number): DeviceStatus {
  const word = text(wire.online)?.toLowerCase() ?? ''
  if (word === 'offline' || isWord(text(wire.time))) return 'offline'
  if (!CONNECTED.has(word)) return heardOf(wire) * 1000 >= now - FRESH_S * 1000 ? 'online' : 'offline'
  const set = number(wire.device_data.min_moving_speed) ?? 0
  const threshold = set > 0 ? set : DEFAULT_MOVING_KMH
  const speedKmh = speedOf(wire)
  const moves = word === 'moving' || speedKmh >= threshold || (word === 'online' && speedKmh > 0)
  return moves ? 'moving' : 'online'
}

/** The platform's display time; where it is none but the instant is known, that instant on the account's clock. */
function lastSeen(wire: DeviceState, zone: Zone | undefined): string | null {
  const fix = unixSeconds(number(wire.timestamp))
  const sign = unixSeconds(number(wire.acktimestamp))
  const shown = displayTime(wire.time, fix > 0 ? (sign > 0 ? [fix, sign] : [fix]) : sign > 0 ? [sign] : [])
  if (shown !== undefined) return shown
  const heard = Math.max(fix, sign)
  return heard > 0 && zone ? (wallClock(heard * 1000, zone) ?? null) : null
}

/** Whether only the account's zone can tell this device's `last_seen`: the instant is known, its display text is not. */
export const needsZone = (wire: DeviceState): boolean => heardOf(wire) > 0 && lastSeen(wire, undefined) === null

function courseOf(value: number): number {
  const turned = ((value % 360) + 360) % 360
  return turned + 0
}

/** `- nn` is a dash with its unit: no value. */
const shown = (value: string | undefined): string | undefined => (/^-+(\s|$)/.test(value ?? '') ? undefined : value)

function sensorValue(value: WireDevice['sensors'][number]['value'], unit: string | undefined): string | undefined {
  if (typeof value === 'boolean') return value ? 'On' : 'Off'
  const written = shown(text(value))
  return typeof value === 'number' && unit !== undefined ? `${written} ${unit}` : written
}

function sensorOf(wire: WireDevice['sensors'][number]): Sensor | undefined {
  const type = text(wire.type)?.toLowerCase()
  const name = text(wire.name)
  const unit = text(wire.unit)
  const value = shown(text(wire.formatted)) ?? sensorValue(wire.value, unit) ?? sensorValue(wire.val, unit)
  if (type === undefined && name === undefined && value === undefined) return undefined
  return { type: type ?? 'other', name: name ?? type ?? 'other', value: value ?? null }
}

/** The device's id, or undefined for a row that cannot be a device. */
export const deviceId = (wire: DeviceState): number | undefined => id(wire.id) ?? id(wire.device_data.id)

/** The device's name; `Device <id>` where the platform has none. */
export const deviceName = (wire: WireDevice): string =>
  text(wire.name) ?? text(wire.device_data.name) ?? `Device ${deviceId(wire) ?? ''}`.trim()

/** The name of a device's group by the group's title. */
const groupName = (title: Scalar): string => text(title) ?? 'Ungrouped'

/** Whether the platform's word for a device's state is one we know; where it sends none there is nothing to know. */
export const isKnownState = (wire: DeviceState): boolean => {
  const word = text(wire.online)?.toLowerCase()
  return word === undefined || word === 'offline' || CONNECTED.has(word)
}

/**
 * The device of a row, or undefined without a usable id (platform.md 11.1).
 * @param now Unix milliseconds, to tell whether a device of unknown state was heard of lately.
 * @param zone the account's zone, where known; see `needsZone`.
 */
export function toDevice(wire: WireDevice, now: number, zone?: Zone): Device | undefined {
  const own = deviceId(wire)
  if (own === undefined) return undefined
  const position = positionOf(wire)
  return {
    id: own,
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
    group: groupName(wire.group),
  }
}
