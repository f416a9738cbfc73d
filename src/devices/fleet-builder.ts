/** Packs a device list as its rows arrive: sorts them out by a few fields and keeps all else as text. Runs in the reading thread; knows neither threads nor bytes of answers. */

import { recordMaker } from '../lib/json-rows/index.js'
import { type Row, textOfRecord } from '../lib/json-rows/row.js'
import { TextArenaBuilder } from '../lib/text-arena.js'
import { Digest } from '../platform/digest.js'
import { looksCut, pageOf } from '../platform/pages.js'
import { failureOfData } from '../platform/response.js'
import { itemsOf, read } from '../platform/shape.js'
import { type WireDevice, wireDevice } from '../platform/wire.js'
import type { Work } from '../platform/work.js'
import { deviceId, isKnownState, needsZone, statusOf } from '../resources/device.js'
import { driverIdOf } from '../resources/driver.js'
import { id } from '../resources/units.js'
import { hasServices } from './fleet.js'
import { listsServicesMark, needsZoneMark, type Packed, showsServicesMark, statuses } from './fleet-columns.js'
import { placesIn, type Signs, signsOf } from './indexed-fields.js'

/** Unknown words remembered of one list. */
const mostWords = 50
const longestWord = 100

/** What stands for a row in the answer: the number of its arrival, from 0. All else of it is in columns, as thousands of objects that stay cost most. */
class Arrived {
  readonly at: number

  constructor(at: number) {
    this.at = at
  }
}

/** Rows in the order of the answer, by the numbers of their arrival, with the titles of their groups. */
interface Gathered {
  rows: number[]
  titles: (string | undefined)[]
  /** Groups and rows that were no records. */
  skipped: number
}

/** @param now Unix milliseconds, see `statusOf`. */
export function packing(now: number): Work {
  const list = new ArrivingList(now)
  return {
    onRow: (row) => list.add(row),
    finish: (data) => {
      if (failureOfData('get_devices', data) !== undefined) return { projected: data }
      const gathered = list.gathered(data)
      if (looksCut(gathered.rows.length)) return { projected: list.whole(gathered) }
      const value = list.packed(gathered)
      const { ids, rows, groupOf, marks, drivers } = value
      const arrays = [ids, rows.spans, ...rows.blocks, groupOf, marks, drivers]
      return new Digest(
        value,
        gathered.skipped,
        arrays.map(({ buffer }) => buffer as ArrayBuffer),
      )
    },
  }
}

class ArrivingList {
  readonly #now: number
  readonly #texts = new TextArenaBuilder()
  readonly #words = new Map<string, number>()
  /** What tells rows apart: ids in either spelling as numbers, all else as text. */
  readonly #keys: (number | string)[] = []
  /** Ids of devices; 0 where a row makes none. */
  readonly #ids: number[] = []
  readonly #marks: number[] = []
  /** Ids of drivers; 0 for none. */
  readonly #drivers: number[] = []
  #places: ReturnType<typeof placesIn> | undefined

  constructor(now: number) {
    this.#now = now
  }

  add(row: Row): Arrived {
    this.#texts.add(row.length, (to, from) => row.copy(to, from))
    this.#places ??= placesIn(row)
    return this.#sortOut(signsOf(row, this.#places))
  }

  /** A row that did not come by itself. */
  #addRecord(row: WireDevice): Arrived {
    const bytes = Buffer.from(textOfRecord(wireDevice, row))
    this.#texts.add(bytes.length, (to, from) => bytes.copy(to, from))
    const [listsServices, showsServices] = [hasServices(row, 'listed'), hasServices(row, 'shown')]
    return this.#sortOut({ row, listsServices, showsServices })
  }

  #sortOut({ row, listsServices, showsServices }: Signs): Arrived {
    if (!isKnownState(row)) this.#count(String(row.online).slice(0, longestWord))
    const key = row.id ?? row.device_data.id
    this.#keys.push(id(key) ?? String(key))
    this.#ids.push(deviceId(row) ?? 0)
    this.#drivers.push(driverIdOf(row) ?? 0)
    const at = this.#marks.push(
      statuses.indexOf(statusOf(row, this.#now)) |
        (needsZone(row) ? needsZoneMark : 0) |
        (listsServices ? listsServicesMark : 0) |
        (showsServices ? showsServicesMark : 0),
    )
    return new Arrived(at - 1)
  }

  #count(word: string): void {
    const { size } = this.#words
    if (this.#words.has(word) || size < mostWords) this.#words.set(word, (this.#words.get(word) ?? 0) + 1)
  }

  gathered(data: unknown): Gathered {
    const rows: number[] = []
    const titles: Gathered['titles'] = []
    const groups = itemsOf(pageOf(data).rows)
    const records = groups.filter(isRecord)
    let skipped = groups.length - records.length
    for (const group of records) {
      const sent = read('scalar', group.title)
      const title = sent === undefined ? undefined : String(sent)
      for (const item of itemsOf(group.items)) {
        if (!isRecord(item)) {
          skipped++
          continue
        }
        rows.push((item instanceof Arrived ? item : this.#addRecord(read(wireDevice, item))).at)
        titles.push(title)
      }
    }
    return { rows, titles, skipped }
  }

  /** The rows as an answer holds them, each in a group of its own. */
  whole({ rows, titles }: Gathered): object[] {
    return rows.map((at, i) => ({ title: titles[i], items: [makeRecord(this.#texts.text(at))] }))
  }

  packed({ rows, titles }: Gathered): Packed {
    const seen = new Set<number | string>()
    const own = [...rows.keys()].filter((i) => {
      const key = this.#keys[rows[i] as number] as number | string
      return !seen.has(key) && seen.add(key)
    })
    const idOf = (i: number): number => this.#ids[rows[i] as number] as number
    const sorted = own.filter((i) => idOf(i) > 0).sort((a, b) => idOf(a) - idOf(b))
    const { length } = sorted
    const [ids, drivers] = [new Float64Array(length), new Float64Array(length)]
    const [groupOf, marks] = [new Uint32Array(length), new Uint8Array(length)]
    const groups = new Map<string | undefined, number>()
    for (const [at, i] of sorted.entries()) {
      const group = groups.get(titles[i]) ?? groups.size
      if (group === groups.size) groups.set(titles[i], group)
      groupOf[at] = group
      const row = rows[i] as number
      ids[at] = this.#ids[row] as number
      drivers[at] = this.#drivers[row] as number
      marks[at] = this.#marks[row] as number
    }
    return {
      ids,
      rows: this.#texts.build(sorted.map((i) => rows[i] as number)),
      groups: [...groups.keys()],
      groupOf,
      marks,
      drivers,
      now: this.#now,
      skipped: own.length - length,
      words: [...this.#words],
    }
  }
}

const makeRecord = recordMaker(wireDevice)

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)
