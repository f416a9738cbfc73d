/** From the start of the process to its first response; its memory when idle and after one long list. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Bench, bodyOf } from './bench.js'
import { fetchList } from './lists.js'
import { inRounds, memoryOf, middle, spread, type Table } from './table.js'

/** V8 returns the memory of the start once it has seen no allocations for up to half a minute. */
const settleMs = 60_000

export async function startAndMemory({ gateway, builds, rounds, isQuick }: Bench): Promise<Table[]> {
  const measured = await inRounds(rounds, builds, async (build) => {
    const started = performance.now()
    const server = await gateway({}, build)
    await bodyOf(`${server.url}/api/health`)
    const ms = performance.now() - started
    await fetchList(server, 0)
    const peakMb = memoryOf(server.pid, 'VmHWM')
    await server.end()
    return { ms, peakMb }
  })
  const idle = await Promise.all(builds.map((build) => gateway({}, build)))
  await pause(isQuick ? 1_000 : settleMs)
  const rows = measured.map(([{ label }, starts], i) => ({
    name: `${label}gateway`,
    'start ms': middle(starts, ({ ms }) => ms, 0),
    'idle MB': memoryOf(idle[i]?.pid ?? 0, 'VmRSS'),
    'peak MB': middle(starts, ({ peakMb }) => peakMb),
    'spread %': spread(starts.map(({ ms }) => ms)),
  }))
  const note =
    'Start until the first response; idle after a minute without requests; peak after one list of 10,000 devices.'
  return [{ subject: 'A new process', note, compared: ['start ms', 'idle MB', 'peak MB'], rows }]
}
