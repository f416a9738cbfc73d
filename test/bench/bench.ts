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
  /** Of a flood; 64 unless given. */
  connections?: number
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

export interface Sent {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: string
  expected?: readonly number[]
}

/** The body of one response. @throws when its status is not expected. */
export async function bodyOf(url: string, credential?: string, { method = 'GET', body, expected = [200] }: Sent = {}) {
  const authorization = credential !== undefined && { authorization: `Bearer ${credential}` }
  const type = body !== undefined && { 'content-type': 'application/json' }
  const response = await request(url, { method, body: body ?? null, headers: { ...authorization, ...type } })
  const text = await response.body.text()
  if (expected.includes(response.statusCode)) return text
  throw new Error(`${method} ${url}: ${response.statusCode} instead of ${expected}: ${text.slice(0, 200)}`)
}

/** Creates an API key of the account behind the hash. @returns its id and value. */
export async function createKey({ url }: Server, hash: string): Promise<{ id: string; key: string }> {
  const body = JSON.stringify({ platform_hash: hash, label: 'bench' })
  return JSON.parse(await bodyOf(`${url}/api/v1/keys`, undefined, { method: 'POST', body }))
}
