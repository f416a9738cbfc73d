/** The track, a history as a GeoJSON feature (RFC 7946). */
import { type Coordinate, toFeature } from './geojson.js'
import type { History } from './history.js'

/** A point for a single position, null for none. */
type Geometry = { type: 'LineString'; coordinates: Coordinate[] } | { type: 'Point'; coordinates: Coordinate } | null

function geometryOf(coordinates: Coordinate[]): Geometry {
  const [only] = coordinates
  if (only === undefined) return null
  return coordinates.length === 1 ? { type: 'Point', coordinates: only } : { type: 'LineString', coordinates }
}

/** The history as a feature, whose id is that of the device; `times` are those of the coordinates at the same index. */
export function toTrack({ positions, ...rest }: History) {
  const coordinates = positions.map(({ lat, lng }): Coordinate => [lng, lat])
  const times = positions.map(({ time }) => time)
  return toFeature(rest.device_id, geometryOf(coordinates), { ...rest, times })
}
