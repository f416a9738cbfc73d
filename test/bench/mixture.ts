/** Mixed traffic as many integrators make it, right and wrong, and what each request should be answered. Knows no measure. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { keyOf, location, pageOf50 } from './cached.js'
import { hashOf, type Part } from './parts.js'

const accounts = 20
export const demoToken = 'soak-demo'
/** Requests a minute of one credential; one caller wants more. */
export const limitPerMinute = 600

interface Asked {
  path: string
  expected: readonly number[]
  method?: string
  credential?: string
  body?: string
  type?: string
}

interface Kind {
  /** Out of 100 acts. */
  share: number
  acts: (() => Promise<unknown>)[]
}

class Unavailable extends Error {
  override name = 'Unavailable'
}

const dayMs = 86_400_000
const day = (ago: number): string => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10)

/** All there is to read. */
function reads(): string[] {
  const [before, last] = [day(3), day(1)]
  return [
    location,
    pageOf50,
    `${pageOf50}?limit=10&offset=20`,
    `${pageOf50}?status=moving`,
    ...['devices/1002', 'geofences', 'alerts', 'drivers', 'services', 'me', 'events?limit=5'].map(
      (path) => `/api/v1/${path}`,
    ),
    `/api/v1/events?from=${before}&to=${last}&limit=20`,
    `/api/v1/history/1001?from=${last}&to=${last}`,
  ]
}

export class Mixture {
  readonly #gateway: Part
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #kinds: Kind[]
  /** Counts what must be another each time: an unknown credential, an account that makes a key. */
  #serial = 0
  /** The first few answers that should not have been. */
  readonly surprises: string[] = []
  unexpected = 0
  /** Answers 503, which anybody may get while the machine is overloaded. */
  unavailable = 0

  private constructor(gateway: Part, callers: readonly string[]) {
    this.#gateway = gateway
    const read = (credential: string) => reads().map((path) => () => this.#ask({ path, credential, expected: [200] }))
    this.#kinds = [
      { share: 55, acts: callers.flatMap(read) },
      { share: 8, acts: read(demoToken) },
      {
        share: 25,
        acts: [() => this.#ask({ path: location, credential: hashOf(50, accounts), expected: [200, 429] })],
      },
      { share: 8, acts: this.#mistakes() },
      { share: 2, acts: [() => this.#lifeOfAKey()] },
      { share: 2, acts: [() => this.#hangUp()] },
    ]
  }

  /** Callers by hash and by key, accounts large and small. */
  static async before(gateway: Part): Promise<Mixture> {
    const callers: string[] = []
    for (let account = 0; account < accounts; account += 1) {
      const hash = hashOf(account % 5 === 0 ? 1_000 : 50, account)
      callers.push(account % 2 === 0 ? hash : await keyOf(gateway, hash))
    }
    return new Mixture(gateway, callers)
  }

  /** The act with this number. Never throws: what goes wrong is counted. */
  async act(sent: number): Promise<void> {
    // The golden ratio spreads the shares evenly, however long the run.
    let place = 100 * ((sent * 0.618_033_988_749_895) % 1)
    const kind = this.#kinds.find(({ share }) => {
      place -= share
      return place < 0
    })
    const act = kind?.acts[sent % kind.acts.length]
    try {
      await act?.()
    } catch (error) {
      if (error instanceof Unavailable) this.unavailable += 1
      else this.unexpected += 1
      const surprise = String(error)
      if (this.surprises.length < 5 && !this.surprises.includes(surprise)) this.surprises.push(surprise)
    }
  }

  end(): void {
    this.#agent.destroy()
  }

  #mistakes(): (() => Promise<unknown>)[] {
    const credential = hashOf(50, 1)
    const post = { method: 'POST', path: '/api/v1/keys', type: 'application/json' }
    const wrong: Asked[] = [
      { path: location, expected: [401] },
      { path: '/api/v1/devices/999999999', credential, expected: [404] },
      { path: '/api/v1/devices/x', credential, expected: [404] },
      { path: `${pageOf50}?limit=none`, credential, expected: [400] },
      { path: '/api/v1/history/1001', credential, expected: [400] },
      { path: '/api/v1/nothing', credential, expected: [404] },
      { path: '/api/%zz', expected: [400] },
      { path: pageOf50, method: 'DELETE', credential, expected: [405] },
      { ...post, body: '{', expected: [400] },
      { ...post, body: `"${'x'.repeat(20_000)}"`, expected: [413] },
      { ...post, body: 'x', type: 'text/plain', expected: [415] },
    ]
    const unknown =
      (start: string, end = '') =>
      () => {
        this.#serial += 1
        return this.#ask({
          path: location,
          credential: `${start}${String(this.#serial).padStart(43, 'x')}${end}`,
          expected: [401],
        })
      }
    return [...wrong.map((one) => () => this.#ask(one)), unknown('gps_live_'), unknown('$2y$10$', '/'.repeat(10))]
  }

  /** Made, used, listed, revoked, and refused from then on. */
  async #lifeOfAKey(): Promise<void> {
    this.#serial += 1
    const hash = hashOf(50, 100 + (this.#serial % accounts))
    const body = JSON.stringify({ platform_hash: hash, label: 'soak' })
    const keys = '/api/v1/keys'
    const made = await this.#ask({ method: 'POST', path: keys, type: 'application/json', body, expected: [200] })
    const { id, key } = JSON.parse(made) as { id: string; key: string }
    await this.#ask({ path: location, credential: key, expected: [200] })
    await this.#ask({ path: keys, credential: hash, expected: [200] })
    await this.#ask({ method: 'DELETE', path: `${keys}/${id}`, credential: hash, expected: [200] })
    await this.#ask({ path: location, credential: key, expected: [401] })
  }

  /** Asks on a connection of its own and is gone before the answer. */
  #hangUp(): Promise<void> {
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${hashOf(50, 2)}` }
      const asking = request(`${this.#gateway.url}/api/v1/drivers`, { headers, agent: false })
      asking.on('finish', () => setImmediate(() => asking.destroy()))
      asking.on('error', () => {}).on('close', resolve)
      asking.end()
    })
  }

  /** @throws when the answer is none of those expected. */
  async #ask({ path, expected, method = 'GET', credential, body, type }: Asked): Promise<string> {
    const headers = {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(type !== undefined && { 'content-type': type }),
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    }
    const { port } = new URL(this.#gateway.url)
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const asking = request({ host: '127.0.0.1', port, path, method, agent: this.#agent, headers }, resolve)
      asking.on('error', reject).end(body)
    })
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    const { statusCode = 0 } = response
    if (expected.includes(statusCode)) return text
    const told = `${method} ${path}: ${statusCode} where ${expected.join(' or ')} was expected: ${text.slice(0, 200)}`
    throw statusCode === 503 ? new Unavailable(told) : new Error(told)
  }
}
