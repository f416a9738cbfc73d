/** The contract of every store: the same guarantees in a key file, in one Redis and in a cluster. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { hashPrintOf, Secret } from '../../src/auth/credential.js'
import { publicKeyOf, sealFor, unseal } from '../../src/auth/seal.js'
import { type KeyRecord, type Store, usedAt } from '../../src/store/store.js'
import { anyCharacter } from '../character.js'
import { instance } from './instance.js'
import { aKey, anOwner, DAY_MS, limited, NOW, onEveryStore, storedKey } from './places.js'

onEveryStore(t, async (t, place) => {
  const [here, there] = [await place.open(), await place.open()]
  const isShared = place.command !== undefined

  const created = (fields: Partial<KeyRecord> = {}) => storedKey(here, fields)

  // First: it tries every word of the store.
  t.test('a copy of the store opens nothing, also after a renewal', async (t) => {
    const { record, key, hash } = aKey(anOwner())
    const renewal = { publicKey: publicKeyOf(key), userId: '7', holds: hashPrintOf(hash, record.id) }
    const renewed = { ...aKey(record.owner).record, renewal }
    renewed.sealed = sealFor(hash, renewal.publicKey) ?? ''
    for (const stored of [{ ...record, renewal }, renewed]) await here.keys.create(stored, 20, NOW)
    const copy = await place.bytes()
    for (const { digest, sealed } of [record, renewed]) t.ok(copy.includes(digest) && copy.includes(sealed))
    for (const secret of [key.reveal().slice('gps_live_'.length), hash.reveal()]) {
      for (let i = 0; i + 12 <= secret.length; i++) t.notOk(copy.includes(secret.slice(i, i + 12)))
    }
    t.equal(unseal(renewed.sealed, key)?.reveal(), hash.reveal(), 'the key opens both')
    const words = [...new Set(copy.toString('latin1').match(/[\w.+/-]{8,}/g))]
    t.ok(words.length > 5)
    const secrets = words.flatMap((word) => [new Secret(word), new Secret(`gps_live_${word}`)])
    for (const { sealed } of [record, renewed])
      for (const secret of secrets) t.notOk(unseal(sealed, secret), 'no text in it opens a seal')
  })

  t.test('a revoked key is gone at once for every method and instance, revoked once, never revived', async (t) => {
    for (let i = 0; i < 20; i++) {
      const record = await created()
      const update = () => there.keys.update(record.digest, (current) => ({ ...current, label: `${i}` }), NOW)
      for (const { keys } of [here, there]) await keys.use(record.digest, DAY_MS, NOW)
      const before = await there.keys.find(record.digest, NOW)
      const [revoked] = await Promise.all([here.keys.revoke(record.owner, record.id, NOW), i % 2 ? update() : 0])
      t.same([before?.id, revoked, await there.keys.find(record.digest, NOW)], [record.id, true, undefined])
      t.same([await update(), await here.keys.find(record.digest, NOW)], [undefined, undefined])
      for (const { keys } of [here, there]) t.equal(await keys.use(record.digest, DAY_MS, NOW), undefined)
    }
    const record = await created()
    const revoke = (store: Store) => store.keys.revoke(record.owner, record.id, NOW)
    const revoked = await Promise.all([here, there, here, there, there].map(revoke))
    t.equal(revoked.filter(Boolean).length, 1, 'exactly one of concurrent callers')
    t.same(await there.keys.list(record.owner, NOW), [])
    t.equal(await there.keys.findById(record.id, NOW), undefined)
  })

  t.test('the record of a revoked key leaves the memory, and with it the platform hash', async (t) => {
    setFlagsFromString('--expose-gc')
    const { record } = aKey(anOwner())
    await here.keys.create(record, 20, NOW)
    const used = async () => new WeakRef((await here.keys.use(record.digest, DAY_MS, NOW))?.record as KeyRecord)
    const cached = await used()
    await here.keys.revoke(record.owner, record.id, NOW)
    await endOfTurn()
    runInNewContext('gc')()
    t.equal(cached.deref(), undefined)
  })

  t.test('a repeated use sees every change of the key, on every instance', async (t) => {
    const record = await created()
    let uses = 0
    const use = async (store: Store, at = NOW): Promise<KeyRecord | undefined> => {
      const used = await store.keys.use(record.digest, DAY_MS, at)
      if (used) uses += 1
      if (isShared) t.equal(used?.count?.current, used && uses, 'counted together')
      else t.equal(used?.count, used && null)
      return used?.record
    }
    const label = (text: string) => (current: KeyRecord) => ({ ...current, label: text })
    const changes = [label('one'), label('two'), limited(7), usedAt(NOW + 5), limited(null)]
    for (const store of [here, there, here]) t.same(await use(store), record)
    let expected = record
    for (const [at, change] of changes.entries()) {
      expected = change(expected) as KeyRecord
      const store = at % 2 ? here : there
      t.same(await store.keys.update(record.digest, change, NOW + 5), expected)
      for (const one of [here, there]) t.same(await use(one), expected, 'also where the text has the same length')
    }
    t.equal(await use(here, record.expiresAt), undefined)
    await there.keys.revoke(record.owner, record.id, NOW)
    for (const store of [here, there, here]) t.equal(await use(store), undefined)
  })

  t.test('a foreign key cannot be revoked, and an id of any form is merely unknown', async (t) => {
    const record = await created()
    t.equal(await here.keys.revoke(anOwner(), record.id, NOW), false)
    const odd = ['', '\0', '\ud800', record.id.replace('-', '\u012d'), 'x'.repeat(9000), '\ud800'.repeat(36)]
    const examples = odd.map((id): [string] => [id])
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 100 }), async (id) => {
        t.equal(await here.keys.revoke(record.owner, id, NOW), false)
        t.equal(await here.keys.findById(id, NOW), undefined)
      }),
      { numRuns: 20, examples },
    )
    t.same(await here.keys.find(record.digest, NOW), record)
  })

  t.test('a key works until the last millisecond before it expires, and then for no method', async (t) => {
    const record = await created({ expiresAt: NOW + DAY_MS })
    const last = record.expiresAt - 1
    t.equal((await there.keys.find(record.digest, last))?.id, record.id)
    t.equal((await there.keys.list(record.owner, last)).length, 1)
    t.same((await there.keys.use(record.digest, DAY_MS, last))?.record, record)
    t.equal(await here.keys.create(aKey(record.owner).record, 1, last), 'too_many')
    t.equal(await there.keys.find(record.digest, record.expiresAt), undefined)
    t.equal(await there.keys.use(record.digest, DAY_MS, record.expiresAt), undefined)
    t.equal(await there.keys.findById(record.id, record.expiresAt), undefined)
    t.equal(await there.keys.revoke(record.owner, record.id, record.expiresAt), false)
    t.equal(await there.keys.update(record.digest, limited(5), record.expiresAt), undefined)
    t.same(await there.keys.list(record.owner, record.expiresAt), [])
    t.equal(await here.keys.create(aKey(record.owner).record, 1, record.expiresAt), 'created', 'its place is free')
  })

  t.test('no account gets more keys than its maximum, also where two instances create at once', async (t) => {
    const owner = anOwner()
    const create = (store: Store) => store.keys.create(aKey(owner).record, 20, NOW)
    const results = await Promise.all(Array.from({ length: 40 }, (_, i) => create(i % 2 ? here : there)))
    t.equal(results.filter((result) => result === 'created').length, 20)
    const keys = await here.keys.list(owner, NOW)
    t.equal(keys.length, 20)
    await here.keys.revoke(owner, keys[0]!.id, NOW)
    t.same([await create(there), await create(here)], ['created', 'too_many'], 'a revoked key makes room for one')
  })

  t.test('after any sequence of calls, both instances know exactly the active keys, as they were stored', async (t) => {
    const method = fc.constantFrom('create', 'create', 'revoke', 'wait', 'touch')
    const step = fc.record({ method, pick: fc.nat(5), there: fc.boolean() })
    const byId = (records: KeyRecord[]) => records.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const holds = async (steps: { method: string; pick: number; there: boolean }[]) => {
      const owner = anOwner()
      const made: KeyRecord[] = []
      const revoked = new Set<string>()
      let now = NOW
      const active = () => made.filter(({ id, expiresAt }) => !revoked.has(id) && expiresAt > now)
      for (const { method, pick, there: isThere } of steps) {
        const { keys } = isThere ? there : here
        const picked = made[pick]
        const isActive = picked && active().includes(picked)
        if (method === 'wait') now += 20_000
        if (method === 'touch' && picked) {
          const touched = await keys.update(picked.digest, usedAt(now), now)
          t.same(touched, isActive ? usedAt(now)(picked) : undefined)
          made[pick] = touched ?? picked
        }
        if (method === 'revoke' && picked) {
          t.equal(await keys.revoke(owner, picked.id, now), isActive)
          revoked.add(picked.id)
        }
        if (method === 'create') {
          const fields = { createdAt: now, expiresAt: now + 20_000 * (pick + 1), limit: pick || null }
          const { record } = aKey(owner, fields)
          const expected = active().length < 3 ? 'created' : 'too_many'
          t.equal(await keys.create(record, 3, now), expected)
          if (expected === 'created') made.push(record)
        }
      }
      const wanted = active()
      for (const { keys } of [here, there]) {
        const listed = await keys.list(owner, now)
        t.same(byId(listed), byId(wanted))
        const created = listed.map(({ createdAt }) => createdAt)
        t.same(created, created.toSorted().reverse(), 'newest first')
        for (const one of made) {
          const found = [await keys.find(one.digest, now), await keys.findById(one.id, now)]
          t.same(found, wanted.includes(one) ? [one, one] : [undefined, undefined])
        }
      }
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), holds), { numRuns: 25 })
  })

  t.test('a process killed while it creates keys loses none that it acknowledged', async (t) => {
    const owner = anOwner()
    const acknowledged = await (await instance(t, place.config)).killAfter(40, owner)
    t.ok(acknowledged.length >= 40)
    const listed = (await here.keys.list(owner, NOW)).map(({ id }) => id)
    t.equal(new Set(listed).size, listed.length, 'none is listed twice')
    t.ok(acknowledged.every(({ id }) => listed.includes(id)))
    for (const record of acknowledged) t.same(await here.keys.find(record.digest, NOW), record)
    await created()
  })

  t.test('no concurrent update is lost, and an unknown key has none', async (t) => {
    const record = await created({ label: '' })
    const append = (store: Store, text: string) =>
      store.keys.update(record.digest, (current) => ({ ...current, label: `${current.label}${text}` }), NOW)
    const used = here.keys.update(record.digest, usedAt(NOW), NOW)
    const changes = [used, append(here, 'a'), append(there, 'b'), here.keys.update(record.digest, limited(7), NOW)]
    await Promise.all([...changes, append(here, 'c')])
    const { label = '', limit, lastUsedAt } = (await there.keys.find(record.digest, NOW)) ?? {}
    t.same([[...label].sort().join(''), limit, lastUsedAt], ['abc', 7, usedAt(NOW)(record)?.lastUsedAt])
    const letters = [...'defghijklmnopqrstuvw']
    await Promise.all(letters.map((letter, at) => append(at % 2 === 0 ? here : there, letter)))
    t.equal([...((await there.keys.find(record.digest, NOW))?.label ?? '')].sort().join(''), 'abcdefghijklmnopqrstuvw')
    t.equal(await here.keys.update(record.digest, () => undefined, NOW), undefined)
    t.equal(await here.keys.update(aKey(record.owner).record.digest, limited(5), NOW), undefined)
  })
})
