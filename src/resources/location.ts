/** The location resource, a device's last position: its schema and its derivation from the device. */
import type { Static } from 'typebox'
import { Device } from './device.js'
import { field, Latitude, Longitude, ObjectName, Resource } from './schema.js'

const { speed, course, altitude, status, address, timestamp, last_seen } = Device.properties

export const Location = Resource(
  'Location',
  'The last recorded position of a device',
  {
    object: ObjectName('location'),
    device_id: field.id('The device'),
    lat: Latitude,
    lng: Longitude,
    speed,
    course,
    altitude,
    status,
    address,
    timestamp,
    last_seen,
  },
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
)
export type Location = Static<typeof Location>

/** The last position of a device (spec.md, Location); undefined if it has none (platform.md 3.4). */
export function toLocation(device: Device): Location | undefined {
  const { id, lat, lng, speed, course, altitude, status, address, timestamp, last_seen } = device
  if (lat === null || lng === null) return undefined
  return { object: 'location', device_id: id, lat, lng, speed, course, altitude, status, address, timestamp, last_seen }
}
