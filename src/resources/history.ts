/** A device's travels over whole days as we document them, and how they come from the platform's groups of points. */
import { type Static, Type } from 'typebox'
import type { WireHistory, WirePoint } from '../platform/wire.js'
import { Id, Latitude, Longitude, Nullable, WallClock } from './schema.js'
import { asIfUtc, displayTime, durationSeconds } from './time.js'
import { coordinates, number, quantity, rounded, text, toKm, toKmh } from './units.js'

const Position = Type.Object(
  {
    time: WallClock('When it was there'),
    lat: Latitude,
    lng: Longitude,
    speed: Type.Number({ minimum: 0, description: 'Speed in km/h' }),
    address: Nullable(Type.String({ description: 'Approximate address; null where the platform has none' })),
  },
  { additionalProperties: false, title: 'Position' },
)
type Position = Static<typeof Position>

const day = (description: string, example: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    description: `${description}, \`YYYY-MM-DD\` on the account's clock`,
    examples: [example],
  })
const duration = (description: string) =>
  Type.String({ description: `${description}, as the platform writes it, such as \`1h 12min 5s\`` })
const seconds = (description: string) =>
  Nullable(Type.Integer({ minimum: 0, description: `${description} in seconds; null where its text cannot be read` }))

export const History = Type.Object(
  {
    object: Type.Literal('history', { type: 'string', description: 'Always `history`' }),
    device_id: Id('The device asked for'),
    from: day('First day', '2026-05-11'),
    to: day('Last day', '2026-05-12'),
    distance_km: Type.Number({ minimum: 0, description: 'Total distance in km' }),
    top_speed: Type.Number({ minimum: 0, description: 'Highest speed in km/h' }),
    move_duration: duration('Total time moving'),
    stop_duration: duration('Total time stopped'),
    move_seconds: seconds('Total time moving'),
    stop_seconds: seconds('Total time stopped'),
    positions: Type.Array(Position, { description: 'Where it was, oldest first' }),
  },
  {
    additionalProperties: false,
    title: 'History',
    description: 'Where a device was over whole days, with totals',
    examples: [
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
    ],
  },
)
export type History = Static<typeof History>

export const HistoryQuery = Type.Object({
  from: day('First day', '2026-05-11'),
  to: day('Last day, not before `from`', '2026-05-12'),
})
export type HistoryQuery = Static<typeof HistoryQuery>

/** What was asked for: the device by our id (points carry another), and the days as `YYYY-MM-DD`. */
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

/** Start and end groups repeat points of the drives between them, so they count only where they are all there is. */
function pointsOf(wire: WireHistory): WirePoint[] {
  const travels = groupsOf(wire, DRIVE_AND_STOP)
  const groups = travels.length > 0 ? travels : groupsOf(wire, START_AND_END)
  return groups.flatMap(({ items }) => items)
}

/** Points translated between two pauses: a few milliseconds of work, also before the code is warm. */
const SLICE = 500

async function positionsOf(
  points: readonly WirePoint[],
  speedUnit: string | undefined,
  near: readonly number[],
  pause: () => Promise<unknown>,
): Promise<Position[]> {
  const seen = new Set<string | number | boolean>()
  const positions: Position[] = []
  let ordered = true
  for (const [at, point] of points.entries()) {
    if (at > 0 && at % SLICE === 0) await pause()
    const position = positionOf(point, speedUnit, near)
    if (!position) continue
    const key = point.id ?? `${position.time} ${position.lat} ${position.lng}`
    const known = seen.size
    if (seen.add(key).size === known) continue
    ordered &&= position.time >= (positions.at(-1)?.time ?? '')
    positions.push(position)
  }
  return ordered ? positions : positions.sort(byTime)
}

const unitOfSpeeds = (wire: WireHistory): string | undefined =>
  text(wire.sensors.find(({ id }) => id === 'speed')?.sufix) ?? quantity(wire.top_speed)?.unit

function distanceKm(wire: WireHistory, miles: boolean): number {
  const unit = miles ? 'mi' : 'km'
  const total = quantity(wire.distance_sum)
  if (total) return Math.max(0, toKm(total.amount, total.unit || unit))
  const distances = groupsOf(wire, DRIVE_AND_STOP).map(({ distance }) => Math.max(0, number(distance) ?? 0))
  const sum = distances.reduce((all, one) => all + one, 0)
  return Number.isFinite(sum) ? rounded(toKm(sum, unit), 2) : 0
}

function topSpeed(wire: WireHistory, unit: string | undefined, positions: readonly Position[]): number {
  const total = quantity(wire.top_speed)
  if (total) return Math.max(0, toKmh(total.amount, total.unit || unit))
  return positions.reduce((most, { speed }) => Math.max(most, speed), 0)
}

/**
 * The history of a device; totals are the platform's own, which sums of its groups do not match (platform.md 6.1).
 * @param pause awaited every few thousand points, so that a long history does not hold up other requests.
 */
export async function toHistory(
  wire: WireHistory,
  { deviceId, from, to }: HistoryContext,
  pause: () => Promise<unknown>,
): Promise<History> {
  const speedUnit = unitOfSpeeds(wire)
  const foreignUnit = speedUnit !== undefined && toKmh(1, speedUnit) !== 1 ? speedUnit : undefined
  const near = [from, to].map((date) => asIfUtc(`${date} 12:00:00`)).filter(Number.isFinite)
  const positions = await positionsOf(pointsOf(wire), foreignUnit, near, pause)
  const move = text(wire.move_duration) ?? '0s'
  const stop = text(wire.stop_duration) ?? '0s'
  return {
    object: 'history',
    device_id: deviceId,
    from,
    to,
    distance_km: distanceKm(wire, speedUnit?.toLowerCase() === 'mph'),
    top_speed: topSpeed(wire, speedUnit, positions),
    move_duration: move,
    stop_duration: stop,
    move_seconds: durationSeconds(move) ?? null,
    stop_seconds: durationSeconds(stop) ?? null,
    positions,
  }
}
