/** API keys in an lmdb file on this machine, which several processes may share. */
import { type Database, open, type RootDatabase } from 'lmdb'
import { parsedJson } from '../lib/parsed-json.js'
import {
  createKeyFile,
  isFull,
  type KeyFile,
  keepRoom,
  keyFileIn,
  minFreeBytes,
  requireSame,
  verifyKeyFile,
} from './key-file.js'
import { active, isDigest, isKeyId, type KeyRecord, newestFirst, recordCache, removable, toRecord } from './record.js'
import { type Change, type KeyStore, type OnDamaged, type Store, type StoreDeps, StoreUnavailable } from './store.js'

/** Address space, not disk: the file grows with its content, and the map beyond this when it must. */
const mapBytes = 256 * 1024 * 1024

/** Expired keys that one creation removes: each may write three pages anew, and `minFreeBytes` must suffice. */
const maxRemoved = 8

/** Opens or creates the key file in `dataDir` (directory 0700, files 0600) and removes expired keys. Rejects a damaged one. */
export async function openEmbedded(dataDir: string, deps: StoreDeps): Promise<Store> {
  const path = keyFileIn(dataDir)
  await verifyKeyFile(path)
  const keys = new EmbeddedKeys(createKeyFile(path), deps.onDamaged)
  // It may write each page anew. Without room for that, expired keys stay, inactive.
  const bytes = keys.usedBytes + minFreeBytes
  if (!isFull(path, bytes)) keys.sweep(deps.clock(), bytes).catch(() => {})
  return {
    keys,
    counters: undefined,
    digests: async () => keys.digests(),
    up: () => keys.up,
    close: keys.close,
  }
}

/** The root and the tables of a key file, to be read as bytes; a table is missing if the process that created the file ended before. */
export function openToRead(path: string): { root: Database; tables: Database[] } {
  const root = open({ path, readOnly: true, maxDbs: 4 })
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const
  const tables = ['records', 'ids', 'owners'].map((name) => root.openDB({ name, ...binary }) as Database | undefined)
  return { root, tables: tables.filter((table) => table !== undefined) }
}

/** Sorts before every text and after the numbers: a damaged key may look like a number, which lmdb cannot always decode. */
const first = ' '

class EmbeddedKeys implements KeyStore {
  /** Whether the last read and the last write succeeded. Reads succeed on a full disk. */
  readonly #works = { read: true, write: true }
  readonly #file: KeyFile
  readonly #onDamaged: OnDamaged
  #root!: RootDatabase<string, string>
  /** digest → record as JSON */
  #records!: Database<string, string>
  /** id → digest */
  #ids!: Database<string, string>
  /** owner and id → digest */
  #owners!: Database<string, [owner: string, id: string]>
  /** Whether lmdb refuses all calls until the file is opened anew: a write of its meta page has failed. */
  #isBroken = false
  #reopening: Promise<void> | undefined
  /** By the bytes in the file. */
  readonly #cache = recordCache<Buffer>()

  constructor(file: KeyFile, onDamaged: OnDamaged) {
    this.#file = file
    this.#onDamaged = onDamaged
    this.#open()
  }

