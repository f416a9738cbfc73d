/** Whether memory, handles and latency are at the end of a soak what they were at its beginning. Pure. */
import type { ProbeResult } from './probe.js'
import { median, rounded } from './table.js'

/** One interval of a soak: the state of the process at its end and the responses during it. */
export interface Sample extends ProbeResult {
  /** Since the start, at the end of the interval. */
  minute: number
  p99: number
  responses: number
  /** Responses 503, which are no fault of a gateway on an overloaded machine. */
  unavailable: number
  /** Responses that are neither expected nor 503. */
  unexpected: number
}

type Of = (sample: Sample) => number

/** This part of the samples is left out, from the start: caches fill and code is compiled. */
const warmUp = 1 / 3
/** Part of all responses. */
const maxUnavailable = 0.002
/** May rise by a part or by a minimum, whichever is more; the number of sockets depends on the speed of the machine. */
const figures: [name: string, of: Of, part: number, min: number][] = [
  ['MB of heap and external memory', (one) => one.heapMb + one.externalMb, 0.05, 3],
  ['MB of resident memory', (one) => one.rssMb, 0.12, 20],
  ['handles', (one) => one.handles, 0, 30],
  ['ms of p99', (one) => one.p99, 1, 50],
]

/** A sentence for everything that has grown between the first and the last third after the warm-up. */
export function grownIn(samples: readonly Sample[]): string[] {
  const kept = samples.slice(Math.ceil(samples.length * warmUp))
  const third = Math.ceil(kept.length / 3)
  const found = figures.flatMap(([name, of, part, min]) => {
    const first = median(kept.slice(0, third).map(of))
    const rise = median(kept.slice(-third).map(of)) - first
    return rise > Math.max(min, part * first) ? [`${rounded(rise, 1)} ${name} more at the end`] : []
  })
  const sum = (of: Of): number => samples.reduce((sum, one) => sum + of(one), 0)
  const [unexpected, unavailable] = [sum((one) => one.unexpected), sum((one) => one.unavailable)]
  if (unavailable > maxUnavailable * sum((one) => one.responses)) found.push(`${unavailable} responses 503`)
  if (unexpected > 0) found.push(`${unexpected} unexpected responses`)
  return found
}
