/** API keys in an lmdb file on this machine, shared safely by several processes of it; the only file that imports lmdb. Knows no Redis and counts nothing. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { claim } from './claim.js'
import { DamageReports } from './damage.js'
import { ReadRecords } from './read-records.js'
import { active, isDigest, isStale, type KeyRecord, newestFirst, parseJson, toRecord } from './record.js'
import { type KeyStore, type Store, type StoreDeps, StoreUnavailable, type Used } from './store.js'

/** Address space, not disk: the file grows with its content, and the map past this when it must. */
const MAP_BYTES = 256 * 1024 * 1024

const UUID_LENGTH = 36

/** Opens, or makes, the key file in `dataDir` (directory 0700, files 0600) and removes what has expired. */
export function openEmbedded(dataDir: string, deps: StoreDeps): Store {
  try {
    const keys = new EmbeddedKeys(openFile(dataDir), new DamageReports(deps.onDamaged))
    keys.sweep(deps.clock())
    return { kind: 'embedded', keys, counters: undefined, up: () => keys.up, close: () => keys.close() }
  } catch (error) {
    throw new StoreUnavailable(`Cannot use ${dataDir} for API keys: ${String(error)}`, error)
  }
}

function openFile(dataDir: string): RootDatabase<string, string> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'keys.mdb')
  // lmdb would make its files readable for others.
  claim(path)
  closeSync(openSync(`${path}-lock`, 'a', 0o600))
  // Without overlapping sync a transaction is on the disk once it is committed.
  return open<string, string>({ path, mapSize: MAP_BYTES, maxDbs: 4, overlappingSync: false, encoding: 'string' })
}

class EmbeddedKeys implements KeyStore {
  #reads = true
  /** A full disk goes on being read. */
  #writes = true
  readonly #root: RootDatabase<string, string>
  readonly #damage: DamageReports
  /** digest → record as JSON */
  readonly #records: Database<string, string>
  /** id → digest */
  readonly #ids: Database<string, string>
  /** [owner, id] → digest */
  readonly #owners: Database<string, [string, string]>
  /** By the bytes in the file. */
  readonly #cache = new ReadRecords<Buffer>()

  constructor(root: RootDatabase<string, string>, damage: DamageReports) {
    this.#root = root
    this.#damage = damage
    this.#records = root.openDB<string, string>({ name: 'records', encoding: 'string' })
    this.#ids = root.openDB<string, string>({ name: 'ids', encoding: 'string' })
    this.#owners = root.openDB<string, [string, string]>({ name: 'owners', encoding: 'string' })
  }

