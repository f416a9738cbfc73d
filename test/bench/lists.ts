/** Device lists of 10,000: how many a second, what memory they take, and what they cost the other callers. */
import { type Bench, bodyOf, hash, hashOf, location, platformList } from './bench.js'
import { flood, type PacedLoad, paced } from './load.js'
import type { Server } from './processes.js'
import { type Contestant, memoryOf, middle, type Row, race, rounded, spread, type Table } from './table.js'

const devices = 10_000
/** A server that responds from memory while a gateway reads lists. */
interface Observed {
  name: string
  url: string
  lister: Server
  quiet: PacedLoad[]
  beside: PacedLoad[]
  lists: number
}

/** Reads one device of an account's list, which the gateway fetches whole when it is not in memory. */
export const fetchList = ({ url }: Server, account: number): Promise<string> =>
  bodyOf(`${url}/api/v1/devices?limit=1`, hashOf(devices, account))

export const lists = async (bench: Bench): Promise<Table[]> => [await throughput(bench), await besideLists(bench)]

async function throughput({ processes, platform, gateway, builds, rounds, seconds }: Bench): Promise<Table> {
  const floor = '@fastify/http-proxy, untranslated'
  const proxy = await processes.peer('proxy', platform.url)
  const direct = { url: proxy.url + platformList(hashOf(devices)), connections: 4 }
  const contestants: Contestant[] = [
    { name: floor, pids: [proxy.pid], run: () => flood(processes, direct, 4 * seconds) },
  ]
  await bodyOf(direct.url, '') // the platform makes it once
  const accounts = Array.from({ length: 8 }, (_, account) => hashOf(devices, account))
  for (const build of builds) {
    const { url, pid } = await gateway({ POSITION_TTL_MS: '1' }, build)
    const target = { url: `${url}/api/v1/devices?limit=500`, credentials: accounts, connections: 4 }
    const name = `${build.label}gateway, responds with 500`
    contestants.push({ name, pids: [pid], run: () => flood(processes, target, 4 * seconds) })
  }
  const { rows, floorSpread } = await race(contestants, rounds, [floor])
  const peaks = contestants.map(({ pids }) => memoryOf(pids[0] ?? 0, 'VmHWM'))
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
  const observed: Observed[] = []
  const observe = (name: string, url: string, lister: Server) =>
    observed.push({ name, url, lister, quiet: [], beside: [], lists: 0 })
  for (const build of builds) {
    const server = await gateway({ POSITION_TTL_MS: '2000' }, build)
    for (let account = 0; account < accounts; account += 1) await fetchList(server, account)
    // The least that anything can wait: the gateway's worker and the platform have the cores.
    if (observed.length === 0) observe('node:http', (await processes.peer('bare', '{}')).url, server)
    observe(`${build.label}gateway`, server.url + location, server)
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const one of observed) {
      const reads = () => paced(() => bodyOf(one.url, hash), 300, 4 * seconds)
      one.quiet.push(await reads())
      let isOver = false
      const fetchAll = async (): Promise<void> => {
        for (; !isOver; one.lists += 1) await fetchList(one.lister, one.lists % accounts)
      }
      const fetching = fetchAll()
      one.beside.push(await reads())
      isOver = true
      await fetching
    }
  }
  const rows = observed.flatMap(({ name, quiet, beside, lists }): Row[] => {
    const row = (when: string, own: PacedLoad[], perSecond: number): Row => ({
      name: `${name}, ${when}`,
      'p50 ms': middle(own, ({ p50 }) => p50),
      'p99 ms': middle(own, ({ p99 }) => p99),
      'p99 to quiet': middle(own, ({ p99 }, round) => p99 / (quiet[round]?.p99 ?? p99)),
      'lists per second': rounded(perSecond, 1),
      'spread %': spread(own.map(({ p99 }) => p99)),
    })
    return [row('quiet', quiet, 0), row('beside lists', beside, lists / (4 * seconds * rounds))]
  })
  const subject = `A cached location, 300 a second, beside lists of ${devices} devices`
  const note = 'node:http runs on the core of the gateway that reads the lists.'
  return { subject, note, compared: ['p50 ms', 'p99 ms', 'p99 to quiet'], rows }
}
