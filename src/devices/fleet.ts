/** All devices of an account as of one platform answer, each as an object; and what there is to know of any such fleet. Knows no request. */
import type { WireDevice } from '../platform/wire.js'
import { type Device, type DeviceStatus, deviceId } from '../resources/device.js'
import { driverIdOf } from '../resources/driver.js'
import type { Sliceable } from '../resources/list.js'

/** What a fleet's maps by id are asked. */
export interface ById<T> {
  get(id: number): T | undefined
  has(id: number): boolean
}

export interface Devices extends Sliceable<Device> {
  withStatus(status: DeviceStatus): Sliceable<Device>
}

/** Maintenance services that stand in a device's row: whole ones, or a line of text for each. */
export type Servicing = 'listed' | 'shown'

/** All devices of an account as of one platform answer. */
export interface Fleet {
  /** By id, ascending. */
  devices: Devices
  byId: ById<Device>
  /** The rows behind them, for what only other resources need. */
  rows: ById<WireDevice>
  ids(): number[]
  /** The devices that have a driver, each with the driver's id. */
  drivers: Iterable<readonly [device: number, driver: number]>
  /** Ids of the devices whose rows have maintenance services. */
  servicing(how: Servicing): number[]
  /** About what it weighs in memory. */
  bytes: number
}

/** What a device weighs beside its texts: two objects of about twenty fields, three map slots, and its sensors. */
export const deviceBytes = 1_500
const sensorBytes = 200

/** About what a device weighs in memory with its row. */
export function weight({ name, driver, address, sensors }: Device): number {
  let characters = name.length + (driver?.length ?? 0) + (address?.length ?? 0)
  for (const { type, name, value } of sensors) characters += type.length + name.length + (value?.length ?? 0)
  return deviceBytes + sensorBytes * sensors.length + 2 * characters
}

/** Whether a device's row has maintenance services. */
export const hasServices = (row: WireDevice, how: Servicing): boolean =>
  (how === 'listed' ? row.device_data.services : row.services).length > 0

/** The fleet of translated devices, in any order, and the rows behind them. */
export function fleetOf(translated: Device[], wires: readonly WireDevice[]): Fleet {
  const sorted = translated.sort((a, b) => a.id - b.id)
  const rows = new Map(wires.map((row) => [deviceId(row) ?? 0, row]))
  rows.delete(0)
  return {
    devices: {
      length: sorted.length,
      slice: (from, to) => sorted.slice(from, to),
      withStatus: (status) => sorted.filter((device) => device.status === status),
    },
    byId: new Map(sorted.map((device) => [device.id, device])),
    rows,
    ids: () => [...rows.keys()],
    drivers: [...rows].flatMap(([device, row]) => {
      const driver = driverIdOf(row)
      return driver === undefined ? [] : [[device, driver] as const]
    }),
    servicing: (how) => [...rows].flatMap(([device, row]) => (hasServices(row, how) ? [device] : [])),
    bytes: sorted.reduce((sum, device) => sum + weight(device), deviceBytes),
  }
}
