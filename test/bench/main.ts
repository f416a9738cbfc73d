/** `npm run bench -- [--quick] [--json] [--only <subject>]`, and `npm run bench -- soak --minutes <n>`. */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { cachedLocation, cachedPage, type Pace } from './cached.js'
import { growthByAccounts, growthByDevices, growthByInstances } from './growth.js'
import { besideLists, listPipeline, listThroughput } from './lists.js'
import { loader } from './load.js'
import { Parts, pins, stepAside } from './parts.js'
import { soak } from './soak.js'
import { startAndIdle } from './start.js'
import { floor, printed, type Table } from './table.js'
import { manyWaiting } from './waiting.js'

type Subject = (parts: Parts, pace: Pace) => Promise<Table>

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '30' },
  },
})

const isQuick = values.quick
const answers: Pace = isQuick ? { rounds: 2, seconds: 0.3, isQuick } : { rounds: 5, seconds: 2, isQuick }
/** A run of these lasts four times as long. */
const lists: Pace = isQuick ? { rounds: 2, seconds: 0.4, isQuick } : { rounds: 5, seconds: 1, isQuick }
const subjects: Record<string, [Subject, Pace]> = {
  location: [cachedLocation, answers],
  page: [cachedPage, answers],
  waiting: [manyWaiting, answers],
  pipeline: [listPipeline, lists],
  lists: [listThroughput, lists],
  beside: [besideLists, lists],
  devices: [growthByDevices, answers],
  accounts: [growthByAccounts, answers],
  instances: [growthByInstances, answers],
  start: [startAndIdle, answers],
}

const started = performance.now()
const secondsSince = (then: number): number => Math.round((performance.now() - then) / 1_000)
const show = (text: string): void => void process.stdout.write(`${text}\n`)
const tables: (Table & { seconds: number })[] = []

/** Whatever happens within, no process is left behind. */
async function measure(subject: (parts: Parts) => Promise<Table>): Promise<void> {
  const parts = new Parts()
  const end = (): void => void parts.end().finally(() => process.exit(1))
  process.once('SIGINT', end).once('SIGTERM', end)
  const begun = performance.now()
  try {
    const table = await subject(parts)
    tables.push({ ...table, seconds: secondsSince(begun) })
    if (!values.json) show(printed(table))
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
    await parts.end()
  }
}

/** What one and the same server varies by is what no difference can be trusted below. */
function noise(): string {
  const bare = tables.flatMap(({ rows }) => rows.filter(({ name }) => name === floor))
  if (bare.length === 0) return 'No bare server took part: see how far the rounds of each row lie apart.'
  const range = (column: string): string => {
    const found = bare.map((row) => Number(row[column]))
    return [...new Set([Math.min(...found), Math.max(...found)])].join(' to ')
  }
  return (
    `Rounds of one and the same ${floor} lay ${range('spread %')} % apart within a subject, ` +
    `their medians at ${range('per second')} a second over all. A difference below that means nothing.`
  )
}

stepAside()
const machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  'load before': loadavg().map((load) => Math.round(load * 10) / 10),
  placement: pins
    ? 'what is measured on one core, load and everything behind it on another'
    : 'NOT pinned: taskset or a second core is missing',
  load: loader,
}
if (!values.json)
  show(
    Object.entries(machine)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
  )
if (positionals[0] === 'soak') {
  const tell = (row: Table['rows'][number]): void => {
    const line = Object.entries(row).map(([name, value]) => `${name} ${value}`)
    if (!values.json) show(line.join(', '))
  }
  await measure((parts) => soak(parts, Number(values.minutes), tell))
} else {
  for (const name of values.only ?? Object.keys(subjects)) {
    const [subject, pace] = subjects[name] ?? []
    if (!subject || !pace) throw new Error(`no such subject: ${name}; there are ${Object.keys(subjects).join(', ')}`)
    await measure((parts) => subject(parts, pace))
  }
}
const seconds = secondsSince(started)
if (values.json) show(JSON.stringify({ machine, isQuick, noise: noise(), seconds, tables }, null, 2))
else show(`\nNoise: ${noise()}\nTook ${seconds} s.`)
if (tables.some(({ hasFailed }) => hasFailed)) process.exitCode = 1
