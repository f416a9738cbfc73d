/** Where API keys live: the words every store speaks, and which store a configuration means. Knows no credential in the clear. */
import type { OnDamaged } from './damage.js'
import type { KeyRecord } from './record.js'

export { isStale, type KeyRecord } from './record.js'

/**
 * Every verb takes the time it happens at and rejects with `StoreUnavailable`, never with anything else, when the store cannot answer.
 * A key is active until it is revoked or `expiresAt <= now`; keys that are not active do not exist for any verb. Neither do keys whose
 * record is damaged, until it is repaired.
 */
export interface KeyStore {
  /**
   * Durable and visible to every instance once resolved. At most `maxPerOwner` keys of an owner are active at a time, however many
   * instances create at once. Rejected: nothing may be handed out, though a key nobody holds may show in `list`.
   */
  create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'>
  find(digest: string, now: number): Promise<KeyRecord | undefined>
  /**
   * Finds a key and counts one more request of it in the same step; what is no key leaves no count behind. Sees all that `find` would.
   * Gives no promise where there is nothing to wait for.
   */
  use(digest: string, windowMs: number, now: number): Used | undefined | Promise<Used | undefined>
  /** The operator's view by id, whoever owns the key. */
  findById(id: string, now: number): Promise<KeyRecord | undefined>
  /** The owner's active keys, newest first. */
  list(owner: string, now: number): Promise<KeyRecord[]>
  /**
   * True for exactly one caller; false when the key is unknown, foreign or no longer active. Once resolved, no `find` that starts
   * afterwards returns the key, on any instance.
   */
  revoke(owner: string, id: string, now: number): Promise<boolean>
  /** Revokes all keys of an owner; how many there were. */
  purge(owner: string, now: number): Promise<number>
  /** Notes that the key was used, at most once a minute; `record` is what `find` just returned. Never revives a revoked key. */
  touch(record: KeyRecord, at: number): Promise<void>
  /** Grants the key a request rate of its own, null = the general one; false when there is no such key. */
  setLimit(id: string, limit: number | null, now: number): Promise<boolean>
}

/** Requests counted in a window, and the milliseconds until the window ends (0 when none is open). */
export interface Count {
  readonly current: number
  readonly ttlMs: number
}

/** A key in use; `count` is null where no other instance shares the store: then counting in process is exact. */
export interface Used {
  readonly record: KeyRecord
  readonly count: Count | null
}

/** Fixed windows shared by all instances; the first increment opens the window. Both reject with `StoreUnavailable`. */
export interface Counters {
  increment(name: string, windowMs: number): Promise<Count>
  /** Looks without counting; rejects also when nothing could be counted. */
  read(name: string): Promise<Count>
}

export interface Store {
  readonly kind: 'redis' | 'embedded'
  readonly keys: KeyStore
  /** Undefined where no other instance shares the store: then counting in process is exact. */
  readonly counters: Counters | undefined
  /** Whether the store answered when it was last asked, and has taken what it was last told to keep; asks nothing. */
  up(): boolean
  close(): Promise<void>
}

/** The store cannot answer now; the cause is for the log. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'

  constructor(message: string, cause: unknown) {
    super(message, { cause })
  }
}

export interface StoreDeps {
  readonly clock: () => number
  /** What goes wrong beside any call: a lost connection, a failed sweep. */
  readonly onError: (error: Error) => void
  /** Receives each damaged entry once. A damaged record counts as no key until it is repaired. */
  readonly onDamaged: OnDamaged
}
