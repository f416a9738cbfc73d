/** What only the embedded store promises: processes that share a file, a full disk, and files that nobody else may read. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../src/store/open.js'
import { StoreUnavailable } from '../../src/store/store.js'
import { instance } from './instance.js'
import { aKey, anOwner, DAY_MS, embeddedPlace, NOW } from './places.js'

t.test('two processes on one file', async (t) => {
  const place = await embeddedPlace(t)
  const { keys } = await place.open()
  const other = await instance(t, place.config)

  t.test('see what the other creates and revokes at once', async (t) => {
    for (let i = 0; i < 20; i++) {
      const { record } = aKey(anOwner())
      t.equal(await other.tell({ create: record, max: 20 }), 'created')
      t.same(await keys.find(record.digest, NOW), record)
      t.equal(await other.tell({ revoke: record }), true)
      t.equal(await keys.find(record.digest, NOW), undefined)
    }
    const { record } = aKey(anOwner())
    await keys.create(record, 20, NOW)
    t.same(await other.tell({ find: record }), record)
    await keys.revoke(record.owner, record.id, NOW)
    t.equal(await other.tell({ find: record }), null)
  })

  t.test('see a revocation even within one turn of the event loop', async (t) => {
    const { record } = aKey(anOwner())
    await keys.create(record, 20, NOW)
    const find = (): Promise<unknown> => keys.find(record.digest, NOW)
    const use = async (): Promise<unknown> => keys.use(record.digest, DAY_MS, NOW)
    t.ok(await use())
    const revoked = other.tell({ revoke: record })
    // Microtasks only: the turn never ends, so the store has no occasion to renew its view by itself.
    const look = async (): Promise<unknown[]> => [await use(), await find()]
    let found = await look()
    for (const end = Date.now() + 5000; found[0] && Date.now() < end; ) found = await look()
    t.same(found, [undefined, undefined])
    t.equal(await revoked, true)
  })

  t.test('together give an account no more keys than it may have', async (t) => {
    const owner = anOwner()
    for (let i = 0; i < 15; i++) {
      const there = other.tell({ create: aKey(owner).record, max: 20 })
      await keys.create(aKey(owner).record, 20, NOW)
      await there
    }
    t.equal((await keys.list(owner, NOW)).length, 20)
  })
})

t.test('a process killed while it creates keys loses none that it handed out', async (t) => {
  const place = await embeddedPlace(t)
  const { keys } = await place.open()
  const owner = anOwner()
  for (let round = 1; round <= 2; round++) {
    const acknowledged = await (await instance(t, place.config)).killAfter(50 * round, owner)
    t.ok(acknowledged.length >= 50 * round)
    const listed = (await keys.list(owner, NOW)).map(({ id }) => id)
    t.equal(new Set(listed).size, listed.length, 'none is listed twice')
    t.same(
      acknowledged.filter(({ id }) => !listed.includes(id)),
      [],
    )
    for (const record of acknowledged) t.same(await keys.find(record.digest, NOW), record)
  }
  t.equal(await keys.create(aKey(anOwner()).record, 20, NOW), 'created', 'and the others work on')
})

t.test('nobody but the account of the gateway may read the files', async (t) => {
  const place = await embeddedPlace(t)
  await place.open()
  const { dataDir } = place.config
  t.equal(statSync(dataDir).mode & 0o777, 0o700)
  for (const name of readdirSync(dataDir)) t.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name)
})

t.test('keys outlive the process, and those that expired meanwhile leave nothing behind', async (t) => {
  const place = await embeddedPlace(t)
  const first = await place.open()
  const owner = anOwner()
  const kept = aKey(owner).record
  const expired = aKey(owner, { expiresAt: NOW - DAY_MS, createdAt: NOW - 2 * DAY_MS }).record
  await first.keys.create(expired, 20, NOW - 2 * DAY_MS)
  await first.keys.create(kept, 20, NOW - 2 * DAY_MS)
  await first.close()
  const second = await place.open()
  t.same(await second.keys.list(owner, NOW), [kept])
  t.equal(await second.keys.find(expired.digest, NOW - 2 * DAY_MS), undefined)
})

t.test('a directory that cannot be used is refused when opening, by its name', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gps-data-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  writeFileSync(join(dir, 'file'), '')
  mkdirSync(join(dir, 'taken', 'keys.mdb'), { recursive: true })
  mkdirSync(join(dir, 'garbage'))
  writeFileSync(join(dir, 'garbage', 'keys.mdb'), 'this is no key file'.repeat(1000))
  for (const name of ['file', 'taken', 'garbage']) {
    const opening = openStore(
      { redisUrl: undefined, dataDir: join(dir, name) },
      { clock: () => NOW, onError: () => {}, onDamaged: () => {} },
    )
    await t.rejects(opening, { name: 'StoreUnavailable', message: join(dir, name) }, name)
  }
})

t.test('on a full disk no key is handed out, what exists works on, and space heals it', async (t) => {
  const place = await embeddedPlace(t)
  const store = await place.open()
  const { record } = aKey(anOwner())
  await store.keys.create(record, 20, NOW)
  // For good: a write that is still under way when the test has ended would otherwise end the process.
  process.on('SIGXFSZ', () => {})
  const limitFiles = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
  const size = statSync(join(place.config.dataDir, 'keys.mdb')).size

  limitFiles(String(size))
  const owner = anOwner()
  const lost = Array.from({ length: 3 }, () => aKey(owner, { label: 'x'.repeat(4 * size) }).record)
  for (const key of lost) {
    await t.rejects(store.keys.create(key, 20, NOW), StoreUnavailable)
    t.equal(store.up(), false)
    t.equal(await store.keys.find(key.digest, NOW), undefined)
  }
  t.same(await store.keys.list(owner, NOW), [])
  t.same(await store.keys.find(record.digest, NOW), record)
  t.equal(store.up(), false, 'that it can be read does not make it whole')

  limitFiles('unlimited')
  t.equal(await store.keys.create(lost[0]!, 1, NOW), 'created')
  t.equal(store.up(), true)
})
