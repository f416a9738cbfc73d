/** Damaged entries, on every store: each fails only itself, is reported once, and works again once repaired. */
import { appendFileSync, mkdirSync, openSync, readSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import t, { type Test } from 'tap'
import { keyFileIn } from '../../src/store/key-file.js'
import { type KeyRecord, type Store, StoreUnavailable, usedAt } from '../../src/store/store.js'
import { temporaryFolder } from '../folder.js'
import { gatewayProcess } from '../process.js'
import { until } from '../redis.js'
import {
  aKey,
  anOwner,
  type Command,
  DAY_MS,
  embeddedPlace,
  limited,
  NOW,
  onEveryStore,
  opened,
  storedKey,
} from './places.js'

const having = (field: string, value: unknown) => (json: string) =>
  JSON.stringify({ ...JSON.parse(json), [field]: value })

/** Each turns the stored text of an intact record into a damaged one; `other` is that of another key. */
const damages: Record<string, (json: string, other: string) => string> = {
  'not JSON': () => 'nonsense',
  'with an expiry beyond all dates': having('expiresAt', 1e300),
  'with a long id': having('id', 'x'.repeat(9000)),
  'of another key': (_, other) => other,
}

const callsOf = (store: Store) => ({
  use: async ({ digest }: KeyRecord, at = NOW) => (await store.keys.use(digest, DAY_MS, at))?.record,
  created: (fields: Partial<KeyRecord> = {}) => storedKey(store, fields),
})

onEveryStore(t, async (t, place) => {
  const store = await place.open()
  const { keys } = store
  const { use, created } = callsOf(store)

  t.test('a damaged record is no key until it is repaired, and is reported once', async (t) => {
    for (const [name, damage] of Object.entries(damages)) {
      const [bad, good] = [await created(), await created()]
      const [{ owner }, json] = [bad, await place.stored('key', [bad.digest])]
      const sibling = await created({ owner })
      t.same([await use(bad), await use(bad)], [bad, bad])
      await place.put('key', [bad.digest], damage(json, await place.stored('key', [good.digest])))
      for (let n = 0; n < 3; n += 1) {
        const found = await Promise.all([use(bad, NOW + 1_000), keys.find(bad.digest, NOW), keys.findById(bad.id, NOW)])
        t.same(found, [undefined, undefined, undefined], name)
        t.same(await keys.list(owner, NOW), [sibling])
      }
      t.same(
        [await keys.revoke(owner, bad.id, NOW), await keys.update(bad.digest, limited(5), NOW)],
        [false, undefined],
      )
      const creations = [await keys.create(aKey(owner).record, 2, NOW), await keys.create(aKey(owner).record, 2, NOW)]
      t.same(creations, ['created', 'too_many'], 'it takes no place')
      t.same(place.reports.splice(0), [`key ${bad.digest.slice(0, 8)}`])
      await place.put('key', [bad.digest], json)
      t.match(await use(bad, NOW + 1_000), { id: bad.id, sealed: bad.sealed })
      t.equal((await keys.list(owner, NOW)).length, 3)
      t.equal(await keys.revoke(owner, bad.id, NOW), true)
    }
    t.equal(store.up(), true)
  })

  t.test('a damaged entry of an index hides its key there, and nothing else', async (t) => {
    const [bad, foreign] = [await created(), await created()]
    const { owner } = bad
    const good = await created({ owner })
    const texts = ['', 'nonsense', foreign.digest, good.digest, `${foreign.digest} ${NOW + DAY_MS} 0`, 'x'.repeat(5000)]
    for (const text of texts) {
      await place.put('owner', [owner, bad.id], text)
      t.same(await keys.list(owner, NOW), [good], text)
      t.same([await use(bad), await use(foreign)], [bad, foreign])
      t.equal(await keys.revoke(owner, foreign.id, NOW), false)
    }
    const creations = [await keys.create(aKey(owner).record, 2, NOW), await keys.create(aKey(owner).record, 2, NOW)]
    t.same(creations, ['created', 'too_many'])
    for (const text of texts) {
      await place.put('id', [good.id], text === good.digest ? '\n' : text)
      t.equal(await keys.findById(good.id, NOW), undefined)
      t.same([await keys.findById(foreign.id, NOW), await use(good)], [foreign, good])
    }
    t.same(place.reports.splice(0).sort(), [`id ${good.id.slice(0, 8)}`, `owner ${owner.slice(0, 8)}`])
    for (const { id } of [bad, good]) t.equal(await keys.revoke(owner, id, NOW), true, 'one way to a key is enough')
    t.same([await use(bad), await use(good), store.up()], [undefined, undefined, true])
  })

  t.test('a key whose id and index entry are lost is revoked by its digest', async (t) => {
    const { owner, id, digest } = await created()
    await place.put('id', [id], '')
    await place.put('owner', [owner, id], '')
    const revoked = [await keys.revoke(owner, id, NOW), await keys.revoke(anOwner(), id, NOW, digest)]
    t.same([...revoked, await keys.revoke(owner, id, NOW, digest)], [false, false, true])
    t.same([await keys.find(digest, NOW), place.reports.splice(0).length], [undefined, 2])
  })

  const { command } = place
  if (command) t.test('in Redis', (t) => wrongTypes(t, store, command, place.reports))
})

async function wrongTypes(t: Test, store: Store, command: Command, reports: string[]): Promise<void> {
  const { keys, counters, up } = store
  const { use, created } = callsOf(store)
  const values = ['set text', 'rpush item', 'sadd member', 'hset field value']
  const overwrite = async (key: string, value: string) => {
    const [name = '', ...args] = value.split(' ')
    await command('del', key)
    await command(name, key, ...args)
  }
  const increment = async (name = anOwner()) => counters!.increment(name, 60_000)

  t.test('a record of the wrong type fails no other key, not even in the same batch', async (t) => {
    const good = await created()
    for (const value of values) {
      const bad = await created()
      await overwrite(`gps:key:${bad.digest}`, value)
      for (let n = 0; n < 5; n += 1) {
        const late = [keys.update(bad.digest, usedAt(NOW), NOW), increment()]
        const refused = [use(bad), keys.find(bad.digest, NOW), keys.findById(bad.id, NOW)]
        const served = [use(good), keys.find(good.digest, NOW), keys.findById(good.id, NOW)]
        t.same(await Promise.all([...served, ...refused]), [good, good, good, undefined, undefined, undefined])
        t.same(await keys.list(bad.owner, NOW), [])
        await Promise.all(late)
      }
      t.equal(await command('hlen', `gps:owner:${bad.owner}`), '1', 'once it is repaired, it is listed again')
      t.same([up(), reports.splice(0)], [true, [`key ${bad.digest.slice(0, 8)}`]])
    }
  })

  t.test('a damaged field of a record makes it damaged, unless it only counts', async (t) => {
    for (const change of ['used never', 'used -5', 'limit many', 'limit 0', 'limit 1.5', 'used', 'limit', 'record']) {
      const [record, [field = '', value]] = [await created(), change.split(' ')]
      t.ok(await use(record))
      await (value
        ? command('hset', `gps:key:${record.digest}`, field, value)
        : command('hdel', `gps:key:${record.digest}`, field))
      t.equal(await use(record), undefined, change)
      t.same(await keys.list(record.owner, NOW), [])
    }
    const record = await created()
    const soon = Date.now() + 50_000
    for (const change of ['x y', '5 x', '5 1e300', `nan ${NOW}`, `inf ${soon}`, `-9 ${soon}`, `1e300 ${soon}`]) {
      const [count = '', last = ''] = change.split(' ')
      await command('hset', `gps:key:${record.digest}`, 'count', count, 'until', last)
      const [used, other] = await Promise.all([keys.use(record.digest, 60_000, NOW), increment()])
      t.same([used?.count, other.current], [{ current: 1, ttlMs: 60_000 }, 1], change)
    }
  })

  t.test('a counter of the wrong type starts anew', async (t) => {
    for (const value of [...values, 'set 9223372036854775807']) {
      const name = anOwner()
      await overwrite(`gps:count:${name}`, value)
      t.equal((await Promise.all([counters!.read(name), increment()]))[1].current, 1)
      t.same(await increment(name), { current: 1, ttlMs: 60_000 }, value)
      t.equal((await increment(name)).current, 2)
    }
    t.equal(up(), true)
  })

  t.test('an index of the wrong type stops its owner’s lists and creations, an id its look-up only', async (t) => {
    const [bad, good] = [await created(), await created()]
    await overwrite(`gps:owner:${bad.owner}`, 'set text')
    await overwrite(`gps:id:${good.id}`, 'rpush item')
    const message = new RegExp(`gps:owner:${bad.owner.slice(0, 8)}…`)
    await t.rejects(keys.list(bad.owner, NOW), { name: 'StoreUnavailable', message })
    await t.rejects(keys.create(aKey(bad.owner).record, 20, NOW), StoreUnavailable)
    t.equal(await keys.findById(good.id, NOW), undefined)
    t.same([await use(bad), await use(good), await keys.list(good.owner, NOW), up()], [bad, good, [good], true])
    for (const { owner, id } of [bad, good]) t.equal(await keys.revoke(owner, id, NOW), true)
  })
}

t.test('entries whose names lmdb cannot decode are skipped, by 200 listings as by the first', async (t) => {
  const place = await embeddedPlace(t)
  const { record } = aKey(anOwner())
  const first = await place.open()
  await first.keys.create(record, 20, NOW)
  await first.close()
  const root = open({ path: join(place.config.dataDir, 'keys.mdb'), maxDbs: 4 })
  // Begins like a number, and is none.
  const garbage = Buffer.from([16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1])
  for (const [name, start] of Object.entries({ records: '', owners: `${record.owner}\0` })) {
    const table = root.openDB({ name, encoding: 'string', keyEncoding: 'binary' })
    table.putSync(Buffer.concat([Buffer.from(start), garbage]), record.digest)
  }
  await root.close()
  const { keys } = await place.open()
  // An exception while decoding leaves a reader open, and lmdb allows 126.
  for (let n = 0; n < 200; n += 1) {
    t.same(await keys.list(record.owner, NOW), [record])
    await new Promise(setImmediate)
  }
})

t.test('a copy that is made during writes is refused, unless it has all keys of some moment', async (t) => {
  const { config, open } = await embeddedPlace(t)
  const store = await open()
  const owner = anOwner()
  const create = () => store.keys.create(aKey(owner).record, 1_000, NOW)
  for (let n = 0; n < 10; n += 1) await create()
  const folder = temporaryFolder(t)
  // Never closed: that would release the locks of the store.
  const file = openSync(keyFileIn(config.dataDir), 'r')
  for (const pages of [1, 17, 18, 19]) {
    const dataDir = join(folder, String(pages))
    mkdirSync(dataDir)
    const part = Buffer.alloc(pages * 4_096)
    for (let at = 0, length = 1; length > 0; at += length) {
      length = readSync(file, part, 0, part.length, at)
      appendFileSync(keyFileIn(dataDir), part.subarray(0, length))
      await create()
    }
    const copy = await opened(t, { dataDir }).catch(() => undefined)
    const found = await Promise.all((await copy?.digests())?.map((digest) => copy?.keys.find(digest, NOW)) ?? [])
    const byId = await Promise.all(found.map((key) => copy?.keys.findById(key?.id ?? '', NOW)))
    t.same([byId, (await copy?.keys.list(owner, NOW))?.length ?? 0], [found, found.length], `${pages} pages at a time`)
  }
})

t.test('a gateway starts with a damaged record, refuses its key, and warns once', async (t) => {
  const { config, put, open } = await embeddedPlace(t)
  const { record, key } = aKey(anOwner())
  await (await open()).keys.create(record, 20, NOW)
  await put('key', [record.digest], '{')
  const started = await gatewayProcess(t, { DATA_DIR: config.dataDir })
  for (let n = 0; n < 3; n += 1) {
    t.match(await started.get('/v1/me', key.reveal()), { status: 401, text: /"invalid_token"/ })
  }
  await until(() => started.log.includes('damaged entry'))
  const [warning = '', ...others] = started.log.split('\n').filter((line) => line.includes('damaged entry'))
  t.match(JSON.parse(warning), { level: 'warn', what: 'key', start: record.digest.slice(0, 8) })
  t.same(others, [])
  t.notOk(started.log.includes(record.digest.slice(0, 9)), 'the log holds only its beginning')
})

t.test('a gateway whose key file is truncated is ended by the signal, rather than hanging', async (t) => {
  const dataDir = temporaryFolder(t)
  const started = await gatewayProcess(t, { DATA_DIR: dataDir })
  truncateSync(keyFileIn(dataDir))
  await t.rejects(started.get('/v1/me', aKey(anOwner()).key.reveal()))
  t.equal(await started.exited, null, 'by the signal')
})
