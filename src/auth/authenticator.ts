/** Authentication: the account behind a credential, and the counting of its requests, failed ones included. */
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.js'
import { maxStaleMs } from '../http/stale-if-error.js'
import { BoundedMap } from '../lib/bounded-map.js'
import type { Account } from '../platform/account.js'
import { isLocal, PlatformRefused } from '../platform/errors.js'
import {
  AuthFailure,
  addressName,
  type FailureBudget,
  isExceeded,
  type Limits,
  type Usage,
} from '../rate-limit/limiter.js'
import { isStale, type KeyRecord, type KeyStore, type StoreUnavailable, usedAt } from '../store/store.js'
import type { AccountCache } from './account-cache.js'
import { type Credential, hashPrintOf, type Secret, toCredential } from './credential.js'
import { PendingValidations } from './pending-validations.js'
import { publicKeyOf, unseal } from './seal.js'

/** Refused seals to remember; beyond this, the oldest is forgotten. */
const maxRefused = 20_000

interface AuthenticatorOptions {
  accounts: AccountCache
  /** The sandbox account behind the demo token; undefined = no demo. */
  demo: { token: string; accounts: AccountCache; hash: Secret } | undefined
  keys: KeyStore
  limits: Limits
  clock: () => number
}

export class Authenticator {
  readonly #options: AuthenticatorOptions
  readonly #pending = new PendingValidations()
  /** Sealed hashes that the platform refused. Until renewed or accepted, their keys are budgeted like unknown hashes. */
  readonly #refusedSeals = new BoundedMap<string, true>(maxRefused)
  /** For as long as the store caches the record. Unsealing every time would double the CPU time of a cached location. */
  readonly #unsealed = new WeakMap<KeyRecord, Secret>()
  /** Validations that have been charged to an address; concurrent requests with the same hash share one. */
  readonly #charged = new WeakSet<Account>()

  constructor(options: AuthenticatorOptions) {
    this.#options = options
  }

  /**
   * Counts a request on its credential, and sets its account. If it fails, `caller` and `accountId` are set as far as known, for the log.
   * @throws AuthFailure, and nothing else: wrong credentials are counted on the address and its network instead.
   */
  async authenticate(credential: Credential, request: FastifyRequest): Promise<Usage> {
    const { limits } = this.#options
    try {
      switch (credential.kind) {
        case 'none':
          throw new AuthFailure(await limits.count(addressName(request.ip)), new ApiError('unauthorized'))
        case 'malformed':
          throw new ApiError('invalid_token')
        case 'demo':
          return await this.#demo(request)
        case 'hash':
          return await this.#hash(credential.secret, request)
        case 'key':
          return await this.#key(credential.secret, request)
      }
    } catch (error) {
      throw error instanceof AuthFailure ? error : new AuthFailure(await limits.countFailure(request.ip), error)
    }
  }

  /**
   * The account of a platform hash in the body of a request that has been counted on its address.
   * @throws AuthFailure where a failure budget of the address is used up, else ApiError, PlatformRefused or PlatformUnavailable.
   */
  async authenticateHash(text: string, ip: string): Promise<{ account: Account; hash: Secret }> {
    const { accounts, demo, limits } = this.#options
    const credential = toCredential(text, demo?.token)
    if (credential.kind !== 'hash') {
      throw new ApiError('invalid_token', { message: 'platform_hash is not the hash of a platform account.' })
    }
    const { secret: hash } = credential
    if (!accounts.peek(hash)) {
      await limits.countFailureOfNetwork(ip)
      this.#requireBudget(await limits.readFailures(ip), hash, 1)
    }
    return { account: await accounts.fetch(hash), hash }
  }

  /** The account of a hash that `authenticateHash` accepted; the platform validates it once more. Throws as `AccountCache.fetch`. */
  async revalidate(hash: Secret): Promise<Account> {
    return this.#options.accounts.fetch(hash, { forceRefresh: true })
  }

