/** The command line of the benchmark. */
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Bench } from './bench.js'
import { cachedLocation, cachedPage, idleFleet } from './cached.js'
import { coldList } from './cold.js'
import { growth } from './growth.js'
import { lists } from './lists.js'
import { isPinned, missingPrograms, Processes, pinToLoadCore } from './processes.js'
import { soak } from './soak.js'
import { startAndMemory } from './start.js'
import { comparisonOf, otherLabel, print, type Table, verdictOn } from './table.js'

const subjects: Record<string, (bench: Bench) => Promise<Table[]>> = {
  location: cachedLocation,
  page: cachedPage,
  idle: idleFleet,
  lists,
  cold: coldList,
  growth,
  start: startAndMemory,
}
const usage = `npm run bench -- [--quick] [--json] [--only <subject>]... [--against <folder>]
npm run bench -- soak [--minutes <n>]

  --quick            two short rounds, to see that it runs
  --json             print the result as JSON
  --only <subject>   ${Object.keys(subjects).join(', ')}
  --against <folder> compare with the build in another checkout, in the same run
  --minutes <n>      of the soak run (30)`
const { values, positionals } = commandLine()

function commandLine() {
  try {
    const sent = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true },
        against: { type: 'string' },
        minutes: { type: 'string', default: '30' },
        help: { type: 'boolean', default: false },
      },
    })
    const unknown = sent.values.only?.find((name) => !Object.hasOwn(subjects, name))
    if (unknown !== undefined) throw new Error(`There is no subject ${unknown}.`)
    return sent
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(1)
  }
}

const processes = new Processes()
const interrupt = (): void => void processes.close().finally(() => process.exit(130))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupt)
process.once('exit', () => processes.killAll())

const own = { label: '', folder: fileURLToPath(new URL('../../../', import.meta.url)) }
const builds = values.against === undefined ? [own] : [own, { label: otherLabel, folder: resolve(values.against) }]
const pace = values.quick ? { rounds: 2, seconds: 1 } : { rounds: 5, seconds: 2 }
const show = (text: string): void => void (values.json || console.log(text))

/** A platform of its own for each subject. */
async function benchOn(latencyMs: number): Promise<Bench> {
  const platform = await processes.peer('platform', String(latencyMs), 'load')
  const gateway: Bench['gateway'] = (env, build = own) =>
    processes.gateway(build, { PLATFORM_URL: `${platform.url}/api`, ...env })
  return { processes, builds, isQuick: values.quick, platform, gateway, ...pace }
}

async function measure(): Promise<Table[]> {
  if (positionals[0] === 'soak') return [await soak(await benchOn(20), Number(values.minutes), show)]
  const tables: Table[] = []
  for (const name of values.only ?? Object.keys(subjects)) {
    const found = (await subjects[name]?.(await benchOn(0))) ?? []
    await processes.endAll()
    if (!values.json) found.forEach(print)
    tables.push(...found)
  }
  return tables
}

async function run(): Promise<number> {
  if (values.help) {
    console.log(usage)
    return 0
  }
  const missing = missingPrograms()
  if (missing.length > 0) throw new Error(`${missing.join(', ')} missing: apt-get install wrk redis-server nginx-light`)
  pinToLoadCore()
  const models = cpus().map(({ model }) => model)
  const machine = {
    node: process.version,
    cores: models.join(', '),
    'load before': loadavg().map((load) => Math.round(load * 10) / 10),
    placement: isPinned ? 'server and load on a core each' : 'NOT pinned: taskset or a second core is missing',
    // Linux has `cubic` unless it is configured. BBR delays what it sends, on the loopback as well.
    'TCP congestion control': readFileSync('/proc/sys/net/ipv4/tcp_congestion_control', 'utf8').trim(),
  }
  for (const [name, value] of Object.entries(machine)) show(`${name}: ${value}`)
  const tables = await measure()
  const comparison = comparisonOf(tables)
  if (comparison.rows.length > 0 && !values.json) print(comparison)
  const verdict = verdictOn(tables.flatMap(({ floorSpread }) => floorSpread ?? []))
  const seconds = Math.round(performance.now() / 1_000)
  show(`\n${verdict.text}\nTook ${seconds} s.`)
  if (values.json)
    console.log(JSON.stringify({ machine, isQuick: values.quick, verdict, seconds, tables, comparison }, null, 2))
  if (tables.some(({ hasFailed }) => hasFailed)) return 1
  return verdict.isNoisy ? 2 : 0
}

try {
  process.exitCode = await run()
} catch (error) {
  process.exitCode = 1
  if (!processes.isClosed) console.error(error)
} finally {
  await processes.close()
}
