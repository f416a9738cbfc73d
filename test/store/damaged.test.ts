/** Damaged entries, on every store: each fails only itself, is reported once, and works again once repaired. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import { open } from 'lmdb'
import t, { type Test } from 'tap'
import { toRecord } from '../../src/store/record.js'
import { type Store, StoreUnavailable } from '../../src/store/store.js'
import { answers, platform, someHash } from '../helper.js'
import { gatewayProcess } from '../process.js'
import { until, withoutRedis } from '../redis.js'
import { aKey, anOwner, clusterPlace, DAY_MS, embeddedPlace, NOW, type Place, redisPlace } from './places.js'

const without = (json: string, field: string): string => JSON.stringify({ ...JSON.parse(json), [field]: undefined })
const having = (json: string, field: string, value: unknown): string =>
  JSON.stringify({ ...JSON.parse(json), [field]: value })

/** Each turns an intact record into a damaged one. */
const damages: Record<string, (json: string, other: string) => string> = {
  'no JSON': () => 'nonsense',
  nothing: () => '',
  null: () => 'null',
  'an array': (json) => `[${json}]`,
  truncated: (json) => json.slice(0, json.length / 2),
  'of an unknown version': (json) => having(json, 'version', 2),
  'without the sealed hash': (json) => without(json, 'sealed'),
  'without an expiry': (json) => without(json, 'expiresAt'),
  'with a text as expiry': (json) => having(json, 'expiresAt', '9999999999999'),
  'with an expiry that no date can hold': (json) => having(json, 'expiresAt', 1e300),
  'with a number as label': (json) => having(json, 'label', 5),
  'with an id that is no UUID': (json) => having(json, 'id', 'x'.repeat(9000)),
  'that of another key': (_, other) => other,
}

t.test('embedded', (t) => contract(t, embeddedPlace))
t.test('one Redis', { skip: withoutRedis }, (t) => contract(t, redisPlace))
t.test('a Redis cluster', { skip: withoutRedis }, (t) => contract(t, clusterPlace))

t.test('keys of the file that cannot be decoded are skipped, however often they are met', async (t) => {
  const place = await embeddedPlace(t)
  const { record } = aKey(anOwner())
  const first = await place.open()
  await first.keys.create(record, 20, NOW)
  await first.close()
  const root = open({ path: join(place.config.dataDir, 'keys.mdb'), maxDbs: 4 })
  // Begins like a number, and is none.
  const garbage = Buffer.from([16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1])
  for (const [name, key] of [
    ['records', garbage],
    ['owners', Buffer.concat([Buffer.from(`${record.owner}\0`), garbage])],
  ] as const) {
    root.openDB({ name, encoding: 'string', keyEncoding: 'binary' }).putSync(key, record.digest)
  }
  await root.close()
  const { keys, up } = await place.open()
  // More often than lmdb has slots for readers.
  for (let n = 0; n < 200; n += 1) {
    t.same(await keys.list(record.owner, NOW), [record])
    await new Promise(setImmediate)
  }
  t.equal(up(), true)
})

t.test('a gateway starts with a damaged record, refuses that key only, and warns once', async (t) => {
  t.test('in a key file', async (t) => refused(t, await embeddedPlace(t)))
  t.test('in Redis', { skip: withoutRedis }, async (t) => refused(t, await redisPlace(t)))
})

