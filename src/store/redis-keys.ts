/** API keys in Redis: which keys they take, and the order of steps that keeps index and records true to each other. Knows no connection. */
import type { Batch } from './batch.js'
import { ReadRecords } from './read-records.js'
import { isStale, type KeyRecord, type KeyStore, newestFirst, type Used } from './store.js'

/** The commands beside the batch; each stays within one hash slot and rejects with `StoreUnavailable`. */
export interface Commands {
  write(key: string, record: string, used: number, limit: string, expiresAt: number): Promise<void>
  /** False when `max` other entries are active. */
  reserve(index: string, id: string, entry: string, max: number, now: number): Promise<boolean>
  prune(index: string, id: string, entry: string): Promise<void>
  entries(index: string): Promise<Record<string, string>>
  entry(index: string, id: string): Promise<string | null>
  get(key: string): Promise<string | null>
  setUntil(key: string, value: string, expiresAt: number): Promise<void>
  /** Whether there was something to remove. */
  remove(key: string): Promise<boolean>
}

/** An entry without a record may be a creation that is under way for this long; afterwards it is what a crash left. */
const RESERVED_MS = 60_000

const recordKey = (digest: string): string => `gps:key:${digest}`
const idKey = (id: string): string => `gps:id:${id}`
const indexKey = (owner: string): string => `gps:owner:${owner}`

/**
 * Three keys an API key: its record, its entry in the owner's index, and the way from id to digest. The record is what counts:
 * without it the key does not exist, and all expire with it. An index entry is `digest expiresAt reservedAt`, with 0 for
 * `reservedAt` once the record is known to be written.
 */
export class RedisKeys implements KeyStore {
  readonly #batch: Batch
  readonly #commands: Commands
  /** By what may change of a record: its last use and its limit, as they are written. */
  readonly #read = new ReadRecords<Changing>()

  constructor(batch: Batch, commands: Commands) {
    this.#batch = batch
    this.#commands = commands
  }

  async create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'> {
    const { id, digest, owner, expiresAt, lastUsedAt, limit, ...rest } = record
    const index = indexKey(owner)
    const reserve = () => this.#commands.reserve(index, id, `${digest} ${expiresAt} ${now}`, maxPerOwner, now)
    // Entries without a record count until somebody looks.
    if (!(await reserve()) && ((await this.list(owner, now)).length >= maxPerOwner || !(await reserve())))
      return 'too_many'
    const json = JSON.stringify({ id, digest, owner, expiresAt, ...rest })
    await Promise.all([
      this.#commands.setUntil(idKey(id), digest, expiresAt),
      this.#commands.write(recordKey(digest), json, lastUsedAt ?? 0, limitText(limit), expiresAt),
    ])
    // A listing that saw no record may have dropped the entry by now; from here on it cannot.
    await this.#commands.reserve(index, id, `${digest} ${expiresAt} 0`, Number.MAX_SAFE_INTEGER, now)
    return 'created'
  }

  async find(digest: string, now: number): Promise<KeyRecord | undefined> {
    const record = toRecord(await this.#batch.ask('find', recordKey(digest)))
    return record && record.expiresAt > now ? record : undefined
  }

  use(digest: string, windowMs: number, now: number): Promise<Used | undefined> {
    const known = this.#read.of(digest)
    return this.#batch.ask(known ? 'again' : 'use', recordKey(digest), windowMs).then((answer) => {
      const [used, limit, current, ttlMs, json] = answer as [...Changing, number, number, string]
      if (used === null) {
        this.#read.forget(digest)
        return undefined
      }
      const isSame = known?.said[0] === used && known.said[1] === limit
      const record = isSame ? known.record : recordOf(known?.record ?? JSON.parse(json), used, limit)
      if (!isSame) this.#read.keep(digest, [used, limit], record)
      return record.expiresAt > now ? { record, count: { current, ttlMs } } : undefined
    })
  }

  async findById(id: string, now: number): Promise<KeyRecord | undefined> {
    const digest = await this.#commands.get(idKey(id))
    return digest === null ? undefined : this.find(digest, now)
  }

  async list(owner: string, now: number): Promise<KeyRecord[]> {
    const entries = Object.entries(await this.#commands.entries(indexKey(owner)))
    const found = await Promise.all(
      entries.map(async ([id, entry]) => {
        const { digest, expiresAt, reservedAt } = parseEntry(entry)
        if (expiresAt <= now) return undefined
        const record = await this.find(digest, now)
        if (!record && now - reservedAt > RESERVED_MS) await this.#commands.prune(indexKey(owner), id, entry)
        return record
      }),
    )
    return found.filter((record) => record !== undefined).sort(newestFirst)
  }

  async revoke(owner: string, id: string, now: number): Promise<boolean> {
    const entry = await this.#commands.entry(indexKey(owner), id)
    if (entry === null) return false
    const { digest, expiresAt } = parseEntry(entry)
    if (expiresAt <= now || !(await this.#commands.remove(recordKey(digest)))) return false
    // The key is gone with its record; what is left of it is dropped by the next listing or expires.
    await Promise.allSettled([this.#commands.prune(indexKey(owner), id, entry), this.#commands.remove(idKey(id))])
    return true
  }

  async purge(owner: string, now: number): Promise<number> {
    const keys = await this.list(owner, now)
    const revoked = await Promise.all(keys.map(({ id }) => this.revoke(owner, id, now)))
    return revoked.filter(Boolean).length
  }

  async touch(record: KeyRecord, at: number): Promise<void> {
    if (isStale(record, at)) await this.#batch.ask('touch', recordKey(record.digest), at)
  }

  async setLimit(id: string, limit: number | null, now: number): Promise<boolean> {
    const record = await this.findById(id, now)
    return record !== undefined && (await this.#batch.ask('limit', recordKey(record.digest), limitText(limit))) === 1
  }
}

/** When a key was last used and its limit; both null where there is no such key. */
type Changing = [used: string | null, limit: string | null]

function limitText(limit: number | null): string {
  return limit === null ? '' : String(limit)
}

function toRecord(answer: unknown): KeyRecord | undefined {
  const [json, used, limit] = answer as [string | null, ...Changing]
  return json == null ? undefined : recordOf(JSON.parse(json), used, limit)
}

/** @param written what is written once, when the key is created. */
const recordOf = (written: KeyRecord, ...[used, limit]: Changing): KeyRecord => ({
  ...written,
  lastUsedAt: Number(used) || null,
  limit: limit ? Number(limit) : null,
})

function parseEntry(entry: string): { digest: string; expiresAt: number; reservedAt: number } {
  const [digest = '', expiresAt, reservedAt] = entry.split(' ')
  return { digest, expiresAt: Number(expiresAt), reservedAt: Number(reservedAt) }
}
