/** A large fleet as the reading thread packs it: bytes and indexes, of which objects are made when somebody asks for them. Knows no thread. */

import { read } from '../platform/shape.js'
import { type WireDevice, wireDevice } from '../platform/wire.js'
import { type Device, type DeviceStatus, toDevice } from '../resources/device.js'
import type { Sliceable } from '../resources/list.js'
import type { Zone } from '../resources/zone.js'
import { type ById, deviceBytes, type Fleet } from './fleet.js'
import { type Texts, textAt } from './packed-texts.js'
import { rowOfRest } from './rest.js'

/** Devices by id, ascending, all in the same order. */
export interface Packed {
  ids: Float64Array
  devices: Texts
  /** The rest of each row (`rest.ts`), or the whole row where only the account's zone can tell the device. */
  rows: Texts
  /** Place of the status in `statuses`, and `needsZone` where only the account's zone can tell the device. */
  marks: Uint8Array
  /** Unix milliseconds at which the devices were translated. */
  now: number
  /** Rows that made no device. */
  skipped: number
  /** The platform's words for a device's state that we do not know, with the number of rows that have them. */
  words: [string, number][]
}

export const statuses: readonly DeviceStatus[] = ['online', 'offline', 'moving']
export const needsZoneMark = 4

/** Objects kept of a fleet, so that what is asked for again is the same object. */
const mostMade = 1_000

/** The place of an id among ascending ones, -1 where it is none of them. */
function placeOf(ids: Float64Array, id: number): number {
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

/** A value for each id, made when it is asked for. */
class Made<T extends object> implements ById<T> {
  readonly #ids: Float64Array
  readonly #make: (at: number) => T
  readonly #known = new Map<number, T>()

  constructor(ids: Float64Array, make: (at: number) => T) {
    this.#ids = ids
    this.#make = make
  }

  at(at: number): T {
    const known = this.#known.get(at)
    if (known !== undefined) return known
    const made = this.#make(at)
    if (this.#known.size >= mostMade) this.#known.clear()
    this.#known.set(at, made)
    return made
  }

  get(id: number): T | undefined {
    const at = placeOf(this.#ids, id)
    return at < 0 ? undefined : this.at(at)
  }

  has(id: number): boolean {
    return placeOf(this.#ids, id) >= 0
  }

  *values(): Iterable<T> {
    for (let at = 0; at < this.#ids.length; at++) yield this.#make(at)
  }

  *[Symbol.iterator](): Iterator<[number, T]> {
    for (let at = 0; at < this.#ids.length; at++) yield [this.#ids[at] as number, this.#make(at)]
  }
}

const slicesOf = <T extends object>(made: Made<T>, places: { length: number; at: (i: number) => number }) => ({
  length: places.length,
  slice: (from: number, to: number): T[] =>
    Array.from({ length: Math.max(0, Math.min(to, places.length) - from) }, (_, i) => made.at(places.at(from + i))),
})

/** Whether a device of the fleet can be told only with the account's zone. */
export const wantsZone = ({ marks }: Packed): boolean => marks.some((mark) => (mark & needsZoneMark) !== 0)

/** @param zone the account's zone, where it is wanted and known. */
export function unpacked(packed: Packed, zone: Zone | undefined): Fleet {
  const { ids, devices, rows, marks, now } = packed
  const row = (at: number): WireDevice => {
    const kept: unknown = JSON.parse(textAt(rows, at))
    return Array.isArray(kept) ? rowOfRest(kept) : read(wireDevice, kept)
  }
  const device = (at: number): Device => {
    const isOfZone = zone !== undefined && ((marks[at] as number) & needsZoneMark) !== 0
    const device: Device = JSON.parse(textAt(devices, at))
    const { last_seen } = (isOfZone && toDevice(row(at), now, zone)) || device
    return { ...device, last_seen }
  }
  const byId = new Made(ids, device)
  return {
    devices: { ...slicesOf(byId, { length: ids.length, at: (i) => i }), withStatus: (status) => of(status) },
    byId,
    rows: new Made(ids, row),
    bytes: devices.bytes.byteLength + rows.bytes.byteLength + 20 * ids.length + 2 * mostMade * deviceBytes,
  }

  function of(status: DeviceStatus): Sliceable<Device> {
    const wanted = statuses.indexOf(status)
    const places: number[] = []
    for (let at = 0; at < marks.length; at++) if (((marks[at] as number) & 3) === wanted) places.push(at)
    return slicesOf(byId, { length: places.length, at: (i) => places[i] as number })
  }
}