  #open(): void {
    // Without overlapping sync a transaction is on the disk once it is committed.
    this.#root = open({ path: this.#file.path, mapSize: mapBytes, maxDbs: 4, overlappingSync: false })
    this.#records = this.#root.openDB({ name: 'records', encoding: 'string' })
    this.#ids = this.#root.openDB({ name: 'ids', encoding: 'string' })
    this.#owners = this.#root.openDB({ name: 'owners', encoding: 'string' })
  }

  /** Calls meanwhile share it. */
  #reopen(): Promise<void> {
    this.#reopening ??= this.close()
      .then(() => {
        // Where there is no file, lmdb would create one.
        requireSame(this.#file)
        this.#open()
        this.#isBroken = false
      })
      .finally(() => {
        this.#reopening = undefined
      })
    return this.#reopening
  }

  readonly close = (): Promise<void> => this.#root.close()

  create(record: KeyRecord, maxPerOwner: number, now: number): Promise<'created' | 'too_many'> {
    return this.#perform('write', () => {
      const owned = this.#owned(record.owner)
      for (const key of removable(owned, now).slice(0, maxRemoved)) this.#remove(key)
      if (owned.filter((key) => active(key, now)).length >= maxPerOwner) return 'too_many'
      this.#put(record)
      this.#ids.putSync(record.id, record.digest)
      this.#owners.putSync([record.owner, record.id], record.digest)
      return 'created'
    })
  }

  find(digest: string, now: number): Promise<KeyRecord | undefined> {
    return this.#perform('read', () => active(this.#get(digest), now))
  }

  async use(digest: string, _windowMs: number, now: number) {
    const record = await this.find(digest, now)
    return record && { record, count: null }
  }

  findById(id: string, now: number): Promise<KeyRecord | undefined> {
    return this.#perform('read', () => active(this.#byId(id), now))
  }

  list(owner: string, now: number): Promise<KeyRecord[]> {
    const isActive = (key: KeyRecord): boolean => key.expiresAt > now
    return this.#perform('read', () => this.#owned(owner).filter(isActive).sort(newestFirst))
  }

  revoke(owner: string, id: string, now: number, digest?: string): Promise<boolean> {
    return this.#perform('write', () => {
      const found = digest === undefined ? this.#byId(id) : this.#get(digest)
      const record = found ?? this.#owned(owner).find((key) => key.id === id)
      if (record?.owner !== owner || !active(record, now)) return false
      this.#remove(record)
      return true
    })
  }

  update(digest: string, change: Change, now: number): Promise<KeyRecord | undefined> {
    return this.#perform('write', () => {
      const record = active(this.#get(digest), now)
      const next = record && change(record)
      if (next) this.#put(next)
      return next
    })
  }

  /** Removes all `removable` records, in a transaction that takes at most `bytes`. */
  async sweep(now: number, bytes: number): Promise<void> {
    const stored = await this.#perform('read', () => [...this.#records.getRange({ start: first })])
    const records = stored.map(({ key, value }) => this.#decode(key, value)).filter((record) => record !== undefined)
    const expired = removable(records, now)
    const remove = (): void => {
      keepRoom(this.#file, this.usedBytes, bytes)
      for (const record of expired) this.#remove(record)
    }
    if (expired.length > 0) await this.#perform('write', remove)
  }

  digests(): string[] {
    return [...this.#records.getKeys({ start: first })]
  }

  get up(): boolean {
    return this.#works.read && this.#works.write
  }

  /** Of the file, without the room behind them. */
  get usedBytes(): number {
    const { lastPageNumber, pageSize } = this.#root.getStats() as { lastPageNumber: number; pageSize: number }
    return (lastPageNumber + 1) * pageSize
  }

  #get(digest: string): KeyRecord | undefined {
    // Valid until the next read; its `length` is that of the record, although the buffer is longer.
    const bytes = this.#records.getBinaryFast(digest)
    if (bytes === undefined) {
      this.#cache.delete(digest)
      return undefined
    }
    const cached = this.#cache.get(digest)
    if (cached?.version.compare(bytes, 0, bytes.length) === 0) return cached.record
    // In memory of its own: a short `Buffer` is a part of 8 KiB, all of which it would keep.
    const version = Buffer.from(new Uint8Array(bytes.subarray(0, bytes.length)).buffer)
    const record = this.#decode(digest, version.toString())
    if (record) this.#cache.set(digest, { version, record })
    return record
  }

  #put(record: KeyRecord): void {
    keepRoom(this.#file, this.usedBytes)
    this.#records.putSync(record.digest, JSON.stringify(record))
  }

  /** The record in `json`; undefined when it is damaged. */
  #decode(digest: string, json: string): KeyRecord | undefined {
    const record = toRecord(parsedJson(json))
    if (record?.digest === digest) return record
    this.#onDamaged('key', digest)
    return undefined
  }

  #byId(id: string): KeyRecord | undefined {
    const digest = isKeyId(id) ? this.#ids.get(id) : undefined
    if (digest === undefined) return undefined
    const record = isDigest(digest) ? this.#get(digest) : undefined
    if (!isDigest(digest) || (record && record.id !== id)) this.#onDamaged('id', id)
    return record?.id === id ? record : undefined
  }

  #owned(owner: string): KeyRecord[] {
    const owned: KeyRecord[] = []
    for (const { key, value } of [...this.#owners.getRange({ start: [owner, first], end: [owner, '\uffff'] })]) {
      const record = isDigest(value) ? this.#get(value) : undefined
      if (record?.owner === owner && record.id === key[1]) owned.push(record)
      else if (record || !isDigest(value)) this.#onDamaged('owner', owner)
    }
    return owned
  }

  #remove({ digest, id, owner }: KeyRecord): void {
    keepRoom(this.#file, this.usedBytes)
    this.#records.removeSync(digest)
    this.#cache.delete(digest)
    if (this.#ids.get(id) === digest) this.#ids.removeSync(id)
    this.#owners.removeSync([owner, id])
  }

  /** A write is one transaction among all processes: on the disk once this resolves, undone when it rejects. */
  async #perform<T>(kind: 'read' | 'write', action: () => T): Promise<T> {
    try {
      if (this.#isBroken) await this.#reopen()
      // A snapshot lasts until the end of the event turn; another process may have revoked since.
      if (kind === 'read') this.#root.resetReadTxn()
      const result = kind === 'read' ? action() : this.#root.transactionSync(action)
      // A write that changes nothing succeeds on a full disk, too.
      if (kind === 'read' || (result && result !== 'too_many')) this.#works[kind] = true
      return result
    } catch (error) {
      this.#works[kind] = false
      // Where lmdb cannot write, its message ends with numbers, one of them random.
      const [reason = ''] = (error as Error).message.split(': Attempting to write')
      this.#isBroken ||= reason.includes('MDB_PANIC')
      throw new StoreUnavailable('The key file cannot be used', { cause: new Error(reason) })
    }
  }
}
