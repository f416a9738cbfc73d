/** The position resource, one point of a history: its schema and its translation from the platform's point. */
import type { Static } from 'typebox'
import type { Steps } from '../lib/in-turns.js'
import type { WireHistory, WireHistoryGroup, WirePoint, WireSetup } from '../platform/wire.js'
import type { HistoryRequest } from '../platform/worker-messages.js'
import { displayTime } from './display-time.js'
import { field, Integer, LatLng, Nullable, Part, WallClock, withExample } from './schema.js'
import { asIfUtc, durationSeconds } from './time.js'
import { coordinates, id as idOf, number, quantity, text, toDegrees, toKmh, toMetres } from './units.js'
import { fromWallClock, maxRepeatMinutes, repeatsAfter, wallClock, type Zone } from './zone.js'

export const Position = Part('Position', {
  time: WallClock('Time of the position', '2026-05-11 06:58:12'),
  timestamp: Nullable(
    withExample(
      Integer({ description: "The same in Unix seconds; null if the account's UTC offset is unknown" }),
      1778475492,
    ),
  ),
  ...LatLng(48.2081, 16.3738),
  speed: field.number('Speed in km/h', 31, { minimum: 0 }),
  course: field.numberOrNull('Heading in degrees, 0 = north, 90 = east; null if unknown', 88, {
    minimum: 0,
    maximum: 360,
  }),
  altitude: field.numberOrNull('Metres above sea level; null if unknown', 171),
  address: field.textOrNull('Approximate address; null if the platform has none'),
})
export type Position = Static<typeof Position>

/** The request, and what is known of the account. The points carry another device id. */
export interface HistoryContext extends Omit<HistoryRequest, 'format'> {
  zone?: Zone | undefined
  units?: Partial<WireSetup['item']> | undefined
}

export type HistoryReading = ReturnType<typeof readingOf>

/** How to read the values of one history. Its units are in its list of sensors and its totals, else those of the account. */
export function readingOf(wire: WireHistory, { from, to, zone, units }: HistoryContext) {
  const unitOf = (sensor: string) => text(wire.sensors.find(({ id }) => id === sensor)?.sufix)
  const distanceUnit = quantity(wire.distance_sum)?.unit
  const speedUnit = unitOf('speed') || quantity(wire.top_speed)?.unit || distanceUnit || text(units?.unit_of_distance)
  return {
    speedUnit,
    altitudeUnit: unitOf('altitude') || text(units?.unit_of_altitude),
    distanceUnit: distanceUnit || speedUnit,
    /** Where ambiguous dates are: from the first second of the requested days to the last, Unix seconds. */
    near: [[asIfUtc(`${from} 00:00:00`), asIfUtc(`${to} 23:59:59`)]] as const,
    /** That of the account; UTC if it is unknown. */
    zone: zone ?? { offsetMinutes: 0 },
  }
}

/** Unix seconds of a time on the account's clock. */
const instantOf = (time: string, { zone }: HistoryReading): number => fromWallClock(asIfUtc(time) * 1000, zone) / 1000

/** A time on the account's clock, and the same in Unix seconds. */
interface Moment {
  time: string
  timestamp: number
}

