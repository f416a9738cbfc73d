/** GeoJSON (RFC 7946): geometries, features, and lists as collections. */
import { type TSchema, Type } from 'typebox'
import type { List } from './list.js'
import { Word } from './schema.js'

/** The query parameter `format`. A second media type in the document would make the responses of generated clients a union. */
export const Format = Type.Optional(
  Word(['json', 'geojson'], {
    description:
      '`geojson` for GeoJSON (RFC 7946) as `application/geo+json`: the same fields as `properties` of features',
  }),
)

export type Coordinate = [lng: number, lat: number]
const Coordinate = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '`[longitude, latitude]`' })
const Geometry = <const T extends string, C extends TSchema>(type: T, coordinates: C) =>
  Type.Object(
    { type: Type.Literal(type, { type: 'string' }), coordinates },
    { additionalProperties: false, title: type },
  )

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
export const toFeature = <Geometry, Properties>(id: number, geometry: Geometry, properties: Properties) => {
  return { type: 'Feature' as const, id, geometry, properties }
}

/** The collection of a list; items without a feature are left out, and still count. */
export function toCollection<T>(list: List<T>, featureOf: (item: T) => object | undefined) {
  const { count, limit, offset, has_more, data } = list
  const features = data.map(featureOf).filter((feature) => feature !== undefined)
  return { type: 'FeatureCollection' as const, count, limit, offset, has_more, features }
}