async function contract(t: Test, makePlace: (t: Test) => Promise<Place>): Promise<void> {
  const place = await makePlace(t)
  const { keys, counters, up } = await place.open()

  /** Two keys of one owner; the first has been used and is then damaged. */
  const damaged = async (damage: (json: string, other: string) => string) => {
    const owner = anOwner()
    const [bad, good] = [aKey(owner).record, aKey(owner).record]
    for (const record of [bad, good]) await keys.create(record, 20, NOW)
    for (let n = 0; n < 2; n += 1) t.same((await keys.use(bad.digest, DAY_MS, NOW))?.record, bad)
    const intact = await place.stored('key', [bad.digest])
    await place.put('key', [bad.digest], damage(intact, await place.stored('key', [good.digest])))
    return { owner, bad, good, repair: () => place.put('key', [bad.digest], intact) }
  }

  for (const [name, damage] of Object.entries(damages)) {
    t.test(`a record ${name} is no key until it is repaired, and is reported once`, async (t) => {
      const { owner, bad, good, repair } = await damaged(damage)
      for (let n = 0; n < 3; n += 1) {
        t.equal(await keys.use(bad.digest, DAY_MS, NOW + 1_000), undefined)
        t.equal(await keys.find(bad.digest, NOW), undefined)
        t.same(await keys.list(owner, NOW), [good])
      }
      t.equal(await keys.findById(bad.id, NOW), undefined)
      t.equal(await keys.revoke(owner, bad.id, NOW), false)
      t.equal(await keys.setLimit(bad.id, 5, NOW), false)
      await keys.touch(bad, NOW)
      const third = aKey(owner).record
      t.equal(await keys.create(third, 2, NOW), 'created', 'it takes no place')
      t.equal(await keys.create(aKey(owner).record, 2, NOW), 'too_many')
      t.equal(await keys.purge(owner, NOW), 2)
      t.equal(up(), true)
      t.same(place.reports.splice(0), [`key ${bad.digest.slice(0, 8)}`])
      await repair()
      const { record } = (await keys.use(bad.digest, DAY_MS, NOW)) ?? {}
      t.match(record, { ...bad, lastUsedAt: record?.lastUsedAt ?? null })
      t.equal((await keys.list(owner, NOW)).length, 1)
      t.equal(await keys.revoke(owner, bad.id, NOW), true)
    })
  }

  t.test('any damage to a record leaves a complete key or none', async () => {
    const { bad, good, repair } = await damaged((json) => json)
    const intact = await place.stored('key', [bad.digest])
    const cut = fc.record({ from: fc.nat(intact.length), length: fc.nat(20), text: fc.string({ unit: 'grapheme' }) })
    await fc.assert(
      fc.asyncProperty(cut, async ({ from, length, text }) => {
        const changed = intact.slice(0, from) + text.replaceAll('\0', '') + intact.slice(from + length)
        await place.put('key', [bad.digest], changed)
        const found = await keys.find(bad.digest, NOW)
        if (found !== undefined && toRecord(found) !== found) throw new Error(changed)
        return (await keys.use(good.digest, DAY_MS, NOW))?.record.id === good.id
      }),
      { numRuns: 30 },
    )
    await repair()
  })

  t.test('a damaged entry of an index hides one key from its owner’s list, and no more', async (t) => {
    const owner = anOwner()
    const [bad, good, foreign] = [aKey(owner).record, aKey(owner).record, aKey(anOwner()).record]
    for (const record of [bad, good, foreign]) await keys.create(record, 20, NOW)
    for (const text of [
      '',
      'nonsense',
      foreign.digest,
      good.digest,
      `${foreign.digest} ${NOW + DAY_MS} 0`,
      'x'.repeat(5000),
    ]) {
      await place.put('owner', [owner, bad.id], text)
      t.same(await keys.list(owner, NOW), [good], text)
      t.same((await keys.use(bad.digest, DAY_MS, NOW))?.record, bad)
      t.same((await keys.use(foreign.digest, DAY_MS, NOW))?.record, foreign)
      t.equal(await keys.revoke(owner, foreign.id, NOW), false)
    }
    t.equal(await keys.create(aKey(owner).record, 2, NOW), 'created')
    t.equal(await keys.create(aKey(owner).record, 2, NOW), 'too_many')
    t.equal(await keys.revoke(owner, bad.id, NOW), true, 'it can still be revoked')
    t.equal(await keys.use(bad.digest, DAY_MS, NOW), undefined)
    t.equal(up(), true)
  })

  t.test('a damaged id hides one key from the operator, and no more', async (t) => {
    const owner = anOwner()
    const [bad, good] = [aKey(owner).record, aKey(anOwner()).record]
    for (const record of [bad, good]) await keys.create(record, 20, NOW)
    for (const text of ['', 'nonsense', good.digest, 'x'.repeat(5000)]) {
      await place.put('id', [bad.id], text)
      t.equal(await keys.findById(bad.id, NOW), undefined)
      t.equal(await keys.setLimit(bad.id, 5, NOW), false)
      t.same(await keys.findById(good.id, NOW), good)
      t.same((await keys.use(bad.digest, DAY_MS, NOW))?.record, bad)
      t.same(await keys.list(owner, NOW), [bad])
    }
    t.equal(await keys.revoke(owner, bad.id, NOW), true, 'its owner can still revoke it')
    t.equal(await keys.use(bad.digest, DAY_MS, NOW), undefined)
    t.equal(up(), true)
  })

  t.test('a store with damaged records opens, and drops what has expired', async (t) => {
    const { bad, good } = await damaged(() => '{')
    const old = aKey(anOwner(), { expiresAt: NOW - 1 }).record
    await keys.create(old, 20, NOW - DAY_MS)
    place.reports.length = 0
    const again = await place.open()
    t.equal(await again.keys.use(bad.digest, DAY_MS, NOW), undefined)
    t.same((await again.keys.use(good.digest, DAY_MS, NOW))?.record, good)
    t.equal(await again.keys.find(old.digest, NOW), undefined)
    t.same(place.reports.splice(0), [`key ${bad.digest.slice(0, 8)}`])
  })

  const { command } = place
  if (command && counters)
    t.test('values of the wrong type', (t) => wrongTypes(t, { ...place, command }, { keys, counters, up }))
}

