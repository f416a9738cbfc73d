/** The history resource, a device's positions, trips and totals over whole days: its schema and its translation from the platform's groups. */
import { type Static, Type } from 'typebox'
import type { Steps } from '../lib/in-turns.js'
import type { Scalar } from '../platform/shape.js'
import type { WireHistory } from '../platform/wire.js'
import { type Coordinate, Feature, Format, LineString, Point, toFeature } from './geojson.js'
import { type HistoryContext, kinds, type Leg, legsOf, maxSpeed, Position, positionsOf, readingOf } from './position.js'
import { field, ObjectName, Resource, Word } from './schema.js'
import { durationSeconds } from './time.js'
import { HistoryEvent, Seconds, Stop, Trip, toHistoryEvent, toStop, toTrip } from './trip.js'
import { quantity, rounded, text, toKm, toKmh } from './units.js'

const Day = (description: string, example: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    description: `${description}, \`YYYY-MM-DD\` on the account's clock`,
    examples: [example],
  })
const from = Day('First day', '2026-05-11')
const Duration = (description: string, example: string) =>
  field.text(`${description}, as the platform writes it, such as \`1h 12min 5s\`; \`0s\` if unknown`, example)

export const History = Resource('History', 'Positions, trips, stops, events and totals of a device over whole days', {
  object: ObjectName('history'),
  device_id: field.id('The requested device', 318),
  from,
  to: Day('Last day', '2026-05-12'),
  distance_km: field.number('Total distance in km', 64.3, { minimum: 0 }),
  top_speed: field.number('Maximum speed in km/h', 92, { minimum: 0 }),
  move_duration: Duration('Total time moving', '1h 12min 5s'),
  stop_duration: Duration('Total time stopped', '22h 47min 54s'),
  move_seconds: Seconds('Total time moving', 4325),
  stop_seconds: Seconds('Total time stopped', 82074),
  fuel_l: field.numberOrNull('Fuel used in litres; null unless the platform sends it in litres', null, {
    minimum: 0,
  }),
  trips: Type.Array(Trip, { description: 'Drives, oldest first' }),
  stops: Type.Array(Stop, { description: 'Stops, oldest first' }),
  events: Type.Array(HistoryEvent, { description: 'Events of the device, oldest first' }),
  positions: Type.Array(Position, {
    description:
      'Positions, oldest first; consecutive ones of the same second, place and speed are one. Empty with `positions=false`.',
  }),
})
export type History = Static<typeof History>

const { positions: _, ...ofTrack } = History.properties
const times = Type.Array(field.text('Time of a position'), {
  description: 'One for each coordinate, at the same index',
})
export const Track = Feature(
  Type.Union([LineString, Point, Type.Null()]),
  Type.Object({ ...ofTrack, times }, { additionalProperties: false }),
  { title: 'Track' },
)

export const HistoryQuery = Type.Object({
  from,
  to: Day('Last day, not before `from`', '2026-05-12'),
  positions: Type.Optional(
    Word(['true', 'false'], {
      description: '`false` leaves the positions out and keeps totals, trips, stops and events',
    }),
  ),
  format: Format(Track),
})

const { drive, stop, start, end, event } = kinds
const litres = new Set(['l', 'lt', 'ltr', 'liter', 'liters', 'litre', 'litres', 'litro', 'litros'])

const ofKinds = (legs: readonly Leg[], ...some: Leg['kind'][]): Leg[] => legs.filter(({ kind }) => some.includes(kind))

function distanceKm(wire: WireHistory, unit: string | undefined, travels: readonly Leg[]): number {
  const total = toKm(wire.distance_sum, unit)
  if (total !== undefined) return Math.max(0, total)
  const sum = travels.reduce((km, { group }) => km + Math.max(0, toKm(group.distance, unit) ?? 0), 0)
  return rounded(sum, 2)
}

function fuelLitres(wire: WireHistory): number | null {
  const fuel = quantity(wire.fuel_consumption)
  return fuel && litres.has(fuel.unit) && fuel.amount >= 0 ? fuel.amount : null
}

/**
 * The history of a device (spec.md, History result; platform.md 11.5).
 * Totals are the platform's own if it sends them: they differ from the sums of its groups (platform.md 6.1).
 */
export function* toHistory(wire: WireHistory, context: HistoryContext): Steps<History> {
  const { deviceId, from, to, positions: isDetailed, zone } = context
  const reading = readingOf(wire, context)
  const legs = yield* legsOf(wire.items, reading)
  const travels = ofKinds(legs, drive, stop)
  // Start and end groups repeat points of the drives between them, so they only count without drives and stops.
  const positions = positionsOf(travels.length > 0 ? travels : ofKinds(legs, start, end))
  const oldestFirst = legs.toSorted((a, b) => (a.start?.timestamp ?? 0) - (b.start?.timestamp ?? 0))
  function* listOf<T>(kind: number, toX: (leg: Leg) => T | undefined): Steps<T[]> {
    const items: (T | undefined)[] = []
    for (const leg of ofKinds(oldestFirst, kind)) {
      items.push(toX(leg))
      yield
    }
    return items.filter((item) => item !== undefined)
  }
  const isEmpty = legs.every(({ start }) => start === undefined)
  const secondsOf = (total: Scalar) => durationSeconds(text(total) ?? (isEmpty ? '0s' : undefined)) ?? null
  return {
    object: 'history',
    device_id: deviceId,
    from,
    to,
    distance_km: distanceKm(wire, reading.distanceUnit, travels),
    top_speed: toKmh(wire.top_speed, reading.speedUnit) ?? maxSpeed(positions),
    move_duration: text(wire.move_duration) ?? '0s',
    stop_duration: text(wire.stop_duration) ?? '0s',
    move_seconds: secondsOf(wire.move_duration),
    stop_seconds: secondsOf(wire.stop_duration),
    fuel_l: fuelLitres(wire),
    trips: yield* listOf(drive, (leg) => toTrip(leg, reading)),
    stops: yield* listOf(stop, (leg) => toStop(leg, reading)),
    events: yield* listOf(event, toHistoryEvent),
    positions: isDetailed ? positions.map((position) => (zone ? position : { ...position, timestamp: null })) : [],
  }
}

/** A point for a single position, null for none. */
function geometryOf(coordinates: Coordinate[]) {
  const [only] = coordinates
  if (only === undefined) return null
  return coordinates.length === 1
    ? { type: 'Point' as const, coordinates: only }
    : { type: 'LineString' as const, coordinates }
}

/** The track, the history as a GeoJSON feature with the id of its device; `times` are those of the coordinates at the same index. */
export function toTrack({ positions, ...rest }: History) {
  const coordinates = positions.map(({ lat, lng }): Coordinate => [lng, lat])
  const times = positions.map(({ time }) => time)
  return toFeature(rest.device_id, geometryOf(coordinates), { ...rest, times })
}
