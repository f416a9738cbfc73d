/** From the start of the process to its first response; its memory when idle and after one long list. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Bench, bodyOf } from './bench.js'
import { fetchList } from './lists.js'
import { median, memoryOf, rounded, spread, type Table } from './table.js'

/** V8 returns the memory of the start once it has seen no allocations for up to half a minute. */
const settleMs = 60_000

export async function startAndMemory({ gateway, builds, rounds, isQuick }: Bench): Promise<Table[]> {
  const entries = builds.map((build) => ({ build, ms: [] as number[], peakMb: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { build, ms, peakMb } of entries) {
      const started = performance.now()
      const server = await gateway({}, build)
      await bodyOf(`${server.url}/api/health`, '')
      ms.push(performance.now() - started)
      await fetchList(server, 0)
      peakMb.push(memoryOf(server.pid, 'VmHWM'))
      await server.end()
    }
  }
  const idle = await Promise.all(builds.map((build) => gateway({}, build)))
  await pause(isQuick ? 1_000 : settleMs)
  const rows = entries.map(({ build, ms, peakMb }, i) => ({
    name: `${build.label}gateway`,
    'start ms': rounded(median(ms), 0),
    'idle MB': memoryOf(idle[i]?.pid ?? 0, 'VmRSS'),
    'peak MB': median(peakMb),
    'spread %': spread(ms),
  }))
  const note =
    'Start until the first response; idle after a minute without requests; peak after one list of 10,000 devices.'
  return [{ subject: 'A new process', note, compared: ['start ms', 'idle MB', 'peak MB'], rows }]
}
