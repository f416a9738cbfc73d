/** Remembers for some minutes which actions the platform does not have, as seen by each account. */
import { BoundedMap } from '../lib/bounded-map.js'
import type { Action } from './actions.js'

/** Consecutive 404 or 405 responses after which an action counts as missing: a single one may come from a deploy or a load balancer. */
const minTimes = 2
/** An upgrade of the platform is noticed after this. */
const ttlMs = 5 * 60_000
/** Accounts and actions to remember; beyond this, the oldest is forgotten. */
const maxEntries = 10_000

export class MissingActions {
  readonly #now: () => number
  readonly #found = new BoundedMap<string, { times: number; at: number }>(maxEntries)

  /** @param now monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether sending a request for this action is pointless for now. */
  has(account: string, action: Action): boolean {
    const found = this.#found.get(nameOf(account, action))
    return found !== undefined && found.times >= minTimes && this.#now() - found.at < ttlMs
  }

  /** To be called after each response. One account's responses say nothing to another: a shared memory would let one change all. */
  record(account: string, action: Action, isMissing: boolean): void {
    const name = nameOf(account, action)
    if (isMissing) this.#found.set(name, { times: (this.#found.get(name)?.times ?? 0) + 1, at: this.#now() })
    else this.#found.delete(name)
  }
}

const nameOf = (account: string, action: Action): string => `${account} ${action}`
