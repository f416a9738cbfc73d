/** GeoJSON (RFC 7946): geometries, features, and lists as collections. */
import { type TSchema, Type } from 'typebox'
import type { List } from './list.js'
import { Word } from './schema.js'

/** The media type of `format=geojson`. */
export const geoJson = 'application/geo+json'

/** The query parameter `format`. */
export const Format = Type.Optional(
  Word(['json', 'geojson'], {
    description:
      '`geojson` for GeoJSON (RFC 7946) as `application/geo+json`: the same fields as `properties` of features',
  }),
)

const Constant = <const T extends string>(type: T) => Type.Literal(type, { type: 'string' })

export type Coordinate = [lng: number, lat: number]
const Coordinate = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '`[longitude, latitude]`' })
const Geometry = <const T extends string, C extends TSchema>(type: T, coordinates: C) =>
  Type.Object({ type: Constant(type), coordinates }, { additionalProperties: false, title: type })

export const Point = Geometry('Point', Coordinate)
export const Polygon = Geometry(
  'Polygon',
  Type.Array(Type.Array(Coordinate, { minItems: 4 }), {
    minItems: 1,
    maxItems: 1,
    description: 'One closed counter-clockwise ring (RFC 7946)',
  }),
)

/** A feature with the fields of a resource as its properties. */
export interface Feature<Geometry, Properties> {
  type: 'Feature'
  id: number
  geometry: Geometry
  properties: Properties
}

/** The feature of an item; undefined for an item that is left out. */
type ToFeature<T> = (item: T) => Feature<unknown, unknown> | undefined

/** The collection of a list; items without a feature are left out, and still count. */
export function toCollection<T>(list: List<T>, toFeature: ToFeature<T>) {
  const { count, limit, offset, has_more, data } = list
  const features = data.map(toFeature).filter((feature) => feature !== undefined)
  return { type: 'FeatureCollection' as const, count, limit, offset, has_more, features }
}