  create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'> {
    return this.#write(() => {
      const owned = this.#owned(record.owner)
      const expired = owned.filter((key) => key.expiresAt <= now)
      for (const key of expired) this.#remove(key)
      if (owned.length - expired.length >= maxPerOwner) return 'too_many'
      this.#put(record)
      this.#ids.putSync(record.id, record.digest)
      this.#owners.putSync([record.owner, record.id], record.digest)
      return 'created'
    })
  }

  find(digest: string, now: number): Promise<KeyRecord | undefined> {
    return this.#read(() => active(this.#get(digest), now))
  }

  use(digest: string, _windowMs: number, now: number): Used | undefined | Promise<never> {
    try {
      const record = this.#look(() => active(this.#get(digest), now))
      return record && { record, count: null }
    } catch (error) {
      return Promise.reject(error)
    }
  }

  findById(id: string, now: number): Promise<KeyRecord | undefined> {
    return this.#read(() => active(this.#byId(id), now))
  }

  list(owner: string, now: number): Promise<KeyRecord[]> {
    return this.#read(() =>
      this.#owned(owner)
        .filter((key) => key.expiresAt > now)
        .sort(newestFirst),
    )
  }

  revoke(owner: string, id: string, now: number): Promise<boolean> {
    return this.#write(() => {
      const record = this.#byId(id) ?? this.#owned(owner).find((key) => key.id === id)
      if (record?.owner !== owner || !active(record, now)) return false
      this.#remove(record)
      return true
    })
  }

  purge(owner: string, now: number): Promise<number> {
    return this.#write(() => {
      const owned = this.#owned(owner)
      for (const key of owned) this.#remove(key)
      return owned.filter((key) => key.expiresAt > now).length
    })
  }

  async touch(record: KeyRecord, at: number): Promise<void> {
    if (!isStale(record, at)) return
    await this.#write(() => {
      const current = this.#get(record.digest)
      if (current && isStale(current, at)) this.#put({ ...current, lastUsedAt: at })
    })
  }

  setLimit(id: string, limit: number | null, now: number): Promise<boolean> {
    return this.#write(() => {
      const record = active(this.#byId(id), now)
      if (record) this.#put({ ...record, limit })
      return record !== undefined
    })
  }

  /** Removes every expired record. */
  sweep(now: number): void {
    this.#root.transactionSync(() => {
      const expired: KeyRecord[] = []
      for (const { key, value } of intact(this.#records.getRange())) {
        const record = this.#decode(String(key), value)
        if (record && record.expiresAt <= now) expired.push(record)
      }
      for (const record of expired) this.#remove(record)
    })
  }

  get up(): boolean {
    return this.#reads && this.#writes
  }

  close(): Promise<void> {
    return this.#root.close()
  }

  #get(digest: string): KeyRecord | undefined {
    // Valid until the next read; its `length` is that of the record, although the buffer is longer.
    const bytes = this.#records.getBinaryFast(digest)
    if (bytes === undefined) {
      this.#cache.forget(digest)
      return undefined
    }
    const cached = this.#cache.of(digest)
    if (cached?.said.compare(bytes, 0, bytes.length) === 0) return cached.record
    const version = Buffer.from(bytes.subarray(0, bytes.length))
    const record = this.#decode(digest, version.toString())
    if (record) this.#cache.keep(digest, version, record)
    return record
  }

  #put(record: KeyRecord): void {
    this.#records.putSync(record.digest, JSON.stringify(record))
  }

  /** The record in `text`, stored under `digest`; undefined when it is damaged, which is reported. */
  #decode(digest: string, text: string): KeyRecord | undefined {
    const record = toRecord(parseJson(text))
    if (record?.digest === digest) return record
    this.#damage.report('key', digest)
    return undefined
  }

  #byId(id: string): KeyRecord | undefined {
    // An id comes from a caller, and lmdb throws on one that is too long for it.
    const digest = id.length === UUID_LENGTH ? this.#ids.get(id) : undefined
    if (digest === undefined) return undefined
    const record = isDigest(digest) ? this.#get(digest) : undefined
    if (!isDigest(digest) || (record && record.id !== id)) this.#damage.report('id', id)
    return record?.id === id ? record : undefined
  }

  #owned(owner: string): KeyRecord[] {
    const owned: KeyRecord[] = []
    for (const { key, value } of intact(this.#owners.getRange({ start: [owner, ''], end: [owner, '\uffff'] }))) {
      const record = isDigest(value) ? this.#get(value) : undefined
      if (record?.owner === owner && record.id === key[1]) owned.push(record)
      else if (record || !isDigest(value)) this.#damage.report('owner', owner)
    }
    return owned
  }

  #remove({ digest, id, owner }: KeyRecord): void {
    this.#records.removeSync(digest)
    if (this.#ids.get(id) === digest) this.#ids.removeSync(id)
    this.#owners.removeSync([owner, id])
  }

  async #read<T>(action: () => T): Promise<T> {
    return this.#look(action)
  }

  /** @throws StoreUnavailable. */
  #look<T>(action: () => T): T {
    try {
      // A snapshot lasts until the end of the event turn; another process may have revoked since.
      this.#root.resetReadTxn()
      const result = action()
      this.#reads = true
      return result
    } catch (error) {
      this.#reads = false
      throw unusable(error)
    }
  }

  /** One transaction among all processes; on the disk once this resolves, undone when it rejects. */
  async #write<T>(action: () => T): Promise<T> {
    try {
      const result = this.#root.transactionSync(action)
      this.#writes = true
      return result
    } catch (error) {
      this.#writes = false
      throw unusable(error)
    }
  }
}

const unusable = (error: unknown): StoreUnavailable => new StoreUnavailable('The key file cannot be used', error)

/** The entries whose key can be decoded. */
function* intact<T>(range: Iterable<T>): Generator<T> {
  const entries = range[Symbol.iterator]()
  try {
    for (;;) {
      const next = nextOf(entries)
      if (next?.done) return
      if (next) yield next.value
    }
  } finally {
    // After an exception the cursor would stay open, and with it one of the few reader slots.
    entries.return?.()
  }
}

function nextOf<T>(entries: Iterator<T>): IteratorResult<T> | undefined {
  try {
    return entries.next()
  } catch (error) {
    // What decoding a key throws; the cursor stands on the next entry already.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
