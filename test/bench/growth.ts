/** What a cached response costs as fleets, accounts and instances grow. Nothing expires meanwhile: only look-ups are measured. */
import { type Bench, bodyOf, createKey, hashOf, location, pageOf50 } from './bench.js'
import { bareServers, floors } from './cached.js'
import { actAll, type Contestant, responseOf } from './load.js'
import type { Server } from './processes.js'
import { memoryOf, race, rounded, type Table } from './table.js'

const longLived = { CACHE_MAX_MB: '1024', POSITION_TTL_MS: '3600000', ACCOUNT_TTL_MS: '3600000' }

export const growth = async (bench: Bench): Promise<Table[]> => [
  await byDevices(bench),
  await byAccounts(bench),
  await byInstances(bench),
]

/**
 * The table of a race between sizes.
 * @param open starts the gateway of one size. The names of its contestants hold the size as a number, and are compared with the first size.
 */
async function grow(
  bench: Bench,
  subject: string,
  sizes: number[],
  open: (size: number) => Promise<Contestant[]>,
): Promise<Table> {
  const contestants: Contestant[] = []
  const memory: string[] = []
  for (const size of sizes) {
    const own = await open(size)
    const body = await responseOf(own)
    if (contestants.length === 0) contestants.push(...(await bareServers(bench, body)))
    contestants.push(...own)
    memory.push(`${size}: ${memoryOf(own[0]?.servers[0]?.pid ?? 0, 'VmHWM')} MB`)
  }
  const { rows, floorSpread } = await race(bench, contestants, floors)
  const kindOf = (name: string): string => name.replace(/\b\d+\b(?= (devices|accounts|instances))/, '')
  return {
    subject,
    note: `Peak memory of a process: ${memory.join(', ')}.`,
    floorSpread,
    rows: rows.map((row) => {
      const smallest = rows.find(({ name }) => kindOf(name) === kindOf(row.name)) ?? row
      return { ...row, 'CPU to smallest': rounded(Number(row['CPU µs']) / Number(smallest['CPU µs'])) }
    }),
  }
}

function byDevices(bench: Bench): Promise<Table> {
  const page = `${pageOf50}?limit=10`
  const paths = { 'page of 10': page, 'page of 10, moving': `${page}&status=moving`, location }
  const sizes = bench.isQuick ? [10, 1_000] : [10, 1_000, 100_000]
  return grow(bench, 'One account of many devices', sizes, async (devices) => {
    const shared = { servers: [await bench.gateway(longLived)], credentials: [hashOf(devices)] }
    return Object.entries(paths).map(([kind, path]) => ({ name: `${kind}, ${devices} devices`, path, ...shared }))
  })
}

function byAccounts(bench: Bench): Promise<Table> {
  const sizes = bench.isQuick ? [1, 1_000] : [1, 100, 10_000]
  return grow(bench, 'A cached location, each request from another account', sizes, async (accounts) => {
    const server = await bench.gateway(longLived)
    const credentials = Array.from({ length: accounts }, (_, account) => hashOf(50, account))
    await actAll(accounts, (account) => bodyOf(server.url + location, credentials[account]))
    return [{ name: `${accounts} accounts`, servers: [server], path: location, credentials }]
  })
}

async function byInstances(bench: Bench): Promise<Table> {
  const subject = 'A cached location by API key, instances on one Redis and one core, 64 connections in all'
  const env = { ...longLived, REDIS_URL: await bench.processes.redis() }
  return grow(bench, subject, bench.isQuick ? [1, 4] : [1, 2, 4], async (count) => {
    const servers: Server[] = []
    while (servers.length < count) servers.push(await bench.gateway(env))
    const { key } = await createKey(servers[0] as Server, hashOf(50, count))
    return [{ name: `${count} instances`, servers, path: location, credentials: [key] }]
  })
}
