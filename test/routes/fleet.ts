/** A gateway on a sandbox and the routes that read, for the tests of routes. */
import type { TSchema } from 'typebox'
import { Alert } from '../../src/resources/alert.js'
import { Device, DeviceCollection } from '../../src/resources/device.js'
import { Driver } from '../../src/resources/driver.js'
import { Event } from '../../src/resources/event.js'
import { Geofence, GeofenceCollection, GeofenceDetail } from '../../src/resources/geofence.js'
import { History, Track } from '../../src/resources/history.js'
import { ListOf } from '../../src/resources/list.js'
import { Location } from '../../src/resources/location.js'
import { MaintenanceService } from '../../src/resources/maintenance.js'
import { Me } from '../../src/resources/me.js'
import { Clock, gateway, sandbox, type Test } from '../helper.js'

export const clock = new Clock(Date.UTC(2026, 4, 12, 9, 30))

/** The sandbox has several accounts: `hash` and `id` are the credential and first device of one, the others of another. */
export async function fleet(t: Test, devices = 6) {
  const { url, hashes, accounts, calls } = await sandbox(t, { clock: clock.now, devices })
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  const [hash = '', otherHash = ''] = hashes
  const [id = 0, foreignId = 0] = accounts.map(({ firstDeviceId }) => firstDeviceId)
  return { get, hash, otherHash, calls, id, foreignId }
}

export const days = 'from=2026-05-11&to=2026-05-11'

/** Each read of a device or of an account's only geofence 101, with the platform action behind it and the schema of its response. */
export const routesOf = (id: number): [action: string, path: string, schema: TSchema][] => [
  ['get_user_data', '/v1/me', Me],
  ['get_devices', '/v1/devices', ListOf(Device)],
  ['get_devices', `/v1/devices?format=geojson&ids=${id}&updated_since=1`, DeviceCollection],
  ['get_devices', `/v1/devices/${id}`, Device],
  ['get_devices', `/v1/devices/${id}/location`, Location],
  ['get_geofences', '/v1/geofences', ListOf(Geofence)],
  ['get_geofences', '/v1/geofences?format=geojson', GeofenceCollection],
  ['get_geofences', '/v1/geofences/101', GeofenceDetail],
  ['get_events', '/v1/events?limit=5', ListOf(Event)],
  ['get_events', '/v1/events?limit=3&offset=2&type=overspeed', ListOf(Event)],
  ['get_events', `/v1/events?after_id=5&device_ids=${id},${id + 1}&type=harsh_brake`, ListOf(Event)],
  ['edit_setup_data', '/v1/events?from=2026-05-11T00:00:00Z', ListOf(Event)],
  ['edit_setup_data', '/v1/events?limit=5&type=speed.exceeded', ListOf(Event)],
  ['get_history', `/v1/history/${id}?${days}`, History],
  ['get_history', `/v1/history/${id}?${days}&format=geojson`, Track],
  ['edit_setup_data', `/v1/history/${id}?${days}`, History],
  ['get_alerts', '/v1/alerts', ListOf(Alert)],
  ['services', '/v1/services', ListOf(MaintenanceService)],
  ['get_user_drivers', '/v1/drivers', ListOf(Driver)],
]

/** The ids of a list or of a feature collection. */
export const idsOf = ({ data, features = data }: Record<'data' | 'features', { id: number }[]>): number[] =>
  features.map(({ id }) => id)
