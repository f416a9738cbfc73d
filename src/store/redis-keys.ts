/** API keys in Redis: the layout of their entries, and the order of writes that keeps the indexes consistent with the records. */
import { parsedJson } from '../lib/parsed-json.js'
import type { Request } from './batch.js'
import { active, isDigest, isKeyId, maxTime, newestFirst, recordCache, toRecord } from './record.js'
import type { Replies } from './scripts.js'
import { type Change, type KeyRecord, type KeyStore, type OnDamaged, StoreUnavailable, type Used } from './store.js'

/** An index entry without a record may belong to a creation in flight for this long; afterwards a crash left it. */
const reservedMs = 60_000

export const recordKey = (digest: string): string => `gps:key:${digest}`
const idKey = (id: string): string => `gps:id:${id}`
const indexKey = (owner: string): string => `gps:owner:${owner}`

/** `digest expiresAt reservedAt`. The script counts the same entries as active. */
const entry = /^([0-9a-f]{64}) (\d+) (\d+)$/

/** An update is tried at most this often. Each time it fails, another one has succeeded: so many at once are more than any caller needs. */
const maxUpdates = 100

/**
 * Each API key has a record, a mapping from id to digest, and an entry in the owner's index. The record decides: without it the key does not
 * exist. Record and mapping expire with the key, the index with the owner's last key. In an entry `reservedAt` is 0 once the record is written.
 */
export class RedisKeys implements KeyStore {
  readonly #request: Request
  readonly #onDamaged: OnDamaged
  /** The version is what Redis replied. */
  readonly #cache = recordCache<readonly (string | null | undefined)[]>()

  constructor(request: Request, onDamaged: OnDamaged) {
    this.#request = request
    this.#onDamaged = onDamaged
  }

