/** Mixed traffic like that of many integrators, valid and invalid, with the statuses that each request may receive. */
import { createKey, location, pageOf50 } from './bench.js'
import { hashOf } from './fixed-platform.js'
import type { Server } from './processes.js'

const accounts = 20
export const demoToken = 'soak-demo'
/** Requests a minute of one credential; one client sends more. */
export const limitPerMinute = 600

interface Request {
  path: string
  expected: readonly number[]
  method?: string
  credential?: string
  body?: string
}

export interface Mixture {
  /** Sends one request or a few. Never throws: failures are counted. */
  act: () => Promise<void>
  /** `unavailable` are responses 503, which any request may receive while the machine is overloaded. */
  counts: { unavailable: number; unexpected: number }
  /** The first few unexpected responses. */
  surprises: string[]
}

const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)

/** Everything that can be read. */
function reads(credential: string): Request[] {
  const devices = 'devices devices/1002 devices/1001/location devices?limit=10&offset=20 devices?status=moving'
  const others = 'geofences alerts drivers services me events?limit=5'
  const [from, to] = [day(3), day(1)]
  const paths = `${devices} ${others} events?from=${from}&to=${to}&limit=20 history/1001?from=${to}&to=${to}`
  return paths.split(' ').map((path) => ({ path: `/api/v1/${path}`, credential, expected: [200] }))
}

const credential = hashOf(50, 1)
const post = { path: '/api/v1/keys', method: 'POST' }
const mistakes: Request[] = [
  { path: location, expected: [401] },
  { path: location, credential: `gps_live_${'x'.repeat(48)}`, expected: [401, 429] },
  { path: '/api/v1/devices/999999999', credential, expected: [404] },
  { path: '/api/v1/devices/x', credential, expected: [404] },
  { path: `${pageOf50}?limit=none`, credential, expected: [400] },
  { path: '/api/v1/history/1001', credential, expected: [400] },
  { path: '/api/v1/nothing', credential, expected: [404] },
  { path: '/api/%zz', expected: [400] },
  { path: pageOf50, method: 'DELETE', credential, expected: [405] },
  { ...post, body: '{', expected: [400] },
  { ...post, body: `"${'x'.repeat(20_000)}"`, expected: [413] },
]
const greedy: Request = { path: location, credential: hashOf(50, accounts), expected: [200, 429] }

/** Callers by hash and by key, of large and small accounts. */
export async function mixtureFor(gateway: Server): Promise<Mixture> {
  const hashes = Array.from({ length: accounts }, (_, account) => hashOf(account % 5 === 0 ? 1_000 : 50, account))
  const callers = await Promise.all(hashes.map((hash, at) => (at % 2 === 0 ? hash : createKey(gateway, hash))))

  /** @throws when the status is not expected. */
  async function send({ path, expected, method = 'GET', credential, body }: Request): Promise<string> {
    const headers = new Headers()
    if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const response = await fetch(gateway.url + path, { method, headers, ...(body !== undefined && { body }) })
    const text = await response.text()
    if (expected.includes(response.status)) return text
    throw new Error(`${method} ${path}: ${response.status} instead of ${expected.join(' or ')}: ${text.slice(0, 200)}`)
  }

  /** Creates, uses, lists and revokes a key, which is refused from then on. */
  async function lifeOfAKey(): Promise<void> {
    const credential = hashOf(50, 100 + Math.floor(Math.random() * accounts))
    const body = JSON.stringify({ platform_hash: credential, label: 'soak' })
    const { id, key } = JSON.parse(await send({ ...post, body, expected: [200] })) as { id: string; key: string }
    await send({ path: location, credential: key, expected: [200] })
    await send({ path: post.path, credential, expected: [200] })
    await send({ method: 'DELETE', path: `${post.path}/${id}`, credential, expected: [200] })
    await send({ path: location, credential: key, expected: [401] })
  }

  /** Closes the connection before the platform can respond. */
  const hangUp = (): Promise<unknown> => {
    const init = { headers: { authorization: `Bearer ${credential}` }, signal: AbortSignal.timeout(10) }
    return fetch(`${gateway.url}/api/v1/drivers`, init).catch(() => undefined)
  }

  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
  const sending = (requests: Request[]) => () => send(oneOf(requests))
  const shares: [percent: number, act: () => Promise<unknown>][] = [
    [55, sending(callers.flatMap(reads))],
    [8, sending(reads(demoToken))],
    [25, sending([greedy])],
    [8, sending(mistakes)],
    [2, lifeOfAKey],
    [2, hangUp],
  ]
  const acts = shares.flatMap(([percent, act]) => Array<typeof act>(percent).fill(act))
  const counts = { unavailable: 0, unexpected: 0 }
  const surprises: string[] = []
  const act = async (): Promise<void> => {
    await oneOf(acts)().catch((error: unknown) => {
      const surprise = String(error)
      counts[surprise.includes(': 503 ') ? 'unavailable' : 'unexpected'] += 1
      if (surprises.length < 5 && !surprises.includes(surprise)) surprises.push(surprise)
    })
  }
  return { act, counts, surprises }
}
