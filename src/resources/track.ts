/** The track resource, a history as a GeoJSON feature (RFC 7946). */
import { type Static, Type } from 'typebox'
import { type Coordinate, Feature, LineString, Point } from './geojson.js'
import { History } from './history.js'
import { WallClock } from './schema.js'

const { positions: _, ...properties } = History.properties

export const Track = Feature(
  'Track',
  Type.Union([LineString, Point, Type.Null()], { description: 'A point for a single position, null for none' }),
  Type.Object(
    { ...properties, times: Type.Array(WallClock('Time of the coordinate at the same index')) },
    { additionalProperties: false, title: 'TrackProperties', description: 'The history without its positions' },
  ),
)
export type Track = Static<typeof Track>

function geometryOf(coordinates: Coordinate[]): Track['geometry'] {
  const [only] = coordinates
  if (only === undefined) return null
  return coordinates.length === 1 ? { type: 'Point', coordinates: only } : { type: 'LineString', coordinates }
}

/** The history as a feature, whose id is that of the device. */
export function toTrack({ positions, ...rest }: History): Track {
  const coordinates = positions.map(({ lat, lng }): Coordinate => [lng, lat])
  const times = positions.map(({ time }) => time)
  return { type: 'Feature', id: rest.device_id, geometry: geometryOf(coordinates), properties: { ...rest, times } }
}