  async create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'> {
    return this.#create(record, maxPerOwner, now).catch(async (error) => {
      // The caller never receives this key: it must not take a place of the maximum, nor be listed until it expires.
      await Promise.allSettled([this.#request('DEL', recordKey(record.digest)), this.#removeIndexes(record)])
      throw error
    })
  }

  async #create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'> {
    const { id, digest, owner, expiresAt } = record
    const reserve = async (max: number, at: number): Promise<boolean> =>
      (await this.#request('reserve', indexKey(owner), id, `${digest} ${expiresAt} ${at}`, max, now)) === 1
    if (!(await reserve(maxPerOwner, now))) {
      // Entries without a usable record count until a listing finds them.
      const { records, unusable, failure } = await this.#owned(owner, now)
      // Compared here too: an unusable entry may expire before the script counts again.
      if (records.length >= maxPerOwner) return 'too_many'
      if (failure) throw failure
      if (!(await reserve(maxPerOwner + unusable, now))) return 'too_many'
    }
    await Promise.all([
      this.#request('SET', idKey(id), digest, 'PXAT', expiresAt),
      this.#request('write', recordKey(digest), ...fieldsOf(record), expiresAt),
    ])
    // A listing that saw no record may have dropped the entry by now; from here on it cannot.
    await reserve(Number.MAX_SAFE_INTEGER, 0)
    return 'created'
  }

  async find(digest: string, now: number): Promise<KeyRecord | undefined> {
    return active(this.#decode(digest, await this.#request('find', recordKey(digest))), now)
  }

  async use(digest: string, windowMs: number, now: number): Promise<Used | undefined> {
    const reply = await this.#request('use', recordKey(digest), windowMs).catch(({ message, cause }) => {
      throw new StoreUnavailable(message, { cause, limit: this.#cache.get(digest)?.record.limit })
    })
    const record = active(this.#decode(digest, reply), now)
    if (!record || reply === 'damaged') return undefined
    const [, , , current, ttlMs] = reply
    return { record, count: current === null ? null : { current, ttlMs } }
  }

  async findById(id: string, now: number): Promise<KeyRecord | undefined> {
    const digest = isKeyId(id) ? await this.#request('GET', idKey(id)) : null
    if (digest === null) return undefined
    const record = await this.find(digest, now)
    if (!isDigest(digest) || (record && record.id !== id)) this.#onDamaged('id', id)
    return record?.id === id ? record : undefined
  }

  async list(owner: string, now: number): Promise<KeyRecord[]> {
    return (await this.#owned(owner, now)).records.sort(newestFirst)
  }

  async revoke(owner: string, id: string, now: number, digest?: string): Promise<boolean> {
    const found = await (digest === undefined ? this.findById(id, now) : this.find(digest, now))
    const record = found ?? (await this.list(owner, now)).find((key) => key.id === id)
    if (record?.owner !== owner || !(await this.#request('DEL', recordKey(record.digest)))) return false
    this.#cache.delete(record.digest)
    await this.#removeIndexes(record)
    return true
  }

  /** The key is gone with its record: what this cannot remove is dropped by a later listing, or expires. */
  async #removeIndexes({ id, owner }: KeyRecord): Promise<void> {
    await Promise.allSettled([this.#request('HDEL', indexKey(owner), id), this.#request('DEL', idKey(id))])
  }

  async update(digest: string, change: Change, now: number): Promise<KeyRecord | undefined> {
    for (let update = 0; update < maxUpdates; update += 1) {
      const reply = await this.#request('find', recordKey(digest))
      const record = active(this.#decode(digest, reply), now)
      const next = record && change(record)
      if (!next || reply === 'damaged') return undefined
      const values = [...reply.map((field) => field ?? ''), ...fieldsOf(next)]
      if ((await this.#request('replace', recordKey(digest), ...values)) === 1) return next
    }
    throw new StoreUnavailable('A record changed during each of its updates')
  }

  /**
   * The owner's active records, and how many other active entries of its index lead to a record that cannot be used. `failure` is that of
   * dropping an entry without a record, which only takes a place of the maximum.
   */
  async #owned(
    owner: string,
    now: number,
  ): Promise<{ records: KeyRecord[]; unusable: number; failure: Error | undefined }> {
    const index = await this.#request('HGETALL', indexKey(owner))
    if (index === 'damaged') throw new StoreUnavailable(`${indexKey(owner).slice(0, 18)}… is no hash in Redis`)
    const records: KeyRecord[] = []
    let unusable = 0
    let failure: Error | undefined
    const look = async (id: string, text: string): Promise<void> => {
      const [, digest, expiresAt, reservedAt] = entry.exec(text) ?? []
      if (digest === undefined || Number(expiresAt) > maxTime) return this.#onDamaged('owner', owner)
      if (Number(expiresAt) <= now) return
      const reply = await this.#request('find', recordKey(digest))
      const record = active(this.#decode(digest, reply), now)
      if (record?.id === id && record.owner === owner) records.push(record)
      else if (reply === 'damaged' || reply[0] !== null) unusable += 1
      else if (now - Number(reservedAt) > reservedMs) {
        await this.#request('prune', indexKey(owner), id, text).catch((error: Error) => {
          failure = error
        })
      }
    }
    await Promise.all(index.map((id, i) => (i % 2 === 0 ? look(id, index[i + 1] ?? '') : undefined)))
    return { records, unusable, failure }
  }

  /** The record in `reply`, now cached; undefined when it is damaged, too. */
  #decode(digest: string, reply: Replies['find' | 'use']): KeyRecord | undefined {
    const [used, limit, json] = reply === 'damaged' ? [] : reply
    const { version, record: cached } = this.#cache.get(digest) ?? {}
    if (version && used === version[0] && limit === version[1] && json === version[2]) return cached
    this.#cache.delete(digest)
    if (used === null) return undefined
    const changing = { lastUsedAt: used === '0' ? null : toNumber(used), limit: limit === '' ? null : toNumber(limit) }
    const record = toRecord({ ...(parsedJson(json ?? '') as object), ...changing })
    if (record?.digest !== digest) return void this.#onDamaged('key', digest)
    this.#cache.set(digest, { version: [used, limit, json], record })
    return record
  }
}

/** The fields of a record in Redis, in the order of the scripts. */
const fieldsOf = ({ lastUsedAt, limit, ...rest }: KeyRecord): (string | number)[] => [
  lastUsedAt ?? 0,
  limit ?? '',
  JSON.stringify(rest),
]

/** NaN, which no record may hold, unless the text is all digits. */
const toNumber = (text: string | null | undefined): number => (/^\d+$/.test(text ?? '') ? Number(text) : Number.NaN)
