/** Caches platform hash → account, validated by the platform. */
import { getHeapStatistics } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { copied } from '../lib/copied.js'
import { monotonicClock } from '../lib/monotonic-clock.js'
import { Account, type OnSkipped } from '../platform/account.js'
import type { Platform, Requester } from '../platform/client.js'
import { isPermanent, PlatformForbidden, PlatformRefused, PlatformUnavailable } from '../platform/errors.js'
import { read, type Scalar } from '../platform/shape.js'
import { maxEmailLength, setupIn, wireUserData } from '../platform/wire.js'
import { accountIdOf, foldedEmail, type Secret } from './credential.js'

/** Beyond this, the least recently used hashes are evicted. Each keeps up to 16 kB, settings included: at most half of a small heap. */
const maxHashes = Math.min(20_000, Math.floor(getHeapStatistics().heap_size_limit / 32_768))

interface AccountCacheOptions {
  platform: Platform
  /** Keeps the accounts of different platforms apart. */
  realm: string
  ttlMs: number
  clock: () => number
  onSkipped: OnSkipped
  /** The platform refused the hash of an account that it had accepted before. */
  onRefused: (account: Account) => void
}

/** The accounts of one platform. A valid hash is validated once per `ttlMs`, or when a caller forces it; any other with each request. */
export class AccountCache {
  readonly #cache: LRUCache<string, Account, { hash: Secret; isKnown: boolean }>
  readonly #options: AccountCacheOptions
  /** `Account.id` by the account's e-mail. */
  readonly idOf: (email: string) => string

  constructor(options: AccountCacheOptions) {
    const { platform, realm, ttlMs, clock, onSkipped } = options
    this.#options = options
    const now = monotonicClock(clock)
    this.idOf = (email) => accountIdOf(realm, email)
    this.#cache = new LRUCache({
      max: maxHashes,
      ttl: ttlMs,
      ttlResolution: 0,
      perf: { now },
      // An expired hash was valid once, so `peek` still finds it.
      noDeleteOnStaleGet: true,
      noDeleteOnFetchRejection: true,
      // Deletion and eviction must not reject requests that wait for a validation; its result is then not cached.
      ignoreFetchAbort: true,
      fetchMethod: async (digest, stale, { context: { hash, isKnown }, options }) => {
        const sentAt = now()
        // The account keeps a copy of the hash: the original may be a slice of a header, all of which V8 would keep.
        const sent = { hash: copied(hash.reveal()), isKnown: isKnown || stale !== undefined }
        // The e-mail is not known yet: this id is made of the hash, and an account without an e-mail keeps it.
        const requester = { id: this.idOf(digest), ...sent }
        const known = await validate(platform, requester, clock())
        const who =
          known === null ? await identityFromSetup(platform, { ...requester, isKnown: true }, stale) : { email: known }
        const id = this.idOf(who.email ?? digest)
        // The TTL counts from the request: the platform may refuse the hash while its response is on the way.
        options.ttl = Math.max(1, ttlMs - (now() - sentAt))
        return new Account(platform, requester.hash, { id, ...who }, onSkipped, stale)
      },
    })
  }

  get size(): number {
    return this.#cache.size
  }

  /** The account of a hash that was valid when it was last validated, however long ago. */
  peek(hash: Secret): Account | undefined {
    return this.#cache.peek(hash.digest, { allowStale: true })
  }

  /**
   * The account of a hash; on a cache miss the platform validates it. Concurrent requests share one call, and a hit waits for none.
   * @param maxStaleMs age up to which the last good validation counts while the platform is unavailable.
   * @param forceRefresh the platform validates the hash even on a cache hit.
   * @param isKnown see `Requester`; a hash in this cache is known in any case.
   * @throws PlatformRefused or PlatformUnavailable.
   */
  fetch(hash: Secret, { maxStaleMs = 0, forceRefresh = false, isKnown = false } = {}): Account | Promise<Account> {
    const cached = forceRefresh ? undefined : this.#cache.get(hash.digest)
    return cached ?? this.#validate(hash, maxStaleMs, forceRefresh, isKnown)
  }

  async #validate(hash: Secret, maxStaleMs: number, forceRefresh: boolean, isKnown: boolean): Promise<Account> {
    try {
      const context = { hash, isKnown }
      const status: LRUCache.Status<string, Account, typeof context> = {}
      const call = this.#cache.forceFetch(hash.digest, { context, forceRefresh, status })
      if (status.fetch !== 'inflight') return await call
      return await this.#options.platform.shared('get_user_data', { id: this.idOf(hash.digest), isKnown }, call)
    } catch (error) {
      const known = this.peek(hash)
      const ageMs = this.#options.ttlMs - this.#cache.getRemainingTTL(hash.digest)
      if (known && error instanceof PlatformUnavailable && maxStaleMs > 0 && ageMs <= maxStaleMs) return known
      if (known && error instanceof PlatformRefused) this.refuse(known)
      throw error
    } finally {
      await this.#options.platform.turn(this.peek(hash)?.id ?? hash.digest)
    }
  }

  /** Invalidates the hash of an account that the platform has refused. */
  refuse(account: Account): void {
    this.#cache.delete(account.hashName)
    this.#options.onRefused(account)
  }
}

/**
 * The e-mail that names the account. Null if it is too long to store with every key, or if several accounts could share it: it holds U+FFFD,
 * an unreadable character, or no letter or digit, as stars that hide an e-mail or a dash for none (platform.md 2).
 */
function emailIn({ email }: { email: Scalar }): string | null {
  if (typeof email !== 'string' || email.length > maxEmailLength) return null
  const isEmail = /[\p{L}\p{N}]/u.test(email) && email.isWellFormed() && !email.includes('\ufffd')
  return isEmail ? foldedEmail(email) : null
}

/**
 * The e-mail in an account's setup (platform.md 11.9); if that is unavailable, the last known one: without it, the account would be another
 * owner of keys. @param stale the account at its last validation. @throws PlatformRefused or PlatformUnavailable.
 */
async function identityFromSetup(platform: Platform, requester: Requester, stale: Account | undefined) {
  const setup = platform.get('edit_setup_data', requester).then(setupIn)
  try {
    return { email: emailIn((await setup).item), setup }
  } catch (error) {
    if (isPermanent(error)) return { email: stale?.email ?? null, setup }
    if (stale && error instanceof PlatformUnavailable) return { email: stale.email }
    throw error
  }
}

/** Validates a hash. @returns the account's e-mail; null where the platform does not give one. */
async function validate(platform: Platform, requester: Requester, now: number): Promise<string | null> {
  try {
    return emailIn(read(wireUserData, await platform.get('get_user_data', requester)))
  } catch (error) {
    if (!(error instanceof PlatformForbidden)) throw error
  }
  // The 403 may come from a missing permission or from a firewall; only devices show that the hash is valid. They are read in the worker,
  // because some platforms send all of them whatever the limit.
  try {
    await platform.run('get_devices', requester, { id: undefined, now })
    return null
  } catch (error) {
    if (!(error instanceof PlatformForbidden)) throw error
    const detail = 'status 403, also on get_devices'
    throw new PlatformUnavailable('get_user_data', 'rejected', { detail, cause: error })
  }
}
