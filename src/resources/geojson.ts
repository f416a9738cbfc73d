/** GeoJSON (RFC 7946): schemas of geometries, features and collections, and lists as collections. */
import { type Static, type TSchema, Type } from 'typebox'
import { type List, paging } from './list.js'
import { field, Word } from './schema.js'

/** The media type of `format=geojson`. */
export const geoJson = 'application/geo+json'

/** The query parameter `format`. */
export const Format = Type.Optional(
  Word(['json', 'geojson'], {
    description:
      '`geojson` for GeoJSON (RFC 7946) as `application/geo+json`: the same fields as `properties` of features',
  }),
)

type Annotated = { description?: string; examples?: unknown[] }
const media = <T extends TSchema>(schema: T) => ({ schema, example: (schema as Annotated).examples?.[0] })

/** The response of a route that has the parameter `format`, for its schema. */
export const eitherFormat = <J extends TSchema, G extends TSchema>(json: J, geo: G) => ({
  description: (json as Annotated).description ?? '',
  content: { 'application/json': media(json), [geoJson]: media(geo) },
})

const Constant = <const T extends string>(type: T) => Type.Literal(type, { type: 'string' })

export type Coordinate = [lng: number, lat: number]
const Coordinate = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '`[longitude, latitude]`' })
const Geometry = <const T extends string, C extends TSchema>(type: T, coordinates: C) =>
  Type.Object({ type: Constant(type), coordinates }, { additionalProperties: false, title: type })

export const Point = Geometry('Point', Coordinate)
export const LineString = Geometry('LineString', Type.Array(Coordinate, { minItems: 2 }))
export const Polygon = Geometry(
  'Polygon',
  Type.Array(Type.Array(Coordinate, { minItems: 4 }), {
    minItems: 1,
    maxItems: 1,
    description: 'One closed counter-clockwise ring (RFC 7946)',
  }),
)

/** A feature with the fields of a resource as its properties. */
export const Feature = <G extends TSchema, P extends TSchema>(title: string, geometry: G, properties: P) =>
  Type.Object(
    { type: Constant('Feature'), id: field.id('The id of the resource'), geometry, properties },
    { additionalProperties: false, title },
  )

/** The feature of an item; undefined for an item that is left out. */
export type ToFeature<T> = (
  item: T,
) => { type: 'Feature'; id: number; geometry: unknown; properties: unknown } | undefined

/** A list as a collection of features, with the paging of the list. */
export const FeatureCollection = <F extends ReturnType<typeof Feature>>(of: F, example: Static<F>) =>
  Type.Object(
    { type: Constant('FeatureCollection'), ...paging, features: Type.Array(of, { description: 'The items' }) },
    {
      additionalProperties: false,
      title: `${(of as { title?: string }).title}Collection`,
      description: 'The items as GeoJSON, with the applied paging',
      examples: [{ type: 'FeatureCollection', count: 1, limit: 50, offset: 0, has_more: false, features: [example] }],
    },
  )

/** The collection of a list; items without a feature are left out, and still count. */
export function toCollection<T>(list: List<T>, toFeature: ToFeature<T>) {
  const { count, limit, offset, has_more, data } = list
  const features = data.map(toFeature).filter((feature) => feature !== undefined)
  return { type: 'FeatureCollection' as const, count, limit, offset, has_more, features }
}
