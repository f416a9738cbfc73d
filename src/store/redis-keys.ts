/** API keys in Redis: the layout of their entries, and the order of writes that keeps the indexes consistent with the records. */
import { type Batch, DamagedEntry } from './batch.js'
import type { Damaged, DamageReports } from './damage.js'
import { ReadRecords } from './read-records.js'
import { active, isDigest, isStale, type KeyRecord, MAX_TIME, newestFirst, parseJson, toRecord } from './record.js'
import type { KeyStore, Used } from './store.js'

/** The commands beside the batch; each stays within one hash slot and rejects with `StoreUnavailable`. */
export interface Commands {
  write(key: string, record: string, used: number, limit: string, expiresAt: number): Promise<void>
  /** False when `max` other entries are active. */
  reserve(index: string, id: string, entry: string, max: number, now: number): Promise<boolean>
  prune(index: string, id: string, entry: string): Promise<void>
  unlist(index: string, id: string): Promise<void>
  entries(index: string): Promise<Record<string, string>>
  get(key: string): Promise<string | null>
  setUntil(key: string, value: string, expiresAt: number): Promise<void>
  /** Whether there was something to remove. */
  remove(key: string): Promise<boolean>
}

/** A cached record is read again after this long: an outsider may have changed or damaged it without changing its length. */
const REREAD_MS = 1_000
/** An entry without a record may belong to a creation in flight for this long; afterwards a crash left it. */
const RESERVED_MS = 60_000

const recordKey = (digest: string): string => `gps:key:${digest}`
const idKey = (id: string): string => `gps:id:${id}`
const indexKey = (owner: string): string => `gps:owner:${owner}`

/** The fields of a record in Redis; `used` is null where there is no such record. */
type Stored = [used: string | null, limit: string | null, record: string | null]

/**
 * Each API key has three Redis keys: its record, its entry in the owner's index, and the mapping from id to digest. The record decides:
 * without it the key does not exist, and all three expire together. An index entry is `digest expiresAt reservedAt`, with 0 for
 * `reservedAt` once the record is known to be written.
 */
export class RedisKeys implements KeyStore {
  readonly #batch: Batch
  readonly #commands: Commands
  readonly #damage: DamageReports
  readonly #cache = new ReadRecords<Version>()

  constructor(batch: Batch, commands: Commands, damage: DamageReports) {
    this.#batch = batch
    this.#commands = commands
    this.#damage = damage
  }

