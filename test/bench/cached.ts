/** Responses from memory, beside servers that do less. */
import { type Bench, createKey, hash, location, pageOf50, platformList } from './bench.js'
import { type Contestant, responseOf } from './load.js'
import { race, type Table } from './table.js'

export const floors = ['bare node:http', 'bare, sends together'] as const

/** The bare servers that define the floor, with a constant response. */
export const bareServers = async ({ processes }: Bench, body: string): Promise<Contestant[]> => [
  { name: floors[0], servers: [await processes.peer('bare', body)] },
  { name: floors[1], servers: [await processes.peer('bareTogether', body)] },
]

/** Both stores and both credentials of every build. */
async function gateways(bench: Bench, path: string): Promise<Contestant[]> {
  const contestants: Contestant[] = []
  for (const build of bench.builds) {
    for (const store of ['embedded', 'Redis']) {
      const env = store === 'Redis' ? { REDIS_URL: await bench.processes.redis() } : undefined
      const server = await bench.gateway(env, build)
      const { key } = await createKey(server, hash)
      for (const [kind, credential] of Object.entries({ hash, key })) {
        const name = `${build.label}gateway, ${store}, ${kind}`
        contestants.push({ name, servers: [server], path, credentials: [credential] })
      }
    }
  }
  return contestants
}

const compared = ['per second', 'CPU µs', 'p50 ms', 'p99 ms']

export async function cachedLocation(bench: Bench): Promise<Table[]> {
  const { processes, isQuick } = bench
  const own = await gateways(bench, location)
  const body = await responseOf(own)
  const behind = await processes.peer('bare', body, 'load')
  const contestants: Contestant[] = [
    ...(await bareServers(bench, body)),
    { name: 'bare + 10 µs of work', servers: [await processes.peer('bareWorking', body)] },
    { name: 'bare Fastify', servers: [await processes.peer('framework', body)] },
    ...own,
    { name: 'nginx proxy_pass to bare node:http', servers: [await processes.nginx(behind.url, false)] },
  ]
  const note = 'The bare servers send a constant of the same size.'
  const tables: Table[] = []
  for (const connections of isQuick ? [64] : [1, 8, 64, 256]) {
    const subject = `A cached location, ${connections} connection${connections > 1 ? 's' : ''}`
    tables.push({ subject, note, compared, ...(await race({ ...bench, connections }, contestants, floors)) })
  }
  return tables
}

/** A page cut from a list that the proxies pass through whole. */
export async function cachedPage(bench: Bench): Promise<Table[]> {
  const { processes, platform } = bench
  const caching = await processes.nginx(platform.url, true)
  const own = await gateways(bench, pageOf50)
  const path = platformList(hash)
  const contestants: Contestant[] = [
    ...(await bareServers(bench, await responseOf(own))),
    ...own,
    { name: '@fastify/http-proxy, untranslated', servers: [await processes.peer('proxy', platform.url)], path },
    { name: 'nginx proxy_cache, untranslated', servers: [caching], path },
  ]
  const subject = 'A cached page of 50 devices, 64 connections'
  const note = "The proxies send the platform's own list of these devices."
  return [{ subject, note, compared, ...(await race(bench, contestants, floors)) }]
}

const plain = '200, plain'

/** Polled with `If-None-Match`, beside the same polls with the whole body, plain and compressed. */
export async function idleFleet(bench: Bench): Promise<Table[]> {
  const server = await bench.gateway()
  const tables: Table[] = []
  for (const [name, path] of Object.entries({ location, 'page of 50 devices': pageOf50 })) {
    const { headers } = await fetch(server.url + path, { headers: { authorization: `Bearer ${hash}` } })
    const polled = { servers: [server], path, credentials: [hash] }
    const contestants: Contestant[] = [
      { name: plain, ...polled },
      { name: '200, gzip', ...polled, headers: { 'accept-encoding': 'gzip' } },
      { name: '200, br', ...polled, headers: { 'accept-encoding': 'br' } },
      { name: '304, same tag', ...polled, headers: { 'if-none-match': String(headers.get('etag')) } },
    ]
    const subject = `An idle ${name}, polled`
    const note = 'Bytes are those of a whole response, headers included. A location is too small to be compressed.'
    tables.push({ subject, note, ...(await race(bench, contestants, [plain])) })
  }
  return tables
}
