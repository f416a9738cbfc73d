/** The position resource, one point of a history: its schema and its translation from the platform's point. */
import { type Static, Type } from 'typebox'
import type { Scalar } from '../platform/shape.js'
import type { WireHistory, WireHistoryGroup, WirePoint } from '../platform/wire.js'
import type { HistoryRequest } from '../platform/worker-messages.js'
import { displayTime } from './display-time.js'
import { field, Latitude, Longitude, Nullable, Part, WallClock } from './schema.js'
import { asIfUtc } from './time.js'
import { coordinates, id as idOf, number, quantity, text, toDegrees, toKmh, toMetres } from './units.js'
import { fromWallClock, repeatsAfter, wallClock, type Zone } from './zone.js'

export const Position = Part('Position', {
  time: WallClock('Time of the position'),
  timestamp: Nullable(
    Type.Integer({ description: "The same in Unix seconds; null if the account's UTC offset is unknown" }),
  ),
  lat: Latitude,
  lng: Longitude,
  speed: field.number('Speed in km/h', { minimum: 0 }),
  course: field.numberOrNull('Heading in degrees, 0 = north, 90 = east; null if unknown', { minimum: 0, maximum: 360 }),
  altitude: field.numberOrNull('Metres above sea level; null if unknown'),
  address: field.textOrNull('Approximate address; null if the platform has none'),
})
export type Position = Static<typeof Position>

/** The request, and what is known of the account. The points carry another device id. */
export interface HistoryContext extends Omit<HistoryRequest, 'format'> {
  zone?: Zone | undefined
  unitOfDistance?: Scalar
}

export type Reading = ReturnType<typeof readingOf>

/** How to read the values of one history. Its units are in its list of sensors and its totals, else those of the account. */
export function readingOf(wire: WireHistory, { from, to, zone, unitOfDistance }: HistoryContext) {
  const unitOf = (sensor: string) => text(wire.sensors.find(({ id }) => id === sensor)?.sufix)
  const distanceUnit = quantity(wire.distance_sum)?.unit
  const known = zone ?? { offsetMinutes: 0 }
  const instantOf = (time: string): number => fromWallClock(asIfUtc(time) * 1000, known) / 1000
  const speedUnit = unitOf('speed') || quantity(wire.top_speed)?.unit || distanceUnit || text(unitOfDistance)
  return {
    speedUnit,
    altitudeUnit: unitOf('altitude'),
    distanceUnit: distanceUnit || speedUnit,
    /** Unix seconds near which ambiguous dates are. */
    near: [from, to].map((day) => asIfUtc(`${day} 12:00:00`)).filter(Number.isFinite),
    /** Unix seconds of a time on the account's clock; as if in UTC where its zone is unknown. */
    instantOf,
    /** The same for a caller. */
    timestampOf: zone ? instantOf : () => null,
    /** The account's clock some seconds after an instant; it may have been changed in between. */
    later: (from: number, seconds: number) => wallClock((from + seconds) * 1000, known),
    /** Seconds after which the account's clock shows the same once more; 0 if it does not. */
    repeatsAfter: (instant: number) => repeatsAfter(instant * 1000, known) / 1000,
  }
}

function positionOf(point: WirePoint, { speedUnit, altitudeUnit, near, timestampOf }: Reading): Position | undefined {
  const place = coordinates(point.latitude, point.longitude) ?? coordinates(point.lat, point.lng)
  const time = place && (displayTime(point.raw_time) ?? displayTime(point.time, near))
  if (!place || time === undefined) return undefined
  const course = number(point.course)
  return {
    time,
    timestamp: timestampOf(time),
    lat: place.lat,
    lng: place.lng,
    speed: toKmh(point.speed, speedUnit) ?? 0,
    course: course === undefined ? null : toDegrees(course),
    altitude: toMetres(point.altitude, altitudeUnit) ?? null,
    address: text(point.address) ?? null,
  }
}

/** A time on the account's clock, and the same in Unix seconds. */
interface Moment {
  time: string
  timestamp: number
}

/** A group of the platform with its points that have a place and a time, each beside its id if it has one. */
export interface Leg {
  group: WireHistoryGroup
  start: Moment | undefined
  points: { id: number | undefined; position: Position }[]
}

/** The groups of a history, each with its points in time order. @param isEvent whether a group stands between those of the drives. */
export function legsOf(
  groups: readonly WireHistoryGroup[],
  isEvent: (group: WireHistoryGroup) => boolean,
  reading: Reading,
): Leg[] {
  const inOrder = orderedBy(reading)
  const startsInOrder = { event: orderedBy(reading), travel: orderedBy(reading) }
  return groups.map((group) => {
    const points: Leg['points'] = []
    const kind = isEvent(group) ? 'event' : 'travel'
    for (const point of group.items) {
      const position = positionOf(point, reading)
      if (position) points.push({ id: idOf(point.id), position: kind === 'event' ? position : inOrder(position) })
    }
    points.sort((a, b) => byTime(a.position, b.position))
    const shown = displayTime(group.raw_time) ?? displayTime(group.show, reading.near)
    const first = points[0]?.position
    const time = shown ?? first?.time
    // Its first point is in order of all points, also of those of a drive through the repeated hour.
    const known = first?.time === time ? first?.timestamp : undefined
    const start = time === undefined ? undefined : { time, timestamp: known ?? reading.instantOf(time) }
    return { group, start: start && startsInOrder[kind](start), points }
  })
}

/** Clocks are moved by this at most. */
const maxRepeatS = 3_600

/**
 * Corrects times in the order of the platform. The end of summer repeats an hour, and a time on the clock does not show which one
 * it is in: one that falls behind its predecessor is in the second.
 */
function orderedBy({ repeatsAfter }: Reading): <T extends Pick<Position, 'timestamp'>>(moment: T) => T {
  let last = Number.NEGATIVE_INFINITY
  return (moment) => {
    const { timestamp } = moment
    if (timestamp === null) return moment
    const behindS = last - timestamp
    const repeatS = behindS > 0 && behindS <= maxRepeatS ? repeatsAfter(timestamp) : 0
    last = behindS <= repeatS ? timestamp + repeatS : timestamp
    return last === timestamp ? moment : { ...moment, timestamp: last }
  }
}

function byTime(a: Position, b: Position): number {
  if (a.timestamp !== null && b.timestamp !== null) return a.timestamp - b.timestamp
  return a.time === b.time ? 0 : a.time < b.time ? -1 : 1
}

export const maxSpeed = (positions: readonly Position[]): number =>
  positions.reduce((max, { speed }) => Math.max(max, speed), 0)

const isRepeat = (a: Position, b: Position | undefined): boolean =>
  a.time === b?.time && a.timestamp === b.timestamp && a.lat === b.lat && a.lng === b.lng && a.speed === b.speed

/** The positions of several legs in time order, each once: platforms repeat a point by its id, or with a new one. */
export function positionsOf(legs: readonly Leg[]): Position[] {
  const ids = new Set<number>()
  const positions: Position[] = []
  for (const { points } of legs) {
    for (const { id, position } of points) {
      if (id !== undefined && ids.has(id)) continue
      if (id !== undefined) ids.add(id)
      positions.push(position)
    }
  }
  return positions.sort(byTime).filter((position, at, all) => !isRepeat(position, all[at - 1]))
}
