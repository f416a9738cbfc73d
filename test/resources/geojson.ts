/** The shapes of GeoJSON bodies, which no response schema has. */
import { type TSchema, Type } from 'typebox'
import { Device } from '../../src/resources/device.js'
import { GeofenceDetail } from '../../src/resources/geofence.js'
import { Point } from '../../src/resources/geojson.js'
import { History } from '../../src/resources/history.js'
import { paging } from '../../src/resources/list.js'

const exactly = { additionalProperties: false }
const Feature = <P extends TSchema>(geometry: TSchema, properties: P, title = '') =>
  Type.Object(
    { type: Type.Literal('Feature'), id: Type.Integer({ minimum: 1 }), geometry, properties },
    { ...exactly, title },
  )
const CollectionOf = (feature: TSchema) =>
  Type.Object({ type: Type.Literal('FeatureCollection'), ...paging, features: Type.Array(feature) }, exactly)

export const DeviceCollection = CollectionOf(Feature(Point, Device))

const { geometry, ...ofGeofence } = GeofenceDetail.properties
export const GeofenceCollection = CollectionOf(Feature(geometry, Type.Object(ofGeofence, exactly)))

const { positions: _, ...ofHistory } = History.properties
const Line = Type.Object(
  { type: Type.Literal('LineString'), coordinates: Type.Array(Point.properties.coordinates, { minItems: 2 }) },
  exactly,
)
export const Track = Feature(
  Type.Union([Line, Point, Type.Null()]),
  Type.Object({ ...ofHistory, times: Type.Array(Type.String()) }, exactly),
  'Track',
)
