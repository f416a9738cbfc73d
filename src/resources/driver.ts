/** The driver resource: its schema and its translation from the platform's row and the device list. */
import type { Static } from 'typebox'
import type { WireDriver } from '../platform/wire.js'
import { field, Resource } from './schema.js'
import { id, text } from './units.js'

export const Driver = Resource('Driver', 'A driver, with the assigned vehicle', {
  id: field.id('Unique driver identifier', 12),
  name: field.text('Full name; empty if unknown', 'Jo Brandt'),
  phone: field.text('Contact phone; empty if unknown', '+43 1 5550142'),
  rfid: field.text('RFID identification code; empty if unknown', '7C21E9'),
  assigned_device_id: field.idOrNull('The currently assigned vehicle; null without one', 318),
  assigned_device: field.textOrNull('Name of that vehicle; null if unknown or without one', 'Van 4'),
})
export type Driver = Static<typeof Driver>

/** The part of a device list that drivers need. */
interface Devices {
  /** A device's name; undefined for an unknown device. */
  name(id: number): string | undefined
  /** The first device whose current driver this is. */
  withDriver(driver: number): number | undefined
}

/** The driver of a platform row (spec.md, Driver; platform.md 11.8). */
export function toDriver(wire: WireDriver, driverId: number, devices: Devices): Driver {
  const assigned = id(wire.device_id) ?? id(wire.device.id) ?? devices.withDriver(driverId)
  const nested = (id(wire.device.id) ?? assigned) === assigned ? text(wire.device.name) : undefined
  return {
    id: driverId,
    name: text(wire.name) ?? '',
    phone: text(wire.phone) ?? '',
    rfid: text(wire.rfid) ?? '',
    assigned_device_id: assigned ?? null,
    assigned_device: assigned === undefined ? null : (nested ?? devices.name(assigned) ?? null),
  }
}
