/** Measures RowReader against `JSON.parse` on lists of 10,000 rows: `node json-rows.js [rows] [rounds]`. */
import { RowReader } from '../../src/lib/json-rows/index.js'

const CHUNK = 1 << 16
const s = 'scalar' as const
const shape = {
  ...{ id: s, name: s, online: s, time: s, lat: s, lng: s, speed: s, course: s, driver: { id: s, name: s } },
  sensors: [{ type: s, name: s, value: s }],
} as const

/** About 3 kB, of which 300 bytes are kept. */
function row(id: number): object {
  const text = (length: number) => 'lorem ipsum \u00e4 dolor '.repeat(length).slice(0, length)
  const sensor = (type: string) => ({ id, type, name: type, value: `${id % 97} V`, color: null, hidden: false })
  return {
    ...{ id, name: `Vehicle ${id}`, online: 'online', time: '2026-05-12 07:00:00', lat: 48 + id / 9973, lng: 9.5 },
    ...{ icon: { type: 'icon', width: 48, height: 32 }, speed: id % 90, course: id % 360, driver: { id, name: 'A' } },
    sensors: ['acc', 'battery', 'odometer'].map(sensor),
    tail: Array.from({ length: 12 }, (_, step) => ({ lat: (48 + step / 911).toFixed(8), lng: '9.00123000' })),
    device_data: {
      ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field_${at}`, at % 3 ? at : null])),
      ...{ parameters: text(300), other: text(500), users: [{ id: 31, email: 'owner@example.com' }] },
    },
  }
}

function readAll(bytes: Buffer): unknown {
  let length = 0
  const reader = new RowReader({
    ...{ shape, listName: 'items', normalize: (record) => record, maxEnvelopeBytes: 1 << 24, maxRowBytes: 1 << 20 },
    onRow: (row) => {
      length += row.length
    },
  })
  for (let from = 0; from < bytes.length; from += CHUNK) reader.write(bytes.subarray(from, from + CHUNK))
  return [reader.end(), length]
}

/** Best of all rounds in milliseconds of processor time, which other processes disturb less than the clock. */
function best(rounds: number, work: () => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const start = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

const rows = Array.from({ length: Number(process.argv[2] ?? 10_000) }, (_, at) => row(at + 1))
const rounds = Number(process.argv[3] ?? 9)
const list = [{ title: 'Group', items: rows }]
const layouts = {
  compact: JSON.stringify(list),
  'pretty-printed': JSON.stringify(list, undefined, 4),
  'a blank after each colon and comma': JSON.stringify(list, undefined, 1).replace(/\n */g, ' '),
  'one number with an exponent in each row': JSON.stringify(list).replaceAll('"lng":9.5', '"lng":9.5e0'),
}
for (const [name, text] of Object.entries(layouts)) {
  const bytes = Buffer.from(text)
  const [parse, read] = [best(rounds, () => JSON.parse(bytes.toString())), best(rounds, () => readAll(bytes))]
  const speed = (ms: number) => `${(bytes.length / 1000 / ms).toFixed(0)} MB/s (${ms.toFixed(0)} ms)`
  console.log(`${name}, ${(bytes.length / 1e6).toFixed(1)} MB: JSON.parse ${speed(parse)}, RowReader ${speed(read)}`)
}