  async create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'> {
    const { id, digest, owner, expiresAt, lastUsedAt, limit, ...rest } = record
    const index = indexKey(owner)
    const reserve = (max: number) => this.#commands.reserve(index, id, `${digest} ${expiresAt} ${now}`, max, now)
    if (!(await reserve(maxPerOwner))) {
      // Entries without a usable record count until a listing finds out.
      const { records, unusable } = await this.#owned(owner, now)
      if (records.length >= maxPerOwner || !(await reserve(maxPerOwner + unusable))) return 'too_many'
    }
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
    const record = await this.#read(digest, now)
    return record === 'damaged' ? undefined : active(record, now)
  }

  async use(digest: string, windowMs: number, now: number): Promise<Used | undefined> {
    const cached = this.#cache.of(digest)
    const isFresh = cached !== undefined && Math.abs(now - cached.said.readAt) < REREAD_MS
    const request = this.#batch.ask(isFresh ? 'again' : 'use', recordKey(digest), windowMs)
    const reply = await this.#intact('key', digest, request)
    if (reply === undefined) return undefined
    const [used, limit, current, ttlMs, content] = reply as [string | null, string, number, number, string | number]
    if (used === null) {
      this.#cache.forget(digest)
      return undefined
    }
    const isSame = isFresh && isVersion(cached.said, used, limit, content)
    const fresh = () => (isFresh ? this.find(digest, now) : this.#decode(digest, [used, limit, content as string], now))
    const record = active(isSame ? cached.record : await fresh(), now)
    return record && { record, count: { current, ttlMs } }
  }

  async findById(id: string, now: number): Promise<KeyRecord | undefined> {
    const digest = await this.#intact('id', id, this.#commands.get(idKey(id)))
    if (typeof digest !== 'string') return undefined
    const record = await this.find(digest, now)
    if (!isDigest(digest) || (record && record.id !== id)) this.#damage.report('id', id)
    return record?.id === id ? record : undefined
  }

  async list(owner: string, now: number): Promise<KeyRecord[]> {
    return (await this.#owned(owner, now)).records.sort(newestFirst)
  }

  async revoke(owner: string, id: string, now: number): Promise<boolean> {
    const record = (await this.findById(id, now)) ?? (await this.list(owner, now)).find((key) => key.id === id)
    if (record?.owner !== owner || !(await this.#commands.remove(recordKey(record.digest)))) return false
    // The key is gone with its record; the next listing drops what is left of it, or it expires.
    await Promise.allSettled([this.#commands.unlist(indexKey(owner), id), this.#commands.remove(idKey(id))])
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

  /** The owner's active records, and how many entries of its index take a place without one. */
  async #owned(owner: string, now: number): Promise<{ records: KeyRecord[]; unusable: number }> {
    const index = indexKey(owner)
    const records: KeyRecord[] = []
    let unusable = 0
    const look = async ([id, text]: [string, string]): Promise<void> => {
      const entry = parseEntry(text)
      if (!entry) return this.#damage.report('owner', owner)
      if (entry.expiresAt <= now) return
      const record = await this.#read(entry.digest, now)
      if (record === undefined) {
        if (now - entry.reservedAt > RESERVED_MS) await this.#commands.prune(index, id, text)
      } else if (record !== 'damaged' && record.id === id && record.owner === owner && active(record, now)) {
        records.push(record)
      } else {
        unusable += 1
      }
    }
    await Promise.all(Object.entries(await this.#commands.entries(index)).map(look))
    return { records, unusable }
  }

  /** The record under a digest, active or not. */
  async #read(digest: string, now: number): Promise<KeyRecord | 'damaged' | undefined> {
    const reply = await this.#intact('key', digest, this.#batch.ask('find', recordKey(digest)))
    if (reply === undefined) return 'damaged'
    const stored = reply as Stored
    return stored[0] === null ? undefined : (this.#decode(digest, stored, now) ?? 'damaged')
  }

  /** The record in `stored`, cached; undefined when it is damaged. */
  #decode(digest: string, [used, limit, json]: Stored, now: number): KeyRecord | undefined {
    const written = parseJson(json ?? '')
    const changing = { lastUsedAt: used === '0' ? null : toNumber(used), limit: limit === '' ? null : toNumber(limit) }
    const record = toRecord({ ...(written as object), ...changing })
    if (record?.digest === digest) {
      this.#cache.keep(digest, { used, limit, length: Buffer.byteLength(json ?? ''), readAt: now }, record)
      return record
    }
    this.#damage.report('key', digest)
    this.#cache.forget(digest)
    return undefined
  }

  /** The reply to a command, or undefined when the entry is damaged, which is reported. */
  async #intact<T>(what: Damaged, name: string, reply: Promise<T>): Promise<T | undefined> {
    try {
      return await reply
    } catch (error) {
      if (!(error instanceof DamagedEntry)) throw error
      this.#damage.report(what, name)
      return undefined
    }
  }
}

/** Identifies what a record said when it was read: the fields that change during its life, and the length of the rest in bytes. */
interface Version {
  readonly used: string | null
  readonly limit: string | null
  readonly length: number
  readonly readAt: number
}

const isVersion = (version: Version, used: string, limit: string, length: unknown): boolean =>
  version.used === used && version.limit === limit && version.length === length

function limitText(limit: number | null): string {
  return limit === null ? '' : String(limit)
}

/** NaN, which no record may hold, for anything else than digits. */
const toNumber = (text: string | null): number => (/^\d+$/.test(text ?? '') ? Number(text) : Number.NaN)

/** Must agree with the script RESERVE on which entries are damaged. */
function parseEntry(text: string): { digest: string; expiresAt: number; reservedAt: number } | undefined {
  const [, digest = '', expiresAt, reservedAt] = /^([0-9a-f]{64}) (\d+) (\d+)$/.exec(text) ?? []
  const entry = { digest, expiresAt: Number(expiresAt), reservedAt: Number(reservedAt) }
  return entry.expiresAt <= MAX_TIME ? entry : undefined
}
