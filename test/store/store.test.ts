/** The contract of every store: the same guarantees, whether the keys lie in a file, in one Redis or in a cluster. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { KeyRecord, Store } from '../../src/store/store.js'
import { withoutRedis } from '../redis.js'
import { aKey, anOwner, clusterPlace, DAY_MS, embeddedPlace, NOW, type Place, redisPlace } from './places.js'

t.test('embedded', (t) => contract(t, 'embedded', embeddedPlace))
t.test('one Redis', { skip: withoutRedis }, (t) => contract(t, 'redis', redisPlace))
t.test('a Redis cluster', { skip: withoutRedis }, (t) => contract(t, 'redis', clusterPlace))

async function contract(t: Test, kind: Store['kind'], makePlace: (t: Test) => Promise<Place>): Promise<void> {
  const place = await makePlace(t)
  const here = await place.open()
  const there = await place.open()

  t.equal(here.kind, kind)
  t.equal(here.up(), true)

  t.test('a created key is found by every instance at once, just as it was stored', async (t) => {
    const { record } = aKey(anOwner(), { limit: 250, lastUsedAt: NOW - 5 })
    t.equal(await here.keys.create(record, 20, NOW), 'created')
    t.same(await there.keys.find(record.digest, NOW), record)
    t.same(await there.keys.findById(record.id, NOW), record)
    t.same(await there.keys.list(record.owner, NOW), [record])
    t.equal(await there.keys.find(aKey(record.owner).record.digest, NOW), undefined)
    t.equal(await there.keys.findById('no-such-id', NOW), undefined)
    t.same(await there.keys.list(anOwner(), NOW), [])
  })

  t.test('a key stops working the moment it is revoked, on every instance', async (t) => {
    for (let i = 0; i < 20; i++) {
      const { record } = aKey(anOwner())
      await here.keys.create(record, 20, NOW)
      const before = await there.keys.find(record.digest, NOW)
      t.equal(await here.keys.revoke(record.owner, record.id, NOW), true)
      const after = await there.keys.find(record.digest, NOW)
      t.same([before?.id, after?.id], [record.id, undefined])
    }
  })

  t.test('a revoked key is gone for every verb, and gone once', async (t) => {
    const { record } = aKey(anOwner())
    await here.keys.create(record, 20, NOW)
    const revoke = (store: Store) => store.keys.revoke(record.owner, record.id, NOW)
    const answers = await Promise.all([here, there, here, there, there].map(revoke))
    t.equal(answers.filter(Boolean).length, 1, 'exactly one of those who revoke at once is told so')
    t.equal(await revoke(there), false)
    t.same(await there.keys.list(record.owner, NOW), [])
    t.equal(await there.keys.findById(record.id, NOW), undefined)
    t.equal(await there.keys.setLimit(record.id, 5, NOW), false)
    await there.keys.touch(record, NOW)
    t.equal(await here.keys.find(record.digest, NOW), undefined, 'using it late does not revive it')
  })

  t.test('whoever uses a key again sees all that has changed of it, on every instance', async (t) => {
    const { record } = aKey(anOwner())
    await here.keys.create(record, 20, NOW)
    let uses = 0
    const use = async (store: Store, at = NOW): Promise<KeyRecord | undefined> => {
      const used = await store.keys.use(record.digest, DAY_MS, at)
      if (used) uses += 1
      if (kind === 'redis') t.equal(used?.count?.current, used && uses, 'counted together')
      else t.equal(used?.count, used && null)
      return used?.record
    }
    for (const store of [here, there, here]) t.same(await use(store), record)
    await there.keys.setLimit(record.id, 7, NOW)
    for (const store of [here, there]) t.same(await use(store), { ...record, limit: 7 })
    await here.keys.touch(record, NOW + 5)
    for (const store of [here, there]) t.same(await use(store), { ...record, limit: 7, lastUsedAt: NOW + 5 })
    await there.keys.setLimit(record.id, null, NOW)
    for (const store of [here, there]) t.same(await use(store), { ...record, lastUsedAt: NOW + 5 })
    t.equal(await use(here, record.expiresAt), undefined)
    await there.keys.revoke(record.owner, record.id, NOW)
    for (const store of [here, there, here]) t.equal(await use(store), undefined)
  })

  t.test('whatever is asked at once, each is answered for itself', async (t) => {
    const keys = Array.from({ length: 3 }, (_, i) => aKey(anOwner(), { limit: i + 1 }).record)
    for (const record of keys) await here.keys.create(record, 20, NOW)
    const [a, b, c] = keys as [KeyRecord, KeyRecord, KeyRecord]
    const use = async ({ digest }: KeyRecord) => (await here.keys.use(digest, DAY_MS, NOW))?.record.id
    const find = async ({ digest }: KeyRecord) => (await here.keys.find(digest, NOW))?.id
    const count = async (name: string) => (await here.counters?.increment(`${a.owner}${name}`, DAY_MS))?.current
    const unknown = aKey(anOwner()).record
    const asks = () => [
      use(a),
      use(b),
      find(c),
      use(unknown),
      use(c),
      count('x'),
      count('y'),
      count('x'),
      find(a),
      use(a),
    ]
    const [x, y, again] = kind === 'redis' ? [1, 1, 2] : []
    t.same(await Promise.all(asks()), [a.id, b.id, c.id, undefined, c.id, x, y, again, a.id, a.id])
    const [later, last, latest] = kind === 'redis' ? [3, 2, 4] : []
    t.same(await Promise.all(asks()), [a.id, b.id, c.id, undefined, c.id, later, last, latest, a.id, a.id])
  })

  t.test('nobody revokes a key of somebody else', async (t) => {
    const { record } = aKey(anOwner())
    await here.keys.create(record, 20, NOW)
    t.equal(await here.keys.revoke(anOwner(), record.id, NOW), false)
    t.equal(await here.keys.revoke(record.owner, 'no-such-id', NOW), false)
    t.equal((await here.keys.find(record.digest, NOW))?.id, record.id)
  })

  t.test('an id of any form is merely unknown', async (t) => {
    const id = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 100 }),
      fc.constantFrom('', '\0', '\ud800', 'x'.repeat(9000), '\ud800'.repeat(36)),
    )
    await fc.assert(
      fc.asyncProperty(id, async (id) => {
        t.equal(await here.keys.revoke(anOwner(), id, NOW), false)
        t.equal(await here.keys.findById(id, NOW), undefined)
      }),
      { numRuns: 50 },
    )
  })

  t.test('a key works until the last millisecond before it expires, and then for no verb', async (t) => {
    const { record } = aKey(anOwner(), { expiresAt: NOW + DAY_MS })
    await here.keys.create(record, 1, NOW)
    const last = record.expiresAt - 1
    t.equal((await there.keys.find(record.digest, last))?.id, record.id)
    t.equal((await there.keys.list(record.owner, last)).length, 1)
    t.equal(await here.keys.create(aKey(record.owner).record, 1, last), 'too_many')
    t.equal(await there.keys.find(record.digest, record.expiresAt), undefined)
    t.equal(await there.keys.findById(record.id, record.expiresAt), undefined)
    t.equal(await there.keys.revoke(record.owner, record.id, record.expiresAt), false)
    t.equal(await there.keys.setLimit(record.id, 5, record.expiresAt), false)
    t.same(await there.keys.list(record.owner, record.expiresAt), [])
    t.equal(await here.keys.create(aKey(record.owner).record, 1, record.expiresAt), 'created', 'its place is free')
  })

  t.test('no account gets more keys than it may have, however many instances create at once', async (t) => {
    const owner = anOwner()
    const create = (store: Store, at = NOW) => store.keys.create(aKey(owner).record, 20, at)
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => create(i % 2 ? here : there)))
    t.equal(answers.filter((answer) => answer === 'created').length, 20)
    const keys = await here.keys.list(owner, NOW)
    t.equal(keys.length, 20)
    t.equal(await there.keys.create(aKey(anOwner()).record, 20, NOW), 'created', 'others are not concerned')
    await here.keys.revoke(owner, keys[0]!.id, NOW)
    t.same([await create(there), await create(here)], ['created', 'too_many'], 'a revoked key makes room for one')
  })

  t.test('keys are listed newest first', async (t) => {
    const owner = anOwner()
    const records = [3, 1, 2].map((age) => aKey(owner, { createdAt: NOW - age }).record)
    await Promise.all(records.map((record) => here.keys.create(record, 20, NOW)))
    const ages = (await there.keys.list(owner, NOW)).map(({ createdAt }) => NOW - createdAt)
    t.same(ages, [1, 2, 3])
  })

  t.test('the last use is known to the minute, and costs a write a minute', async (t) => {
    const { record } = aKey(anOwner())
    await here.keys.create(record, 20, NOW)
    const use = async (at: number) => {
      const found = await here.keys.find(record.digest, at)
      await here.keys.touch(found!, at)
      return (await there.keys.find(record.digest, at))?.lastUsedAt
    }
    t.equal(await use(NOW + 1), NOW + 1)
    t.equal(await use(NOW + 60_000), NOW + 1)
    t.equal(await use(NOW + 60_001), NOW + 60_001)
    await there.keys.touch(record, NOW + 60_002)
    t.equal((await there.keys.find(record.digest, NOW))?.lastUsedAt, NOW + 60_001, 'a stale view writes nothing')
  })

  t.test('the operator gives one key a rate of its own and takes it back', async (t) => {
    const { record } = aKey(anOwner())
    await here.keys.create(record, 20, NOW)
    t.equal(await here.keys.setLimit(record.id, 1000, NOW), true)
    t.same(await there.keys.find(record.digest, NOW), { ...record, limit: 1000 })
    t.equal(await here.keys.setLimit(record.id, null, NOW), true)
    t.same(await there.keys.findById(record.id, NOW), record)
    t.equal(await here.keys.setLimit('no-such-id', 1, NOW), false)
  })

  t.test('purging an account revokes all its keys and no other', async (t) => {
    const owner = anOwner()
    const other = aKey(anOwner()).record
    const records = Array.from({ length: 5 }, () => aKey(owner).record)
    for (const record of [other, ...records]) await here.keys.create(record, 20, NOW)
    t.equal(await here.keys.purge(owner, NOW), 5)
    t.equal(await here.keys.purge(owner, NOW), 0)
    for (const { digest } of records) t.equal(await there.keys.find(digest, NOW), undefined)
    t.equal((await there.keys.find(other.digest, NOW))?.id, other.id)
  })

  t.test('after any sequence of verbs, both instances know exactly the keys that should be active', async (t) => {
    const verb = fc.record({
      verb: fc.constantFrom('create', 'create', 'revoke', 'wait', 'touch'),
      pick: fc.nat(5),
      there: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(verb, { maxLength: 25 }), async (verbs) => {
        const owner = anOwner()
        const made: KeyRecord[] = []
        const revoked = new Set<string>()
        let now = NOW
        const active = () => made.filter(({ id, expiresAt }) => !revoked.has(id) && expiresAt > now)
        for (const step of verbs) {
          const { keys } = step.there ? there : here
          const picked = made[step.pick]
          if (step.verb === 'wait') now += 1000
          if (step.verb === 'touch' && picked) await keys.touch(picked, now)
          if (step.verb === 'revoke' && picked) {
            const expected = active().includes(picked)
            t.equal(await keys.revoke(owner, picked.id, now), expected)
            revoked.add(picked.id)
          }
          if (step.verb === 'create') {
            const { record } = aKey(owner, { createdAt: now, expiresAt: now + 1000 * (step.pick + 1) })
            const expected = active().length < 3 ? 'created' : 'too_many'
            t.equal(await keys.create(record, 3, now), expected)
            if (expected === 'created') made.push(record)
          }
        }
        const wanted = new Set(active().map(({ id }) => id))
        for (const { keys } of [here, there]) {
          t.same(new Set((await keys.list(owner, now)).map(({ id }) => id)), wanted)
          for (const { id, digest } of made) t.equal((await keys.find(digest, now)) !== undefined, wanted.has(id))
        }
      }),
      { numRuns: 25 },
    )
  })

  t.test('a copy of the store opens nothing', async (t) => {
    const { record, key, hash } = aKey(anOwner())
    await here.keys.create(record, 20, NOW)
    const copy = await place.bytes()
    t.ok(copy.includes(record.digest), 'the copy does hold the record')
    for (const secret of [key.reveal().slice('gps_live_'.length), hash.reveal()]) {
      const parts = Array.from({ length: secret.length - 11 }, (_, i) => secret.slice(i, i + 12))
      t.same(
        parts.filter((part) => copy.includes(part)),
        [],
      )
    }
  })
}
