/** A driver as we document it, and how it comes from the platform's row and the devices that name it. */
import { type Static, Type } from 'typebox'
import type { WireDevice, WireDriver } from '../platform/wire.js'
import { deviceName } from './device.js'
import { Id, Nullable } from './schema.js'
import { id, text } from './units.js'

export const Driver = Type.Object(
  {
    id: Id('Unique driver identifier'),
    name: Type.String({ description: 'Full name; empty if unknown' }),
    phone: Type.String({ description: 'Contact phone; empty if unknown' }),
    rfid: Type.String({ description: 'RFID identification code; empty if unknown' }),
    assigned_device_id: Nullable(
      Type.Integer({ minimum: 1, description: 'The vehicle assigned now; null without one' }),
    ),
    assigned_device: Nullable(Type.String({ description: 'Name of that vehicle; null without one' })),
  },
  {
    additionalProperties: false,
    title: 'Driver',
    description: 'A person who drives',
    examples: [
      {
        id: 12,
        name: 'Jo Brandt',
        phone: '+43 1 5550142',
        rfid: '7C21E9',
        assigned_device_id: 318,
        assigned_device: 'Van 4',
      },
    ],
  },
)
export type Driver = Static<typeof Driver>

/** What the device list knows of drivers, in both directions. */
export type DriverContext = {
  /** A device's name by its id. */
  deviceName: (id: number) => string | undefined
  /** The device that names this driver as its current one. */
  deviceOf: (driverId: number) => number | undefined
}

/** What of a device row names its driver. */
export type DriverSource = {
  driver_data: Pick<WireDevice['driver_data'], 'id'>
  device_data: Pick<WireDevice['device_data'], 'current_driver_id'>
}

/** The look-ups of a driver in a device list; of several devices with one driver, the first counts. */
export function driverContext(fleet: DevicesWithDrivers): DriverContext {
  const byDriver = new Map<number, number>()
  for (const [device, driver] of fleet.drivers()) if (!byDriver.has(driver)) byDriver.set(driver, device)
  const nameOf = (device: number): string | undefined => {
    const row = fleet.row(device)
    return row && deviceName(row)
  }
  return { deviceName: nameOf, deviceOf: (driver) => byDriver.get(driver) }
}

/** The devices that have a driver, each with the driver's id, and all rows by their devices' ids. */
export interface DevicesWithDrivers {
  drivers(): Iterable<readonly [device: number, driver: number]>
  row(device: number): WireDevice | undefined
}

/** The id of the driver who has this device now. */
export const driverIdOf = ({ driver_data, device_data }: DriverSource): number | undefined =>
  id(driver_data.id) ?? id(device_data.current_driver_id)

/** The driver of a row, or undefined without a usable id (platform.md 9.1). */
export function toDriver(wire: WireDriver, { deviceName, deviceOf }: DriverContext): Driver | undefined {
  const own = id(wire.id)
  if (own === undefined) return undefined
  const assigned = id(wire.device_id) ?? id(wire.device.id) ?? deviceOf(own)
  const nested = id(wire.device.id) === assigned ? text(wire.device.name) : undefined
  return {
    id: own,
    name: text(wire.name) ?? '',
    phone: text(wire.phone) ?? '',
    rfid: text(wire.rfid) ?? '',
    assigned_device_id: assigned ?? null,
    assigned_device: assigned === undefined ? null : (nested ?? deviceName(assigned) ?? null),
  }
}
