/** Answers from memory, against the floor of the runtime and against servers that do less. */
import { flood } from './load.js'
import { has, hashOf, type Part, type Parts } from './parts.js'
import { type Contestant, floor, race, rounded, type Table } from './table.js'

export interface Pace {
  rounds: number
  /** Of one run within a round. */
  seconds: number
  /** Leaves out what takes long. */
  isQuick: boolean
}

/** The first device of every account of the sandbox. */
export const location = '/api/v1/devices/1001/location'
export const pageOf50 = '/api/v1/devices'

/** An API key of the account behind `hash`. */
export async function keyOf(gateway: Part, hash: string): Promise<string> {
  const response = await fetch(`${gateway.url}/api/v1/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ platform_hash: hash }),
  })
  const { key } = (await response.json()) as { key?: string }
  if (key === undefined) throw new Error(`no API key: ${response.status}`)
  return key
}

export async function bodyOf(url: string, credential: string): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${credential}` } })
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response.text()
}

/** A sentence for every program that a subject would have used and did not find. */
export const missing = (...programs: string[]): string =>
  programs.map((program) => (has(program) ? '' : ` ${program} is missing: NOTHING measured with it.`)).join('')

/** The least a server of this runtime can do: the same answer, ready made. */
export async function bareRow(parts: Parts, body: string, seconds: number): Promise<Contestant> {
  const { url, pid } = await parts.peer('bare', body)
  return { name: floor, run: () => flood({ url }, seconds), pids: [pid] }
}

export async function cachedLocation(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const PLATFORM_URL = `${platform.url}/api`
  const hash = hashOf(50)
  const embedded = await parts.gateway({ PLATFORM_URL })
  const constant = await bodyOf(embedded.url + location, hash)
  const contestant = (name: string, { url, pid }: Part, credential = hash): Contestant => ({
    name,
    pids: [pid],
    run: () => flood({ url: url + location, credential }, seconds),
  })
  const contestants = [
    await bareRow(parts, constant, seconds),
    contestant('bare Fastify', await parts.peer('framework', constant)),
    contestant('gateway, embedded, platform hash', embedded),
    contestant('gateway, embedded, API key', embedded, await keyOf(embedded, hash)),
  ]
  if (has('redis-server')) {
    const shared = await parts.gateway({ PLATFORM_URL, REDIS_URL: await parts.redis() })
    contestants.push(contestant('gateway, Redis, platform hash', shared))
    contestants.push(contestant('gateway, Redis, API key', shared, await keyOf(shared, hash)))
  }
  if (has('nginx')) {
    const behind = await parts.peer('bare', constant, 'other')
    contestants.push(contestant('nginx proxy_pass to a bare node:http', await parts.nginx(behind.url, false)))
    if (!isQuick)
      contestants.push(contestant('nginx proxy_cache of the same answer', await parts.nginx(behind.url, true)))
  }
  return {
    subject: 'A cached location, 64 connections',
    note: `Both bare servers send a constant of the same size. Goals: embedded 0.65, API key with Redis 0.50.${missing('redis-server', 'nginx')}`,
    rows: await race(contestants, rounds),
  }
}

/** A page cut from the list that the others pass through whole. */
export async function cachedPage(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api` })
  const contestants = [await bareRow(parts, await bodyOf(gateway.url + pageOf50, hashOf(50)), seconds)]
  const proxies: [string, Part][] = [
    ['@fastify/http-proxy', await parts.peer('proxy', platform.url)],
    ['fast-gateway', await parts.peer('gateway', platform.url)],
  ]
  if (has('nginx')) {
    if (!isQuick) proxies.push(['nginx proxy_pass', await parts.nginx(platform.url, false)])
    proxies.push(['nginx proxy_cache', await parts.nginx(platform.url, true)])
  }
  const sizes = isQuick ? [50] : [50, 1_000]
  for (const devices of sizes) {
    const credential = hashOf(devices)
    const list = `/api/get_devices?lang=en&user_api_hash=${encodeURIComponent(credential)}`
    const kB = Math.round((await bodyOf(platform.url + list, '')).length / 1_000)
    contestants.push({
      name: `gateway, 50 of ${devices} devices`,
      run: () => flood({ url: gateway.url + pageOf50, credential }, seconds),
      pids: [gateway.pid],
    })
    for (const [name, { url, pid }] of proxies) {
      const through = `${name}, the list of ${devices} (${kB} kB)`
      contestants.push({ name: through, run: () => flood({ url: url + list }, seconds), pids: [pid] })
    }
  }
  const rows = await race(contestants, rounds)
  const own = sizes.flatMap((_, size) =>
    Array(1 + proxies.length).fill(rows[1 + size * (1 + proxies.length)]?.['per second']),
  )
  return {
    subject: 'A page of 50 devices, 64 connections',
    note: `"behind" is how many pages the gateway answers for one of theirs. Goal: 10 for the two npm proxies, which pass through the very list that the page is cut from; the platform takes no time, which favours them.${missing('nginx')}`,
    rows: rows.map((row, i) => ({ ...row, behind: i === 0 ? '' : rounded(own[i - 1] / Number(row['per second']), 1) })),
  }
}
