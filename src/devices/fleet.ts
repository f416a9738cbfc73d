/** All devices of an account as of one platform response; a device is decoded when it is read. */
import { BoundedMap } from '../lib/bounded-map.js'
import { recordMaker } from '../lib/json-rows/index.js'
import { arenaBytes, textAt } from '../lib/text-arena.js'
import { type WireDevice, wireDevice } from '../platform/wire.js'
import type { FleetColumns } from '../platform/worker-messages.js'
import { type Device, type DeviceStatus, deviceName, toDevice } from '../resources/device.js'
import type { Sliceable } from '../resources/list.js'
import { text } from '../resources/units.js'
import type { Zone } from '../resources/zone.js'
import { correctTimes } from './wall-clock.js'

/** A device's status in `FleetColumns.flags`: the index in this list, in the lowest two bits. */
export const statuses: readonly DeviceStatus[] = ['online', 'offline', 'moving']
const statusMask = 3
/** The text of `last_seen` needs the account's zone; its instant is known. */
export const needsZoneFlag = 4
/** The row has maintenance services, as records (`listed`) or as texts (`shown`), or a list of records that may be empty (`list`). */
export const serviceFlags = { listed: 8, shown: 16, list: 32 } as const

export type ServiceSource = keyof typeof serviceFlags

/** Decoded devices kept per fleet, so that reading one again returns the same object. */
const maxDecoded = 500
/** Estimated heap of a decoded device with its row. */
const decodedBytes = 3_000
/** The same in multiples of the row's text, for rows with many sensors. */
const decodedFactor = 4
/** Longer rows are decoded each time, bytes. */
const maxKeptBytes = 16_384
/** Bytes of a device in the columns: id, group, flags, driver and time. `arenaBytes` counts the span of its row. */
const columnBytes = 29
/** Estimated memory of a fleet beside its devices: 2 kB of heap, and its buffers, each with what the allocator adds. */
const fleetBytes = 6_000

const toRow = recordMaker(wireDevice)
/** The start of a row's compact text, where the shape has id and name; a row without a name has it elsewhere, or none. */
const idAndName = /^\[(?:\d+|"\d+"),("(?:[^"\\]|\\.)*")/

/** Whether decoding needs the account's zone. */
export const needsZone = ({ flags }: FleetColumns): boolean => flags.some((flag) => (flag & needsZoneFlag) !== 0)

export interface DeviceFilter {
  status?: DeviceStatus | undefined
  /** Ascending, each once. */
  ids?: readonly number[] | undefined
  /** Unix seconds. */
  updatedSince?: number | undefined
}

export class Fleet implements Sliceable<Device> {
  readonly #columns: FleetColumns
  readonly #zone: Zone | undefined
  readonly #isWallClock: boolean
  /** When the list was requested, monotonic milliseconds. */
  readonly sentAt: number
  readonly #decoded = new BoundedMap<number, Device>(maxDecoded)
  /** Driver → device. */
  #byDriver: Map<number, number> | undefined

  /**
   * @param zone the account's zone, where it is needed and known.
   * @param isWallClock the Unix times of the rows are the wall clock of the zone; those of the columns have been corrected.
   */
  constructor(columns: FleetColumns, zone: Zone | undefined, isWallClock = false, sentAt = 0) {
    this.#columns = columns
    this.#zone = zone
    this.#isWallClock = isWallClock
    this.sentAt = sentAt
  }

  get length(): number {
    return this.#columns.ids.length
  }

  /** When the list was requested, Unix milliseconds. */
  get requestedAt(): number {
    return this.#columns.now
  }

  /** Estimated memory, bytes: with the devices and responses that may be kept. */
  get bytes(): number {
    const { rows, groups } = this.#columns
    const titles = groups.reduce((sum, title = '') => sum + title.length, 0)
    return fleetBytes + arenaBytes(rows) + titles + columnBytes * this.length + 3 * this.maxResponseBytes
  }

  /** Memory for serialized responses of this list: half the estimate for the kept devices, enough to serialize each of them once. */
  get maxResponseBytes(): number {
    return this.bytesOf(Math.min(this.length, maxDecoded) / 2)
  }

