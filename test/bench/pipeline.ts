/** One process that reads the same device list again and again: `node pipeline.js <parse|project> <file> <rounds>`; prints milliseconds and peak memory. */
import { createReadStream, readFileSync } from 'node:fs'
import { pageOf } from '../../src/platform/pages.js'
import { plans } from '../../src/platform/plans.js'
import { Projector } from '../../src/platform/projector.js'
import { read } from '../../src/platform/shape.js'
import { wireGroup } from '../../src/platform/wire.js'
import { toDevice } from '../../src/resources/device.js'
import { translated } from '../../src/resources/list.js'
import { memoryOf } from './parts.js'
import { median } from './table.js'

const [how = '', file = '', rounds = '1'] = process.argv.slice(2)

const parsed = async (): Promise<unknown> => JSON.parse(readFileSync(file, 'utf8'))

async function projected(): Promise<unknown> {
  const plan = plans.get_devices
  if (!plan) throw new Error('the device list has no plan')
  const projector = new Projector(plan)
  for await (const chunk of createReadStream(file, { highWaterMark: 64 * 1024 })) projector.write(chunk)
  return projector.end()
}

const took: number[] = []
for (let round = 0; round < Number(rounds); round += 1) {
  const started = performance.now()
  const body = await (how === 'parse' ? parsed() : projected())
  const groups = read([wireGroup] as const, pageOf(body).rows)
  const rows = groups.flatMap(({ title, items }) => items.map((item) => ({ ...item, group: String(title) })))
  const { items } = translated(rows, (row) => toDevice(row, Date.now()))
  JSON.stringify(items)
  took.push(performance.now() - started)
}
process.stdout.write(JSON.stringify({ ms: Math.round(median(took)), peakMb: memoryOf(process.pid, 'VmHWM') }))
