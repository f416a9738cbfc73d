/** What a cached response costs as fleets, accounts and instances grow. Nothing expires meanwhile: only look-ups are measured. */
import { type Bench, bareServers, bodyOf, createKey, flooded, floors, hash, location, pageOf50 } from './bench.js'
import { hashOf } from './fixed-platform.js'
import type { Load } from './load.js'
import { redis } from './processes.js'
import { type Contestant, race, type Table } from './table.js'

const longLived = { CACHE_MAX_MB: '1024', POSITION_TTL_MS: '3600000', ACCOUNT_TTL_MS: '3600000' }

type Open = (bench: Bench, size: number) => Promise<Contestant[]>

const subjects: [subject: string, sizes: number[], quickSizes: number[], open: Open][] = [
  ['One account of many devices', [10, 1_000, 100_000], [10, 1_000], ofDevices],
  ['A cached location, each request from another account', [1, 100, 10_000], [1, 1_000], ofAccounts],
  ['A cached location by API key, instances on one Redis and one core', [1, 2, 4], [1, 4], ofInstances],
]

export async function growth(bench: Bench): Promise<Table[]> {
  const body = await bodyOf((await bench.gateway()).url + location, hash)
  const tables: Table[] = []
  for (const [subject, sizes, quickSizes, open] of subjects) {
    const entries = await bareServers(bench, body)
    for (const size of bench.isQuick ? quickSizes : sizes) entries.push(...(await open(bench, size)))
    const note = 'The bare servers send a cached location. 64 connections in all.'
    tables.push({ subject, note, ...(await race(entries, bench.rounds, floors)) })
  }
  return tables
}

async function ofDevices(bench: Bench, devices: number): Promise<Contestant[]> {
  const server = await bench.gateway(longLived)
  const page = `${pageOf50}?limit=10`
  const paths = { location, 'page of 10': page, 'page of 10, moving': `${page}&status=moving` }
  const credentials = [hashOf(devices)]
  await bodyOf(server.url + page, credentials[0])
  return Object.entries(paths).map(([kind, path]) =>
    flooded(bench, `${kind}, ${devices} devices`, server, { path, credentials }),
  )
}

async function ofAccounts(bench: Bench, accounts: number): Promise<Contestant[]> {
  const server = await bench.gateway(longLived)
  const credentials = Array.from({ length: accounts }, (_, account) => hashOf(50, account))
  const left = credentials.values()
  const readAll = async (): Promise<void> => {
    for (const hash of left) await bodyOf(server.url + location, hash)
  }
  await Promise.all(Array.from({ length: 16 }, readAll))
  return [flooded(bench, `${accounts} accounts`, server, { path: location, credentials })]
}

async function ofInstances(bench: Bench, count: number): Promise<Contestant[]> {
  const env = { ...longLived, REDIS_URL: await redis() }
  const instances = await Promise.all(Array.from({ length: count }, () => bench.gateway(env)))
  const credential = await createKey(instances[0]!, hashOf(50, count))
  const target = { path: location, credentials: [credential], connections: 64 / count }
  await Promise.all(instances.map(({ url }) => bodyOf(url + location, credential)))
  const run = async (): Promise<Load> => {
    const loads = await Promise.all(instances.map((server) => flooded(bench, '', server, target).run()))
    const sum = (of: (load: Load) => number): number => loads.reduce((sum, load) => sum + of(load), 0)
    const slowest = (of: (load: Load) => number): number => Math.max(...loads.map(of))
    const [p50, p99] = [slowest((load) => load.p50), slowest((load) => load.p99)]
    return { requests: sum((load) => load.requests), perSecond: sum((load) => load.perSecond), p50, p99 }
  }
  return [{ name: `${count} instances`, run, pids: instances.map(({ pid }) => pid) }]
}
