/** Packs a device list as its rows arrive: sorts them out by a few fields and keeps all else as text. Runs in the reading thread; knows neither threads nor bytes of answers. */

import { failureOfData } from '../platform/answer.js'
import { Digest } from '../platform/digest.js'
import { looksCut, pageOf } from '../platform/pages.js'
import type { Row } from '../platform/row.js'
import { recordMaker, textOfRecord } from '../platform/row-text.js'
import { itemsOf, read } from '../platform/shape.js'
import { keyOf, type WireDevice, wireDevice } from '../platform/wire.js'
import type { Work } from '../platform/work.js'
import { type DeviceState, deviceId, isKnownState, needsZone, statusOf } from '../resources/device.js'
import { type DriverSource, driverIdOf } from '../resources/driver.js'
import { hasServices } from './fleet.js'
import { listsServicesMark, needsZoneMark, type Packed, showsServicesMark, statuses } from './packed.js'
import { type Place, TextBlocks } from './texts.js'

/** Unknown words remembered of one list. */
const mostWords = 50
const longestWord = 100

/** What a row is sorted out by. */
interface Signs {
  row: DeviceState & DriverSource
  listsServices: boolean
  showsServices: boolean
}

/** What stands for a row in the list. */
class Arrived {
  readonly key: string
  /** 0 where the row makes no device. */
  readonly id: number
  readonly mark: number
  /** 0 where the device has none. */
  readonly driver: number
  readonly text: Place

  constructor(key: string, id: number, mark: number, driver: number, text: Place) {
    this.key = key
    this.id = id
    this.mark = mark
    this.driver = driver
    this.text = text
  }
}

/** An arrived row in its group. */
interface Grouped {
  row: Arrived
  title: string | undefined
}

function signsOf(row: Row): Signs {
  return {
    row: {
      id: row.scalar('id'),
      online: row.scalar('online'),
      time: row.scalar('time'),
      timestamp: row.scalar('timestamp'),
      acktimestamp: row.scalar('acktimestamp'),
      speed: row.scalar('speed'),
      distance_unit_hour: row.scalar('distance_unit_hour'),
      driver_data: { id: row.scalar('driver_data.id') },
      device_data: {
        id: row.scalar('device_data.id'),
        min_moving_speed: row.scalar('device_data.min_moving_speed'),
        current_driver_id: row.scalar('device_data.current_driver_id'),
      },
    },
    listsServices: row.has('device_data.services'),
    showsServices: row.has('services'),
  }
}

/** @param now Unix milliseconds, see `statusOf`. */
export function packing(now: number): Work {
  const list = new ArrivingList(now)
  return {
    onRow: (row) => list.add(row),
    finish: (data) => {
      if (failureOfData('get_devices', data) !== undefined) return { projected: data }
      const { all, skipped } = list.gathered(data)
      if (looksCut(all.length)) return { projected: all.map((each) => list.whole(each)) }
      const value = list.packed(all)
      const { ids, rows, groupOf, marks, drivers } = value
      const arrays = [ids, rows.places, ...rows.blocks, groupOf, marks, drivers]
      return new Digest(
        value,
        skipped,
        arrays.map(({ buffer }) => buffer as ArrayBuffer),
      )
    },
  }
}

class ArrivingList {
  readonly #now: number
  readonly #texts = new TextBlocks()
  readonly #words = new Map<string, number>()

  constructor(now: number) {
    this.#now = now
  }

  add(row: Row): Arrived {
    const text = this.#texts.add(row.length, (to, from) => row.copy(to, from))
    return this.#sorted(signsOf(row), text)
  }

  /** A row that did not come by itself. */
  #addRecord(row: WireDevice): Arrived {
    const bytes = Buffer.from(textOfRecord(wireDevice, row))
    const text = this.#texts.add(bytes.length, (to, from) => bytes.copy(to, from))
    const [listsServices, showsServices] = [hasServices(row, 'listed'), hasServices(row, 'shown')]
    return this.#sorted({ row, listsServices, showsServices }, text)
  }

  #sorted({ row, listsServices, showsServices }: Signs, text: Place): Arrived {
    if (!isKnownState(row)) this.#count(String(row.online).slice(0, longestWord))
    const mark =
      statuses.indexOf(statusOf(row, this.#now)) |
      (needsZone(row) ? needsZoneMark : 0) |
      (listsServices ? listsServicesMark : 0) |
      (showsServices ? showsServicesMark : 0)
    return new Arrived(keyOf(row), deviceId(row) ?? 0, mark, driverIdOf(row) ?? 0, text)
  }

  #count(word: string): void {
    const { size } = this.#words
    if (this.#words.has(word) || size < mostWords) this.#words.set(word, (this.#words.get(word) ?? 0) + 1)
  }

  /** Every row with its group's title, in the order of the answer, and how many groups and rows were no records. */
  gathered(data: unknown): { all: Grouped[]; skipped: number } {
    const all: Grouped[] = []
    const groups = itemsOf(pageOf(data).rows)
    const records = groups.filter(isRecord)
    let skipped = groups.length - records.length
    for (const group of records) {
      const sent = read('scalar', group.title)
      const title = sent === undefined ? undefined : String(sent)
      for (const item of itemsOf(group.items)) {
        if (item instanceof Arrived) all.push({ row: item, title })
        else if (isRecord(item)) all.push({ row: this.#addRecord(read(wireDevice, item)), title })
        else skipped++
      }
    }
    return { all, skipped }
  }

  /** A row as an answer holds it, in a group of its own. */
  whole({ row, title }: Grouped): object {
    return { title, items: [makeRecord(this.#texts.text(row.text))] }
  }

  packed(all: readonly Grouped[]): Packed {
    const seen = new Set<string>()
    const own = all.filter(({ row: { key } }) => !seen.has(key) && seen.add(key))
    const sorted = own.filter(({ row }) => row.id > 0).sort((a, b) => a.row.id - b.row.id)
    const groups = new Map<string | undefined, number>()
    for (const { title } of sorted) if (!groups.has(title)) groups.set(title, groups.size)
    return {
      ids: Float64Array.from(sorted, ({ row }) => row.id),
      rows: this.#texts.texts(sorted.map(({ row }) => row.text)),
      groups: [...groups.keys()],
      groupOf: Uint32Array.from(sorted, ({ title }) => groups.get(title) as number),
      marks: Uint8Array.from(sorted, ({ row }) => row.mark),
      drivers: Float64Array.from(sorted, ({ row }) => row.driver),
      now: this.#now,
      skipped: own.length - sorted.length,
      words: [...this.#words],
    }
  }
}

const makeRecord = recordMaker(wireDevice)

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)
