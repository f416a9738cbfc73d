/** Mixed traffic for a long time: memory, handles and latency must end as they began. */
import { keyOf, location, pageOf50 } from './cached.js'
import { pace, type Target } from './load.js'
import { has, hashOf, memoryOf, type Part, type Parts } from './parts.js'
import { rounded, type Table } from './table.js'

const accounts = 20
const perSecond = 200
const stages = 10

/** Reads of every kind, by many accounts of different sizes, by hash and by key, fresh and from memory. */
async function mixture(gateway: Part): Promise<Target[]> {
  const targets: Target[] = []
  for (let account = 0; account < accounts; account += 1) {
    const hash = hashOf(account % 5 === 0 ? 2_000 : 50, account)
    const credential = account % 2 === 0 ? hash : await keyOf(gateway, hash)
    const paths = ['devices/1002', 'geofences', 'alerts', 'drivers', 'services', 'events?limit=5', 'me', 'keys'].filter(
      (path) => path !== 'keys' || credential === hash,
    )
    for (const path of [location, pageOf50, location, ...paths.map((path) => `/api/v1/${path}`)]) {
      targets.push({ url: gateway.url + path, credential })
    }
  }
  return targets
}

async function gauge({ opsUrl }: Part, name: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} ([\\d.e+-]+)`, 'm').exec(text)?.[1])
}

export async function soak(parts: Parts, minutes: number): Promise<Table> {
  const platform = await parts.peer('platform', '20', 'other')
  const env = { PLATFORM_URL: `${platform.url}/api`, LOG_LEVEL: 'warn' }
  const gateway = await parts.gateway(has('redis-server') ? { ...env, REDIS_URL: await parts.redis() } : env)
  const targets = await mixture(gateway)
  await pace(targets, perSecond, 5)
  const rows: Table['rows'] = []
  for (let stage = 1; stage <= stages; stage += 1) {
    const { p50, p99 } = await pace(targets, perSecond, (minutes * 60) / stages)
    rows.push({
      'minutes passed': rounded((minutes * stage) / stages, 1),
      'p50 ms': rounded(p50),
      'p99 ms': rounded(p99),
      'memory MB': memoryOf(gateway.pid, 'VmRSS'),
      'heap MB': Math.round((await gauge(gateway, 'nodejs_heap_size_used_bytes')) / 1e6),
      handles: await gauge(gateway, 'nodejs_active_handles_total'),
    })
  }
  return {
    subject: `Mixed traffic of ${accounts} accounts, ${perSecond} a second`,
    note: 'Any answer but 200 ends the run.',
    rows,
  }
}
