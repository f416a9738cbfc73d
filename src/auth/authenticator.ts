/** Who a credential is: which account it opens, who is asked, who is counted, and what a failure costs. Knows no header and no route. */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.js'
import type { Caller } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { PlatformRefused } from '../platform/errors.js'
import { addressName, isSpent, type Limits, type Usage } from '../rate-limit/limiter.js'
import { isStale, type KeyRecord, type KeyStore, type Used } from '../store/store.js'
import type { Accounts } from './account-cache.js'
import { allowed, Counted, counted, overspent } from './auth-failure.js'
import { type Credential, digestOf, type Secret, toCredential, unseal } from './credential.js'
import { Guesses } from './pending-validations.js'

/** Keys remembered at once whose platform hash no longer works. */
const mostDeadKeys = 20_000
/** Keys remembered at once whose platform hash has been unsealed, and for how long, milliseconds: nothing opened outlives its key for longer. */
const mostOpened = 20_000
const openedMs = 60_000

interface Demo {
  token: string
  accounts: Accounts
  hash: Secret
}

export interface IdentitiesOptions {
  accounts: Accounts
  /** The sandbox account behind the demo token; undefined = no demo. */
  demo: Demo | undefined
  keys: KeyStore
  limits: Limits
  clock: () => number
}

const hashCaller: Caller = { credential: 'platform_hash', key: null }
const demoCaller: Caller = { credential: 'demo', key: null }

/** Names that requests are counted under. */
const hashName = (secret: Secret): string => `hash:${digestOf(secret).slice(0, 32)}`
const keyName = (digest: string): string => `key:${digest.slice(0, 32)}`
const demoName = (address: string): string => `demo:${address}`

export type Identity = { account: Account; caller: Caller; usage: Usage }

export class Identities {
  readonly #options: IdentitiesOptions
  readonly #guesses = new Guesses()
  /** Digests of keys whose platform hash was refused: each further try costs its address like a guess. */
  readonly #dead = new LRUCache<string, true>({ max: mostDeadKeys })

