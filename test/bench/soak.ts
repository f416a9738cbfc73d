/** Mixed traffic for a long time: memory, handles and latency must end as they began. */
import { get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { missing } from './cached.js'
import { grownIn, type Sample } from './flat.js'
import { pace, paced } from './load.js'
import { demoToken, limitPerMinute, Mixture } from './mixture.js'
import { has, type Part, type Parts } from './parts.js'
import type { Probed } from './probe.js'
import { rounded, type Table } from './table.js'

/** At each gateway. */
const perSecond = 60
/** At the bare server that tells how fast the machine is. */
const barePerSecond = 20
const intervals = 12

interface Soaked {
  name: string
  socketPath: string
  mixture: Mixture
  samples: Sample[]
}

async function begin(parts: Parts, name: string, env: Record<string, string>): Promise<Soaked> {
  const socketPath = join(parts.folder('probe'), 'socket')
  const gateway: Part = await parts.gateway({
    ...env,
    DEMO_TOKEN: demoToken,
    RATE_LIMIT_MAX: String(limitPerMinute),
    MAX_KEYS_PER_ACCOUNT: '1000', // a life cut short by a 503 leaves its key
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--import=${new URL('probe.js', import.meta.url).href}`,
    PROBE: socketPath,
  })
  return { name, socketPath, mixture: await Mixture.before(gateway), samples: [] }
}

function probe(socketPath: string): Promise<Probed> {
  return new Promise((resolve, reject) => {
    get({ socketPath }, (response) => text(response).then((json) => resolve(JSON.parse(json)), reject)).on(
      'error',
      reject,
    )
  })
}

type Stage = Omit<Sample, 'minute' | 'bareP50' | 'bareP99'>

/** One interval of traffic; the process is probed when all of it is answered. */
async function stage({ mixture, socketPath }: Soaked, seconds: number): Promise<Stage> {
  const before = { unexpected: mixture.unexpected, unavailable: mixture.unavailable }
  const { p50, p99 } = await paced((sent) => mixture.act(sent), perSecond, seconds)
  return {
    p50,
    p99,
    unavailable: mixture.unavailable - before.unavailable,
    unexpected: mixture.unexpected - before.unexpected,
    answers: perSecond * seconds,
    ...(await probe(socketPath)),
  }
}

const row = (name: string, one: Sample): Table['rows'][number] => ({
  name,
  minute: rounded(one.minute, 1),
  'p50 ms': rounded(one.p50),
  'p99 ms': rounded(one.p99),
  'bare p50': rounded(one.bareP50),
  'bare p99': rounded(one.bareP99),
  'resident MB': rounded(one.rssMb, 1),
  'heap MB': rounded(one.heapMb, 1),
  'external MB': rounded(one.externalMb, 1),
  handles: one.handles,
  unavailable: one.unavailable,
  unexpected: one.unexpected,
})

function verdict({ name, samples, mixture }: Soaked): string {
  const grown = grownIn(samples)
  return grown.length === 0
    ? `${name}: flat.`
    : `${name}: NOT flat: ${grown.join(', ')}. ${mixture.surprises.join('; ')}`.trim()
}

/** @param tell is told each row as soon as it is known. */
export async function soak(parts: Parts, minutes: number, tell: (row: Table['rows'][number]) => void): Promise<Table> {
  const platform = await parts.peer('platform', '20', 'other')
  const bare = await parts.peer('bare', '{}')
  const PLATFORM_URL = `${platform.url}/api`
  const soaked = [await begin(parts, 'embedded', { PLATFORM_URL })]
  if (has('redis-server')) soaked.push(await begin(parts, 'Redis', { PLATFORM_URL, REDIS_URL: await parts.redis() }))
  const seconds = (minutes * 60) / intervals
  for (let interval = 1; interval <= intervals; interval += 1) {
    const running = soaked.map((one) => stage(one, seconds))
    const { p50: bareP50, p99: bareP99 } = await pace([{ url: bare.url }], barePerSecond, seconds)
    for (const [i, ended] of (await Promise.all(running)).entries()) {
      const { name, samples } = soaked[i] as Soaked
      const sample = { minute: (minutes * interval) / intervals, bareP50, bareP99, ...ended }
      samples.push(sample)
      tell(row(name, sample))
    }
  }
  for (const { mixture } of soaked) mixture.end()
  return {
    subject: `Mixed traffic for ${minutes} minutes, ${perSecond} a second at each gateway`,
    note: `${soaked.map(verdict).join(' ')} Memory after a garbage collection; the first third is warm-up; "bare" is a bare server beside them.${missing('redis-server')}`,
    rows: soaked.flatMap(({ name, samples }) => samples.map((sample) => row(name, sample))),
    hasFailed: soaked.some(({ samples }) => grownIn(samples).length > 0),
  }
}
