/** The device resource: its schema and its translation from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireDevice, WireDeviceState } from '../platform/wire.js'
import { driverIdOf, engineHours, ignitionOf, movedAt, odometerKm, seconds, serverTime } from './device-state.js'
import { displayTime, isDayFirst, isDisplayTime } from './display-time.js'
import { CollectionOf, Feature, Format, Point, toFeature } from './geojson.js'
import { Ids, Paging } from './list.js'
import { field, Integer, LatLngOrNull, Nullable, Resource, WallClock, Word } from './schema.js'
import { Sensor, toSensor } from './sensor.js'
import { unixSeconds } from './time.js'
import { coordinates, id, number, text, toDegrees, toKmh, toMetres, word } from './units.js'
import { wallClock, type Zone } from './zone.js'

export const DeviceStatus = Word(['online', 'offline', 'moving'], {
  description: '`moving` is connected and driving, `online` is connected, `offline` is not connected or never seen',
  example: 'moving',
})
export type DeviceStatus = Static<typeof DeviceStatus>

export const Device = Resource('Device', 'A vehicle with its last known state', {
  id: field.id('Unique device identifier', 318),
  name: field.text('Name given to the vehicle', 'Van 4'),
  imei: field.textOrNull('IMEI of the tracker; null if unknown', '990000862471854'),
  plate_number: field.textOrNull('Number plate; null if unknown', 'W 4711 F'),
  vin: field.textOrNull('Vehicle identification number; null if unknown', 'WDB9066571S123456'),
  sim_number: field.textOrNull('Number of the SIM card; null if unknown', '+4366055501420'),
  status: DeviceStatus,
  protocol: field.textOrNull('Tracker protocol in lower case; null if unknown', 'teltonika'),
  ...LatLngOrNull(48.208174, 16.373819),
  speed: field.number('Speed in km/h', 43, { minimum: 0 }),
  course: field.number('Degrees; 0 is north, 90 is east. 0 too if the platform sends none', 271, {
    minimum: 0,
    maximum: 360,
  }),
  altitude: field.number('Metres above sea level; 0 if the platform sends none', 171),
  last_seen: Nullable(
    WallClock(
      'When data was last received, as the platform shows it (the last fix or a later sign of life; null if never or unknown)',
      '2026-05-11 14:03:27',
    ),
  ),
  timestamp: field.count(
    'Unix seconds of the last fix; without one, of the last sign of life; 0 if unknown. `last_seen` may be later',
    1778501007,
  ),
  ignition: field.flagOrNull('Whether the ignition is on; null if the platform does not say', true),
  odometer_km: field.numberOrNull("Odometer in km, else the platform's own total distance; null if unknown", 81450.2),
  engine_hours: field.numberOrNull(
    'Engine hours of a sensor that states hours, minutes or seconds; null if unknown',
    2410.5,
  ),
  moved_at: field.countOrNull('Unix seconds of the last movement; null if unknown', 1778501007),
  stopped_seconds: field.countOrNull('How long the vehicle has stood still, in seconds; null if unknown', 0),
  idle_seconds: field.countOrNull('How long the engine has idled, in seconds; null if unknown', 0),
  driver: field.textOrNull('Name of the assigned driver; null if none', 'Jo Brandt'),
  driver_id: field.idOrNull('Id of the assigned driver; null if none', 12),
  address: field.textOrNull('Approximate address; null if the platform has none'),
  sensors: Type.Array(Sensor, { description: 'Additional sensors' }),
  group: field.text('Name of the device group', 'Vans'),
})
export type Device = Static<typeof Device>

/** Ids in one request. */
export const maxIds = 500

export const DeviceCollection = CollectionOf(Feature(Point, Device), 'DeviceCollection')

export const DevicesQuery = Type.Object({
  status: Type.Optional(DeviceStatus),
  ids: Type.Optional(Ids(maxIds, 'Only these devices, for which `limit` defaults to 500')),
  updated_since: Type.Optional(
    Integer({
      minimum: 0,
      description:
        'Only devices with a fix or a sign of life at or after this time, in Unix seconds. A device that goes offline because it is silent is not among them. To poll, send the `Date` of the previous response, of its first page if it had several, minus its `Age` and some seconds for delays on the way; some devices are then sent twice',
      examples: [1778500800],
    }),
  ),
  format: Format(DeviceCollection),
  ...Paging({ omitted: '50, or 500 with `ids`,', max: 500 }),
})

/** A device in an unknown state counts as online if its last data is at most this old. */
const freshS = 300
const defaultMovingKmh = 6
const connectedStates = new Set(['online', 'ack', 'engine', 'moving'])
const disconnected = new Set(['offline', 'expired'])
const knownStates = new Set([undefined, ...connectedStates, ...disconnected])

const stateOf = (wire: WireDeviceState): string | undefined => word(wire.online)

/** Of any script. As a literal within a function, it would be compiled for each device. */
const digit = /\p{Nd}/u

/** "Not connected" or "Expired", in any language, in place of a time. */
const isWord = (time: string | undefined): boolean => time !== undefined && !digit.test(time)

const fixOf = (wire: WireDeviceState): number => unixSeconds(number(wire.timestamp))
const heartbeatOf = (wire: WireDeviceState): number => unixSeconds(number(wire.acktimestamp))

/** Unix seconds of the last fix or heartbeat, whichever is later; 0 if never. */
const lastContact = (wire: WireDeviceState): number => Math.max(fixOf(wire), heartbeatOf(wire))

/** Unix seconds of the last fix, else of the last heartbeat, else the tracker server's UTC time; 0 if never. */
const timestampOf = (wire: WireDeviceState): number =>
  fixOf(wire) || heartbeatOf(wire) || serverTime(wire.device_data.traccar.time)