  /** What was sealed in a record, by its digest: to unseal it costs as much as the rest of an answer from memory. */
  readonly #opened = new LRUCache<string, { sealed: string; hash: Secret }>({
    max: mostOpened,
    ttl: openedMs,
    ttlAutopurge: true,
  })

  constructor(options: IdentitiesOptions) {
    this.#options = options
  }

  /**
   * The account of a platform hash that came in the body of a request already counted on its address.
   * @throws ApiError or what the platform did.
   */
  readonly ofHash = async (sent: string, ip: string): Promise<{ account: Account; secret: Secret }> => {
    const { accounts, demo, limits } = this.#options
    const credential = toCredential(sent, demo?.token)
    if (credential.kind !== 'hash') {
      throw new ApiError('invalid_token', { message: 'platform_hash is not the hash of a platform account.' })
    }
    const { secret } = credential
    if (!accounts.isKnown(secret)) {
      const address = addressName(ip)
      const { limit, used, resetS } = await limits.look(address)
      if (used + this.#guesses.underWay(address, digestOf(secret)) > limit) {
        throw new ApiError('rate_limit_exceeded', { retryAfterS: Math.max(1, resetS) })
      }
    }
    return { account: await accounts.of(secret), secret }
  }

  /**
   * Who a credential is, with no promise where nobody need be waited for, as for most requests; the usage may be spent.
   * @throws or rejects with Counted when the failure has been counted already; anything else is still to be counted per address.
   */
  of(credential: Credential, ip: string): Identity | Promise<Identity> {
    switch (credential.kind) {
      case 'none':
        throw new ApiError('unauthorized')
      case 'malformed':
        throw new ApiError('invalid_token')
      case 'demo':
        return this.#demo(addressName(ip))
      case 'hash':
        return this.#hash(credential.secret, ip)
      case 'key':
        return this.#key(credential.secret, ip)
    }
  }

  #demo(address: string): Identity | Promise<Identity> {
    const { demo } = this.#options
    if (!demo) throw new ApiError('invalid_token')
    const name = demoName(address)
    return this.#here(demo.accounts.fresh(demo.hash), demoCaller, name) ?? this.#demoAsked(demo, name)
  }

  async #demoAsked({ accounts, hash }: Demo, name: string): Promise<Identity> {
    const usage = allowed(await this.#options.limits.count(name))
    const account = await counted(usage, accounts.of(hash))
    return { account, caller: demoCaller, usage }
  }

  #hash(secret: Secret, ip: string): Identity | Promise<Identity> {
    const fresh = this.#options.accounts.fresh(secret)
    return this.#here(fresh, hashCaller, hashName(secret)) ?? this.#hashAsked(secret, fresh, addressName(ip))
  }

  /** Counted in this process; otherwise nothing is counted. */
  #here(account: Account | undefined, caller: Caller, name: string): Identity | undefined {
    const usage = account && this.#options.limits.countHere(name)
    return usage && { account, caller, usage }
  }

  async #hashAsked(secret: Secret, fresh: Account | undefined, address: string): Promise<Identity> {
    const { accounts, limits } = this.#options
    const name = hashName(secret)
    const caller = hashCaller
    if (fresh) return { account: fresh, caller, usage: await limits.count(name) }
    if (accounts.isKnown(secret)) {
      const usage = allowed(await limits.count(name))
      return { account: await counted(usage, accounts.of(secret)), caller, usage }
    }
    const account = await this.#guess(address, secret)
    return { account, caller, usage: await limits.count(name) }
  }

  #key(secret: Secret, ip: string): Identity | Promise<Identity> {
    const { keys, limits, clock } = this.#options
    const digest = digestOf(secret)
    const now = clock()
    return keys.use(digest, limits.windowMs, now).then(
      (used) => this.#used(secret, used, now, ip),
      async (error) => {
        // Nobody knows whether it is good, so neither does it cost its address anything.
        throw new Counted(await limits.count(keyName(digest)), error)
      },
    )
  }

  /** The identity of a key that the store has given, and has counted unless it left that to this process. */
  #used(secret: Secret, used: Used | undefined, now: number, ip: string): Identity | Promise<Identity> {
    const { accounts, keys, limits } = this.#options
    const digest = digestOf(secret)
    if (!used) {
      this.#opened.delete(digest)
      throw new ApiError('invalid_token')
    }
    const { record, count } = used
    const own = count ? limits.shared(count) : limits.countHere(keyName(digest))
    if (!own) throw new Error('a store must count for itself what it shares')
    const usage = record.limit === null ? own : { ...own, limit: record.limit }
    const hash = this.#hashIn(record, secret)
    if (!hash) throw new ApiError('invalid_token')
    const opened = (account: Account): Identity => {
      if (!isSpent(usage) && isStale(record, now)) keys.touch(record, now).catch(() => {}) // a missed note of use fails no request; the store tells of its own trouble
      return { account, caller: { credential: 'api_key', key: record }, usage }
    }
    const fresh = accounts.fresh(hash)
    if (fresh) return opened(fresh)
    return counted(allowed(usage), this.#accountOf(record, hash, addressName(ip))).then(opened)
  }

  async #accountOf(record: KeyRecord, hash: Secret, address: string): Promise<Account> {
    const { accounts } = this.#options
    if (this.#dead.has(record.digest)) {
      const account = await this.#guess(address, hash)
      this.#dead.delete(record.digest)
      return account
    }
    try {
      return await accounts.of(hash)
    } catch (error) {
      if (error instanceof PlatformRefused) this.#dead.set(record.digest, true)
      throw error
    }
  }

  /** The platform hash sealed in the record that the store has just given for this key. */
  #hashIn({ digest, sealed }: KeyRecord, key: Secret): Secret | undefined {
    const opened = this.#opened.get(digest)
    if (opened?.sealed === sealed) return opened.hash
    const hash = unseal(sealed, key)
    if (hash) this.#opened.set(digest, { sealed, hash })
    return hash
  }

  /** Validates a hash nobody knows yet, unless its address has spent its budget on failures. */
  async #guess(address: string, secret: Secret): Promise<Account> {
    const { accounts, limits } = this.#options
    const digest = digestOf(secret)
    const usage = await limits.look(address)
    if (usage.used + this.#guesses.underWay(address, digest) >= usage.limit) {
      throw new Counted(overspent(await limits.count(address)), undefined)
    }
    const end = this.#guesses.begin(address, digest)
    try {
      return await accounts.of(secret)
    } catch (error) {
      // Counted before it stops being under way, so that no other guess slips between.
      throw new Counted(await limits.count(address), error)
    } finally {
      end()
    }
  }
}
