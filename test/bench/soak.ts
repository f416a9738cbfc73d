/** Mixed traffic for a long time: memory, handles and latency must end as they began. */
import { type Bench, bodyOf } from './bench.js'
import { paced } from './load.js'
import { demoToken, limitPerMinute, type Mixture, mixtureFor } from './mixture.js'
import type { ProbeResult } from './probe.js'
import { freePort, redis } from './processes.js'
import { median, rounded, type Table } from './table.js'

/** At each gateway. */
const perSecond = 60
const intervals = 12

/** One interval: the state of the process at its end, after a garbage collection, and the responses during it. */
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

/** A sentence for everything that has grown between the first and the last third after the warm-up. Pure. */
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

interface Soaked {
  name: string
  probeUrl: string
  mixture: Mixture
  samples: Sample[]
}

async function begin({ gateway }: Bench, name: string, env: Record<string, string>): Promise<Soaked> {
  const port = await freePort()
  const server = await gateway({
    ...env,
    DEMO_TOKEN: demoToken,
    RATE_LIMIT_MAX: String(limitPerMinute),
    MAX_KEYS_PER_ACCOUNT: '1000', // a key whose life a 503 cuts short stays
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--import=${new URL('probe.js', import.meta.url).href}`,
    PROBE: String(port),
  })
  return { name, probeUrl: `http://127.0.0.1:${port}`, mixture: await mixtureFor(server), samples: [] }
}

/** One interval of traffic; the process is probed after the last response. */
async function interval({ mixture, probeUrl, samples }: Soaked, minute: number, seconds: number): Promise<void> {
  Object.assign(mixture.counts, { unavailable: 0, unexpected: 0 })
  const { p99, requests: responses } = await paced(mixture.act, perSecond, seconds)
  const probed = JSON.parse(await bodyOf(probeUrl)) as ProbeResult
  samples.push({ minute, p99, responses, ...mixture.counts, ...probed })
}

const rowOf = (name: string, sample: Sample) => ({
  name,
  ...Object.fromEntries(Object.entries(sample).map(([column, value]) => [column, rounded(value, 1)])),
})

/** @param show is called with each row as soon as it is known, and with the verdict. */
export async function soak(bench: Bench, minutes: number, show: (line: string) => void): Promise<Table> {
  const soaked = [await begin(bench, 'embedded', {}), await begin(bench, 'Redis', { REDIS_URL: await redis() })]
  for (let turn = 1; turn <= intervals; turn += 1) {
    await Promise.all(soaked.map((one) => interval(one, (minutes * turn) / intervals, (minutes * 60) / intervals)))
    for (const { name, samples } of soaked) show(JSON.stringify(rowOf(name, samples.at(-1) as Sample)))
  }
  const verdicts = soaked.map(({ name, samples, mixture }) => {
    const grown = grownIn(samples)
    return `${name}: ${grown.length === 0 ? 'flat' : `NOT flat: ${[...grown, ...mixture.surprises].join('; ')}`}.`
  })
  const note = `${verdicts.join(' ')} Memory after a garbage collection.`
  show(note)
  return {
    note,
    subject: `Mixed traffic for ${minutes} minutes, ${perSecond} a second at each gateway`,
    rows: soaked.flatMap(({ name, samples }) => samples.map((sample) => rowOf(name, sample))),
    hasFailed: soaked.some(({ samples }) => grownIn(samples).length > 0),
  }
}
