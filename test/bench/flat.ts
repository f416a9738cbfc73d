/** Whether a soak ended as it began. Pure. */
import type { Probed } from './probe.js'
import { median, rounded } from './table.js'

/** One interval of a soak: what the process was at its end, and how its answers were meanwhile. */
export interface Sample extends Probed {
  /** Since the start, at the end of the interval. */
  minute: number
  p50: number
  p99: number
  /** Answers that should not have been. */
  unexpected: number
}

/** This part of the samples is left out, from the start: caches fill and code is compiled. */
const warmUp = 1 / 3

/** What the least-squares line through the values rises by from the first to the last. */
export function rise(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let [above, below] = [0, 0]
  for (const [i, value] of values.entries()) {
    above += (i - middle) * (value - mean)
    below += (i - middle) ** 2
  }
  return below === 0 ? 0 : (above / below) * (values.length - 1)
}

/** May rise by `part` of its median or by `least`, whichever is more. */
const levels: { name: string; of: (sample: Sample) => number; part: number; least: number }[] = [
  { name: 'MB of heap and external memory', of: (one) => one.heapMb + one.externalMb, part: 0.05, least: 4 },
  { name: 'MB of resident memory', of: (one) => one.rssMb, part: 0.15, least: 25 },
  { name: 'handles', of: (one) => one.handles, part: 0, least: 10 },
]

/** May double, and below `least` milliseconds do what they like. */
const latencies: { name: string; of: (sample: Sample) => number; least: number }[] = [
  { name: 'p50', of: (one) => one.p50, least: 10 },
  { name: 'p99', of: (one) => one.p99, least: 50 },
]

/** What is not flat, in words; nothing when all is. The samples are equally far apart. */
export function grownIn(samples: readonly Sample[]): string[] {
  const kept = samples.slice(Math.ceil(samples.length * warmUp))
  const found: string[] = []
  for (const { name, of, part, least } of levels) {
    const values = kept.map(of)
    const up = rise(values)
    if (up > Math.max(least, part * median(values))) found.push(`${rounded(up, 1)} ${name} more at the end`)
  }
  const third = Math.ceil(kept.length / 3)
  for (const { name, of, least } of latencies) {
    const [first, last] = [kept.slice(0, third), kept.slice(-third)].map((part) => median(part.map(of)))
    if (first !== undefined && last !== undefined && last > Math.max(least, 2 * first))
      found.push(`${name} of ${rounded(last)} ms after ${rounded(first)} ms`)
  }
  const unexpected = samples.reduce((sum, one) => sum + one.unexpected, 0)
  if (unexpected > 0) found.push(`${unexpected} unexpected answers`)
  return found
}
