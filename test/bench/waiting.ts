/** Many clients of one account before a slow platform: what memory and shared calls are worth. */
import { bodyOf, location, type Pace } from './cached.js'
import { flood, type Load, rotate } from './load.js'
import { hashOf, type Part, type Parts } from './parts.js'
import { race, rounded, type Table } from './table.js'

const latencyMs = 200
const clients = 64

/** Counts at the platform, not at the gateway, what loads on the gateway come to. */
class Calls {
  readonly #platform: Part
  readonly #ttlS: number
  #made = 0
  #allowed = 0

  constructor(platform: Part, ttlS: number) {
    this.#platform = platform
    this.#ttlS = ttlS
  }

  async during(load: () => Promise<Load>): Promise<Load> {
    const [before, started] = [await this.#asked(), performance.now()]
    const result = await load()
    this.#made += (await this.#asked()) - before
    // At most one for each whole time of life, and one more: the load may begin with it.
    this.#allowed += 1 + Math.floor((performance.now() - started) / 1_000 / this.#ttlS)
    return result
  }

  get row(): Table['rows'][number] {
    return { 'platform calls': this.#made, 'calls per TTL': rounded(this.#made / this.#allowed) }
  }

  async #asked(): Promise<number> {
    const { get_devices = 0 } = (await (await fetch(`${this.#platform.url}/calls`)).json()) as { get_devices?: number }
    return get_devices
  }
}

/** The same gateway twice; the one without anything to share has a time of life of 1 ms and each request comes from another account. */
export async function manyWaiting(parts: Parts, { rounds, seconds, isQuick }: Pace): Promise<Table> {
  const [ttlS, window] = isQuick ? [1, 1.5] : [5, 11]
  const platforms = [
    await parts.peer('platform', String(latencyMs), 'other'),
    await parts.peer('platform', String(latencyMs), 'other'),
  ] as const
  const gateway = async (platform: Part, ttlMs: number): Promise<Part> =>
    parts.gateway({
      PLATFORM_URL: `${platform.url}/api`,
      POSITION_TTL_MS: String(ttlMs),
      ACCOUNT_TTL_MS: '3600000',
    })
  const without = await gateway(platforms[0], 1)
  const shared = await gateway(platforms[1], ttlS * 1_000)
  const accounts = Array.from({ length: 2 * clients }, (_, account) => hashOf(50, account))
  await Promise.all(accounts.map((hash) => bodyOf(without.url + location, hash)))
  const dir = parts.folder('lua')
  const alone = (): Promise<Load> =>
    rotate({ url: without.url + location, connections: clients }, accounts, Math.max(1, seconds), dir)
  const together = (): Promise<Load> =>
    flood({ url: shared.url + location, credential: hashOf(50), connections: clients }, window)
  const calls = platforms.map((platform) => new Calls(platform, ttlS))
  const rows = await race(
    [
      {
        name: 'gateway, nothing in memory, nothing shared',
        run: () => calls[0]!.during(alone),
        pids: [without.pid],
      },
      { name: 'gateway', run: () => calls[1]!.during(together), pids: [shared.pid] },
    ],
    Math.min(rounds, 3),
  )
  return {
    subject: `${clients} clients of one account, the platform takes ${latencyMs} ms`,
    note: `Goals: ratio 50, at most 1 call per TTL (${ttlS} s). "Nothing" is a TTL of 1 ms and another account for each request.`,
    rows: rows.map((row, i) => ({ ...row, ...calls[i]?.row })),
  }
}
