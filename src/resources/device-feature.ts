/** Devices as GeoJSON: their schema and the feature of a device. */
import type { Static } from 'typebox'
import { Device, deviceExample } from './device.js'
import { Feature, FeatureCollection, Point } from './geojson.js'

const DeviceFeature = Feature('DeviceFeature', Point, Device)
type DeviceFeature = Static<typeof DeviceFeature>

/** The GeoJSON feature of a device; undefined without a position. */
export function toDeviceFeature(device: Device): DeviceFeature | undefined {
  const { id, lat, lng } = device
  if (lat === null || lng === null) return undefined
  return { type: 'Feature', id, geometry: { type: 'Point', coordinates: [lng, lat] }, properties: device }
}

export const DeviceCollection = FeatureCollection(DeviceFeature, toDeviceFeature(deviceExample) as DeviceFeature)
