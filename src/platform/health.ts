/** The state of the platform according to recent calls. */
import type { Action } from './actions.js'
import type { CallReport } from './client.js'
import { meanings } from './errors.js'

export type PlatformState = 'up' | 'down' | 'unknown'

const recentMs = 60_000

/** @param now monotonic milliseconds. */
export function platformHealth(now: () => number) {
  let last: PlatformState = 'unknown'
  /** When an action last had a response that cannot be used; a changed platform may respond well to other actions. */
  const unusableAt = new Map<Action, number>()
  /** Per action, when it last worked for each of two accounts. */
  const successes = new Map<Action, { account: string; at: number }[]>()
  const isRecent = (at: number): boolean => now() - at < recentMs
  return {
    get state(): PlatformState {
      return [...unusableAt.values()].some(isRecent) ? 'down' : last
    },

    /** An unusable response counts unless the action has just worked for another account. */
    record({ action, outcome, account }: Pick<CallReport, 'action' | 'outcome' | 'account'>): void {
      const { platform, breaker } = meanings[outcome]
      if (platform === undefined) return
      const others = (successes.get(action) ?? []).filter((success) => success.account !== account)
      // Every platform has user data: without it, `PLATFORM_URL` is not its API base.
      const isWrongUrl = action === 'get_user_data' && outcome === 'missing_action'
      if (isWrongUrl || (platform === 'down' && breaker === 'success')) {
        if (!others.some(({ at }) => isRecent(at))) unusableAt.set(action, now())
        return
      }
      last = platform
      if (outcome !== 'ok') return
      unusableAt.delete(action)
      successes.set(action, [{ account, at: now() }, ...others.slice(0, 1)])
    },
  }
}
