/** Mixed traffic like that of many integrators, valid and invalid, with the statuses that each request may receive. */
import { createKey, hashOf, location, pageOf50 } from './bench.js'
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

export class Mixture {
  readonly #base: string
  readonly #kinds: { share: number; acts: (() => Promise<unknown>)[] }[]
  #serial = 0
  /** The first few unexpected responses. */
  readonly surprises: string[] = []
  unexpected = 0
  /** Responses 503, which any request may receive while the machine is overloaded. */
  unavailable = 0

  private constructor(base: string, callers: readonly string[]) {
    this.#base = base
    const sending = (requests: Request[]) => requests.map((request) => () => this.#send(request))
    const greedy: Request = { path: location, credential: hashOf(50, accounts), expected: [200, 429] }
    this.#kinds = [
      { share: 55, acts: sending(callers.flatMap(reads)) },
      { share: 8, acts: sending(reads(demoToken)) },
      { share: 25, acts: sending([greedy]) },
      { share: 8, acts: sending(mistakes) },
      { share: 2, acts: [() => this.#lifeOfAKey()] },
      { share: 2, acts: [() => this.#hangUp()] },
    ]
  }

  /** Callers by hash and by key, of large and small accounts. */
  static async before(gateway: Server): Promise<Mixture> {
    const hashes = Array.from({ length: accounts }, (_, account) => hashOf(account % 5 === 0 ? 1_000 : 50, account))
    const callers = hashes.map((hash, account) => (account % 2 === 0 ? hash : createKey(gateway, hash)))
    return new Mixture(gateway.url, await Promise.all(callers))
  }

  /** Act number `index`. Never throws: failures are counted. */
  async act(index: number): Promise<void> {
    // The golden ratio spreads the shares evenly, however long the run.
    let place = 100 * ((index * 0.618_033_988_749_895) % 1)
    const kind = this.#kinds.find(({ share }) => {
      place -= share
      return place < 0
    })
    await kind?.acts[index % kind.acts.length]?.().catch((error: unknown) => {
      const surprise = String(error)
      this[surprise.includes(': 503 ') ? 'unavailable' : 'unexpected'] += 1
      if (this.surprises.length < 5 && !this.surprises.includes(surprise)) this.surprises.push(surprise)
    })
  }

  /** Creates, uses, lists and revokes a key, which is refused from then on. */
  async #lifeOfAKey(): Promise<void> {
    this.#serial += 1
    const credential = hashOf(50, 100 + (this.#serial % accounts))
    const body = JSON.stringify({ platform_hash: credential, label: 'soak' })
    const created = await this.#send({ ...post, body, expected: [200] })
    const { id, key } = JSON.parse(created) as { id: string; key: string }
    await this.#send({ path: location, credential: key, expected: [200] })
    await this.#send({ path: post.path, credential, expected: [200] })
    await this.#send({ method: 'DELETE', path: `${post.path}/${id}`, credential, expected: [200] })
    await this.#send({ path: location, credential: key, expected: [401] })
  }

  /** Closes the connection before the platform can respond. */
  #hangUp(): Promise<unknown> {
    const init = { headers: { authorization: `Bearer ${credential}` }, signal: AbortSignal.timeout(10) }
    return fetch(`${this.#base}/api/v1/drivers`, init).catch(() => undefined)
  }

  /** @throws when the status is not expected. */
  async #send({ path, expected, method = 'GET', credential, body }: Request): Promise<string> {
    const headers = new Headers()
    if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const response = await fetch(this.#base + path, { method, headers, ...(body !== undefined && { body }) })
    const text = await response.text()
    if (expected.includes(response.status)) return text
    throw new Error(`${method} ${path}: ${response.status} instead of ${expected.join(' or ')}: ${text.slice(0, 200)}`)
  }
}
