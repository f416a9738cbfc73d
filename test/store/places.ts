/** What the tests of the stores share: keys to store, and the three places where a store may live. */
import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open } from 'lmdb'
import type { Test } from 'tap'
import { keyOwnerOf, newKey, Secret } from '../../src/auth/credential.js'
import { seal } from '../../src/auth/seal.js'
import { openStore, type StoreConfig } from '../../src/store/open.js'
import { type Counters, type KeyRecord, type Store, type StoreDeps, StoreUnavailable } from '../../src/store/store.js'
import { temporaryFolder } from '../folder.js'
import { type RedisServer, redisCluster, redisServer, withoutRedis } from '../redis.js'

export const DAY_MS = 86_400_000

/** The instant the tests live at. It lies ahead, so that Redis, which has a clock of its own, expires nothing by itself. */
export const NOW = Date.now() + DAY_MS

/** An account nobody else in any test has. */
export function anOwner(): string {
  return keyOwnerOf(`${randomUUID()}@fleet.example`)
}

/** A key fit for storing, with the two secrets that must never be seen in a store. */
export function aKey(owner: string, fields: Partial<KeyRecord> = {}): { record: KeyRecord; key: Secret; hash: Secret } {
  const { key, hint } = newKey()
  const hash = new Secret(randomBytes(30).toString('hex'))
  const record: KeyRecord = {
    version: 1,
    id: randomUUID(),
    digest: key.digest,
    owner,
    email: 'dispatch@fleet.example',
    hint,
    sealed: seal(hash, key),
    label: 'Dispatch, “north” depot',
    createdAt: NOW,
    expiresAt: NOW + 365 * DAY_MS,
    lastUsedAt: null,
    limit: null,
    ...fields,
  }
  return { record, key, hash }
}

/** A key that the store has just created, of a new account unless `fields` name one. */
export async function storedKey({ keys }: Store, fields: Partial<KeyRecord> = {}): Promise<KeyRecord> {
  const { record } = aKey(anOwner(), fields)
  const outcome = await keys.create(record, 20, NOW)
  if (outcome !== 'created') throw new Error(outcome)
  return record
}

/** The change of a record that sets its limit. */
export const limited =
  (limit: number | null) =>
  (record: KeyRecord): KeyRecord => ({ ...record, limit })

/** What is stored under a name: a key record as JSON, a digest, or an entry of an index. */
export type Table = 'key' | 'id' | 'owner'

/** An open store, closed with the test. */
export async function opened(t: Test, config: Partial<StoreConfig>, deps: Partial<StoreDeps> = {}): Promise<Store> {
  const given = { clock: () => NOW, onDamaged: () => {}, ...deps }
  const store = await openStore({ redisUrl: undefined, dataDir: '', ...config }, given)
  t.teardown(() => store.close())
  return store
}

/** A store in Redis, which counts requests, too. */
export async function openRedis(t: Test, redisUrl: string): Promise<Store & { counters: Counters }> {
  return (await opened(t, { redisUrl })) as Store & { counters: Counters }
}

export type Command = (...args: string[]) => Promise<string>

export interface Place {
  readonly config: StoreConfig
  /** The damage that open handles reported. */
  readonly reports: string[]
  /** Overwrites an entry behind the store's back. An entry of an index is named by owner and id. */
  put(table: Table, name: readonly [string, string?], text: string): Promise<void>
  /** The reply of Redis to a command; undefined where there is no Redis. */
  readonly command: Command | undefined
  /** What is stored now. */
  stored(table: Table, name: readonly [string, string?]): Promise<string>
  /** Opens one more handle, as another instance of the gateway would. */
  open(): Promise<Store>
  /** All that a thief of the store would hold. */
  bytes(): Promise<Buffer>
}

export async function embeddedPlace(t: Test): Promise<Place> {
  const dataDir = join(temporaryFolder(t), 'data')
  const table = async <T>(name: Table, use: (table: Database<string>) => T): Promise<T> => {
    const root = open({ path: join(dataDir, 'keys.mdb'), maxDbs: 4 })
    const result = use(root.openDB({ name: { key: 'records', id: 'ids', owner: 'owners' }[name], encoding: 'string' }))
    await root.close()
    return result
  }
  const keyOf = ([first, second]: readonly [string, string?]) => (second === undefined ? first : [first, second])
  return place(t, {
    config: { redisUrl: undefined, dataDir },
    command: undefined,
    // In another process: closing a file here would release lmdb's locks of it.
    bytes: async () => execFileSync('cat', readdirSync(dataDir), { cwd: dataDir }),
    put: (name, key, text) => table(name, (table) => table.putSync(keyOf(key), text)),
    stored: (name, key) => table(name, (table) => table.get(keyOf(key)) ?? ''),
  })
}

export async function redisPlace(t: Test): Promise<Place> {
  const server = await redisServer(t, '--rdbcompression', 'no')
  return sharedPlace(t, server.url, [server])
}

async function clusterPlace(t: Test): Promise<Place> {
  const { url, nodes } = await redisCluster(t, '--rdbcompression', 'no')
  return sharedPlace(t, url, nodes)
}

function sharedPlace(t: Test, redisUrl: string, nodes: RedisServer[]): Place {
  /** Runs a command on the node that has its key. */
  const command: Command = async (...args) => {
    const reply = await nodes[0]!.command(...args)
    const [, port] = /^MOVED \d+ .*:(\d+)$/.exec(reply) ?? []
    return port ? nodes.find((node) => node.port === Number(port))!.command(...args) : reply
  }
  return place(t, {
    config: { redisUrl, dataDir: '' },
    command,
    bytes: async () => {
      await Promise.all(nodes.map((node) => node.command('save')))
      return Buffer.concat(nodes.map(({ dir }) => readFileSync(join(dir, 'dump.rdb'))))
    },
    put: async (table, [name, id], text) => {
      const key = `gps:${table}:${name}`
      await (table === 'id' ? command('set', key, text) : command('hset', key, id ?? 'record', text))
    },
    stored: (table, [name, id]) =>
      table === 'id' ? command('get', `gps:id:${name}`) : command('hget', `gps:${table}:${name}`, id ?? 'record'),
  })
}

function place(t: Test, raw: Omit<Place, 'open' | 'reports'>): Place {
  const reports: string[] = []
  const onDamaged = (what: string, start: string) => void reports.push(`${what} ${start}`)
  return { ...raw, open: () => opened(t, raw.config, { onDamaged }), reports }
}

/** Runs the same tests on a key file, on one Redis and on a cluster. */
export function onEveryStore(t: Test, contract: (t: Test, place: Place) => Promise<void>): void {
  t.test('embedded', async (t) => contract(t, await embeddedPlace(t)))
  t.test('one Redis', { skip: withoutRedis }, async (t) => contract(t, await redisPlace(t)))
  t.test('a Redis cluster', { skip: withoutRedis }, async (t) => contract(t, await clusterPlace(t)))
}

/** Far above the limit of 250 ms, so that only a request that hangs fails the test on a busy machine. */
export const PROMPTLY_MS = 2_000

export const works = (request: Promise<unknown>): Promise<boolean> => request.then(() => true).catch(() => false)

export async function reject(t: Test, store: Store, requests: Record<string, () => Promise<unknown>>): Promise<void> {
  for (const [name, request] of Object.entries(requests)) {
    const started = performance.now()
    await t.rejects(request(), StoreUnavailable, name)
    t.ok(performance.now() - started < PROMPTLY_MS, `${name} rejects promptly`)
    t.equal(store.up(), false)
  }
}

/** How a server comes back, by how it goes away. */
export const returns = { stop: 'start', freeze: 'thaw' } as const
