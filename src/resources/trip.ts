/** Trips, stops and events of a history: their schemas and their translation from the platform's groups. */
import { type Static, Type } from 'typebox'
import { displayTime } from './display-time.js'
import { type HistoryReading, instantAfter, type Leg, maxSpeed, secondsOf } from './position.js'
import { field, LatLngOrNull, Part, WallClock } from './schema.js'
import { rounded, text, toKm, toKmh } from './units.js'
import { wallClock } from './zone.js'

export const Seconds = (description: string, example: number) =>
  field.countOrNull(`${description} in seconds; null if unknown`, example)
const End = (description: string, lat: number, lng: number) =>
  Type.Object(LatLngOrNull(lat, lng), { additionalProperties: false, description })

export const Trip = Part('Trip', {
  from: WallClock('Start', '2026-05-11 06:58:12'),
  to: WallClock('End', '2026-05-11 07:24:40'),
  distance_km: field.number('Distance in km', 18.2, { minimum: 0 }),
  duration_seconds: Seconds('Duration', 1588),
  top_speed: field.number('Maximum speed in km/h', 74, { minimum: 0 }),
  average_speed: field.numberOrNull('Average speed in km/h; null if unknown', 41, { minimum: 0 }),
  driver: field.textOrNull('Name of the driver; null if unknown'),
  start: End('First position', 48.2081, 16.3738),
  end: End('Last position', 48.2292, 16.4186),
})
export type Trip = Static<typeof Trip>

export const Stop = Part('Stop', {
  from: WallClock('Start', '2026-05-11 07:24:40'),
  to: WallClock('End', '2026-05-11 07:54:40'),
  duration_seconds: Seconds('Duration', 1800),
  ...LatLngOrNull(48.2292, 16.4186),
  address: field.textOrNull('Approximate address; null if the platform has none'),
})
export type Stop = Static<typeof Stop>

export const HistoryEvent = Part('HistoryEvent', {
  time: WallClock('When it happened', '2026-05-11 07:24:40'),
  ...LatLngOrNull(48.2292, 16.4186),
  message: field.text('Human-readable text', 'Zone in (Harbour)'),
})
export type HistoryEvent = Static<typeof HistoryEvent>

const placeOf = (point: Leg['points'][number] | undefined) => ({
  lat: point?.position.lat ?? null,
  lng: point?.position.lng ?? null,
})

/** Start, end and duration. Platform 2.x sends the duration as text only, and no end. */
function spanOf(leg: Leg, reading: HistoryReading) {
  const { group, points, start } = leg
  if (start === undefined) return undefined
  const { time: from, timestamp } = start
  const left = displayTime(group.left, reading.near)
  const end = left === undefined ? points.at(-1)?.position.timestamp : instantAfter(left, timestamp, reading)
  const seconds = secondsOf(group) ?? (end === undefined ? undefined : end - timestamp)
  const duration_seconds = seconds === undefined ? null : Math.max(0, Math.round(seconds))
  // By the clock at the end, which may have been changed in between.
  const to = duration_seconds ? wallClock((timestamp + duration_seconds) * 1000, reading.zone) : from
  return { from, to: to ?? from, duration_seconds }
}

/** The trip of a drive group; undefined without a start. */
export function toTrip(leg: Leg, reading: HistoryReading): Trip | undefined {
  const { group, points } = leg
  const span = spanOf(leg, reading)
  if (!span) return undefined
  const { distanceUnit, speedUnit } = reading
  return {
    ...span,
    distance_km: Math.max(0, rounded(toKm(group.distance, distanceUnit) ?? 0, 2)),
    top_speed: toKmh(group.top_speed, speedUnit) ?? maxSpeed(points.map(({ position }) => position)),
    average_speed: toKmh(group.average_speed, speedUnit) ?? null,
    driver: text(group.driver.name) ?? null,
    start: placeOf(points[0]),
    end: placeOf(points.at(-1)),
  }
}

/** The stop of a stop group; undefined without a start. */
export function toStop(leg: Leg, reading: HistoryReading): Stop | undefined {
  const span = spanOf(leg, reading)
  const address = leg.points.find(({ position }) => position.address !== null)?.position.address ?? null
  return span && { ...span, ...placeOf(leg.points[0]), address }
}

/** The event of an event group; undefined without a time. */
export function toHistoryEvent({ group, points, start }: Leg): HistoryEvent | undefined {
  return start && { time: start.time, ...placeOf(points[0]), message: text(group.message) ?? '' }
}