function positionOf(point: WirePoint, reading: HistoryReading): (Position & Moment) | undefined {
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

/** How long a group lasts, in seconds, as far as the platform says it. */
export const secondsOf = ({ time, time_seconds }: WireHistoryGroup): number | undefined =>
  durationSeconds(time) ?? number(time_seconds)

/** The groups of a history, each with its points in time order. */
export function* legsOf(groups: readonly WireHistoryGroup[], reading: HistoryReading): Steps<Leg[]> {
  // Groups of events overlap all others, so the two are put in order separately.
  const [events, travels] = [orderIn(reading), orderIn(reading)]
  const legs: Leg[] = []
  for (const group of groups) {
    const kind = number(group.status)
    const order = kind === kinds.event ? events : travels
    const shown = displayTime(group.raw_time, reading.near) ?? displayTime(group.show, reading.near)
    let start = shown === undefined ? undefined : order.correct(startOf(group, shown, reading))
    const points: Leg['points'] = []
    for (const point of group.items) {
      const position = positionOf(point, reading)
      if (position) points.push({ id: idOf(point.id), position: order.correct(position) })
      yield
    }
    points.sort((a, b) => byTime(a.position, b.position))
    start ??= points[0]?.position
    // A tracker that sleeps while its vehicle is parked sends no point that would show how late it is.
    if (start) order.end(endOf(group, start.timestamp, reading))
    legs.push({ group, kind, start, points })
    yield
  }
  return legs
}

/** The instant at which a group ends that starts at `start`; undefined unless its duration and the time of its end agree. */
function endOf(group: WireHistoryGroup, start: number, { near, zone }: HistoryReading): number | undefined {
  const [left, seconds] = [displayTime(group.left, near), secondsOf(group)]
  if (left === undefined || seconds === undefined) return undefined
  const end = start + seconds
  const differenceS = Math.abs(asIfUtc(wallClock(end * 1000, zone) ?? '') - asIfUtc(left))
  return differenceS <= toleranceS ? end : undefined
}

/** The start of a group: in the second of two hours if only then it ends when it is said to. */
function startOf(group: WireHistoryGroup, time: string, reading: HistoryReading): Moment {
  const first = instantOf(time, reading)
  const second = first + repeatsAfter(first * 1000, reading.zone) / 1000
  const isSecond = endOf(group, first, reading) === undefined && endOf(group, second, reading) !== undefined
  return { time, timestamp: isSecond ? second : first }
}

const maxRepeatS = 60 * maxRepeatMinutes
/** Points may be a little out of order. */
const toleranceS = 60

/**
 * Corrects times in the order of the platform. The end of daylight saving time repeats an hour, and a time on the clock does not show which one
 * it is in. It is in the second if it falls behind its predecessor, or is then nearer to the end of the group before.
 */
function orderIn({ zone }: HistoryReading) {
  let [last, end] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    correct<T extends Moment>(moment: T): T {
      const { timestamp } = moment
      const [behindS, beforeEndS] = [last - timestamp, end - timestamp]
      const mayRepeat = [behindS, beforeEndS].some((one) => one > toleranceS && one <= maxRepeatS + toleranceS)
      const repeatS = mayRepeat ? repeatsAfter(timestamp * 1000, zone) / 1000 : 0
      const isBehind = behindS > toleranceS && behindS <= repeatS + toleranceS
      const isNearEnd = beforeEndS > repeatS / 2 && beforeEndS <= repeatS + toleranceS
      const isRepeat = repeatS > 0 && (isBehind || isNearEnd)
      const instant = isRepeat ? timestamp + repeatS : timestamp
      last = Math.abs(last - instant) <= toleranceS ? Math.max(last, instant) : instant
      return isRepeat ? { ...moment, timestamp: instant } : moment
    },

    /** The group ends, at this instant if that is known. */
    end(instant = Number.NEGATIVE_INFINITY): void {
      end = instant
    },
  }
}

/** The instant of a time that is not before another one. */
export function instantAfter(time: string, start: number, reading: HistoryReading): number {
  const instant = instantOf(time, reading)
  return instant < start ? instant + repeatsAfter(instant * 1000, reading.zone) / 1000 : instant
}

const byTime = (a: Moment, b: Moment): number => a.timestamp - b.timestamp

export const maxSpeed = (positions: readonly Position[]): number =>
  positions.reduce((max, { speed }) => Math.max(max, speed), 0)

const isRepeat = (a: Position, b: Position | undefined): boolean =>
  a.time === b?.time && a.timestamp === b.timestamp && a.lat === b.lat && a.lng === b.lng && a.speed === b.speed

/** The positions of several legs in time order, each once: platforms repeat a point by its id, or with a new one. */
export function positionsOf(legs: readonly Leg[]): Position[] {
  const ids = new Set<number | undefined>()
  const positions: (Position & Moment)[] = []
  for (const { points } of legs) {
    for (const { id, position } of points) {
      if (!ids.has(id)) positions.push(position)
      if (id !== undefined) ids.add(id)
    }
  }
  return positions.sort(byTime).filter((position, at, all) => !isRepeat(position, all[at - 1]))
}
