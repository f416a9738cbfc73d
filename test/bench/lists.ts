/** Device lists that are not in memory, what long ones cost the other callers, and the start of a process. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Bench, bodyOf, flooded, hash, location, pageOf50, platformList } from './bench.js'
import { hashOf } from './fixed-platform.js'
import { paced } from './load.js'
import { peer, type Server } from './processes.js'
import { type Contestant, median, memoryOf, race, rounded, spread, type Table } from './table.js'

const devices = 10_000

/** Reads one device of an account's list, which the gateway fetches whole when it is not in memory. */
const fetchList = ({ url }: Server, account: number): Promise<string> =>
  bodyOf(`${url}${pageOf50}?limit=1`, hashOf(devices, account))

export const lists = async (bench: Bench): Promise<Table[]> => [await throughput(bench), await besideLists(bench)]

async function throughput(bench: Bench): Promise<Table> {
  const { platform, gateway, builds, rounds, seconds } = bench
  const longer = { ...bench, seconds: 4 * seconds }
  const floor = '@fastify/http-proxy, untranslated'
  const proxy = await peer('proxy', platform.url)
  const path = platformList(hashOf(devices))
  await bodyOf(proxy.url + path) // the platform makes it once
  const contestants = [flooded(longer, floor, proxy, { path, connections: 4 })]
  const target = {
    path: `${pageOf50}?limit=500`,
    credentials: Array.from({ length: 8 }, (_, account) => hashOf(devices, account)),
    connections: 4,
  }
  for (const build of builds) {
    const server = await gateway({ POSITION_TTL_MS: '1' }, build)
    contestants.push(flooded(longer, `${build.label}gateway, responds with 500`, server, target))
  }
  return {
    subject: `Lists of ${devices} devices, 4 connections`,
    note: 'Each request fetches a fresh list. The peak memory is that of four lists at once; `start` has that of one.',
    compared: ['per second', 'peak MB'],
    ...(await race(contestants, rounds, [floor])),
  }
}

async function besideLists({ gateway, builds, rounds, seconds }: Bench): Promise<Table> {
  const accounts = 60 // so many that no list is in memory when its account's turn comes again
  const contestants: Contestant[] = []
  let fetched = 0
  for (const { label, folder } of builds) {
    const server = await gateway({ POSITION_TTL_MS: '2000' }, { label, folder })
    for (let account = 0; account < accounts; account += 1) await fetchList(server, account)
    const quiet = () => paced(() => bodyOf(server.url + location, hash), 300, 4 * seconds)
    const beside = async () => {
      const load = quiet()
      let isOver = false
      const stop = () => {
        isOver = true
      }
      load.then(stop, stop)
      for (; !isOver; fetched += 1) await fetchList(server, fetched % accounts)
      return load
    }
    const pids = [server.pid]
    contestants.push({ name: `${label}quiet`, run: quiet, pids }, { name: `${label}beside lists`, run: beside, pids })
  }
  const { rows } = await race(contestants, rounds, ['quiet'])
  const perSecond = fetched / builds.length / (rounds + 1) / (4 * seconds)
  const subject = `A cached location, 300 a second, beside lists of ${devices} devices`
  return { subject, note: `${rounded(perSecond, 1)} lists a second.`, compared: ['p50 ms', 'p99 ms'], rows }
}

/** A short list, beside the same platform called directly. */
export async function coldList({ platform, gateway, builds, rounds, seconds }: Bench): Promise<Table[]> {
  const perSecond = 50
  const accounts = Array.from({ length: 200 }, (_, account) => hashOf(50, account)) // many, as above
  const hashAt = (index: number): string => accounts[index % accounts.length] ?? ''
  const floor = 'the platform itself'
  const contestant = (name: string, { pid }: Server, read: (index: number) => Promise<string>): Contestant => {
    return { name, pids: [pid], run: () => paced(read, perSecond, 4 * seconds) }
  }
  const contestants = [contestant(floor, platform, (index) => bodyOf(platform.url + platformList(hashAt(index))))]
  for (const build of builds) {
    const server = await gateway({ POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '3600000' }, build)
    const read = (index: number) => bodyOf(server.url + pageOf50, hashAt(index))
    for (const index of accounts.keys()) await read(index)
    contestants.push(contestant(`${build.label}gateway`, server, read))
  }
  const subject = `A list of 50 devices that is not in memory, ${perSecond} a second`
  const note = '"above" is the time beyond that of the platform itself in the same round, ms.'
  return [{ subject, note, compared: ['p50 above', 'p99 above'], ...(await race(contestants, rounds, [floor])) }]
}

/** From the start of the process to its first response; its memory when idle and after one long list. */
export async function startAndMemory({ gateway, builds, rounds }: Bench): Promise<Table[]> {
  const entries = builds.map((build) => ({ build, ms: [] as number[], idleMb: [] as number[], peakMb: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { build, ms, idleMb, peakMb } of entries) {
      const started = performance.now()
      const server = await gateway({}, build)
      await bodyOf(`${server.url}/api/health`)
      ms.push(performance.now() - started)
      await pause(1_000)
      idleMb.push(memoryOf(server.pid, 'VmRSS'))
      await fetchList(server, 0)
      peakMb.push(memoryOf(server.pid, 'VmHWM'))
      await server.end()
    }
  }
  const rows = entries.map(({ build, ms, idleMb, peakMb }) => ({
    name: `${build.label}gateway`,
    'start ms': rounded(median(ms), 0),
    'idle MB': median(idleMb),
    'peak MB': median(peakMb),
    'spread %': spread(ms),
  }))
  const note = 'Start until the first response; idle one second later; peak after one list of 10,000 devices.'
  return [{ subject: 'A new process', note, compared: ['start ms', 'idle MB', 'peak MB'], rows }]
}
