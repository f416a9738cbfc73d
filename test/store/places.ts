/** What the tests of the stores share: keys to store, and the three places where a store may live. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { newKey, ownerOf, Secret, seal } from '../../src/auth/credential.js'
import { openStore, type StoreConfig } from '../../src/store/open.js'
import type { KeyRecord, Store } from '../../src/store/store.js'
import { redisCluster, redisServer } from '../redis.js'

export const DAY_MS = 86_400_000

/** The instant the tests live at. It lies ahead, so that Redis, which has a clock of its own, expires nothing by itself. */
export const NOW = Date.now() + DAY_MS

/** An account nobody else in any test has. */
export function anOwner(): string {
  return ownerOf(`${randomUUID()}@fleet.example`)
}

/** A key fit for storing, with the two secrets that must never be seen in a store. */
export function aKey(owner: string, fields: Partial<KeyRecord> = {}): { record: KeyRecord; key: Secret; hash: Secret } {
  const { key, digest, hint } = newKey()
  const hash = new Secret(randomBytes(30).toString('hex'))
  const record: KeyRecord = {
    version: 1,
    id: randomUUID(),
    digest,
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

export interface Place {
  readonly config: StoreConfig
  /** Opens one more handle, as another instance of the gateway would. */
  open(): Promise<Store>
  /** All that a thief of the store would hold. */
  bytes(): Promise<Buffer>
}

export async function embeddedPlace(t: Test): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'gps-data-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const dataDir = join(dir, 'data')
  const bytes = async () => Buffer.concat(readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name))))
  return place(t, { redisUrl: undefined, dataDir }, bytes)
}

export async function redisPlace(t: Test): Promise<Place> {
  const server = await redisServer(t, '--rdbcompression', 'no')
  return place(t, { redisUrl: server.url, dataDir: '' }, async () => {
    await server.command('save')
    return readFileSync(join(server.dir, 'dump.rdb'))
  })
}

export async function clusterPlace(t: Test): Promise<Place> {
  const { url, nodes } = await redisCluster(t, '--rdbcompression', 'no')
  return place(t, { redisUrl: url, dataDir: '' }, async () => {
    await Promise.all(nodes.map((node) => node.command('save')))
    return Buffer.concat(nodes.map(({ dir }) => readFileSync(join(dir, 'dump.rdb'))))
  })
}

function place(t: Test, config: StoreConfig, bytes: () => Promise<Buffer>): Place {
  const open = async () => {
    const store = await openStore(config, { clock: () => NOW, onError: (error) => t.comment(error.message) })
    t.teardown(() => store.close())
    return store
  }
  return { config, open, bytes }
}
