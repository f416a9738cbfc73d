/** Responses from memory, beside servers that do less. */
import { type Bench, bodyOf, createKey, hash, location, pageOf50, platformList } from './bench.js'
import { flood } from './load.js'
import type { Server } from './processes.js'
import { type Contestant, race, type Table } from './table.js'

/** What is raced: a server, the path and perhaps the credential and headers of its requests. */
type Entry = [name: string, server: Server, path: string, credential?: string, headers?: Record<string, string>]

export const floors = ['bare node:http', 'bare, sends together'] as const

/** The bare servers that define the floor, with a constant response. */
export const bareServers = async ({ processes }: Bench, body: string): Promise<Entry[]> => [
  [floors[0], await processes.peer('bare', body), ''],
  [floors[1], await processes.peer('bareTogether', body), ''],
]

/** Both stores and both credentials of every build. */
async function gateways(bench: Bench, path: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const build of bench.builds) {
    for (const store of ['embedded', 'Redis']) {
      const env = store === 'Redis' ? { REDIS_URL: await bench.processes.redis() } : undefined
      const server = await bench.gateway(env, build)
      const name = `${build.label}gateway, ${store}`
      entries.push([`${name}, hash`, server, path, hash])
      entries.push([`${name}, key`, server, path, await createKey(server, hash)])
    }
  }
  return entries
}

export const contestants = ({ processes, seconds }: Bench, entries: readonly Entry[], connections = 64): Contestant[] =>
  entries.map(([name, { url, pid }, path, credential, headers = {}]) => ({
    name,
    pids: [pid],
    run: () =>
      flood(processes, { url: url + path, connections, credentials: credential ? [credential] : [], headers }, seconds),
  }))

const compared = ['per second', 'CPU µs', 'p50 ms', 'p99 ms']

export async function cachedLocation(bench: Bench): Promise<Table[]> {
  const { processes, rounds, isQuick } = bench
  const own = await gateways(bench, location)
  const body = await bodyOf(own[0]?.[1].url + location, hash)
  const behind = await processes.peer('bare', body, 'load')
  const entries: Entry[] = [
    ...(await bareServers(bench, body)),
    ['bare + 10 µs of work', await processes.peer('bareWorking', body), ''],
    ['bare Fastify', await processes.peer('framework', body), ''],
    ...own,
    ['nginx proxy_pass to bare node:http', await processes.nginx(behind.url, false), ''],
  ]
  const note = 'The bare servers send a constant of the same size.'
  const tables: Table[] = []
  for (const connections of isQuick ? [64] : [1, 8, 64, 256]) {
    const subject = `A cached location, ${connections} connection${connections > 1 ? 's' : ''}`
    tables.push({ subject, note, compared, ...(await race(contestants(bench, entries, connections), rounds, floors)) })
  }
  return tables
}

/** A page cut from a list that the proxies pass through whole. */
export async function cachedPage(bench: Bench): Promise<Table[]> {
  const { processes, platform, rounds } = bench
  const caching = await processes.nginx(platform.url, true)
  const own = await gateways(bench, pageOf50)
  const entries: Entry[] = [
    ...(await bareServers(bench, await bodyOf(own[0]?.[1].url + pageOf50, hash))),
    ...own,
    ['@fastify/http-proxy, untranslated', await processes.peer('proxy', platform.url), platformList(hash)],
    ['nginx proxy_cache, untranslated', caching, platformList(hash)],
  ]
  const subject = 'A cached page of 50 devices, 64 connections'
  const note = "The proxies send the platform's own list of these devices."
  return [{ subject, note, compared, ...(await race(contestants(bench, entries), rounds, floors)) }]
}

const plain = '200, plain'

/** Polled with `If-None-Match`, beside the same polls with the whole body, plain and compressed. */
export async function idleFleet(bench: Bench): Promise<Table[]> {
  const server = await bench.gateway()
  const tables: Table[] = []
  for (const [name, path] of Object.entries({ location, 'page of 50 devices': pageOf50 })) {
    const { headers } = await fetch(server.url + path, { headers: { authorization: `Bearer ${hash}` } })
    const entries: Entry[] = [
      [plain, server, path, hash],
      ['200, gzip', server, path, hash, { 'accept-encoding': 'gzip' }],
      ['200, br', server, path, hash, { 'accept-encoding': 'br' }],
      ['304, same tag', server, path, hash, { 'if-none-match': String(headers.get('etag')) }],
    ]
    const subject = `An idle ${name}, polled`
    const note = 'Bytes are those of a whole response, headers included. A location is too small to be compressed.'
    tables.push({ subject, note, ...(await race(contestants(bench, entries), bench.rounds, [plain])) })
  }
  return tables
}
