/** What a cached response costs as fleets, accounts and instances grow. Nothing expires meanwhile: only look-ups are measured. */
import { type Bench, bodyOf, createKey, hashOf, location, pageOf50 } from './bench.js'
import { bareServers, contestants, floors } from './cached.js'
import { flood, type Load } from './load.js'
import type { Server } from './processes.js'
import { type Contestant, memoryOf, race, rounded, type Table } from './table.js'

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
  open: (size: number) => Promise<{ body: string; entries: Contestant[] }>,
): Promise<Table> {
  const entries: Contestant[] = []
  const memory: string[] = []
  for (const size of sizes) {
    const { body, entries: own } = await open(size)
    if (entries.length === 0) entries.push(...contestants(bench, await bareServers(bench, body)))
    entries.push(...own)
    memory.push(`${size}: ${memoryOf(own[0]?.pids[0] ?? 0, 'VmHWM')} MB`)
  }
  const { rows, floorSpread } = await race(entries, bench.rounds, floors)
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
  const paths = { location, 'page of 10': page, 'page of 10, moving': `${page}&status=moving` }
  const sizes = bench.isQuick ? [10, 1_000] : [10, 1_000, 100_000]
  return grow(bench, 'One account of many devices', sizes, async (devices) => {
    const server = await bench.gateway(longLived)
    const credential = hashOf(devices)
    const body = await bodyOf(server.url + page, credential)
    const entries = Object.entries(paths).map(([kind, path]): [string, Server, string, string] => {
      return [`${kind}, ${devices} devices`, server, path, credential]
    })
    return { body, entries: contestants(bench, entries) }
  })
}

function byAccounts(bench: Bench): Promise<Table> {
  const sizes = bench.isQuick ? [1, 1_000] : [1, 100, 10_000]
  return grow(bench, 'A cached location, each request from another account', sizes, async (accounts) => {
    const { url, pid } = await bench.gateway(longLived)
    const hashes = Array.from({ length: accounts }, (_, account) => hashOf(50, account))
    const target = { url: url + location, credentials: hashes }
    const readEvery16th = async (from: number): Promise<void> => {
      for (let i = from; i < accounts; i += 16) await bodyOf(target.url, hashes[i] ?? '')
    }
    await Promise.all(Array.from({ length: 16 }, (_, from) => readEvery16th(from)))
    const run = (): Promise<Load> => flood(bench.processes, target, bench.seconds)
    return { body: await bodyOf(target.url, hashOf(50)), entries: [{ name: `${accounts} accounts`, run, pids: [pid] }] }
  })
}

async function byInstances(bench: Bench): Promise<Table> {
  const subject = 'A cached location by API key, instances on one Redis and one core, 64 connections in all'
  const env = { ...longLived, REDIS_URL: await bench.processes.redis() }
  return grow(bench, subject, bench.isQuick ? [1, 4] : [1, 2, 4], async (count) => {
    const instances: Server[] = []
    while (instances.length < count) instances.push(await bench.gateway(env))
    const credential = await createKey(instances[0] as Server, hashOf(50, count))
    const load = { credentials: [credential], connections: 64 / count }
    const targets = instances.map(({ url }) => ({ url: url + location, ...load }))
    const [body = ''] = await Promise.all(targets.map(({ url }) => bodyOf(url, credential)))
    const run = async (): Promise<Load> => {
      const loads = await Promise.all(targets.map((target) => flood(bench.processes, target, bench.seconds)))
      const sum = (of: (load: Load) => number): number => loads.reduce((sum, load) => sum + of(load), 0)
      const slowest = (of: (load: Load) => number): number => Math.max(...loads.map(of))
      const [p50, p99] = [slowest((load) => load.p50), slowest((load) => load.p99)]
      return { requests: sum((load) => load.requests), perSecond: sum((load) => load.perSecond), p50, p99 }
    }
    return { body, entries: [{ name: `${count} instances`, run, pids: instances.map(({ pid }) => pid) }] }
  })
}
