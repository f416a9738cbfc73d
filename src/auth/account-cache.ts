/** From a platform hash to an account: what the platform says of it, remembered for a while. Knows no header and no limit. */
import { LRUCache } from 'lru-cache'
import { neverBack } from '../lib/monotonic-clock.js'
import { Account, type OnSkipped } from '../platform/account.js'
import type { Platform } from '../platform/client.js'
import { PlatformForbidden, PlatformRefused, PlatformUnavailable } from '../platform/errors.js'
import { read } from '../platform/shape.js'
import { wireUserData } from '../platform/wire.js'
import { digestOf, fingerprint, type Secret } from './credential.js'

/** Hashes remembered at once, per platform. */
const mostHashes = 20_000

export interface AccountCacheOptions {
  platform: Platform
  /** Tells accounts of different platforms apart. */
  realm: string
  ttlMs: number
  clock: () => number
  onSkipped: OnSkipped
}

/** The accounts of one platform: each hash is validated by `get_user_data` at most once per `ttlMs`. */
export class AccountCache {
  readonly #known: LRUCache<string, Account, Secret>
  readonly #digests = new WeakMap<Account, string>()

  constructor({ platform, realm, ttlMs, clock, onSkipped }: AccountCacheOptions) {
    this.#known = new LRUCache({
      max: mostHashes,
      ttl: ttlMs,
      ttlResolution: 0,
      perf: { now: neverBack(clock) },
      // A hash once good stays known when it must be validated again: its caller is no guesser.
      noDeleteOnStaleGet: true,
      noDeleteOnFetchRejection: true,
      // Deleting or evicting a hash must not reject the requests that wait for its validation; its result is then not cached.
      ignoreFetchAbort: true,
      fetchMethod: async (digest, _stale, { context: secret }) => {
        const email = await emailOf(platform, secret)
        const id = fingerprint('account', `${realm}:${email ?? digest}`)
        const account = new Account(platform, secret.reveal(), { id, email }, onSkipped)
        this.#digests.set(account, digest)
        return account
      },
    })
  }

  /** The account of a hash validated within `ttlMs`. */
  get(secret: Secret): Account | undefined {
    return this.#known.get(digestOf(secret))
  }

  /** Whether this hash was good when it was last validated, however long ago. */
  has(secret: Secret): boolean {
    return this.#known.peek(digestOf(secret), { allowStale: true }) !== undefined
  }

  /**
   * The account of a hash; asks the platform unless it did lately. Many waiting for one hash share one call.
   * @throws PlatformRefused or PlatformUnavailable.
   */
  async fetch(secret: Secret): Promise<Account> {
    const digest = digestOf(secret)
    try {
      const account = await this.#known.fetch(digest, { context: secret })
      if (!account) throw new Error('a validation came to nothing')
      return account
    } catch (error) {
      if (error instanceof PlatformRefused) this.#known.delete(digest)
      throw error
    }
  }

  /** Forgets what is known of an account's hash: the next request validates it again. */
  delete(account: Account): void {
    const digest = this.#digests.get(account)
    if (digest !== undefined) this.#known.delete(digest)
  }
}

/** The account's e-mail; null where the platform accepts the hash but does not give one. @throws what the platform did. */
async function emailOf(platform: Platform, secret: Secret): Promise<string | null> {
  try {
    const { email } = read(wireUserData, await platform.get('get_user_data', secret.reveal()))
    return typeof email === 'string' && email.trim() !== '' ? email.trim().toLowerCase() : null
  } catch (error) {
    if (!(error instanceof PlatformForbidden)) throw error
    await validateByDevices(platform, secret)
    return null
  }
}

/** An account may lack the permission for its user data, but a firewall that answers 403 to everything is no account. */
async function validateByDevices(platform: Platform, secret: Secret): Promise<void> {
  try {
    await platform.get('get_devices', secret.reveal(), { limit: 1 })
  } catch (error) {
    if (!(error instanceof PlatformForbidden)) throw error
    throw new PlatformUnavailable('get_user_data', 'rejected', {
      detail: 'status 403, also on get_devices',
      cause: error,
    })
  }
}
