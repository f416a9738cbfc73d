/** What every subject of the benchmark is given, and the parts that several subjects share. */
import { request } from 'undici'
import type { Build, Processes, Server } from './processes.js'

export interface Bench {
  processes: Processes
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

/** The hash of an account of the fixed platform with so many devices. */
export const hashOf = (devices: number, account = 0): string => `$2y$10$${`n${devices}a${account}.`.padEnd(53, '/')}`
export const hash = hashOf(50)

/** The platform's own list of an account. */
export const platformList = (hash: string): string =>
  `/api/get_devices?lang=en&user_api_hash=${encodeURIComponent(hash)}`

/** The body of one response. @throws when it is not 200. */
export async function bodyOf(url: string, credential: string, body?: object): Promise<string> {
  const json = body && { 'content-type': 'application/json' }
  const sent = body && { method: 'POST' as const, body: JSON.stringify(body) }
  const response = await request(url, { headers: { authorization: `Bearer ${credential}`, ...json }, ...sent })
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
  return response.body.text()
}

/** Creates an API key of the account behind the hash. */
export const createKey = async ({ url }: Server, hash: string): Promise<string> =>
  (JSON.parse(await bodyOf(`${url}/api/v1/keys`, hash, { platform_hash: hash })) as { key: string }).key
