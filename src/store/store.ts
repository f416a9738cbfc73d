/** The contract of every store of API keys: records, counters, and how they fail. */
import type { KeyRecord } from './record.js'

export { isKeyId, isStale, type KeyRecord, newestFirst, usedAt } from './record.js'

/**
 * Every method takes the current time and rejects only with `StoreUnavailable`. A key is active until it is revoked or
 * `expiresAt <= now`; for every method, inactive keys and keys with a damaged record do not exist. What is promised of all instances
 * holds as far as Redis keeps what it has acknowledged: a failover may lose the last writes.
 */
export interface KeyStore {
  /**
   * Durable and visible to every instance once resolved. At most `maxPerOwner` keys of an owner are active, however many instances
   * create at once. When it rejects, the key must not be handed out, though `list` may show it.
   */
  create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'>
  find(digest: string, now: number): Promise<KeyRecord | undefined>
  /** Finds a key and counts one request of it in the same step. An unknown key leaves no count behind. */
  use(digest: string, windowMs: number, now: number): Promise<Used | undefined>
  /** Finds a key of any account by its id: a caller that is no operator must check the owner. */
  findById(id: string, now: number): Promise<KeyRecord | undefined>
  /** The owner's active keys, newest first. */
  list(owner: string, now: number): Promise<KeyRecord[]>
  /**
   * True for exactly one caller; false when the key is unknown, foreign or inactive. Once resolved, no `find` that starts afterwards
   * returns the key, on any instance.
   * @param digest of the key, where known: it is found also where the store has lost its id and its entry in the owner's index.
   */
  revoke(owner: string, id: string, now: number, digest?: string): Promise<boolean>
  /**
   * Replaces a record by `change` of it, atomically: `change` may run again on a newer record. @returns the new record; undefined when
   * there is no such key, or `change` returns undefined. Digest, id, owner and expiry must stay. Never revives a revoked key.
   */
  update(digest: string, change: Change, now: number): Promise<KeyRecord | undefined>
}

/** Pure. */
export type Change = (record: KeyRecord) => KeyRecord | undefined

/** Requests counted in a window, and the milliseconds until the window ends (0 when none is open). */
export interface Count {
  readonly current: number
  readonly ttlMs: number
}

/** A key in use; `count` is null where the store counts nothing: no other instance shares it, or it is full or cannot save. */
export interface Used {
  readonly record: KeyRecord
  readonly count: Count | null
}

/** Fixed windows shared by all instances; the first increment opens the window. Both reject with `StoreUnavailable`. */
export interface Counters {
  increment(name: string, windowMs: number): Promise<Count>
  /** Does not count, but rejects whenever counting would fail. */
  read(name: string): Promise<Count>
}

export interface Store {
  readonly keys: KeyStore
  /** Undefined where no other instance shares the store: counting in process is exact there. */
  readonly counters: Counters | undefined
  /** The digests of all stored keys. For operators: it takes long. */
  digests(): Promise<string[]>
  /** Whether the last read and the last write succeeded. Sends nothing. */
  up(): boolean
  close(): Promise<void>
}

/** The store is out of reach or broken; the cause is for the log. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  /** The limit of the key that could not be used, as it was when it was used here last. */
  readonly limit: number | null

  constructor(message: string, options: ErrorOptions & { limit?: number | null | undefined } = {}) {
    super(message, options)
    this.limit = options.limit ?? null
  }
}

export interface StoreDeps {
  readonly clock: () => number
  readonly onDamaged: OnDamaged
}

/**
 * Receives each damaged entry once: a key record, an entry of an owner's index, or the mapping from an id to a digest.
 * @param start the first eight characters of the digest, owner or id.
 */
export type OnDamaged = (what: 'key' | 'owner' | 'id', start: string) => void
