/** What only the key file promises: processes that share it, files that nobody else may read, and old files. */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import t from 'tap'
import { keyFileIn, lockOf } from '../../src/store/key-file.js'
import { StoreUnavailable } from '../../src/store/store.js'
import { kilobytesKept } from '../faults.js'
import { temporaryFolder } from '../folder.js'
import { instance } from './instance.js'
import { aKey, anOwner, DAY_MS, embeddedPlace, limited, NOW, opened, storedKey } from './places.js'

t.test('two processes on one file', async (t) => {
  const place = await embeddedPlace(t)
  const store = await place.open()
  const { keys } = store
  const other = await instance(t, place.config)

  t.test('see a revocation even within one turn of the event loop', async (t) => {
    const record = await storedKey(store)
    t.ok(await keys.use(record.digest, DAY_MS, NOW))
    const revoked = other.call({ revoke: record })
    // Only microtasks: the turn never ends, so that lmdb does not renew its snapshot.
    const look = () => Promise.all([keys.use(record.digest, DAY_MS, NOW), keys.find(record.digest, NOW)])
    let found: unknown[] = await look()
    for (const end = Date.now() + 5000; found[0] && Date.now() < end; ) found = await look()
    t.same(found, [undefined, undefined])
    t.equal(await revoked, true)
  })

  t.test('together give an account no more keys than its maximum', async (t) => {
    const owner = anOwner()
    for (let i = 0; i < 15; i++) {
      const there = other.call({ create: aKey(owner).record, max: 20 })
      await keys.create(aKey(owner).record, 20, NOW)
      await there
    }
    t.equal((await keys.list(owner, NOW)).length, 20)
  })
})

t.test('only the user of the gateway may read the files', async (t) => {
  const place = await embeddedPlace(t)
  await place.open()
  const { dataDir } = place.config
  t.equal(statSync(dataDir).mode & 0o777, 0o700)
  for (const name of readdirSync(dataDir)) t.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name)
})

t.test('keys outlive the process, and those that have expired meanwhile leave nothing behind', async (t) => {
  const place = await embeddedPlace(t)
  const first = await place.open()
  const owner = anOwner()
  const kept = aKey(owner).record
  const expired = aKey(owner, { expiresAt: NOW - DAY_MS, createdAt: NOW - 2 * DAY_MS }).record
  const damaged = aKey(anOwner()).record
  for (const record of [expired, kept, damaged]) await first.keys.create(record, 20, NOW - 2 * DAY_MS)
  await first.close()
  await place.put('key', [damaged.digest], '{')
  const second = await place.open()
  t.same(await second.keys.list(owner, NOW), [kept])
  const names = { key: [expired.digest], id: [expired.id], owner: [owner, expired.id] } as const
  for (const table of ['key', 'id', 'owner'] as const) t.equal(await place.stored(table, names[table]), '', table)
  t.same(place.reports, [`key ${damaged.digest.slice(0, 8)}`], 'a damaged one does not hinder it')
})

t.test('a file of the first release goes on working', async (t) => {
  const place = await embeddedPlace(t)
  const { record } = aKey(anOwner())
  mkdirSync(place.config.dataDir)
  const root = open({ path: join(place.config.dataDir, 'keys.mdb'), maxDbs: 4, encoding: 'json' })
  root.openDB({ name: 'records', encoding: 'json' }).putSync(record.digest, record)
  root.openDB({ name: 'ids', encoding: 'string' }).putSync(record.id, record.digest)
  root.openDB({ name: 'owners', encoding: 'string' }).putSync([record.owner, record.id], record.digest)
  await root.close()
  const { keys } = await place.open()
  t.same(await keys.find(record.digest, NOW), record)
  t.same(await keys.findById(record.id, NOW), record)
  t.same(await keys.list(record.owner, NOW), [record])
  t.equal(await keys.create(aKey(record.owner).record, 1, NOW), 'too_many')
  t.equal(await keys.revoke(record.owner, record.id, NOW), true)
})

t.test('a directory that cannot be used, or whose key file is damaged, is refused by its name', async (t) => {
  const dir = temporaryFolder(t)
  writeFileSync(join(dir, 'file'), '')
  mkdirSync(join(dir, 'taken', 'keys.mdb'), { recursive: true })
  mkdirSync(join(dir, 'garbage'))
  writeFileSync(join(dir, 'garbage', 'keys.mdb'), 'this is no key file'.repeat(1000))
  const opening = (name: string) => opened(t, { dataDir: join(dir, name) })
  const whole = await opening('whole')
  for (let n = 0; n < 4; n += 1) await storedKey(whole)
  const digests = await whole.digests()
  await whole.close()
  // What lmdb reads beyond the last page of a file ends the process.
  const cut = (name: string, bytes: number) => {
    cpSync(join(dir, 'whole'), join(dir, name), { recursive: true })
    truncateSync(join(dir, name, 'keys.mdb'), bytes)
  }
  for (const [name, bytes] of Object.entries({ tiny: 100, head: 4_096, short: 20_000 })) cut(name, bytes)
  for (const name of ['file', 'file/deeper', 'taken', 'garbage', 'tiny', 'head', 'short'])
    await t.rejects(opening(name), { name: 'StoreUnavailable', message: join(dir, name) }, name)
  symlinkSync(join(dir, 'nowhere'), join(dir, 'link'))
  await t.rejects(opening('link'), { message: `${join(dir, 'link')} is a link that leads nowhere` })

  t.test('and so is one that was cut within a page, unless no key is lost', async (t) => {
    // The names of the tables are in one of these pages.
    t.ok(statSync(join(dir, 'whole', 'keys.mdb')).size > 32_000)
    for (let end = 10_000; end < 32_000; end += 4_096) {
      const name = `cut ${end}`
      cut(name, end)
      const found = await opening(name).then(
        (store) => store.digests(),
        (error: Error) => error.name,
      )
      if (found !== 'StoreUnavailable') t.same(found, digests, name)
    }
  })
})

