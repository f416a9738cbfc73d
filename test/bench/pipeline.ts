/** One process that reads the same device list again and again: `node pipeline.js <parse|pack|all> <file> <rounds>`; prints milliseconds of processor time and peak memory. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { packing } from '../../src/devices/fleet-builder.js'
import { type Packed, unpacked } from '../../src/devices/fleet-columns.js'
import { Projector } from '../../src/lib/json-rows/projector.js'
import { Digest } from '../../src/platform/digest.js'
import { pageOf } from '../../src/platform/pages.js'
import { plans } from '../../src/platform/plans.js'
import { read } from '../../src/platform/shape.js'
import { wireGroup } from '../../src/platform/wire.js'
import { toDevice } from '../../src/resources/device.js'
import { translated } from '../../src/resources/list.js'
import { memoryOf } from './parts.js'
import { median } from './table.js'

const [how = '', file = '', rounds = '1'] = process.argv.slice(2)

/** As it would be without a projector: all of it parsed, translated and serialized. */
function parsed(): unknown {
  const groups = read([wireGroup] as const, pageOf(JSON.parse(readFileSync(file, 'utf8'))).rows)
  const rows = groups.flatMap(({ title, items }) => items.map((item) => ({ ...item, group: String(title) })))
  return JSON.stringify(translated(rows, (row) => toDevice(row, Date.now())).items)
}

/** As the reading thread does it: whatever is kept of each row is ready to be translated when somebody asks for it. */
function packed(): Packed {
  const plan = plans.get_devices
  if (!plan) throw new Error('the device list has no plan')
  const { onRow, finish } = packing(Date.now())
  const projector = new Projector(plan, onRow)
  const chunk = Buffer.alloc(256 * 1024)
  const from = openSync(file, 'r')
  for (let length = readSync(from, chunk); length > 0; length = readSync(from, chunk))
    projector.write(chunk.subarray(0, length))
  closeSync(from)
  const found = finish(projector.end())
  if (!(found instanceof Digest)) throw new Error('the list was not packed')
  return found.value as Packed
}

/** The same, and all of it asked for, by the longest pages there are. */
function answered(): unknown {
  const { devices } = unpacked(packed(), undefined)
  const pages: string[] = []
  for (let from = 0; from < devices.length; from += 500) pages.push(JSON.stringify(devices.slice(from, from + 500)))
  return pages
}

const ways: Record<string, () => unknown> = { parse: parsed, pack: packed, all: answered }

const took: number[] = []
for (let round = 0; round < Number(rounds); round += 1) {
  const before = process.cpuUsage()
  ways[how]?.()
  const { user, system } = process.cpuUsage(before)
  took.push((user + system) / 1000)
}
process.stdout.write(JSON.stringify({ ms: Math.round(median(took)), peakMb: memoryOf(process.pid, 'VmHWM') }))
