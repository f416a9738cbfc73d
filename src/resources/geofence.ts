/** The geofence resource, as a list item and with its geometry: schemas and translation from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireGeofence } from '../platform/wire.js'
import { displayTime } from './display-time.js'
import { CollectionOf, type Coordinate, Feature, Format, Point, Polygon, toFeature } from './geojson.js'
import { ListQuery } from './list.js'
import { field, Nullable, PlatformTime, Resource, withExample } from './schema.js'
import { degrees, flag, number, text, toMetres, word } from './units.js'

const listItem = {
  id: field.id('Unique geofence identifier', 27),
  name: field.text('Name given to the geofence', 'Harbour'),
  type: field.text('Shape in lower case: `polygon`, `circle` or another word of the platform', 'polygon'),
  active: field.flag('Whether the geofence is enabled', true),
  color: field.text('Colour as `#RRGGBB`; `#000000` if none is set', '#1F7A4D', { pattern: '^#[0-9A-F]{6}$' }),
  created_at: Nullable(PlatformTime('When it was created (null if unknown)', '2026-02-03 10:20:30')),
}

export const Geofence = Resource('Geofence', 'An area on the map', listItem)
type Geofence = Static<typeof Geofence>

const geometry = Type.Union([Polygon, Point, Type.Null()], {
  description:
    'GeoJSON (RFC 7946): `Polygon`, or `Point` for the centre of a circle. Null if the platform has no usable shape: fewer than three different corners, an unusable corner, a circle without a centre, or another type',
})
const radius = field.numberOrNull('Radius of a circle in metres; null for other shapes', null, { minimum: 0 })
const exampleGeometry: Static<typeof Polygon> = {
  type: 'Polygon',
  coordinates: [
    [
      [16.41, 48.22],
      [16.43, 48.22],
      [16.42, 48.24],
      [16.41, 48.22],
    ],
  ],
}

export const GeofenceDetail = Resource('GeofenceDetail', 'A geofence with its geometry', {
  ...listItem,
  geometry: withExample(geometry, exampleGeometry),
  radius,
})
export type GeofenceDetail = Static<typeof GeofenceDetail>

export const GeofenceCollection = CollectionOf(
  Feature(geometry, Type.Object({ ...listItem, radius }, { additionalProperties: false })),
  'GeofenceCollection',
)

export const GeofencesQuery = Type.Object({ format: Format(GeofenceCollection), ...ListQuery.properties })

/** The GeoJSON feature of a geofence; its geometry is null without a usable shape. */
export const toGeofenceFeature = ({ geometry, ...properties }: GeofenceDetail) =>
  toFeature(properties.id, geometry, properties)

/** Platform 2.x sends no type (platform.md 4). */
function typeOf(wire: WireGeofence): string {
  const isCircle = (number(wire.radius) ?? 0) > 0 && wire.coordinates.length === 0
  return word(wire.type) ?? (isCircle ? 'circle' : 'polygon')
}

/** `#RRGGBB` of `#abc`, `abc`, `a1b2c3` or `#A1B2C3`; black for any other text. */
function colorOf(value: string | undefined): string {
  const [, hex = '000000'] = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value ?? '') ?? []
  const long = hex.length === 6 ? hex : hex.replace(/./g, '$&$&')
  return `#${long.toUpperCase()}`
}

/** Twice the signed area of a ring in square degrees; positive if it is counter-clockwise. */
const signedArea = (ring: readonly Coordinate[]): number =>
  ring.reduce((sum, [x, y], at) => {
    const [nextX, nextY] = ring[(at + 1) % ring.length] as Coordinate
    // With another order of additions, rounding would give an area of zero another sign.
    return sum + (x * nextY - nextX * y)
  }, 0)

const same = (a: Coordinate | undefined, b: Coordinate | undefined): boolean => a?.[0] === b?.[0] && a?.[1] === b?.[1]

/** A corner as the map of the platform stores it: beyond 180 degrees where the shape crosses the date line. */
function cornerOf({ lat, lng }: WireGeofence['coordinates'][number]): Coordinate | undefined {
  const [x, y] = [degrees(lng, 360), degrees(lat, 90)]
  return x === undefined || y === undefined ? undefined : [x, y]
}

const within180 = ([x, y]: Coordinate): Coordinate => [Math.abs(x) > 180 ? x - Math.sign(x) * 360 : x, y]

/** The closed counter-clockwise ring of the corners (RFC 7946 3.1.6); undefined with an unusable one, or fewer than three different ones. */
function ringOf(corners: WireGeofence['coordinates']): Coordinate[] | undefined {
  const all = corners.map(cornerOf)
  const known = all.filter((corner) => corner !== undefined)
  if (known.length < all.length) return undefined
  const points = known.filter((point, at) => at === 0 || !same(point, known[at - 1]))
  const open = same(points[0], points.at(-1)) ? points.slice(0, -1) : points
  // The first two differ.
  if (open.every((point) => same(point, open[0]) || same(point, open[1]))) return undefined
  const ring = signedArea(open) < 0 ? open.toReversed() : open
  return [...ring, ring[0] as Coordinate].map(within180)
}

function geometryOf(wire: WireGeofence, type: string): GeofenceDetail['geometry'] {
  if (type === 'circle') {
    const center = cornerOf(wire.center)
    return center && !same(center, [0, 0]) ? { type: 'Point', coordinates: within180(center) } : null
  }
  const ring = type === 'polygon' ? ringOf(wire.coordinates) : undefined
  return ring ? { type: 'Polygon', coordinates: [ring] } : null
}

/** The list item of a platform row (spec.md, Geofence; platform.md 11.3). It costs the same however many corners there are. */
export function toGeofenceItem(wire: WireGeofence, geofenceId: number): Geofence {
  return {
    id: geofenceId,
    name: text(wire.name) ?? `Geofence ${geofenceId}`,
    type: typeOf(wire),
    active: flag(wire.active) ?? true,
    color: colorOf(text(wire.polygon_color) ?? text(wire.color)),
    created_at: displayTime(wire.created_at) ?? null,
  }
}

/** The item with its geometry, and its radius in metres. */
export function toGeofence(wire: WireGeofence, geofenceId: number): GeofenceDetail {
  const item = toGeofenceItem(wire, geofenceId)
  const metres = item.type === 'circle' ? toMetres(wire.radius, undefined) : undefined
  const radius = metres !== undefined && metres > 0 ? metres : null
  return { ...item, geometry: geometryOf(wire, item.type), radius }
}
