/** Failures whose request has been counted already. Knows no credential. */
import { ApiError } from '../errors.js'
import type { Account } from '../platform/account.js'
import { PlatformRefused } from '../platform/errors.js'
import { isSpent, type Usage } from '../rate-limit/limiter.js'

/** A failure whose request has been counted already, with where that leaves its name. */
export class Counted extends Error {
  readonly usage: Usage
  constructor(usage: Usage, cause: unknown) {
    super('counted', { cause })
    this.usage = usage
  }
}

/** @throws Counted when the usage is over its limit. */
export function allowed(usage: Usage): Usage {
  if (isSpent(usage)) throw new Counted(usage, undefined)
  return usage
}

/** What guesses under way will have used up is spent already. */
export const overspent = (usage: Usage): Usage => ({ ...usage, used: Math.max(usage.used, usage.limit + 1) })

/** The account, or a failure that stays counted for the credential; a refusal makes the credential a failed one after all. */
export async function counted(usage: Usage, account: Promise<Account>): Promise<Account> {
  try {
    return await account
  } catch (error) {
    if (error instanceof Counted || error instanceof PlatformRefused || error instanceof ApiError) throw error
    throw new Counted(usage, error)
  }
}
