/** Whether a soak ended as it began. Pure. */
import type { Probed } from './probe.js'
import { median, rounded } from './table.js'

/** One interval of a soak: what the process was at its end, and how its answers were meanwhile. */
export interface Sample extends Probed {
  /** Since the start, at the end of the interval. */
  minute: number
  p50: number
  p99: number
  /** The same of a bare server beside it: how fast the machine was. */
  bareP50: number
  bareP99: number
  answers: number
  /** Of them 503, which is no fault of a gateway on an overloaded machine. */
  unavailable: number
  /** Of them neither right nor 503. */
  unexpected: number
}

/** This part of the samples is left out, from the start: caches fill and code is compiled. */
const warmUp = 1 / 3

/** Part of all answers. */
const mostUnavailable = 0.002

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

/** May rise by `part` of its median or by `least`, whichever is more; sockets come and go with how fast the machine is. */
const levels: { name: string; of: (sample: Sample) => number; part: number; least: number }[] = [
  { name: 'MB of heap and external memory', of: (one) => one.heapMb + one.externalMb, part: 0.05, least: 4 },
  { name: 'MB of resident memory', of: (one) => one.rssMb, part: 0.15, least: 25 },
  { name: 'handles', of: (one) => one.handles, part: 0, least: 40 },
]

/** May double, or grow as that of the bare server; below `least` milliseconds it may do what it likes. */
const latencies: { name: string; of: (sample: Sample) => number; bare: (sample: Sample) => number; least: number }[] = [
  { name: 'p50', of: (one) => one.p50, bare: (one) => one.bareP50, least: 10 },
  { name: 'p99', of: (one) => one.p99, bare: (one) => one.bareP99, least: 50 },
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
  for (const { name, of, bare, least } of latencies) {
    const begun = (value: typeof of): number => median(kept.slice(0, third).map(value))
    const ended = (value: typeof of): number => median(kept.slice(-third).map(value))
    const allowed = Math.max(least, 2 * begun(of) * Math.max(1, ended(bare) / begun(bare)))
    if (ended(of) > allowed) found.push(`${name} of ${rounded(ended(of))} ms after ${rounded(begun(of))} ms`)
  }
  const sum = (of: (sample: Sample) => number): number => samples.reduce((sum, one) => sum + of(one), 0)
  const [unexpected, unavailable] = [sum((one) => one.unexpected), sum((one) => one.unavailable)]
  if (unavailable > mostUnavailable * sum((one) => one.answers)) found.push(`${unavailable} answers 503`)
  if (unexpected > 0) found.push(`${unexpected} unexpected answers`)
  return found
}
