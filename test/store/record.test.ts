/** The decoder of stored records: total, and strict about every field. */
import fc from 'fast-check'
import t from 'tap'
import { type KeyRecord, toRecord, usedAt } from '../../src/store/record.js'
import { aKey, anOwner, DAY_MS, NOW } from './places.js'

const { record } = aKey(anOwner())
const texts = [undefined, null, 7, {}]
const times = [undefined, '1', -1, 0.5, Number.NaN, 8.64e15 + 2]
const renewal = { publicKey: 'x'.repeat(43), userId: '7', holds: 'x' }

/** Values that each field must not have. */
const wrong: Record<keyof KeyRecord, unknown[]> = {
  version: [undefined, null, 0, 2, '1'],
  id: [...texts, '', record.id.slice(1), `${record.id}0`, record.id.toUpperCase().replace(/^./, 'A')],
  digest: [...texts, '', record.digest.slice(1), `${record.digest}0`, 'x'.repeat(64)],
  owner: [...texts, '', 'x'.repeat(65)],
  email: texts,
  hint: texts,
  sealed: texts,
  label: texts,
  createdAt: [...times, null],
  expiresAt: [...times, null],
  lastUsedAt: times,
  limit: [undefined, '1', 0, -1, 0.5],
  renewal: [null, {}, ...Object.keys(renewal).map((name) => ({ ...renewal, [name]: '' }))],
}

t.test('an intact record passes unchanged, with the fields of a newer release', async (t) => {
  const extreme = { ...record, limit: 1, createdAt: 0, lastUsedAt: 8.64e15, owner: 'x'.repeat(64) }
  t.same(toRecord(extreme), extreme)
  t.same(toRecord({ ...record, renewal, newer: 'x' }), { ...record, renewal, newer: 'x' })
})

t.test('a record with a missing or wrong field does not pass', async (t) => {
  for (const [field, values] of Object.entries(wrong))
    for (const value of values)
      t.equal(toRecord({ ...record, renewal, [field]: value }), undefined, `${field} ${value}`)
})

t.test('no value makes the decoder throw', async () => {
  const options = { withNullPrototype: true, withBigInt: true, withDate: true, withMap: true, withSparseArray: true }
  fc.assert(fc.property(fc.anything(options), (value) => toRecord(value) === undefined))
})

t.test('the last use is known to the minute, and corrected after a clock was a day ahead', async (t) => {
  const next = (lastUsedAt: number | null, at: number) => usedAt(at)({ ...record, lastUsedAt })?.lastUsedAt
  const found = [next(null, NOW), next(NOW, NOW + 59_999), next(NOW, NOW + 60_000), next(NOW + DAY_MS, NOW)]
  t.same(found, [NOW, undefined, NOW + 60_000, NOW])
})
