/** Packs a device list as its rows arrive. Runs in the reading thread; knows neither threads nor bytes of answers. */

import { failureOfData } from '../platform/answer.js'
import { largestPage, looksCut, pageOf } from '../platform/pages.js'
import { itemsOf, read } from '../platform/shape.js'
import type { Work } from '../platform/thread-work.js'
import { keyOf, type WireDevice, wireDevice } from '../platform/wire.js'
import { groupName, isKnownState, needsZone, toDevice } from '../resources/device.js'
import { needsZoneMark, type Packed, statuses } from './packed.js'
import { Bytes, joined, type Place } from './packed-texts.js'
import { restOf } from './rest.js'

/** Unknown words remembered of one list. */
const mostWords = 50
const longestWord = 100
/** How a device's JSON ends as long as its group, the last of its fields, is unknown. */
const noGroup = '""}'

/** What stands for a row once it is translated. */
class Translated {
  readonly key: string
  /** 0 where the row made no device. */
  readonly id: number
  readonly mark: number
  readonly device: Place
  readonly rest: Place
  /** The whole row, as long as all rows together may be one page of a longer list; as a text, since objects that stay cost most. */
  readonly whole: Place | undefined

  constructor(row: WireDevice, now: number, texts: Bytes, isWhole: boolean) {
    const device = toDevice(row, now)
    const wantsZone = device?.last_seen === null && needsZone(row)
    if (device) device.group = ''
    this.key = keyOf(row)
    this.id = device?.id ?? 0
    this.mark = device ? statuses.indexOf(device.status) | (wantsZone ? needsZoneMark : 0) : 0
    this.device = texts.add(JSON.stringify(device ?? ''))
    this.rest = texts.add(JSON.stringify(wantsZone ? row : restOf(row)))
    this.whole = isWhole ? texts.add(JSON.stringify(row)) : undefined
  }
}

/** A row in its group. */
interface Grouped {
  row: Translated
  title: string | undefined
}

/** @param now Unix milliseconds, see `toDevice`. */
export function packing(now: number): Work {
  let rows = 0
  const texts = new Bytes()
  const words = new Map<string, number>()
  const onRow = (row: WireDevice): Translated => {
    if (!isKnownState(row)) count(words, String(row.online).slice(0, longestWord))
    return new Translated(row, now, texts, ++rows <= largestPage)
  }
  return {
    onRow,
    finish: (data) => {
      if (failureOfData('get_devices', data) !== undefined) return { projected: data }
      const { all, skipped } = gathered(data, onRow)
      if (looksCut(all.length)) return { projected: all.map((each) => whole(each, texts)) }
      const value: Packed = { ...packed(all, texts), now, words: [...words] }
      const { ids, devices, rows, marks } = value
      const arrays = [ids, devices.bytes, devices.starts, rows.bytes, rows.starts, marks]
      return { value, skipped, transfer: arrays.map(({ buffer }) => buffer as ArrayBuffer) }
    },
  }
}

function count(words: Map<string, number>, word: string): void {
  if (words.has(word) || words.size < mostWords) words.set(word, (words.get(word) ?? 0) + 1)
}

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)

/** Every row with its group's title, in the order of the answer, and how many groups and rows were no records. */
function gathered(data: unknown, onRow: (row: WireDevice) => Translated): { all: Grouped[]; skipped: number } {
  const all: Grouped[] = []
  const groups = itemsOf(pageOf(data).rows)
  const records = groups.filter(isRecord)
  let skipped = groups.length - records.length
  for (const group of records) {
    const sent = read('scalar', group.title)
    const title = sent === undefined ? undefined : String(sent)
    for (const item of itemsOf(group.items)) {
      if (isRecord(item)) all.push({ row: item instanceof Translated ? item : onRow(read(wireDevice, item)), title })
      else skipped++
    }
  }
  return { all, skipped }
}

/** A row as an answer holds it, in a group of its own. */
const whole = ({ row, title }: Grouped, texts: Bytes): object => ({
  title,
  items: row.whole === undefined ? [] : [JSON.parse(texts.text(row.whole))],
})

function packed(all: readonly Grouped[], texts: Bytes): Omit<Packed, 'now' | 'words'> {
  const seen = new Set<string>()
  const own = all.filter(({ row: { key } }) => !seen.has(key) && seen.add(key))
  const sorted = own.filter(({ row }) => row.id > 0).sort((a, b) => a.row.id - b.row.id)
  const groups = new Map<string | undefined, Place>()
  for (const { title } of sorted)
    if (!groups.has(title)) groups.set(title, texts.add(`${JSON.stringify(groupName(title))}}`))
  const withoutGroup = ({ at, length }: Place): Place => ({ at, length: length - noGroup.length })
  return {
    ids: Float64Array.from(sorted, ({ row }) => row.id),
    devices: joined(
      texts,
      sorted.map(({ row, title }) => [withoutGroup(row.device), groups.get(title) as Place]),
    ),
    rows: joined(
      texts,
      sorted.map(({ row }) => [row.rest]),
    ),
    marks: Uint8Array.from(sorted, ({ row }) => row.mark),
    skipped: own.length - sorted.length,
  }
}