  async #demo(request: FastifyRequest): Promise<Usage> {
    const { demo, limits } = this.#options
    if (!demo) throw new ApiError('invalid_token')
    request.caller = { credential: 'demo', key: null }
    request.accountId = demo.accounts.peek(demo.hash)?.id
    const usage = within(await limits.count(`demo:${addressName(request.ip)}`))
    request.account = await fetchCharged(demo.accounts, demo.hash, usage, request)
    return usage
  }

  async #hash(hash: Secret, request: FastifyRequest): Promise<Usage> {
    const { accounts, limits } = this.#options
    const known = accounts.peek(hash)
    const account = known ?? (await this.#validate(hash, request.ip))
    request.accountId = account.id
    request.caller = { credential: 'platform_hash', key: null }
    // On the account, because a platform may accept several spellings of a hash.
    const usage = await limits.count(`hash:${account.id}`)
    if (!known && isExceeded(usage) && !this.#charged.has(account)) {
      // Beyond its limit, further spellings would cost the platform a validation each.
      this.#charged.add(account)
      await limits.countFailure(request.ip)
    }
    within(usage)
    request.account = known ? await fetchCharged(accounts, hash, usage, request) : account
    return usage
  }

  async #key(key: Secret, request: FastifyRequest): Promise<Usage> {
    const { keys, clock } = this.#options
    const now = clock()
    const { record, usage } = await this.#use(key, now)
    request.caller = { credential: 'api_key', key: record }
    // Also on its first use here: an instance of the first release may just have used the key, so it is not stale.
    const completes = !record.renewal && (isStale(record, now) || !this.#unsealed.has(record))
    const hash = this.#unseal(record, key)
    if (isExceeded(usage)) {
      // An account without an e-mail is named by its hash.
      const name = record.email || hash?.digest
      request.accountId = name && this.#options.accounts.idOf(name)
      throw new AuthFailure(usage)
    }
    if (!hash) throw new ApiError('invalid_token')
    request.accountId = this.#options.accounts.peek(hash)?.id
    const account = await this.#accountOf(record, hash, usage, request)
    // A failed update fails no request; the store reports it.
    if (isStale(record, now)) keys.update(record.digest, usedAt(now), now).catch(() => {})
    if (completes) this.#makeRenewable(record, key, hash, account).catch(() => {})
    request.account = account
    return usage
  }

  /** Adds `renewal` to a record without it (see `KeyRecord`), which takes the key itself, and its hash while that is valid. */
  async #makeRenewable({ id, digest, sealed }: KeyRecord, key: Secret, hash: Secret, account: Account): Promise<void> {
    const { keys, clock } = this.#options
    const userId = await account.userId()
    if (userId === undefined) return
    const renewal = { publicKey: publicKeyOf(key), userId, holds: hashPrintOf(hash, id) }
    await keys.update(digest, (now) => (now.sealed === sealed ? { ...now, renewal } : undefined), clock())
  }

  /** Finds a key and counts the request, in one call of the store. */
  async #use(key: Secret, now: number): Promise<{ record: KeyRecord; usage: Usage }> {
    const { keys, limits } = this.#options
    const name = `key:${key.digest.slice(0, 32)}`
    const used = await keys.use(key.digest, limits.windowMs, now).catch(async (error: StoreUnavailable) => {
      // Validity unknown: do not charge the IP, nor the key for what it does not get.
      throw new AuthFailure(await limits.count(`lookup:${name}`, error.limit ?? limits.max), error)
    })
    if (!used) throw new ApiError('invalid_token')
    const { record, count } = used
    const limit = record.limit ?? limits.max
    return { record, usage: count ? limits.counted(name, count, limit) : await limits.count(name, limit) }
  }

  #unseal(record: KeyRecord, key: Secret): Secret | undefined {
    const known = this.#unsealed.get(record)
    if (known) return known
    const hash = unseal(record.sealed, key)
    if (hash) this.#unsealed.set(record, hash)
    return hash
  }

  async #accountOf({ sealed }: KeyRecord, hash: Secret, usage: Usage, request: FastifyRequest): Promise<Account> {
    const { accounts } = this.#options
    if (!accounts.peek(hash) && this.#refusedSeals.has(sealed)) return this.#validate(hash, request.ip)
    try {
      const account = await fetchCharged(accounts, hash, usage, request)
      this.#refusedSeals.delete(sealed)
      return account
    } catch (error) {
      if (error instanceof PlatformRefused) this.#refusedSeals.set(sealed, true)
      throw error
    }
  }

  /** Validates an unknown hash, unless the failures of its address or network have used up their budget. @throws AuthFailure. */
  async #validate(hash: Secret, ip: string): Promise<Account> {
    const { accounts, limits } = this.#options
    const failures = await limits.readFailures(ip)
    // Nothing awaits between this check and `begin`, so concurrent validations see each other.
    this.#requireBudget(failures, hash, 0)
    const names = failures.map(({ name }) => name)
    const end = this.#pending.begin(names, hash.digest)
    try {
      return await accounts.fetch(hash)
    } catch (error) {
      // Counted while still pending, so that no other validation begins in between.
      throw new AuthFailure(await (isLocal(error) ? limits.read(addressName(ip)) : limits.countFailure(ip)), error)
    } finally {
      end()
    }
  }

  /**
   * @param counted how often the budgets have been charged for this request already.
   * @throws AuthFailure if one is used up should all pending validations fail. It costs the address nothing more: the hash may be valid.
   */
  #requireBudget(failures: FailureBudget[], { digest }: Secret, counted: 0 | 1): void {
    const spent = failures.find(({ name, used, limit }) => used - counted + this.#pending.count(name, digest) >= limit)
    const { max } = this.#options.limits
    if (spent) throw new AuthFailure({ ...spent, limit: max, used: max + 1 })
  }
}

/** @throws AuthFailure when the limit is exceeded. */
function within(usage: Usage): Usage {
  if (isExceeded(usage)) throw new AuthFailure(usage)
  return usage
}

/** The account of a known hash whose request has been counted. An unavailable platform costs nothing more; a refusal counts on the address. */
function fetchCharged(accounts: AccountCache, hash: Secret, usage: Usage, request: FastifyRequest) {
  const account = accounts.fetch(hash, { maxStaleMs: maxStaleMs(request), isKnown: true })
  if (!(account instanceof Promise)) return account
  return account.catch((error) => {
    throw error instanceof PlatformRefused ? error : new AuthFailure(usage, error)
  })
}
