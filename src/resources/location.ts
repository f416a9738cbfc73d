/** A device's last position as we document it, and how it follows from the device. */
import { type Static, Type } from 'typebox'
import { Device } from './device.js'
import { Id, Latitude, Longitude } from './schema.js'

const { speed, course, altitude, status, address, last_seen } = Device.properties

export const Location = Type.Object(
  {
    object: Type.Literal('location', { type: 'string', description: 'Always `location`' }),
    device_id: Id('The device that stood there'),
    lat: Latitude,
    lng: Longitude,
    speed,
    course,
    altitude,
    status,
    address,
    timestamp: Type.Integer({ minimum: 0, description: 'Unix seconds of the position; 0 if unknown' }),
    last_seen,
  },
  {
    additionalProperties: false,
    title: 'Location',
    description: 'The last recorded position of a device',
    examples: [
      {
        object: 'location',
        device_id: 318,
        lat: 48.208174,
        lng: 16.373819,
        speed: 43,
        course: 271,
        altitude: 171,
        status: 'moving',
        address: null,
        timestamp: 1778501007,
        last_seen: '2026-05-11 14:03:27',
      },
    ],
  },
)
export type Location = Static<typeof Location>

/** The last position of a device, or undefined where it has none (platform.md 3.4). */
export function toLocation(device: Device): Location | undefined {
  const { id, lat, lng, speed, course, altitude, status, address, timestamp, last_seen } = device
  if (lat === null || lng === null) return undefined
  return { object: 'location', device_id: id, lat, lng, speed, course, altitude, status, address, timestamp, last_seen }
}
