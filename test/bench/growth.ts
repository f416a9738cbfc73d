/** What a request costs as fleets, accounts and instances grow; times of life are long here, so that only look-ups are measured. */
import { bodyOf, keyOf, location, type Pace, pageOf50 } from './cached.js'
import { flood, type Load, rotate } from './load.js'
import { has, hashOf, memoryOf, type Part, type Parts } from './parts.js'
import { type Contestant, race, type Table } from './table.js'

const longLived = { POSITION_TTL_MS: '3600000', ACCOUNT_TTL_MS: '3600000' }

export async function growthByDevices(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const contestants: Contestant[] = []
  const memory: string[] = []
  for (const devices of isQuick ? [10, 1_000, 10_000] : [10, 1_000, 100_000]) {
    const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api`, ...longLived })
    const credential = hashOf(devices)
    await bodyOf(gateway.url + pageOf50, credential)
    memory.push(`${devices}: ${memoryOf(gateway.pid, 'VmHWM')} MB`)
    for (const [name, path] of [
      ['location', location],
      ['page of 10', `${pageOf50}?limit=10`],
      ['page of 10, moving only', `${pageOf50}?limit=10&status=moving`],
    ]) {
      contestants.push({
        name: `${devices} devices, ${name}`,
        run: () => flood({ url: gateway.url + path, credential }, seconds),
        pid: gateway.pid,
      })
    }
  }
  return {
    subject: 'One account of many devices, its list in memory',
    note: `Peak memory after the list: ${memory.join(', ')}.`,
    rows: await race(contestants, rounds),
  }
}

export async function growthByAccounts(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const contestants: Contestant[] = []
  const memory: string[] = []
  for (const accounts of isQuick ? [1, 100, 1_000] : [1, 100, 10_000]) {
    const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api`, ...longLived })
    const hashes = Array.from({ length: accounts }, (_, account) => hashOf(50, account))
    await warm(gateway, hashes)
    memory.push(`${accounts}: ${memoryOf(gateway.pid, 'VmRSS')} MB`)
    const dir = parts.folder('lua')
    contestants.push({
      name: `${accounts} accounts`,
      run: () => rotate({ url: gateway.url + location }, hashes, seconds, dir),
      pid: gateway.pid,
    })
  }
  return {
    subject: 'A cached location, each request from another of many accounts',
    note: `Memory with all of them known: ${memory.join(', ')}.`,
    rows: await race(contestants, rounds),
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

export async function growthByInstances(parts: Parts, { rounds, seconds }: Pace): Promise<Table> {
  const subject = 'A cached location by API key, instances on one Redis, all on one core'
  if (!has('redis-server')) return { subject, note: 'redis-server is missing: NOTHING measured.', rows: [] }
  const platform = await parts.peer('platform', '0', 'other')
  const env = { PLATFORM_URL: `${platform.url}/api`, REDIS_URL: await parts.redis(), ...longLived }
  const contestants: Contestant[] = []
  for (const count of [1, 2, 4]) {
    const gateways = await Promise.all(Array.from({ length: count }, () => parts.gateway(env)))
    const credential = await keyOf(gateways[0] as Part, hashOf(50, count))
    const run = async (): Promise<Load> => {
      const all = gateways.map(({ url }) =>
        flood({ url: url + location, credential, connections: 64 / count }, seconds),
      )
      const loads = await Promise.all(all)
      return {
        requests: loads.reduce((sum, { requests }) => sum + requests, 0),
        perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0),
        p50: Math.max(...loads.map(({ p50 }) => p50)),
        p99: Math.max(...loads.map(({ p99 }) => p99)),
      }
    }
    contestants.push({ name: `${count} instances, together`, run })
  }
  return {
    subject,
    note: 'One core for all instances: a flat sum means that a request costs the same however many there are.',
    rows: await race(contestants, rounds),
  }
}
