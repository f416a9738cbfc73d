/** Mixed traffic like that of many integrators, valid and invalid, with the statuses that each request may receive. */
import { bodyOf, createKey, hashOf, location, pageOf50, type Sent } from './bench.js'
import type { Act } from './load.js'
import type { Server } from './processes.js'

const accounts = 20
export const demoToken = 'soak-demo'
/** Requests a minute of one credential; one client sends more. */
export const limitPerMinute = 600

type Request = Sent & { path: string; credential?: string }

const send = ({ url }: Server, { path, credential, ...sent }: Request) => bodyOf(url + path, credential, sent)

const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)

/** Everything that can be read. */
function reads(credential: string): Request[] {
  const devices = 'devices devices/1002 devices/1001/location devices?limit=10&offset=20 devices?status=moving'
  const others = 'geofences alerts drivers services me events?limit=5'
  const [from, to] = [day(3), day(1)]
  const paths = `${devices} ${others} events?from=${from}&to=${to}&limit=20 history/1001?from=${to}&to=${to}`
  return paths.split(' ').map((path) => ({ path: `/api/v1/${path}`, credential }))
}

const credential = hashOf(50, 1)
const post = { path: '/api/v1/keys', method: 'POST' } as const
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

/** Creates, uses, lists and revokes a key, which is refused from then on. */
async function lifeOfAKey(gateway: Server, credential: string): Promise<void> {
  const { id, key } = await createKey(gateway, credential)
  await send(gateway, { path: location, credential: key })
  await send(gateway, { path: post.path, credential })
  await send(gateway, { method: 'DELETE', path: `${post.path}/${id}`, credential })
  await send(gateway, { path: location, credential: key, expected: [401] })
}

/** Closes the connection before the platform can respond. */
function hangUp({ url }: Server): Promise<unknown> {
  const init = { headers: { authorization: `Bearer ${credential}` }, signal: AbortSignal.timeout(10) }
  return fetch(`${url}/api/v1/drivers`, init).catch(() => undefined)
}

/** Callers by hash and by key, of large and small accounts, and others. Of a hundred acts, a kind has those up to its `end`. */
async function kindsOn(gateway: Server): Promise<{ end: number; acts: Act[] }[]> {
  const hashes = Array.from({ length: accounts }, (_, account) => hashOf(account % 5 === 0 ? 1_000 : 50, account))
  const callers = hashes.map(async (hash, i) => (i % 2 === 0 ? hash : (await createKey(gateway, hash)).key))
  const sending = (requests: Request[]): Act[] => requests.map((request) => () => send(gateway, request))
  const greedy: Request = { path: location, credential: hashOf(50, accounts), expected: [200, 429] }
  return [
    { end: 55, acts: sending((await Promise.all(callers)).flatMap(reads)) },
    { end: 63, acts: sending(reads(demoToken)) },
    { end: 88, acts: sending([greedy]) },
    { end: 96, acts: sending(mistakes) },
    { end: 98, acts: [(index) => lifeOfAKey(gateway, hashOf(50, 100 + (index % accounts)))] },
    { end: 100, acts: [() => hangUp(gateway)] },
  ]
}

/** `act` never throws: failures are counted. `surprises` are the first few unexpected responses. */
export async function mixtureOn(gateway: Server) {
  const kinds = await kindsOn(gateway)
  /** Responses 503, which any request may receive while the machine is overloaded, are `unavailable`. */
  const counts = { unexpected: 0, unavailable: 0 }
  const surprises = new Set<string>()
  async function act(index: number): Promise<void> {
    // The golden ratio spreads the shares evenly, however long the run.
    const place = 100 * ((index * 0.618_033_988_749_895) % 1)
    const kind = kinds.find(({ end }) => place < end)
    await kind?.acts[index % kind.acts.length]?.(index).catch((error: unknown) => {
      const surprise = String(error)
      counts[surprise.includes(': 503 ') ? 'unavailable' : 'unexpected'] += 1
      if (surprises.size < 5) surprises.add(surprise)
    })
  }
  return { act, counts, surprises }
}