  /** Estimated memory of `devices` decoded devices, whole bytes. */
  bytesOf(devices: number): number {
    const rowBytes = arenaBytes(this.#columns.rows) / Math.max(1, this.length)
    return Math.ceil(devices * Math.max(decodedBytes, decodedFactor * rowBytes))
  }

  /** Ids, ascending. */
  get ids(): number[] {
    return Array.from(this.#columns.ids)
  }

  /**
   * The devices at these indexes, by ascending id. Those of a page are not kept: V8 would copy them all at its next collection, 3 ms for 15
   * pages of 50.
   */
  slice(from: number, to: number): Device[] {
    const count = Math.max(0, Math.min(to, this.length) - from)
    return Array.from({ length: count }, (_, at) => this.#decode(from + at))
  }

  /** The devices that a filter selects, by ascending id. */
  where({ status, ids, updatedSince = 0 }: DeviceFilter): Sliceable<Device> {
    const { flags, updated } = this.#columns
    const isStatus = (index: number): boolean =>
      status === undefined || statuses[(flags[index] as number) & statusMask] === status
    const candidates = ids?.map((id) => this.#indexOf(id)).filter((index) => index >= 0) ?? [...flags.keys()]
    const indexes = candidates.filter((index) => isStatus(index) && (updated[index] as number) >= updatedSince)
    return {
      length: indexes.length,
      slice: (from, to) => indexes.slice(from, to).map((index) => this.#decode(index)),
    }
  }

  has(id: number): boolean {
    return this.#indexOf(id) >= 0
  }

  get(id: number): Device | undefined {
    const index = this.#indexOf(id)
    return index < 0 ? undefined : this.#kept(index)
  }

  /** The platform's row of a device. */
  row(id: number): WireDevice | undefined {
    const index = this.#indexOf(id)
    return index < 0 ? undefined : this.#row(index)
  }

  /** The name of a device, for a tenth of the work of the whole device. */
  name(id: number): string | undefined {
    const index = this.#indexOf(id)
    if (index < 0) return undefined
    const [, name] = idAndName.exec(textAt(this.#columns.rows, index)) ?? []
    return (name === undefined ? undefined : text(JSON.parse(name))) ?? deviceName(this.#row(index))
  }

  /** The first device whose current driver this is. */
  withDriver(driver: number): number | undefined {
    if (this.#byDriver === undefined) {
      const { ids, drivers } = this.#columns
      this.#byDriver = new Map([...drivers].map((id, index) => [id, ids[index] as number] as const).reverse())
    }
    return this.#byDriver.get(driver)
  }

  /** Ids of the devices whose rows have maintenance services, or a list of them. */
  withServices(source: ServiceSource): number[] {
    const flag = serviceFlags[source]
    return this.ids.filter((_id, index) => ((this.#columns.flags[index] as number) & flag) !== 0)
  }

  #kept(index: number): Device {
    const known = this.#decoded.get(index)
    if (known) return known
    const device = this.#decode(index)
    if ((this.#columns.rows.spans[3 * index + 2] as number) > maxKeptBytes) return device
    this.#decoded.set(index, device)
    return device
  }

  #decode(index: number): Device {
    const device = toDevice(this.#row(index), this.#columns.now, this.#zone)
    if (!device) throw new Error('a row without an id is in the fleet')
    return device
  }

  #row(index: number): WireDevice {
    const { rows, groups, groupOf, now } = this.#columns
    const row = toRow(textAt(rows, index)) as WireDevice
    row.group = groups[groupOf[index] as number]
    if (this.#isWallClock && this.#zone) correctTimes(row, this.#zone, now)
    return row
  }

  /** Binary search; -1 where there is no such device. */
  #indexOf(id: number): number {
    const { ids } = this.#columns
    let [low, high] = [0, ids.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = ids[middle] as number
      if (found === id) return middle
      if (found < id) low = middle + 1
      else high = middle - 1
    }
    return -1
  }
}
