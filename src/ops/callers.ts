/** The busiest callers of the last 60 to 70 seconds. Not metrics: a label for each key would grow without bounds. */

interface CallerUsage {
  /** `Account.id`. */
  account: string
  /** The id of the API key; null for other credentials. */
  key: string | null
  requests: number
  /** Requests that exceeded the limit (429). */
  limited: number
}

const sliceMs = 10_000
/** Complete slices of the last minute, and the current one. */
const maxSlices = 7
/** Beyond this, further callers of a slice are not counted. */
const maxCallers = 2_000
const maxListed = 50

export class Callers {
  readonly #now: () => number
  /** Newest last. */
  readonly #slices: { start: number; callers: Map<string, CallerUsage> }[] = []

  /** @param now monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  count(account: string, key: string | null, isLimited: boolean): void {
    const { callers } = this.#current()
    if (callers.size >= maxCallers && !callers.has(key ?? account)) return
    add(callers, { account, key, requests: 1, limited: Number(isLimited) })
  }

  /** Most requests first. */
  top(): CallerUsage[] {
    this.#current()
    const totals = new Map<string, CallerUsage>()
    for (const { callers } of this.#slices) for (const usage of callers.values()) add(totals, usage)
    return [...totals.values()].sort((a, b) => b.requests - a.requests).slice(0, maxListed)
  }

  #current() {
    const now = this.#now()
    const last = this.#slices.at(-1)
    if (last && now - last.start < sliceMs) return last
    const slice = { start: now - (now % sliceMs), callers: new Map<string, CallerUsage>() }
    this.#slices.push(slice)
    while (slice.start - (this.#slices[0]?.start ?? 0) > (maxSlices - 1) * sliceMs) this.#slices.shift()
    return slice
  }
}

function add(callers: Map<string, CallerUsage>, { account, key, requests, limited }: CallerUsage): void {
  const name = key ?? account
  const known = callers.get(name)
  if (!known) return void callers.set(name, { account, key, requests, limited })
  known.requests += requests
  known.limited += limited
}
