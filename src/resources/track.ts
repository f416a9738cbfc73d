/** The track resource, a history as a GeoJSON Feature (RFC 7946). */
import { type Static, Type } from 'typebox'
import { History } from './history.js'
import { Resource, WallClock } from './schema.js'

const { positions: _, ...totals } = History.properties
const Coordinates = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: 'Longitude and latitude' })

export const Track = Resource(
  'Track',
  'The positions of a device over whole days as a GeoJSON Feature',
  {
    type: Type.Literal('Feature', { type: 'string', description: 'Always `Feature`' }),
    geometry: Type.Union(
      [
        Type.Object(
          {
            type: Type.Literal('LineString', { type: 'string' }),
            coordinates: Type.Array(Coordinates, { minItems: 2 }),
          },
          { additionalProperties: false, title: 'LineString' },
        ),
        Type.Object(
          { type: Type.Literal('Point', { type: 'string' }), coordinates: Coordinates },
          { additionalProperties: false, title: 'TrackPoint' },
        ),
        Type.Null(),
      ],
      { description: 'The track; a `Point` for a single position, null for none' },
    ),
    properties: Type.Object(
      { ...totals, times: Type.Array(WallClock('Time of the coordinate at the same index')) },
      { additionalProperties: false, title: 'TrackProperties', description: 'The history without its positions' },
    ),
  },
  {
    type: 'Feature',
    geometry: {
      type: 'LineString',
      coordinates: [
        [16.3738, 48.2081],
        [16.4186, 48.2292],
      ],
    },
    properties: {
      object: 'history',
      device_id: 318,
      from: '2026-05-11',
      to: '2026-05-12',
      distance_km: 64.3,
      top_speed: 92,
      move_duration: '1h 12min 5s',
      stop_duration: '22h 47min 54s',
      move_seconds: 4325,
      stop_seconds: 82074,
      fuel_l: null,
      trips: [],
      stops: [],
      events: [],
      times: ['2026-05-11 06:58:12', '2026-05-11 07:24:40'],
    },
  },
)
export type Track = Static<typeof Track>

function geometryOf(coordinates: [lng: number, lat: number][]): Track['geometry'] {
  const [only] = coordinates
  if (only === undefined) return null
  return coordinates.length === 1 ? { type: 'Point', coordinates: only } : { type: 'LineString', coordinates }
}

export function toTrack({ positions, ...properties }: History): Track {
  return {
    type: 'Feature',
    geometry: geometryOf(positions.map(({ lat, lng }) => [lng, lat])),
    properties: { ...properties, times: positions.map(({ time }) => time) },
  }
}
