/** The last position of a device. */
import t from 'tap'
import { type Device, deviceExample } from '../../src/resources/device.js'
import { toLocation } from '../../src/resources/location.js'

const movement = { speed: 43, course: 271, altitude: 171, status: 'moving' } as const
const last = { ...movement, address: 'Quay 3', timestamp: 1778501007, last_seen: '2026-05-11 14:03:27' }
const place = { lat: 48.208174, lng: 16.373819 }
const device: Device = { ...deviceExample, ...place, ...last }

t.test('a location has the position and movement of the device, and nothing else', async (t) => {
  t.strictSame(toLocation(device), { object: 'location', device_id: 318, ...place, ...last })
})

t.test('a device without a position has no location (N06, N08)', async (t) => {
  for (const missing of [{ lat: null, lng: null }, { lat: null }, { lng: null }]) {
    t.equal(toLocation({ ...device, ...missing }), undefined)
  }
})
