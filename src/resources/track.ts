/** The track, a history as a GeoJSON feature (RFC 7946). */
import type { Coordinate, Feature } from './geojson.js'
import type { History } from './history.js'

/** A point for a single position, null for none. */
type Geometry = { type: 'LineString'; coordinates: Coordinate[] } | { type: 'Point'; coordinates: Coordinate } | null
/** `times` are those of the coordinates at the same index. */
type Track = Feature<Geometry, Omit<History, 'positions'> & { times: string[] }>

function geometryOf(coordinates: Coordinate[]): Geometry {
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
