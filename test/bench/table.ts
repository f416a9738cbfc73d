/** Interleaved rounds, the tables of their medians, the comparison of two builds, and how far all that can be trusted. */
import { readFileSync } from 'node:fs'
import type { Bench } from './bench.js'
import { type Contestant, flood, type Load } from './load.js'

export type Row = { name: string } & Record<string, string | number>

export interface Table {
  subject: string
  /** What the figures mean and what they do not. */
  note: string
  rows: Row[]
  /** Spread of the floor, percent; undefined in a table without a floor. */
  floorSpread?: number
  /** Columns in which the builds are compared. */
  compared?: readonly string[]
  /** A figure is not as it must be. */
  hasFailed?: boolean
}

/** Put before the rows of the other build. */
export const otherLabel = 'other: '

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}

/** The distance between the smallest and the largest value, in percent of the median; NaN for one value, which shows none. */
export const spread = (values: readonly number[]): number =>
  values.length < 2 ? Number.NaN : Math.round((100 * (Math.max(...values) - Math.min(...values))) / median(values))

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

/** The median of a figure of several loads. */
export const middle = <T>(loads: readonly T[], of: (load: T, round: number) => number, digits = 2): number =>
  rounded(median(loads.map(of)), digits)

/** Above this spread of the floor, in percent, a run proves nothing. */
const maxFloorSpread = 30

/** What the spreads of all floors of a run, in percent, mean for its figures. */
export function verdictOn(floorSpreads: readonly number[]): { isNoisy: boolean; text: string } {
  if (floorSpreads.length === 0) return { isNoisy: false, text: 'No floor was measured: compare the spreads.' }
  const worst = Math.max(...floorSpreads)
  const isNoisy = !(worst <= maxFloorSpread) // NaN without a response, or with one round
  const meaning = isNoisy ? 'THIS RUN PROVES NOTHING: use a quiet machine.' : 'Smaller differences mean nothing.'
  return { isNoisy, text: `Rounds of the floor differ by up to ${worst} %. ${meaning}` }
}

const withChildren = (pid: number): number[] => [
  pid,
  ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
]

/** Processor time of the processes so far, µs; the kernel counts in ticks of 10 ms (proc(5)). */
function cpuUsOf(pids: readonly number[]): number {
  const ticks = pids.flatMap(withChildren).map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  })
  return 10_000 * ticks.reduce((sum, one) => sum + one, 0)
}

/** `VmRSS` (now) or `VmHWM` (peak) of a process, MB. */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024)
}

/** Runs every entry once per round, in turning order. @returns each with its results. */
export async function inRounds<E, R>(rounds: number, entries: readonly E[], run: (entry: E) => Promise<R>) {
  const measured = entries.map((entry): [E, R[]] => [entry, []])
  for (let round = 0; round < rounds; round += 1)
    for (const [entry, results] of round % 2 === 0 ? measured : measured.toReversed()) results.push(await run(entry))
  return measured
}

/**
 * Floods every contestant in each round, after one of warm-up, in which each server is flooded alone: with a part of the load, V8 would still
 * be compiling it while it is measured.
 * @param floors names of the contestants of which the best is the floor; ratios are taken within each round.
 */
export async function race(bench: Bench, contestants: readonly Contestant[], floors: readonly string[]) {
  await inRounds(1, contestants, async (contestant) => {
    for (const server of contestant.servers) await flood(bench, { ...contestant, servers: [server] })
  })
  const measured = await inRounds(bench.rounds, contestants, async (contestant) => {
    const pids = contestant.servers.map(({ pid }) => pid)
    const before = cpuUsOf(pids)
    const load = await flood(bench, contestant)
    return { ...load, cpuUs: (cpuUsOf(pids) - before) / load.requests }
  })
  const ratesOf = (loads: readonly Load[]): number[] => loads.map(({ perSecond }) => perSecond)
  const ofFloors = measured.filter(([{ name }]) => floors.includes(name)).map(([, loads]) => ratesOf(loads))
  const [floor = []] = ofFloors.sort((a, b) => median(b) - median(a))
  const rows = measured.map(([{ name }, own]) => {
    const rates = ratesOf(own)
    return {
      name,
      'per second': rounded(median(rates), median(rates) < 100 ? 1 : 0),
      'to floor': middle(rates, (rate, round) => rate / (floor[round] ?? rate)),
      'CPU µs': middle(own, ({ cpuUs }) => cpuUs, 1),
      bytes: middle(own, ({ read, requests }) => read / requests, 0),
      'p50 ms': middle(own, ({ p50 }) => p50, 3),
      'p99 ms': middle(own, ({ p99 }) => p99, 3),
      'spread %': spread(rates),
    }
  })
  return { rows, floorSpread: spread(floor) }
}

/** The medians of this build divided by those of the other, wherever a table has a row of both. */
export function comparisonOf(tables: readonly Table[]): Table {
  const rows = tables.flatMap(({ subject, rows, compared = [] }) =>
    rows.flatMap((row) => {
      const other = rows.find(({ name }) => name === otherLabel + row.name)
      if (!other) return []
      return compared.map((column) => {
        const [own, their] = [Number(row[column]), Number(other[column])]
        const name = `${subject}: ${row.name}: ${column}`
        return { name, 'this build': own, 'other build': their, 'this/other': rounded(own / their) }
      })
    }),
  )
  return { subject: 'This build and the other', note: 'Ratios of the medians above, from the same rounds.', rows }
}

export function print({ subject, note, rows }: Table): void {
  console.log(`\n${subject}`)
  console.table(Object.fromEntries(rows.map(({ name, ...figures }) => [name, figures])))
  console.log(note)
}
