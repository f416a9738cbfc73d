/** Answers from memory, against the floor of the runtime and against servers that do less. */
import { flood } from './load.js'
import { has, hashOf, type Part, type Parts } from './parts.js'
import { type Contestant, race, type Table } from './table.js'

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

export async function cachedLocation(parts: Parts, { rounds, seconds }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const PLATFORM_URL = `${platform.url}/api`
  const hash = hashOf(50)
  const embedded = await parts.gateway({ PLATFORM_URL })
  const constant = await bodyOf(embedded.url + location, hash)
  const bare = await parts.peer('bare', constant)
  const framework = await parts.peer('framework', constant)
  const behind = await parts.peer('bare', constant, 'other')
  const contestant = (name: string, { url, pid }: Part, credential = hash): Contestant => ({
    name,
    pid,
    run: () => flood({ url: url + location, credential }, seconds),
  })
  const contestants = [
    contestant('bare node:http, constant', bare),
    contestant('bare Fastify, constant', framework),
    contestant('gateway, embedded, platform hash', embedded),
    contestant('gateway, embedded, API key', embedded, await keyOf(embedded, hash)),
  ]
  if (has('nginx'))
    contestants.push(contestant('nginx proxy_pass to a bare node:http', await parts.nginx(behind.url, false)))
  if (has('redis-server')) {
    const shared = await parts.gateway({ PLATFORM_URL, REDIS_URL: await parts.redis() })
    contestants.push(contestant('gateway, Redis, platform hash', shared))
    contestants.push(contestant('gateway, Redis, API key', shared, await keyOf(shared, hash)))
  }
  return {
    subject: 'A cached location, 64 connections',
    note: `Goals: embedded 0.65, API key with Redis 0.50 of bare node:http.${has('redis-server') ? '' : ' redis-server is missing: NOTHING measured with Redis.'}`,
    rows: await race(contestants, rounds),
  }
}

export async function cachedPage(parts: Parts, { rounds, seconds }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const hash = hashOf(50)
  const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api` })
  const bare = await parts.peer('bare', await bodyOf(gateway.url + pageOf50, hash))
  const untranslated = `/api/get_devices?lang=en&user_api_hash=${encodeURIComponent(hash)}`
  const through = (name: string, { url, pid }: Part): Contestant => ({
    name,
    pid,
    run: () => flood({ url: url + untranslated }, seconds),
  })
  const contestants: Contestant[] = [
    { name: 'bare node:http, the translated page', run: () => flood({ url: bare.url }, seconds), pid: bare.pid },
    { name: 'gateway', run: () => flood({ url: gateway.url + pageOf50, credential: hash }, seconds), pid: gateway.pid },
    through('@fastify/http-proxy, untranslated', await parts.peer('proxy', platform.url)),
    through('fast-gateway, untranslated', await parts.peer('gateway', platform.url)),
  ]
  if (has('nginx')) contestants.push(through('nginx proxy_cache, untranslated', await parts.nginx(platform.url, true)))
  return {
    subject: 'A page of 50 devices, 64 connections',
    note: 'Goal: the gateway 10 times as often as the two that pass the list of the same 50 devices through.',
    rows: await race(contestants, rounds),
  }
}

/** 64 clients of one account while every call to the platform takes 200 ms. */
export async function manyWaiting(parts: Parts, { rounds, seconds }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '200', 'other')
  const hash = hashOf(50)
  const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api` })
  const proxy = await parts.peer('proxy', platform.url)
  const url = `${proxy.url}/api/get_devices?id=1001&user_api_hash=${encodeURIComponent(hash)}`
  const calls = async (): Promise<number> => Number(await (await fetch(`${platform.url}/calls`)).text())
  let own = 0
  let elapsedMs = 0
  const asked = async () => {
    const [before, started] = [await calls(), performance.now()]
    const load = await flood({ url: gateway.url + location, credential: hash }, seconds)
    elapsedMs += performance.now() - started
    own += (await calls()) - before
    return load
  }
  const rows = await race(
    [
      { name: 'one call to the platform for each (@fastify/http-proxy)', run: () => flood({ url }, seconds) },
      { name: 'gateway', run: asked },
    ],
    rounds,
  )
  return {
    subject: '64 clients of one account, the platform takes 200 ms',
    note: `Goals: ratio 50, at most one call per 5 s of life. Calls of the gateway: ${own} within ${rounded(elapsedMs)} s of load.`,
    rows,
  }
}

const rounded = (ms: number): number => Math.round(ms / 100) / 10
