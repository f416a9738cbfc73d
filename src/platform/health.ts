/** The state of the platform according to recent calls. */
import type { Action } from './actions.js'
import type { CallReport } from './client.js'
import { meanings } from './errors.js'

export type PlatformState = 'up' | 'down' | 'unknown'

const recentMs = 60_000

export class PlatformHealth {
  readonly #now: () => number
  #last: PlatformState = 'unknown'
  /** When an action last had a response that cannot be used; a changed platform may respond well to other actions. */
  readonly #unusableAt = new Map<Action, number>()
  /** Per action, when it last worked for each of two accounts. */
  readonly #successes = new Map<Action, { account: string; at: number }[]>()

  /** @param now monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  get state(): PlatformState {
    const isUnusable = [...this.#unusableAt.values()].some((at) => this.#isRecent(at))
    return isUnusable ? 'down' : this.#last
  }

  /** An unusable response counts unless the action has just worked for another account. */
  record({ action, outcome, account }: Pick<CallReport, 'action' | 'outcome' | 'account'>): void {
    const { platform, breaker } = meanings[outcome]
    if (platform === undefined) return
    const others = (this.#successes.get(action) ?? []).filter((success) => success.account !== account)
    // Every platform has user data: without it, `PLATFORM_URL` is not its API base.
    const isWrongUrl = action === 'get_user_data' && outcome === 'missing_action'
    if (isWrongUrl || (platform === 'down' && breaker === 'success')) {
      if (!others.some(({ at }) => this.#isRecent(at))) this.#unusableAt.set(action, this.#now())
      return
    }
    this.#last = platform
    if (outcome !== 'ok') return
    this.#unusableAt.delete(action)
    this.#successes.set(action, [{ account, at: this.#now() }, ...others.slice(0, 1)])
  }

  #isRecent(at: number): boolean {
    return this.#now() - at < recentMs
  }
}