/** Unix seconds of the last fix or sign of life, whichever is later; 0 if never. */
export const updatedAt = (wire: WireDeviceState): number => Math.max(timestampOf(wire), heartbeatOf(wire))

function positionOf(wire: WireDevice): { lat: number; lng: number } | undefined {
  if (isWord(text(wire.time)) && lastContact(wire) === 0) return undefined
  const { lastValidLatitude, lastValidLongitude } = wire.device_data.traccar
  return coordinates(wire.lat, wire.lng) ?? coordinates(lastValidLatitude, lastValidLongitude)
}

/** Speed in km/h. Without a unit of its own it is in that of distances. */
const speedOf = (wire: WireDeviceState): number =>
  toKmh(wire.speed, text(wire.distance_unit_hour) ?? wire.unit_of_distance) ?? 0

/** The status that `toDevice` sets (platform.md 3.3). @param now Unix milliseconds. */
export function statusOf(wire: WireDeviceState, now: number): DeviceStatus {
  const state = stateOf(wire) ?? ''
  if (disconnected.has(state) || isWord(text(wire.time))) return 'offline'
  if (!connectedStates.has(state)) {
    if (now / 1000 - lastContact(wire) > freshS) return 'offline'
    // An unknown word may mean that the speed is not valid.
    if (state !== '') return 'online'
  }
  const minSpeed = number(wire.device_data.min_moving_speed) ?? 0
  const speedKmh = speedOf(wire)
  const isMoving =
    state === 'moving' ||
    speedKmh >= (minSpeed > 0 ? minSpeed : defaultMovingKmh) ||
    (state === 'online' && speedKmh > 0)
  return isMoving ? 'moving' : 'online'
}

/** Unix seconds: the display time shows either of them. */
const nearOf = (wire: WireDeviceState): number[] => [fixOf(wire), heartbeatOf(wire)].filter((second) => second > 0)

/** Whether the account's dates have the day before the month; undefined if the device does not show it. */
export const writesDayFirst = (wire: WireDeviceState): boolean | undefined =>
  lastContact(wire) > 0 ? isDayFirst(wire.time, displayTime(wire.time, nearOf(wire))) : undefined

/** The platform's display time, else the time of the last data on the account's clock (platform.md 3.5). */
function lastSeen(wire: WireDeviceState, zone: Zone | undefined): string | null {
  const last = lastContact(wire)
  const shown = displayTime(wire.time, nearOf(wire))
  return shown ?? (zone && last > 0 ? wallClock(last * 1000, zone) : undefined) ?? null
}

/** Whether `last_seen` needs the account's zone: the instant is known, its display text is not. */
export const needsZone = (wire: WireDeviceState): boolean => lastContact(wire) > 0 && !isDisplayTime(wire.time)

/** The device's id; undefined for a row that is not a device. */
export const deviceId = (wire: WireDeviceState): number | undefined => id(wire.id) ?? id(wire.device_data.id)

/** The device's name; `Device <id>` if the platform has none. */
export const deviceName = (wire: WireDevice): string =>
  text(wire.name) ?? text(wire.device_data.name) ?? `Device ${deviceId(wire) ?? ''}`.trim()

/** Whether the platform's state of a device is one of the known words, or absent. */
export const isKnownState = (wire: WireDeviceState): boolean => knownStates.has(stateOf(wire))

/**
 * The device of a platform row (spec.md, Device; platform.md 11.1); undefined without a valid id.
 * @param now Unix milliseconds, for the status of a device in an unknown state.
 * @param zone the account's zone if known, for rows that `needsZone`.
 */
export function toDevice(wire: WireDevice, now: number, zone?: Zone): Device | undefined {
  const id = deviceId(wire)
  if (id === undefined) return undefined
  const position = positionOf(wire)
  const { imei, plate_number, vin, sim_number } = wire.device_data
  return {
    id,
    name: deviceName(wire),
    imei: text(imei) ?? text(wire.imei) ?? null,
    plate_number: text(plate_number) ?? text(wire.plate_number) ?? null,
    vin: text(vin) ?? null,
    sim_number: text(sim_number) ?? null,
    status: statusOf(wire, now),
    protocol: word(wire.protocol) ?? word(wire.device_data.traccar.protocol) ?? null,
    lat: position?.lat ?? null,
    lng: position?.lng ?? null,
    speed: speedOf(wire),
    course: toDegrees(number(wire.course) ?? 0),
    altitude: toMetres(wire.altitude, wire.unit_of_altitude) ?? 0,
    last_seen: lastSeen(wire, zone),
    timestamp: timestampOf(wire),
    ignition: ignitionOf(wire),
    odometer_km: odometerKm(wire) ?? null,
    engine_hours: engineHours(wire) ?? null,
    moved_at: movedAt(wire),
    stopped_seconds: seconds(wire.stop_duration_sec, wire.stop_duration),
    idle_seconds: seconds(wire.idle_duration),
    driver: text(wire.driver) ?? text(wire.driver_data.name) ?? null,
    driver_id: driverIdOf(wire) ?? null,
    address: text(wire.address) ?? text(wire.addr) ?? null,
    sensors: wire.sensors.map(toSensor).filter((sensor) => sensor !== undefined),
    group: text(wire.group) ?? 'Ungrouped',
  }
}

/** The GeoJSON feature of a device; undefined without a position. */
export function toDeviceFeature(device: Device) {
  const { id, lat, lng } = device
  return lat === null || lng === null ? undefined : toFeature(id, { type: 'Point', coordinates: [lng, lat] }, device)
}