/** What only Redis can hold. */
async function wrongTypes(
  t: Test,
  place: Place & { command: NonNullable<Place['command']> },
  store: Pick<Store, 'keys' | 'up'> & { counters: NonNullable<Store['counters']> },
): Promise<void> {
  const { keys, counters, up } = store
  const values = [
    ['set', 'text'],
    ['rpush', 'item'],
    ['sadd', 'member'],
    ['hset', 'field', 'value'],
  ] as const
  const overwrite = async (key: string, [command, ...args]: readonly [string, ...string[]]) => {
    await place.command('del', key)
    await place.command(command, key, ...args)
  }

  t.test('fail no other key, not even within one batch', async (t) => {
    const good = aKey(anOwner()).record
    await keys.create(good, 20, NOW)
    for (const value of values) {
      const bad = aKey(anOwner()).record
      await keys.create(bad, 20, NOW)
      await overwrite(`gps:key:${bad.digest}`, value)
      const both = () =>
        Promise.all([
          keys.use(bad.digest, DAY_MS, NOW),
          keys.use(good.digest, DAY_MS, NOW),
          keys.find(bad.digest, NOW),
          keys.find(good.digest, NOW),
          keys.touch(bad, NOW),
          keys.findById(bad.id, NOW),
          keys.list(bad.owner, NOW),
          counters.read(anOwner()),
        ])
      for (let n = 0; n < 20; n += 1) {
        const [used, usedGood, found, foundGood, , byId, list, count] = await both()
        t.same(
          [used, usedGood?.record, found, foundGood, byId, list, count.current],
          [undefined, good, undefined, good, undefined, [], 0],
        )
      }
      t.equal(up(), true)
      t.same(place.reports.splice(0), [`key ${bad.digest.slice(0, 8)}`])
    }
  })

  t.test('start a counter anew', async (t) => {
    for (const value of [...values, ['set', '9223372036854775807']] as const) {
      const name = anOwner()
      await overwrite(`gps:count:${name}`, value)
      const [looked, other] = await Promise.all([counters.read(name), counters.increment(anOwner(), DAY_MS)])
      if (value[1] !== '9223372036854775807') t.equal(looked.current, 0)
      t.equal(other.current, 1)
      await overwrite(`gps:count:${name}`, value)
      t.same(await counters.increment(name, 60_000), { current: 1, ttlMs: 60_000 })
      t.equal((await counters.increment(name, 60_000)).current, 2)
      t.equal(up(), true)
    }
  })

  t.test('in the fields of a record that count its requests open a new window', async (t) => {
    const { record } = aKey(anOwner())
    await keys.create(record, 20, NOW)
    const key = `gps:key:${record.digest}`
    for (const [count, until] of [
      ['x', 'y'],
      ['5', 'x'],
      ['5', '1e300'],
      ['nan', String(NOW)],
      ['inf', String(Date.now() + 50_000)],
      ['-9', String(Date.now() + 50_000)],
    ] as const) {
      await place.command('hset', key, 'count', count, 'until', until)
      const [used, other] = await Promise.all([
        keys.use(record.digest, 60_000, NOW),
        counters.increment(anOwner(), 60_000),
      ])
      t.same(used, { record, count: { current: 1, ttlMs: 60_000 } }, `${count} ${until}`)
      t.equal(other.current, 1)
    }
  })

  t.test('in the other fields of a record make it damaged', async (t) => {
    for (const [field, value] of [
      ['used', 'never'],
      ['used', ''],
      ['used', '-5'],
      ['limit', 'many'],
      ['limit', '0'],
      ['limit', '1.5'],
    ] as const) {
      const { record } = aKey(anOwner())
      await keys.create(record, 20, NOW)
      t.ok(await keys.use(record.digest, DAY_MS, NOW))
      await place.command('hset', `gps:key:${record.digest}`, field, value)
      t.equal(await keys.use(record.digest, DAY_MS, NOW), undefined, `${field} ${value}`)
      await keys.touch(record, NOW)
    }
    for (const field of ['used', 'limit', 'record']) {
      const { record } = aKey(anOwner())
      await keys.create(record, 20, NOW)
      await place.command('hdel', `gps:key:${record.digest}`, field)
      t.equal(await keys.use(record.digest, DAY_MS, NOW), undefined, field)
      t.same(await keys.list(record.owner, NOW), [])
    }
    t.equal(up(), true)
  })

  t.test('as the index of an owner make its list and its new keys unavailable, and nothing else', async (t) => {
    const [bad, good] = [aKey(anOwner()).record, aKey(anOwner()).record]
    for (const record of [bad, good]) await keys.create(record, 20, NOW)
    await overwrite(`gps:owner:${bad.owner}`, values[0])
    const name = new RegExp(`gps:owner:${bad.owner.slice(0, 8)}…`)
    await t.rejects(keys.list(bad.owner, NOW), { name: 'StoreUnavailable', message: name })
    await t.rejects(keys.create(aKey(bad.owner).record, 20, NOW), StoreUnavailable)
    t.equal(up(), true, 'the store is not down')
    t.same((await keys.use(bad.digest, DAY_MS, NOW))?.record, bad)
    t.same(await keys.list(good.owner, NOW), [good])
    t.equal(await keys.revoke(bad.owner, bad.id, NOW), true)
  })

  t.test('as an id hide one key from the operator', async (t) => {
    const [bad, good] = [aKey(anOwner()).record, aKey(anOwner()).record]
    for (const record of [bad, good]) await keys.create(record, 20, NOW)
    await overwrite(`gps:id:${bad.id}`, values[1])
    t.same(await Promise.all([keys.findById(bad.id, NOW), keys.findById(good.id, NOW)]), [undefined, good])
    t.equal(up(), true)
    t.equal(await keys.revoke(bad.owner, bad.id, NOW), true)
  })
}

