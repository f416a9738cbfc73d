/** The history resource, a device's positions and totals over whole days: its schema and its translation from the platform's groups. */
import { type Static, Type } from 'typebox'
import type { WireHistory, WirePoint } from '../platform/wire.js'
import { displayTime } from './display-time.js'
import { Id, Latitude, Longitude, Nullable, ObjectName, Resource, WallClock } from './schema.js'
import { asIfUtc, durationSeconds } from './time.js'
import { coordinates, number, quantity, rounded, text, toKm, toKmh } from './units.js'

const Position = Type.Object(
  {
    time: WallClock('Time of the position'),
    lat: Latitude,
    lng: Longitude,
    speed: Type.Number({ minimum: 0, description: 'Speed in km/h' }),
    address: Nullable(Type.String({ description: 'Approximate address; null if the platform has none' })),
  },
  { additionalProperties: false, title: 'Position' },
)
type Position = Static<typeof Position>

const Day = (description: string, example: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    description: `${description}, \`YYYY-MM-DD\` on the account's clock`,
    examples: [example],
  })
const from = Day('First day', '2026-05-11')
const Duration = (description: string) =>
  Type.String({ description: `${description}, as the platform writes it, such as \`1h 12min 5s\`` })
const Seconds = (description: string) =>
  Nullable(Type.Integer({ minimum: 0, description: `${description} in seconds; null if the text is not readable` }))

export const History = Resource(
  'History',
  'Positions and totals of a device over whole days',
  {
    object: ObjectName('history'),
    device_id: Id('The requested device'),
    from,
    to: Day('Last day', '2026-05-12'),
    distance_km: Type.Number({ minimum: 0, description: 'Total distance in km' }),
    top_speed: Type.Number({ minimum: 0, description: 'Maximum speed in km/h' }),
    move_duration: Duration('Total time moving'),
    stop_duration: Duration('Total time stopped'),
    move_seconds: Seconds('Total time moving'),
    stop_seconds: Seconds('Total time stopped'),
    positions: Type.Array(Position, { description: 'Positions, oldest first' }),
  },
  {
    object: 'history',
    device_id: 318,
    from: '2026-05-11',
    to: '2026-05-12',
    distance_km: 64.3,
    top_speed: 92,
    move_duration: '1h 12min 5s',
    stop_duration: '22h 47min 54s',
    move_seconds: 4325,
    stop_seconds: 82074,
    positions: [{ time: '2026-05-11 06:58:12', lat: 48.2081, lng: 16.3738, speed: 31, address: null }],
  },
)
export type History = Static<typeof History>

export const HistoryQuery = Type.Object({ from, to: Day('Last day, not before `from`', '2026-05-12') })
export type HistoryQuery = Static<typeof HistoryQuery>

/** The request: our device id (the points carry another one) and the days as `YYYY-MM-DD`. */
export type HistoryContext = { deviceId: number; from: string; to: string }

const DRIVE_AND_STOP = new Set([1, 2])
const START_AND_END = new Set([3, 4])

type Group = WireHistory['items'][number]

const groupsOf = (wire: WireHistory, kinds: ReadonlySet<number>): Group[] =>
  wire.items.filter(({ status }) => kinds.has(number(status) ?? 0))

function positionOf(point: WirePoint, speedUnit: string | undefined, near: readonly number[]): Position | undefined {
  const place = coordinates(point.latitude, point.longitude) ?? coordinates(point.lat, point.lng)
  const time = place && (displayTime(point.raw_time) ?? displayTime(point.time, near))
  if (!place || time === undefined) return undefined
  const speed = Math.max(0, toKmh(number(point.speed) ?? 0, speedUnit))
  return { time, lat: place.lat, lng: place.lng, speed, address: text(point.address) ?? null }
}

const byTime = (a: Position, b: Position): number => (a.time === b.time ? 0 : a.time < b.time ? -1 : 1)

/** Start and end groups repeat points of the drives between them, so they only count without drives and stops. */
function pointsOf(wire: WireHistory): WirePoint[] {
  const travels = groupsOf(wire, DRIVE_AND_STOP)
  const groups = travels.length > 0 ? travels : groupsOf(wire, START_AND_END)
  return groups.flatMap(({ items }) => items)
}

function positionsOf(points: readonly WirePoint[], speedUnit: string | undefined, near: readonly number[]): Position[] {
  const seen = new Set<string | number | boolean>()
  const positions: Position[] = []
  for (const point of points) {
    const position = positionOf(point, speedUnit, near)
    if (!position) continue
    const key = point.id ?? `${position.time} ${position.lat} ${position.lng}`
    if (seen.has(key)) continue
    seen.add(key)
    positions.push(position)
  }
  return positions.sort(byTime)
}

const speedUnitOf = (wire: WireHistory): string | undefined =>
  text(wire.sensors.find(({ id }) => id === 'speed')?.sufix) ?? quantity(wire.top_speed)?.unit

function distanceKm(wire: WireHistory, unit: 'mi' | 'km'): number {
  const total = quantity(wire.distance_sum)
  if (total) return Math.max(0, toKm(total.amount, total.unit || unit))
  const sum = groupsOf(wire, DRIVE_AND_STOP).reduce((all, { distance }) => all + Math.max(0, number(distance) ?? 0), 0)
  return rounded(toKm(sum, unit), 2)
}

function topSpeed(wire: WireHistory, unit: string | undefined, positions: readonly Position[]): number {
  const total = quantity(wire.top_speed)
  if (total) return Math.max(0, toKmh(total.amount, total.unit || unit))
  return positions.reduce((max, { speed }) => Math.max(max, speed), 0)
}

/**
 * The history of a device (spec.md, History result; platform.md 11.5).
 * Totals are the platform's own, which differ from the sums of its groups (platform.md 6.1).
 */
export function toHistory(wire: WireHistory, { deviceId, from, to }: HistoryContext): History {
  const speedUnit = speedUnitOf(wire)
  const near = [from, to].map((day) => asIfUtc(`${day} 12:00:00`)).filter(Number.isFinite)
  const positions = positionsOf(pointsOf(wire), speedUnit, near)
  const move = text(wire.move_duration) ?? '0s'
  const stop = text(wire.stop_duration) ?? '0s'
  return {
    object: 'history',
    device_id: deviceId,
    from,
    to,
    distance_km: distanceKm(wire, speedUnit?.toLowerCase() === 'mph' ? 'mi' : 'km'),
    top_speed: topSpeed(wire, speedUnit, positions),
    move_duration: move,
    stop_duration: stop,
    move_seconds: durationSeconds(move) ?? null,
    stop_seconds: durationSeconds(stop) ?? null,
    positions,
  }
}
