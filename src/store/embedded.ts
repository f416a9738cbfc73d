/** API keys in an lmdb file on this machine, shared safely by several processes of it; the only file that imports lmdb. Knows no Redis and counts nothing. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { claim } from './claim.js'
import { ReadRecords } from './read-records.js'
import {
  isStale,
  type KeyRecord,
  type KeyStore,
  newestFirst,
  type Store,
  type StoreDeps,
  StoreUnavailable,
  type Used,
} from './store.js'

/** Address space, not disk: the file grows with its content, and the map past this when it must. */
const MAP_BYTES = 256 * 1024 * 1024

const UUID_LENGTH = 36

/** Opens, or makes, the key file in `dataDir` (directory 0700, files 0600) and removes what has expired. */
export function openEmbedded(dataDir: string, deps: StoreDeps): Store {
  try {
    const keys = new EmbeddedKeys(openFile(dataDir))
    keys.sweep(deps.clock())
    return { kind: 'embedded', keys, counters: undefined, up: () => keys.up, close: () => keys.close() }
  } catch (error) {
    throw new StoreUnavailable(`Cannot use ${dataDir} for API keys: ${String(error)}`, error)
  }
}

function openFile(dataDir: string): RootDatabase<KeyRecord, string> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'keys.mdb')
  // lmdb would make its files readable for others.
  claim(path)
  closeSync(openSync(`${path}-lock`, 'a', 0o600))
  // Without overlapping sync a transaction is on the disk once it is committed.
  return open<KeyRecord, string>({ path, mapSize: MAP_BYTES, maxDbs: 4, overlappingSync: false, encoding: 'json' })
}

class EmbeddedKeys implements KeyStore {
  #reads = true
  /** A full disk goes on being read. */
  #writes = true
  readonly #root: RootDatabase<KeyRecord, string>
  readonly #records: Database<KeyRecord, string>
  /** id → digest */
  readonly #ids: Database<string, string>
  /** [owner, id] → digest */
  readonly #owners: Database<string, [string, string]>
  /** By the bytes in the file. */
  readonly #known = new ReadRecords<Buffer>()

  constructor(root: RootDatabase<KeyRecord, string>) {
    this.#root = root
    this.#records = root.openDB<KeyRecord, string>({ name: 'records', encoding: 'json' })
    this.#ids = root.openDB<string, string>({ name: 'ids', encoding: 'string' })
    this.#owners = root.openDB<string, [string, string]>({ name: 'owners', encoding: 'string' })
  }

  create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'> {
    return this.#write(() => {
      const owned = this.#owned(record.owner)
      const expired = owned.filter((key) => key.expiresAt <= now)
      for (const key of expired) this.#remove(key)
      if (owned.length - expired.length >= maxPerOwner) return 'too_many'
      this.#records.putSync(record.digest, record)
      this.#ids.putSync(record.id, record.digest)
      this.#owners.putSync([record.owner, record.id], record.digest)
      return 'created'
    })
  }

  find(digest: string, now: number): Promise<KeyRecord | undefined> {
    return this.#read(() => active(this.#records.get(digest), now))
  }

  use(digest: string, _windowMs: number, now: number): Used | undefined | Promise<never> {
    try {
      const record = this.#look(() => active(this.#used(digest), now))
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
      const record = active(this.#byId(id), now)
      if (record?.owner !== owner) return false
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
      const current = this.#records.get(record.digest)
      if (current && isStale(current, at)) this.#records.putSync(record.digest, { ...current, lastUsedAt: at })
    })
  }

  setLimit(id: string, limit: number | null, now: number): Promise<boolean> {
    return this.#write(() => {
      const record = active(this.#byId(id), now)
      if (record) this.#records.putSync(record.digest, { ...record, limit })
      return record !== undefined
    })
  }

  /** Removes every expired record. */
  sweep(now: number): void {
    this.#root.transactionSync(() => {
      const all = [...this.#records.getRange()].map(({ value }) => value)
      for (const key of all) if (key.expiresAt <= now) this.#remove(key)
    })
  }

  get up(): boolean {
    return this.#reads && this.#writes
  }

  close(): Promise<void> {
    return this.#root.close()
  }

  #used(digest: string): KeyRecord | undefined {
    // Good until the next read; its `length` is that of the record, the rest of it is longer.
    const bytes = this.#records.getBinaryFast(digest)
    if (bytes === undefined) {
      this.#known.forget(digest)
      return undefined
    }
    const known = this.#known.of(digest)
    if (known?.said.compare(bytes, 0, bytes.length) === 0) return known.record
    const said = Buffer.from(bytes.subarray(0, bytes.length))
    const record = JSON.parse(said.toString()) as KeyRecord
    this.#known.keep(digest, said, record)
    return record
  }

  #byId(id: string): KeyRecord | undefined {
    // An id comes from a caller, and lmdb throws on one that is too long for it.
    const digest = id.length === UUID_LENGTH ? this.#ids.get(id) : undefined
    return digest === undefined ? undefined : this.#records.get(digest)
  }

  #owned(owner: string): KeyRecord[] {
    const entries = [...this.#owners.getRange({ start: [owner, ''], end: [owner, '\uffff'] })]
    return entries.map(({ value }) => this.#records.get(value)).filter((record) => record !== undefined)
  }

  #remove(record: KeyRecord): void {
    this.#records.removeSync(record.digest)
    this.#ids.removeSync(record.id)
    this.#owners.removeSync([record.owner, record.id])
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

function active(record: KeyRecord | undefined, now: number): KeyRecord | undefined {
  return record && record.expiresAt > now ? record : undefined
}
