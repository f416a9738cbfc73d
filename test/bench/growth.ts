/** What a request costs as fleets, accounts and instances grow; times of life are long here, so that only look-ups are measured. */
import { bareRow, bodyOf, keyOf, location, missing, type Pace, pageOf50 } from './cached.js'
import { flood, type Load, rotate } from './load.js'
import { has, hashOf, memoryOf, type Part, type Parts } from './parts.js'
import { type Contestant, floor, race, rounded, type Table } from './table.js'

/** A list of 100,000 devices takes its time on one core. */
const longLived = {
  CACHE_MAX_MB: '1024',
  PLATFORM_TIMEOUT_MS: '60000',
  POSITION_TTL_MS: '3600000',
  ACCOUNT_TTL_MS: '3600000',
}

/** Each row's processor time as a multiple of the first of its kind, which is the smallest. */
function grown(rows: Table['rows'], kindOf: (name: string) => string): Table['rows'] {
  const cpu = (row: Table['rows'][number]): number => Number(row['CPU µs'])
  return rows.map((row) => {
    const kind = kindOf(String(row.name))
    const smallest = rows.find(({ name }) => kindOf(String(name)) === kind) ?? row
    return { ...row, 'CPU to smallest': rounded(cpu(row) / cpu(smallest)) }
  })
}

/** Every answer of these subjects comes from memory, or the figures mean something else. */
async function callsTo(platform: Part): Promise<number> {
  const calls = (await (await fetch(`${platform.url}/calls`)).json()) as Record<string, number>
  return calls.get_devices ?? 0
}

async function fromMemory(platform: Part, contestants: Contestant[], rounds: number): Promise<[Table['rows'], string]> {
  const before = await callsTo(platform)
  const rows = await race(contestants, rounds)
  const calls = (await callsTo(platform)) - before
  return [rows, calls === 0 ? 'The platform was not asked meanwhile.' : `NOT all from memory: ${calls} platform calls.`]
}

const smaller = (isQuick: boolean): string => (isQuick ? ', in quick runs smaller sizes' : '')

export async function growthByDevices(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const contestants: Contestant[] = []
  const memory: string[] = []
  const refused: string[] = []
  const kinds: [string, string][] = [
    ['location', location],
    ['page of 10, moving only', `${pageOf50}?limit=10&status=moving`],
  ]
  if (!isQuick) kinds.push(['page of 10', `${pageOf50}?limit=10`])
  for (const devices of isQuick ? [10, 10_000] : [10, 1_000, 100_000]) {
    const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api`, ...longLived })
    const credential = hashOf(devices)
    const body = await bodyOf(`${gateway.url}${pageOf50}?limit=10`, credential).catch(String)
    if (!body.startsWith('{')) {
      refused.push(`NOT measured, ${devices} devices: ${body}.`)
      continue
    }
    if (contestants.length === 0) contestants.push(await bareRow(parts, body, seconds))
    memory.push(`${devices}: ${memoryOf(gateway.pid, 'VmHWM')} MB`)
    for (const [kind, path] of kinds) {
      contestants.push({
        name: `${kind}, ${devices} devices`,
        run: () => flood({ url: gateway.url + path, credential }, seconds),
        pids: [gateway.pid],
      })
    }
  }
  const [rows, note] = await fromMemory(platform, contestants, rounds)
  return {
    subject: `One account of many devices, its list in memory${smaller(isQuick)}`,
    note: [note, `CACHE_MAX_MB 1024; peak memory after the list: ${memory.join(', ')}.`, ...refused].join(' '),
    rows: grown(rows, (name) => name.replace(/, \d+ devices/, '')),
    hasFailed: refused.length > 0,
  }
}

export async function growthByAccounts(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const contestants: Contestant[] = []
  const memory: string[] = []
  for (const accounts of isQuick ? [1, 1_000] : [1, 100, 10_000]) {
    const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api`, ...longLived })
    const hashes = Array.from({ length: accounts }, (_, account) => hashOf(50, account))
    await warm(gateway, hashes)
    if (contestants.length === 0)
      contestants.push(await bareRow(parts, await bodyOf(gateway.url + location, hashOf(50)), seconds))
    memory.push(`${accounts}: ${memoryOf(gateway.pid, 'VmRSS')} MB`)
    const dir = parts.folder('lua')
    contestants.push({
      name: `${accounts} accounts`,
      run: () => rotate({ url: gateway.url + location }, hashes, seconds, dir),
      pids: [gateway.pid],
    })
  }
  const [rows, note] = await fromMemory(platform, contestants, rounds)
  return {
    subject: `A cached location, each request from another of many accounts${smaller(isQuick)}`,
    note: `${note} Memory with all of them known: ${memory.join(', ')}.`,
    rows: grown(rows, (name) => (name === floor ? name : 'accounts')),
  }
}

/** Lets the gateway see every account once. */
async function warm(gateway: Part, hashes: string[]): Promise<void> {
  const waiting = [...hashes]
  const work = async (): Promise<void> => {
    for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) await bodyOf(gateway.url + location, hash)
  }
  await Promise.all(Array.from({ length: 32 }, work))
}

/** Several loads at once as one. */
function sum(loads: Load[]): Load {
  return {
    requests: loads.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50: Math.max(...loads.map(({ p50 }) => p50)),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
  }
}

/** As many processes as `parts` share 64 connections. */
function together(
  name: string,
  processes: readonly Part[],
  path: string,
  credential: string,
  seconds: number,
): Contestant {
  const connections = 64 / processes.length
  const one = ({ url }: Part): Promise<Load> => flood({ url: url + path, credential, connections }, seconds)
  return {
    name,
    run: async () => sum(await Promise.all(processes.map(one))),
    pids: processes.map(({ pid }) => pid),
  }
}

export async function growthByInstances(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const subject = 'A cached location by API key, instances on one Redis, 64 connections in all'
  if (!has('redis-server')) return { subject, note: missing('redis-server').trim(), rows: [] }
  const platform = await parts.peer('platform', '0', 'other')
  const env = { PLATFORM_URL: `${platform.url}/api`, REDIS_URL: await parts.redis(), ...longLived }
  const several = <T>(count: number, one: () => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, one))
  const bare: Contestant[] = []
  const gateways: Contestant[] = []
  for (const count of isQuick ? [1, 4] : [1, 2, 4]) {
    const instances = await several(count, () => parts.gateway(env))
    const credential = await keyOf(instances[0] as Part, hashOf(50, count))
    const [body = ''] = await Promise.all(instances.map(({ url }) => bodyOf(url + location, credential)))
    const floors = await several(count, () => parts.peer('bare', body))
    bare.push(together(count === 1 ? floor : `${count} ${floor}`, floors, '', credential, seconds))
    gateways.push(together(`${count} instances`, instances, location, credential, seconds))
  }
  const [rows, note] = await fromMemory(platform, [...bare, ...gateways], rounds)
  return {
    subject,
    note: `${note} All processes of a row share one core: their sum cannot grow, and what sharing costs in processor time the bare servers show.`,
    rows: grown(rows, (name) => (name.endsWith(floor) ? floor : 'instances')),
  }
}
