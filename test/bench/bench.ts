/** What every subject of the benchmark is given, and the parts that several subjects share. */
import { request } from 'undici'
import { hashOf } from './fixed-platform.js'
import { flood, type Target } from './load.js'
import { type Build, peer, type Server } from './processes.js'
import type { Contestant } from './table.js'

export interface Bench {
  /** This build, and the one of `--against`. */
  builds: readonly Build[]
  rounds: number
  /** Of one run within a round; whole ones, as wrk counts them. */
  seconds: number
  isQuick: boolean
  platform: Server
  /** A gateway in front of the platform, of this build unless another is given. */
  gateway: (env?: Record<string, string>, build?: Build) => Promise<Server>
}

/** The first device of every account of the sandbox. */
export const location = '/api/v1/devices/1001/location'
export const pageOf50 = '/api/v1/devices'
export const hash = hashOf(50)

/** The platform's own list of an account. */
export const platformList = (hash: string): string =>
  `/api/get_devices?lang=en&user_api_hash=${encodeURIComponent(hash)}`

/** The body of one response. @throws when it is not 200. */
export async function bodyOf(url: string, credential = ''): Promise<string> {
  const { statusCode, body } = await request(url, { headers: { authorization: `Bearer ${credential}` } })
  if (statusCode !== 200) throw new Error(`${url}: ${statusCode}`)
  return body.text()
}

/** Creates an API key of the account behind the hash. */
export async function createKey({ url }: Server, hash: string): Promise<string> {
  const init = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ platform_hash: hash }) }
  const { statusCode, body } = await request(`${url}/api/v1/keys`, { method: 'POST', ...init })
  if (statusCode !== 200) throw new Error(`no API key: ${statusCode}`)
  return ((await body.json()) as { key: string }).key
}

/** A server under as much load as wrk can make. @param target with a path in place of the URL. */
export const flooded = (
  { seconds }: Bench,
  name: string,
  { url, pid }: Server,
  { path = '', ...target }: Omit<Target, 'url'> & { path?: string } = {},
): Contestant => ({ name, pids: [pid], run: () => flood({ url: url + path, ...target }, seconds) })

export const floors = ['bare node:http', 'bare, sends together'] as const

/** The bare servers that define the floor, with a constant response. */
export const bareServers = async (bench: Bench, body: string, connections = 64): Promise<Contestant[]> => [
  flooded(bench, floors[0], await peer('bare', body), { connections }),
  flooded(bench, floors[1], await peer('bareTogether', body), { connections }),
]
