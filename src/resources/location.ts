/** The location resource, a device's last position: its schema and its derivation from the device. */
import type { Static } from 'typebox'
import { Device } from './device.js'
import { field, LatLng, ObjectName, Resource } from './schema.js'

const { speed, course, altitude, status, address, timestamp, last_seen } = Device.properties
const state = { speed, course, altitude, status, address, timestamp, last_seen }

export const Location = Resource('Location', 'The last recorded position of a device', {
  object: ObjectName('location'),
  device_id: field.id('The device', 318),
  ...LatLng(48.208174, 16.373819),
  ...state,
})
export type Location = Static<typeof Location>

/** The last position of a device (spec.md, Location); undefined if it has none (platform.md 3.4). */
export function toLocation(device: Device) {
  const { id, lat, lng, speed, course, altitude, status, address, timestamp, last_seen } = device
  if (lat === null || lng === null) return undefined
  const object = 'location' as const
  return { object, device_id: id, lat, lng, speed, course, altitude, status, address, timestamp, last_seen }
}