/** Through HTTP, on gateways that run as processes. */
async function refused(t: Test, { config, put, stored }: Place): Promise<void> {
  const { url: PLATFORM_URL } = await platform(t, answers({ get_devices: [] }))
  const env = { PLATFORM_URL, ...(config.redisUrl ? { REDIS_URL: config.redisUrl } : { DATA_DIR: config.dataDir }) }
  const running = await gatewayProcess(t, env)
  const create = async () => {
    const body = JSON.stringify({ platform_hash: someHash })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${running.url}/v1/keys`, { method: 'POST', headers, body })
    return ((await response.json()) as { key: string }).key
  }
  const [bad, good] = [await create(), await create()]
  const digest = createHash('sha256').update(bad).digest('hex')
  const ask = async (url: string, credential: string) => {
    const response = await fetch(`${url}/v1/keys`.replace('keys', credential === someHash ? 'keys' : 'me'), {
      headers: { authorization: `Bearer ${credential}` },
    })
    return { status: response.status, body: (await response.json()) as { error?: string; count?: number } }
  }
  t.equal((await ask(running.url, bad)).status, 200)
  const intact = await stored('key', [digest])
  await put('key', [digest], intact.slice(0, 200))
  const started = await gatewayProcess(t, env)
  for (const { url } of [running, started]) {
    for (let n = 0; n < 3; n += 1) t.match(await ask(url, bad), { status: 401, body: { error: 'invalid_token' } })
    t.equal((await ask(url, good)).status, 200)
    t.match(await ask(url, someHash), { status: 200, body: { count: 1 } })
  }
  await put('key', [digest], intact)
  for (const gateway of [running, started]) {
    t.equal((await ask(gateway.url, bad)).status, 200)
    await until(() => gateway.log.includes('damaged entry'))
    const warnings = gateway.log.split('\n').filter((line) => line.includes('damaged entry'))
    t.equal(warnings.length, 1)
    t.match(JSON.parse(warnings[0] ?? ''), { level: 'warn', what: 'key', start: digest.slice(0, 8) })
    t.notOk(gateway.log.includes(digest.slice(0, 12)), 'the log holds only its beginning')
  }
}