t.test('a clock that is ahead makes keys inactive, and removes none', async (t) => {
  const place = await embeddedPlace(t)
  const first = await place.open()
  const record = await storedKey(first)
  await first.close()
  const ahead = record.expiresAt + 3650 * DAY_MS
  const { keys, close } = await opened(t, place.config, { clock: () => ahead })
  t.equal(await keys.find(record.digest, ahead), undefined)
  t.equal(await keys.create(aKey(record.owner, { createdAt: ahead }).record, 1, ahead), 'created')
  await close()
  t.same(await (await place.open()).keys.find(record.digest, NOW), record)
})

t.test('once the key file is removed or replaced, no key is acknowledged that the next process lacks', async (t) => {
  const place = await embeddedPlace(t)
  const store = await place.open()
  const record = await storedKey(store)
  const { dataDir } = place.config
  const isRefused = async (message: RegExp) => {
    await t.rejects(store.keys.create(aKey(anOwner()).record, 20, NOW), {
      name: 'StoreUnavailable',
      cause: { message },
    })
    await t.rejects(store.keys.revoke(record.owner, record.id, NOW), StoreUnavailable)
    t.match(await store.keys.find(record.digest, NOW), record)
    t.equal(store.up(), false)
  }
  renameSync(dataDir, `${dataDir}.old`)
  await isRefused(/ENOENT/)
  cpSync(`${dataDir}.old`, dataDir, { recursive: true })
  await isRefused(/replaced: restart/)
  rmSync(dataDir, { recursive: true })
  renameSync(`${dataDir}.old`, dataDir)
  t.equal(await store.keys.revoke(record.owner, record.id, NOW), true)
  t.equal(store.up(), true)
})

t.test('once the lock of the key file is removed, no revocation by another process is overwritten', async (t) => {
  const place = await embeddedPlace(t)
  const store = await place.open()
  const record = await storedKey(store)
  rmSync(lockOf(keyFileIn(place.config.dataDir)))
  const other = await instance(t, place.config)
  t.equal(await other.call({ revoke: record }), true)
  await store.keys.update(record.digest, limited(5), NOW).catch(() => undefined)
  t.equal(await other.call({ find: record }), null)
  const creation = store.keys.create(aKey(anOwner()).record, 20, NOW)
  await t.rejects(creation, { name: 'StoreUnavailable', cause: { message: /replaced: restart/ } })
})

t.test('a key file whose keys no lookup finds is refused, though it has all of them', async (t) => {
  const place = await embeddedPlace(t)
  const { keys } = await place.open()
  for (let n = 0; n < 60; n += 1) await keys.create(aKey(anOwner()).record, 20, NOW)
  const dataDir = temporaryFolder(t)
  const [source, copy] = [open({ path: keyFileIn(place.config.dataDir) }), keyFileIn(dataDir)]
  // Without free pages.
  await source.backup(copy, true)
  await source.close()
  await (await opened(t, { dataDir })).close()
  const bytes = readFileSync(copy)
  const pages = Array.from({ length: bytes.length / 4_096 }, (_, n) => bytes.subarray(n * 4_096, (n + 1) * 4_096))
  // The kind of a page, here a leaf, is behind its number and its transaction.
  const [first, second] = pages.filter((page) => page.readUInt16LE(18) === 2 && page.includes('"digest"'))
  const swapped = [Buffer.from(first!.subarray(16)), Buffer.from(second!.subarray(16))] as const
  second!.set(swapped[0], 16)
  first!.set(swapped[1], 16)
  writeFileSync(copy, bytes)
  await t.rejects(opened(t, { dataDir }), { message: /is damaged/ })
})

t.test('a key that is kept in memory takes a few times the memory of its record', async (t) => {
  const { keys } = await (await embeddedPlace(t)).open()
  const records = Array.from({ length: 501 }, () => aKey(anOwner()).record)
  for (const record of records) await keys.create(record, 20, NOW)
  const kilobytes = await kilobytesKept(async (n) => {
    await keys.find(records[n]?.digest ?? '', NOW)
    // What is allocated between two requests.
    for (let other = 0; other < 20; other += 1) Buffer.from('x'.repeat(500))
  }, 500)
  t.ok(kilobytes < 4, `${kilobytes} kB for each key`)
})
