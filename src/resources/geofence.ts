/** A geofence as we document it, in the list and alone, and how it comes from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireGeofence } from '../platform/wire.js'
import { Id, Nullable, WallClock } from './schema.js'
import { displayTime } from './time.js'
import { coordinates, flag, id, number, text } from './units.js'

const listItem = {
  id: Id('Unique geofence identifier'),
  name: Type.String({ description: 'Name given to the geofence' }),
  type: Type.String({ description: 'Shape, in lower case: `polygon`, `circle`, or a further word of the platform' }),
  active: Type.Boolean({ description: 'Whether the geofence is switched on' }),
  color: Type.String({ pattern: '^#[0-9A-F]{6}$', description: 'Colour as `#RRGGBB`; `#000000` where none is set' }),
  created_at: Nullable(WallClock('When it was made, as the platform writes it; null if unknown')),
}

const example = {
  id: 27,
  name: 'Harbour',
  type: 'polygon',
  active: true,
  color: '#1F7A4D',
  created_at: '2026-02-03 10:20:30',
}

export const Geofence = Type.Object(listItem, {
  additionalProperties: false,
  title: 'Geofence',
  description: 'An area on the map',
  examples: [example],
})
export type Geofence = Static<typeof Geofence>

const Coordinate = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '`[longitude, latitude]`' })
const Polygon = Type.Object(
  {
    type: Type.Literal('Polygon', { type: 'string' }),
    coordinates: Type.Array(Type.Array(Coordinate, { minItems: 4 }), {
      minItems: 1,
      maxItems: 1,
      description: 'One closed ring, counter-clockwise (RFC 7946)',
    }),
  },
  { additionalProperties: false, title: 'Polygon' },
)
const Point = Type.Object(
  { type: Type.Literal('Point', { type: 'string' }), coordinates: Coordinate },
  { additionalProperties: false, title: 'Point' },
)

export const GeofenceDetail = Type.Object(
  {
    ...listItem,
    geometry: Type.Union([Polygon, Point, Type.Null()], {
      description:
        'GeoJSON: `Polygon`, or `Point` for the centre of a circle. Null where the platform has no usable shape: fewer than three different points, a circle without centre, or a further type',
    }),
    radius: Nullable(Type.Number({ minimum: 0, description: 'Radius of a circle in metres; null for other shapes' })),
  },
  {
    additionalProperties: false,
    title: 'GeofenceDetail',
    description: 'One geofence with its shape',
    examples: [
      {
        ...example,
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [16.41, 48.22],
              [16.43, 48.22],
              [16.42, 48.24],
              [16.41, 48.22],
            ],
          ],
        },
        radius: null,
      },
    ],
  },
)
export type GeofenceDetail = Static<typeof GeofenceDetail>

type Position = [number, number]

function typeOf(wire: WireGeofence): string {
  const round = (number(wire.radius) ?? 0) > 0 && wire.coordinates.length === 0
  return text(wire.type)?.toLowerCase() ?? (round ? 'circle' : 'polygon')
}

/** `#abc`, `abc`, `a1b2c3` or `#A1B2C3` as `#RRGGBB`. */
function colorOf(value: string | undefined): string {
  const hex = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value ?? '')?.[1]
  if (hex === undefined) return '#000000'
  const long = hex.length === 6 ? hex : hex.replace(/./g, '$&$&')
  return `#${long.toUpperCase()}`
}

/** Twice the signed area; positive where the ring runs counter-clockwise. */
function turn(ring: readonly Position[]): number {
  let sum = 0
  ring.forEach(([x, y], at) => {
    const [nextX, nextY] = ring[(at + 1) % ring.length] as Position
    sum += x * nextY - nextX * y
  })
  return sum
}

const same = (a: Position | undefined, b: Position | undefined): boolean => a?.[0] === b?.[0] && a?.[1] === b?.[1]

/** The closed, counter-clockwise ring of the corners, or undefined with fewer than three different ones. */
function ringOf(corners: WireGeofence['coordinates']): Position[] | undefined {
  const points = corners
    .map(({ lat, lng }) => coordinates(lat, lng))
    .filter((point) => point !== undefined)
    .map(({ lat, lng }): Position => [lng, lat])
    .filter((point, at, all) => at === 0 || !same(point, all[at - 1]))
  const open = points.length > 1 && same(points[0], points.at(-1)) ? points.slice(0, -1) : points
  if (new Set(open.map(String)).size < 3) return undefined
  const ring = turn(open) < 0 ? open.reverse() : open
  return [...ring, [...(ring[0] as Position)]]
}

function geometryOf(wire: WireGeofence, type: string): GeofenceDetail['geometry'] {
  if (type === 'circle') {
    const center = coordinates(wire.center.lat, wire.center.lng)
    return center ? { type: 'Point', coordinates: [center.lng, center.lat] } : null
  }
  const ring = type === 'polygon' ? ringOf(wire.coordinates) : undefined
  return ring ? { type: 'Polygon', coordinates: [ring] } : null
}

/** The list item of a row, or undefined without a usable id (platform.md 11.3). */
export function toGeofence(wire: WireGeofence): Geofence | undefined {
  const own = id(wire.id)
  if (own === undefined) return undefined
  return {
    id: own,
    name: text(wire.name) ?? `Geofence ${own}`,
    type: typeOf(wire),
    active: flag(wire.active) ?? true,
    color: colorOf(text(wire.polygon_color) ?? text(wire.color)),
    created_at: displayTime(wire.created_at) ?? null,
  }
}

/** The geofence of a row with its shape, or undefined without a usable id. */
export function toGeofenceDetail(wire: WireGeofence): GeofenceDetail | undefined {
  const item = toGeofence(wire)
  if (item === undefined) return undefined
  const radius = item.type === 'circle' ? number(wire.radius) : undefined
  return {
    ...item,
    geometry: geometryOf(wire, item.type),
    radius: radius !== undefined && radius > 0 ? radius : null,
  }
}
