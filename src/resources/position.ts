/** The position resource, one point of a history: its schema and its translation from the platform's point. */
import type { Static } from 'typebox'
import type { Steps } from '../lib/in-turns.js'
import type { WireHistory, WireHistoryGroup, WirePoint, WireSetup } from '../platform/wire.js'
import type { HistoryRequest } from '../platform/worker-messages.js'
import { displayTime } from './display-time.js'
import { field, Integer, Latitude, Longitude, Nullable, Part, WallClock } from './schema.js'
import { asIfUtc } from './time.js'
import { coordinates, id as idOf, number, quantity, text, toDegrees, toKmh, toMetres } from './units.js'
import { fromWallClock, repeatsAfter, type Zone } from './zone.js'

export const Position = Part('Position', {
  time: WallClock('Time of the position'),
  timestamp: Nullable(
    Integer({ description: "The same in Unix seconds; null if the account's UTC offset is unknown" }),
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
  units?: Partial<WireSetup['item']> | undefined
}

export type Reading = ReturnType<typeof readingOf>

/** How to read the values of one history. Its units are in its list of sensors and its totals, else those of the account. */
export function readingOf(wire: WireHistory, { from, to, zone, units }: HistoryContext) {
  const unitOf = (sensor: string) => text(wire.sensors.find(({ id }) => id === sensor)?.sufix)
  const distanceUnit = quantity(wire.distance_sum)?.unit
  const speedUnit = unitOf('speed') || quantity(wire.top_speed)?.unit || distanceUnit || text(units?.unit_of_distance)
  return {
    speedUnit,
    altitudeUnit: unitOf('altitude') || text(units?.unit_of_altitude),
    distanceUnit: distanceUnit || speedUnit,
    /** Unix seconds near which ambiguous dates are. */
    near: [from, to].map((day) => asIfUtc(`${day} 12:00:00`)).filter(Number.isFinite),
    /** That of the account; UTC if it is unknown. */
    zone: zone ?? { offsetMinutes: 0 },
  }
}

/** Unix seconds of a time on the account's clock. */
export const instantOf = (time: string, { zone }: Reading): number => fromWallClock(asIfUtc(time) * 1000, zone) / 1000

/** A time on the account's clock, and the same in Unix seconds. */
interface Moment {
  time: string
  timestamp: number
}

function positionOf(point: WirePoint, reading: Reading): (Position & Moment) | undefined {
  const place = coordinates(point.latitude, point.longitude) ?? coordinates(point.lat, point.lng)
  const time = place && (displayTime(point.raw_time, reading.near) ?? displayTime(point.time, reading.near))
  if (!place || time === undefined) return undefined
  const course = number(point.course)
  return {
    time,
    timestamp: instantOf(time, reading),
    lat: place.lat,
    lng: place.lng,
    speed: toKmh(point.speed, reading.speedUnit) ?? 0,
    course: course === undefined ? null : toDegrees(course),
    altitude: toMetres(point.altitude, reading.altitudeUnit) ?? null,
    address: text(point.address) ?? null,
  }
}

/** The kinds of groups (platform.md 6.2). */
export const kinds = { drive: 1, stop: 2, start: 3, end: 4, event: 5 }

/** A group of the platform with its points that have a place and a time, each beside its id if it has one. */
export interface Leg {
  group: WireHistoryGroup
  kind: number | undefined
  start: Moment | undefined
  points: { id: number | undefined; position: Position & Moment }[]
}

/** The groups of a history, each with its points in time order. */
export function* legsOf(groups: readonly WireHistoryGroup[], reading: Reading): Steps<Leg[]> {
  const inOrder = orderedBy(reading)
  // Groups of events overlap all others, so the two are put in order separately.
  const [eventsInOrder, travelsInOrder] = [orderedBy(reading), orderedBy(reading)]
  const legs: Leg[] = []
  for (const group of groups) {
    const kind = number(group.status)
    const isEvent = kind === kinds.event
    const points: Leg['points'] = []
    for (const point of group.items) {
      const position = positionOf(point, reading)
      if (position) points.push({ id: idOf(point.id), position: isEvent ? position : inOrder(position) })
      yield
    }
    points.sort((a, b) => byTime(a.position, b.position))
    const shown = displayTime(group.raw_time, reading.near) ?? displayTime(group.show, reading.near)
    const first = points[0]?.position
    const time = shown ?? first?.time
    // The first point's instant is already corrected by the points before it, also in a drive through the repeated hour.
    const known = first?.time === time ? first?.timestamp : undefined
    const start = time === undefined ? undefined : { time, timestamp: known ?? instantOf(time, reading) }
    legs.push({ group, kind, start: start && (isEvent ? eventsInOrder : travelsInOrder)(start), points })
    yield
  }
  return legs
}

/** Clocks are moved by this at most. */
const maxRepeatS = 3_600

/**
 * Corrects times in the order of the platform. The end of summer repeats an hour, and a time on the clock does not show which one
 * it is in: one that falls behind its predecessor is in the second.
 */
function orderedBy({ zone }: Reading): <T extends Moment>(moment: T) => T {
  let last = Number.NEGATIVE_INFINITY
  return (moment) => {
    const { timestamp } = moment
    const behindS = last - timestamp
    const repeatS = behindS > 0 && behindS <= maxRepeatS ? repeatsAfter(timestamp * 1000, zone) / 1000 : 0
    last = behindS <= repeatS ? timestamp + repeatS : timestamp
    return last === timestamp ? moment : { ...moment, timestamp: last }
  }
}

const byTime = (a: Moment, b: Moment): number => a.timestamp - b.timestamp

export const maxSpeed = (positions: readonly Position[]): number =>
  positions.reduce((max, { speed }) => Math.max(max, speed), 0)

const isRepeat = (a: Position, b: Position | undefined): boolean =>
  a.time === b?.time && a.timestamp === b.timestamp && a.lat === b.lat && a.lng === b.lng && a.speed === b.speed

/** The positions of several legs in time order, each once: platforms repeat a point by its id, or with a new one. */
export function positionsOf(legs: readonly Leg[]): Position[] {
  const ids = new Set<number>()
  const positions: (Position & Moment)[] = []
  for (const { points } of legs) {
    for (const { id, position } of points) {
      if (id !== undefined && ids.has(id)) continue
      if (id !== undefined) ids.add(id)
      positions.push(position)
    }
  }
  return positions.sort(byTime).filter((position, at, all) => !isRepeat(position, all[at - 1]))
}
