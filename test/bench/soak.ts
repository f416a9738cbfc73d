/** Mixed traffic for a long time: memory, handles and latency must end as they began. */
import { freePort } from '../redis.js'
import { type Bench, bodyOf } from './bench.js'
import { grownIn, type Sample } from './flat.js'
import { paced } from './load.js'
import { demoToken, limitPerMinute, mixtureOn } from './mixture.js'
import type { ProbeResult } from './probe.js'
import { rounded, type Table } from './table.js'

/** At each gateway. */
const perSecond = 60
const intervals = 12

type Soaked = Awaited<ReturnType<typeof begin>>

async function begin({ gateway }: Bench, name: string, env: Record<string, string>) {
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
  return { name, probeUrl: `http://127.0.0.1:${port}`, mixture: await mixtureOn(server), samples: [] as Sample[] }
}

/** One interval of traffic; the process is probed after the last response. */
async function interval({ mixture, probeUrl, samples }: Soaked, minute: number, seconds: number): Promise<void> {
  Object.assign(mixture.counts, { unexpected: 0, unavailable: 0 })
  const { p99, requests: responses } = await paced(mixture.act, perSecond, seconds)
  const probed = JSON.parse(await bodyOf(probeUrl)) as ProbeResult
  samples.push({ minute: rounded(minute), p99: rounded(p99, 1), responses, ...mixture.counts, ...probed })
}

function verdictOn({ name, samples, mixture }: Soaked): string {
  const grown = grownIn(samples)
  return grown.length === 0 ? `${name}: flat.` : `${name}: NOT flat: ${[...grown, ...mixture.surprises].join('; ')}.`
}

/** @param show is called with each row as soon as it is known, and with the verdict. */
export async function soak(bench: Bench, minutes: number, show: (line: string) => void): Promise<Table> {
  const redis = { REDIS_URL: await bench.processes.redis() }
  const soaked = [await begin(bench, 'embedded', {}), await begin(bench, 'Redis', redis)]
  for (let turn = 1; turn <= intervals; turn += 1) {
    await Promise.all(soaked.map((one) => interval(one, (minutes * turn) / intervals, (minutes * 60) / intervals)))
    for (const { name, samples } of soaked) show(`${name} ${JSON.stringify(samples.at(-1))}`)
  }
  const note = `${soaked.map(verdictOn).join(' ')} Memory after a garbage collection.`
  show(note)
  return {
    note,
    subject: `Mixed traffic for ${minutes} minutes, ${perSecond} a second at each gateway`,
    rows: soaked.flatMap(({ name, samples }) => samples.map((sample) => ({ name, ...sample }))),
    hasFailed: soaked.some(({ samples }) => grownIn(samples).length > 0),
  }
}
