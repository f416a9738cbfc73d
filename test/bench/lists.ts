/** Device lists of 10,000: how many a second, what memory they take, and what they cost the other callers. */
import { type Bench, bodyOf, hash, hashOf, location, platformList } from './bench.js'
import { type Contestant, paced } from './load.js'
import type { Server } from './processes.js'
import { inRounds, memoryOf, middle, type Row, race, rounded, spread, type Table } from './table.js'

const devices = 10_000

/** Reads one device of an account's list, which the gateway fetches whole when it is not in memory. */
export const fetchList = ({ url }: Server, account: number): Promise<string> =>
  bodyOf(`${url}/api/v1/devices?limit=1`, hashOf(devices, account))

export const lists = async (bench: Bench): Promise<Table[]> => [await throughput(bench), await besideLists(bench)]

async function throughput(bench: Bench): Promise<Table> {
  const { processes, platform, gateway, builds } = bench
  const floor = '@fastify/http-proxy, untranslated'
  const proxy = await processes.peer('proxy', platform.url)
  const path = platformList(hashOf(devices))
  await bodyOf(proxy.url + path) // the platform makes it once
  const contestants: Contestant[] = [{ name: floor, servers: [proxy], path }]
  const credentials = Array.from({ length: 8 }, (_, account) => hashOf(devices, account))
  for (const build of builds) {
    const servers = [await gateway({ POSITION_TTL_MS: '1' }, build)]
    const name = `${build.label}gateway, responds with 500`
    contestants.push({ name, servers, path: '/api/v1/devices?limit=500', credentials })
  }
  const longer = { ...bench, seconds: 4 * bench.seconds, connections: 4 }
  const { rows, floorSpread } = await race(longer, contestants, [floor])
  const peaks = contestants.map(({ servers }) => memoryOf(servers[0]?.pid ?? 0, 'VmHWM'))
  return {
    subject: `Lists of ${devices} devices, 4 connections`,
    note: 'Each request fetches a fresh list. The peak memory is that of four lists at once; `start` has that of one.',
    compared: ['per second', 'peak MB'],
    floorSpread,
    rows: rows.map((row, i) => ({ ...row, 'peak MB': peaks[i] ?? 0 })),
  }
}

async function besideLists({ processes, gateway, builds, rounds, seconds }: Bench): Promise<Table> {
  const accounts = 60 // so many that no list is in memory when its account's turn comes again
  const entries: { name: string; url: string; lister: Server }[] = []
  for (const build of builds) {
    const lister = await gateway({ POSITION_TTL_MS: '2000' }, build)
    for (let account = 0; account < accounts; account += 1) await fetchList(lister, account)
    // The least that anything can wait: the gateway's worker and the platform have the cores.
    if (entries.length === 0) entries.push({ name: 'node:http', url: (await processes.peer('bare', '{}')).url, lister })
    entries.push({ name: `${build.label}gateway`, url: lister.url + location, lister })
  }
  const measured = await inRounds(rounds, entries, async ({ url, lister }) => {
    const reads = () => paced(() => bodyOf(url, hash), 300, 4 * seconds)
    const quiet = await reads()
    let [lists, isOver] = [0, false]
    const fetchAll = async (): Promise<void> => {
      for (; !isOver; lists += 1) await fetchList(lister, lists % accounts)
    }
    const fetching = fetchAll()
    const beside = await reads()
    isOver = true
    await fetching
    return { quiet, 'beside lists': beside, lists }
  })
  const rows = measured.flatMap(([{ name }, results]): Row[] => {
    const row = (when: 'quiet' | 'beside lists', perSecond: number): Row => ({
      name: `${name}, ${when}`,
      'p50 ms': middle(results, (result) => result[when].p50),
      'p99 ms': middle(results, (result) => result[when].p99),
      'p99 to quiet': middle(results, (result) => result[when].p99 / result.quiet.p99),
      'lists per second': rounded(perSecond, 1),
      'spread %': spread(results.map((result) => result[when].p99)),
    })
    const lists = results.reduce((sum, result) => sum + result.lists, 0)
    return [row('quiet', 0), row('beside lists', lists / (4 * seconds * rounds))]
  })
  const subject = `A cached location, 300 a second, beside lists of ${devices} devices`
  const note = 'node:http runs on the core of the gateway that reads the lists.'
  return { subject, note, compared: ['p50 ms', 'p99 ms', 'p99 to quiet'], rows }
}
