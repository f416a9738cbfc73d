/** Packs a device list as its rows arrive. Runs in the reading thread; knows neither threads nor bytes of answers. */
import { needsZoneMark, type Packed, statuses, type Texts } from './packed.js'
import { failureOfData } from './platform/answer.js'
import { largestPage, looksCut, pageOf } from './platform/pages.js'
import { itemsOf, read } from './platform/shape.js'
import type { Work } from './platform/thread-work.js'
import { keyOf, type WireDevice, wireDevice } from './platform/wire.js'
import { type Device, groupName, isKnownState, needsZone, restOf, toDevice } from './resources/device.js'

/** Unknown words remembered of one list. */
const mostWords = 50
const longestWord = 100

/** What stands for a row once it is translated. */
class Translated {
  readonly key: string
  readonly device: Device | undefined
  /** JSON of what is kept of the row. */
  readonly rest: string
  readonly wantsZone: boolean
  /** Only as long as all rows together may be one page of a longer list. */
  readonly row: WireDevice | undefined

  constructor(row: WireDevice, now: number, isKept: boolean) {
    this.key = keyOf(row)
    this.device = toDevice(row, now)
    this.wantsZone = this.device?.last_seen === null && needsZone(row)
    this.rest = JSON.stringify(this.wantsZone ? row : restOf(row))
    this.row = isKept ? row : undefined
  }
}

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)

/** @param now Unix milliseconds, see `toDevice`. */
export function packing(now: number): Work {
  let rows = 0
  const words = new Map<string, number>()
  const translated = (row: WireDevice): Translated => {
    if (!isKnownState(row)) count(words, String(row.online).slice(0, longestWord))
    return new Translated(row, now, ++rows <= largestPage)
  }
  return {
    onRow: translated,
    finish: (data) => {
      if (failureOfData('get_devices', data) !== undefined) return { projected: data }
      const { all, skipped } = gathered(data, translated)
      if (looksCut(all.length)) return { projected: plain(all) }
      const packed = packedOf(all, now, [...words])
      const { ids, devices, rows, marks } = packed
      const transfer = [ids, devices.bytes, devices.starts, rows.bytes, rows.starts, marks].map(({ buffer }) => buffer)
      return { value: packed, skipped, transfer: transfer as ArrayBuffer[] }
    },
  }
}

function count(words: Map<string, number>, word: string): void {
  if (words.has(word) || words.size < mostWords) words.set(word, (words.get(word) ?? 0) + 1)
}

/** Every row with its group's title, in the order of the answer, and how many groups and rows were no records. */
function gathered(data: unknown, translated: (row: WireDevice) => Translated) {
  const all: { row: Translated; title: string | undefined }[] = []
  let skipped = 0
  for (const group of itemsOf(pageOf(data).rows)) {
    if (!isRecord(group)) {
      skipped++
      continue
    }
    const title = read('scalar', group.title)
    for (const item of itemsOf(group.items)) {
      if (!isRecord(item)) skipped++
      else
        all.push({
          row: item instanceof Translated ? item : translated(read(wireDevice, item)),
          title: title === undefined ? undefined : String(title),
        })
    }
  }
  return { all, skipped }
}

type Gathered = ReturnType<typeof gathered>['all']

/** The rows as an answer holds them. */
const plain = (all: Gathered): object[] => all.map(({ row, title }) => ({ title, items: [row.row] }))

function packedOf(all: Gathered, now: number, words: [string, number][]): Packed {
  const seen = new Set<string>()
  const found: (Translated & { device: Device })[] = []
  let skipped = 0
  for (const { row, title } of all) {
    if (seen.has(row.key)) continue
    seen.add(row.key)
    if (row.device === undefined) skipped++
    else {
      row.device.group = groupName(title)
      found.push(row as Translated & { device: Device })
    }
  }
  const sorted = found.sort((a, b) => a.device.id - b.device.id)
  return {
    ids: Float64Array.from(sorted, ({ device }) => device.id),
    devices: textsOf(sorted.map(({ device }) => JSON.stringify(device))),
    rows: textsOf(sorted.map(({ rest }) => rest)),
    marks: Uint8Array.from(sorted, markOf),
    now,
    skipped,
    words,
  }
}

const markOf = ({ device, wantsZone }: Translated & { device: Device }): number =>
  statuses.indexOf(device.status) | (wantsZone ? needsZoneMark : 0)

function textsOf(texts: string[]): Texts {
  const starts = new Uint32Array(texts.length + 1)
  for (const [i, text] of texts.entries()) starts[i + 1] = (starts[i] as number) + Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafeSlow(starts.at(-1) as number)
  for (const [i, text] of texts.entries()) bytes.write(text, starts[i] as number)
  return { bytes, starts }
}
