/** What every subject of the benchmark is given, and the parts that several subjects share. */
import { request } from 'undici'
import { hashOf } from './fixed-platform.js'
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
export const hash = hashOf(50)

/** The platform's own list of an account. */
export const platformList = (hash: string): string =>
  `/api/get_devices?lang=en&user_api_hash=${encodeURIComponent(hash)}`

/** The body of one response. @throws when it is not 200. */
export async function bodyOf(url: string, credential: string): Promise<string> {
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
