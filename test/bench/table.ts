/** Rounds, medians and what is printed of them. Knows no server. */
import { readFileSync } from 'node:fs'
import type { Load } from './load.js'
import { cpuMsOf } from './parts.js'

export interface Table {
  subject: string
  /** What the figures mean and what they do not. */
  note: string
  rows: Record<string, string | number>[]
  /** The figures are not as they must be. */
  hasFailed?: boolean
}

export interface Contestant {
  name: string
  run: () => Promise<Load>
  /** The processes whose time is told, with their children. */
  pids?: readonly number[]
}

/** How the floor is called in every table. */
export const floor = 'bare node:http'

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}

/** How far the rounds lie apart, in percent of their median. */
export const spread = (values: readonly number[]): number =>
  Math.round((100 * (Math.max(...values) - Math.min(...values))) / median(values))

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits))

const withChildren = (pid: number): number[] => [
  pid,
  ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
]

const cpuUsOf = (pids: readonly number[]): number =>
  1000 * pids.flatMap(withChildren).reduce((sum, pid) => sum + cpuMsOf(pid), 0)

/** Everybody once per round; ratios are to the first, taken within each round. */
export async function race(contestants: readonly Contestant[], rounds: number): Promise<Table['rows']> {
  const loads = contestants.map((): (Load & { cpuUs: number })[] => [])
  for (const { run } of contestants) await run() // warms up
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, { run, pids = [] }] of contestants.entries()) {
      const before = cpuUsOf(pids)
      const load = await run()
      loads[i]?.push({ ...load, cpuUs: (cpuUsOf(pids) - before) / load.requests })
    }
  }
  return contestants.map(({ name, pids }, i) => {
    const own = loads[i] ?? []
    const rates = own.map(({ perSecond }) => perSecond)
    return {
      name,
      'per second': rounded(median(rates), median(rates) < 100 ? 1 : 0),
      ratio: rounded(median(rates.map((rate, round) => rate / (loads[0]?.[round]?.perSecond ?? 1)))),
      'CPU µs': pids ? rounded(median(own.map(({ cpuUs }) => cpuUs)), 1) : '',
      'p50 ms': rounded(median(own.map(({ p50 }) => p50))),
      'p99 ms': rounded(median(own.map(({ p99 }) => p99))),
      'spread %': spread(rates),
    }
  })
}

export function printed({ subject, note, rows }: Table): string {
  const columns = Object.keys(Object.assign({}, ...rows))
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))]
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i]?.length ?? 0)))
  const lines = cells.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  )
  return `\n${subject}\n${lines.map((line) => `  ${line}`).join('\n')}\n  ${note}`
}
