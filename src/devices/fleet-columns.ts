/** A large fleet as the reading thread packs it: bytes and indexes, of which objects are made when somebody asks for them. Knows no thread. */

import { recordMaker } from '../lib/json-rows/index.js'
import { arenaBytes, type TextArena, textAt } from '../lib/text-arena.js'
import { type WireDevice, wireDevice } from '../platform/wire.js'
import { type Device, type DeviceStatus, toDevice } from '../resources/device.js'
import type { Zone } from '../resources/zone.js'
import { type ById, deviceBytes, type Fleet } from './fleet.js'

const makeRow = recordMaker(wireDevice)

/** Devices by id, ascending, all in the same order. */
export interface Packed {
  ids: Float64Array
  /** Their rows, by the shape `wireDevice` (`recordMaker`). */
  rows: TextArena
  /** Titles of groups, and which of them each device is in. */
  groups: (string | undefined)[]
  groupOf: Uint32Array
  /** The place of the status in `statuses`, and the marks below. */
  marks: Uint8Array
  /** Ids of their drivers; 0 for none. */
  drivers: Float64Array
  /** Unix milliseconds at which the devices were as they are told to be. */
  now: number
  /** Rows that made no device. */
  skipped: number
  /** The platform's words for a device's state that we do not know, with the number of rows that have them. */
  words: [string, number][]
}

export const statuses: readonly DeviceStatus[] = ['online', 'offline', 'moving']
const statusMarks = 3
/** Only the account's zone can tell when the device was last seen. */
export const needsZoneMark = 4
/** The row has maintenance services, as records or as lines of text. */
export const listsServicesMark = 8
export const showsServicesMark = 16

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

  /** One of many: of a list that is too long to be kept they would only push each other out. */
  ofPage(at: number): T {
    return this.#ids.length <= mostMade ? this.#at(at) : (this.#known.get(at) ?? this.#make(at))
  }

  #at(at: number): T {
    const known = this.#known.get(at)
    if (known !== undefined) return known
    const made = this.#make(at)
    if (this.#known.size >= mostMade) this.#known.clear()
    this.#known.set(at, made)
    return made
  }

  get(id: number): T | undefined {
    const at = placeOf(this.#ids, id)
    return at < 0 ? undefined : this.#at(at)
  }

  has(id: number): boolean {
    return placeOf(this.#ids, id) >= 0
  }
}

const slicesOf = <T extends object>(made: Made<T>, places: { length: number; at: (i: number) => number }) => ({
  length: places.length,
  slice: (from: number, to: number): T[] =>
    Array.from({ length: Math.max(0, Math.min(to, places.length) - from) }, (_, i) => made.ofPage(places.at(from + i))),
})

/** Whether a device of the fleet can be told only with the account's zone. */
export const wantsZone = ({ marks }: Packed): boolean => marks.some((mark) => (mark & needsZoneMark) !== 0)

/** @param zone the account's zone, where it is wanted and known. */
export function unpacked(packed: Packed, zone: Zone | undefined): Fleet {
  const { ids, groups, groupOf, marks, drivers, now } = packed
  const row = (at: number): WireDevice => {
    const made = makeRow(textAt(packed.rows, at)) as WireDevice
    made.group = groups[groupOf[at] as number]
    return made
  }
  const rows = new Made(ids, row)
  const byId = new Made(ids, (at) => deviceOf(row(at), now, zone))
  const marked = (mask: number, mark: number): number[] => {
    const places: number[] = []
    for (let at = 0; at < marks.length; at++) if (((marks[at] as number) & mask) === mark) places.push(at)
    return places
  }
  const idAt = (at: number): number => ids[at] as number
  return {
    devices: {
      ...slicesOf(byId, { length: ids.length, at: (i) => i }),
      withStatus: (status) => {
        const places = marked(statusMarks, statuses.indexOf(status))
        return slicesOf(byId, { length: places.length, at: (i) => places[i] as number })
      },
    },
    byId,
    rows,
    ids: () => Array.from(ids),
    drivers: {
      *[Symbol.iterator]() {
        for (let at = 0; at < drivers.length; at++)
          if (drivers[at] !== 0) yield [idAt(at), drivers[at] as number] as const
      },
    },
    servicing: (how) => {
      const mark = how === 'listed' ? listsServicesMark : showsServicesMark
      return marked(mark, mark).map(idAt)
    },
    bytes: arenaBytes(packed.rows) + 25 * ids.length + 2 * mostMade * deviceBytes,
  }
}

function deviceOf(row: WireDevice, now: number, zone: Zone | undefined): Device {
  const device = toDevice(row, now, zone)
  if (device === undefined) throw new Error('a row without an id was packed')
  return device
}
