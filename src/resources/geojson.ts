/** GeoJSON (RFC 7946): geometries, features, and lists as collections. */
import { type TObject, type TSchema, Type } from 'typebox'
import { type List, paging } from './list.js'
import { Double, Integer, Part, Word } from './schema.js'

/**
 * The query parameter `format`, with the schema of the GeoJSON body. A second media type in the document would make the responses of
 * generated clients a union: those of openapi-fetch would no longer compile.
 */
export const Format = (body: TObject) =>
  Type.Optional(
    Word(['json', 'geojson'], {
      description: `\`geojson\` for GeoJSON (RFC 7946) as \`application/geo+json\`, schema \`${(body as TObject & { title: string }).title}\` of the OpenAPI document: the same fields as \`properties\` of features`,
      $defs: { geojson: body },
    }),
  )

export type Coordinate = [lng: number, lat: number]
const Coordinate = Type.Array(Double(), { minItems: 2, maxItems: 2, description: '`[longitude, latitude]`' })
const Geometry = <const T extends string, C extends TSchema>(type: T, coordinates: C) =>
  Part(type, { type: Type.Literal(type, { type: 'string' }), coordinates })

export const Point = Geometry('Point', Coordinate)
export const Polygon = Geometry(
  'Polygon',
  Type.Array(Type.Array(Coordinate, { minItems: 4 }), {
    minItems: 1,
    maxItems: 1,
    description: 'One closed counter-clockwise ring (RFC 7946)',
  }),
)

export const LineString = Geometry('LineString', Type.Array(Coordinate, { minItems: 2 }))

export const Feature = (geometry: TSchema, properties: TSchema, options = {}) =>
  Type.Object(
    { type: Type.Literal('Feature', { type: 'string' }), id: Integer({ minimum: 1 }), geometry, properties },
    { additionalProperties: false, ...options },
  )

export const CollectionOf = (feature: TSchema, title: string) =>
  Part(title, { type: Type.Literal('FeatureCollection', { type: 'string' }), ...paging, features: Type.Array(feature) })

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
