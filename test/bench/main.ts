/** `npm run bench -- [--quick] [--json] [--only <subject>]`, and `npm run bench -- soak --minutes <n>`. */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { cachedLocation, cachedPage, manyWaiting, type Pace } from './cached.js'
import { growthByAccounts, growthByDevices, growthByInstances } from './growth.js'
import { besideLists, listPipeline, listThroughput } from './lists.js'
import { loader } from './load.js'
import { Parts, pins, stepAside } from './parts.js'
import { soak } from './soak.js'
import { startAndIdle } from './start.js'
import { printed, type Table } from './table.js'

const subjects: Record<string, (parts: Parts, pace: Pace) => Promise<Table>> = {
  location: cachedLocation,
  page: cachedPage,
  waiting: manyWaiting,
  pipeline: listPipeline,
  lists: listThroughput,
  beside: besideLists,
  devices: growthByDevices,
  accounts: growthByAccounts,
  instances: growthByInstances,
  start: startAndIdle,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '30' },
  },
})

/** Whatever happens within, no process is left behind. */
async function measured(subject: (parts: Parts) => Promise<Table>): Promise<Table> {
  const parts = new Parts()
  const end = (): void => void parts.end().finally(() => process.exit(1))
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    return await subject(parts)
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
    await parts.end()
  }
}

const show = (text: string): void => void process.stdout.write(`${text}\n`)
const tables: Table[] = []
const keep = (table: Table): void => {
  tables.push(table)
  if (!values.json) show(printed(table))
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
if (positionals[0] === 'soak') keep(await measured((parts) => soak(parts, Number(values.minutes))))
else {
  const pace: Pace = values.quick ? { rounds: 3, seconds: 1, isQuick: true } : { rounds: 7, seconds: 3, isQuick: false }
  for (const name of values.only ?? Object.keys(subjects)) {
    const subject = subjects[name]
    if (!subject) throw new Error(`no such subject: ${name}; there are ${Object.keys(subjects).join(', ')}`)
    keep(await measured((parts) => subject(parts, pace)))
  }
}
/** What the floor itself varies by is what no ratio can be trusted beyond. */
const noise = Math.max(0, ...tables.flatMap(({ rows }) => rows.map((row) => Number(row['spread %'] ?? 0)).slice(0, 1)))
if (values.json) show(JSON.stringify({ machine, 'noise %': noise, tables }, null, 2))
else
  show(`\nNoise: rounds of one and the same server lay up to ${noise} % apart. A difference below that means nothing.`)
