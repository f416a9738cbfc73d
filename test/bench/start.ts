/** From the start of the process to its first answer, and its memory while nobody asks. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Pace } from './cached.js'
import { memoryOf, type Parts } from './parts.js'
import { median, rounded, spread, type Table } from './table.js'

export async function startAndIdle(parts: Parts, { rounds, isQuick }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const kinds = {
    'beside a platform': { PLATFORM_URL: `${platform.url}/api` },
    ...(!isQuick && { 'with its own sandbox': {} }),
  }
  const found = Object.keys(kinds).map((): { ms: number; mb: number }[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, env] of Object.values(kinds).entries()) {
      const started = performance.now()
      const gateway = await parts.gateway(env)
      const ms = performance.now() - started
      await pause(1_000)
      found[i]?.push({ ms, mb: memoryOf(gateway.pid, 'VmRSS') })
      await gateway.end()
    }
  }
  return {
    subject: 'Start to first answer, and memory of an idle process',
    note: 'Asked every 5 ms; memory one second later.',
    rows: Object.keys(kinds).map((name, i) => {
      const own = found[i] ?? []
      const times = own.map(({ ms }) => ms)
      return {
        name,
        ms: rounded(median(times), 0),
        'idle MB': median(own.map(({ mb }) => mb)),
        'spread %': spread(times),
      }
    }),
  }
}
