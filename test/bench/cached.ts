/** Responses from memory, beside servers that do less. */
import { request } from 'undici'
import {
  type Bench,
  bareServers,
  bodyOf,
  createKey,
  flooded,
  floors,
  hash,
  location,
  pageOf50,
  platformList,
} from './bench.js'
import { nginx, peer, redis } from './processes.js'
import { type Contestant, race, type Table } from './table.js'

/** Both stores and both credentials of every build, for each number of connections. */
async function gateways(bench: Bench, path: string) {
  const entries: ((connections: number) => Contestant)[] = []
  let body = ''
  for (const build of bench.builds) {
    for (const store of ['embedded', 'Redis']) {
      const env = store === 'Redis' ? { REDIS_URL: await redis() } : undefined
      const server = await bench.gateway(env, build)
      body ||= await bodyOf(server.url + path, hash)
      for (const [kind, credential] of Object.entries({ hash, key: await createKey(server, hash) })) {
        const name = `${build.label}gateway, ${store}, ${kind}`
        entries.push((connections) => flooded(bench, name, server, { path, credentials: [credential], connections }))
      }
    }
  }
  return { body, on: (connections: number) => entries.map((entry) => entry(connections)) }
}

const compared = ['per second', 'CPU µs', 'p50 ms', 'p99 ms']

export async function cachedLocation(bench: Bench): Promise<Table[]> {
  const { rounds, isQuick } = bench
  const { body, on } = await gateways(bench, location)
  const behind = await peer('bare', body, 'load')
  const others = {
    'bare Fastify': await peer('framework', body),
    'nginx proxy_pass to bare node:http': await nginx(behind.url, false),
  }
  const note = 'The bare servers send a constant of the same size.'
  const tables: Table[] = []
  for (const connections of isQuick ? [64] : [1, 8, 64, 256]) {
    const subject = `A cached location, ${connections} connection${connections > 1 ? 's' : ''}`
    const entries = [
      ...(await bareServers(bench, body, connections)),
      ...Object.entries(others).map(([name, server]) => flooded(bench, name, server, { connections })),
      ...on(connections),
    ]
    tables.push({ subject, note, compared, ...(await race(entries, rounds, floors)) })
  }
  return tables
}

/** A page cut from a list that the proxies pass through whole. */
export async function cachedPage(bench: Bench): Promise<Table[]> {
  const { platform, rounds } = bench
  const { body, on } = await gateways(bench, pageOf50)
  const path = platformList(hash)
  const entries = [
    ...(await bareServers(bench, body)),
    ...on(64),
    flooded(bench, '@fastify/http-proxy, untranslated', await peer('proxy', platform.url), { path }),
    flooded(bench, 'nginx proxy_cache, untranslated', await nginx(platform.url, true), { path }),
  ]
  const subject = 'A cached page of 50 devices, 64 connections'
  const note = "The proxies send the platform's own list of these devices."
  return [{ subject, note, compared, ...(await race(entries, rounds, floors)) }]
}

/** Polls with `If-None-Match`, beside the same polls with the whole body, plain and compressed. */
export async function idleFleet(bench: Bench): Promise<Table[]> {
  const server = await bench.gateway()
  const tables: Table[] = []
  for (const [name, path] of Object.entries({ location, 'page of 50 devices': pageOf50 })) {
    const { headers, body } = await request(server.url + path, { headers: { authorization: `Bearer ${hash}` } })
    await body.dump()
    const polls: Record<string, Record<string, string>> = {
      '200, plain': {},
      '200, gzip': { 'accept-encoding': 'gzip' },
      '200, br': { 'accept-encoding': 'br' },
      '304, same tag': { 'if-none-match': String(headers.etag) },
    }
    const entries = Object.entries(polls).map(([poll, headers]) =>
      flooded(bench, poll, server, { path, credentials: [hash], headers }),
    )
    const subject = `An idle ${name}, polled`
    const note = 'Bytes are those of a whole response, headers included. A location is too small to be compressed.'
    tables.push({ subject, note, ...(await race(entries, bench.rounds, ['200, plain'])) })
  }
  return tables
}
