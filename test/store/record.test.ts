/** The decoder of stored records: total, and strict about every field. */
import fc from 'fast-check'
import t from 'tap'
import { type KeyRecord, toRecord, usedAt } from '../../src/store/record.js'
import { aKey, anOwner, DAY_MS, NOW } from './places.js'

const { record } = aKey(anOwner())
const isTime = (value: unknown): boolean =>
  Number.isInteger(value) && !Number.isNaN(new Date(value as number).getTime()) && (value as number) >= 0

/** Written by hand, as the schema under test must not judge itself. */
const isComplete: Record<keyof KeyRecord, (value: unknown) => boolean> = {
  version: (value) => value === 1,
  id: (value) => typeof value === 'string' && value.length === 36,
  digest: (value) => typeof value === 'string' && value.length === 64,
  owner: (value) => typeof value === 'string' && value !== '',
  email: (value) => typeof value === 'string',
  hint: (value) => typeof value === 'string',
  sealed: (value) => typeof value === 'string',
  label: (value) => typeof value === 'string',
  createdAt: isTime,
  expiresAt: isTime,
  lastUsedAt: (value) => value === null || isTime(value),
  limit: (value) => value === null || (Number.isInteger(value) && (value as number) > 0),
  renewal: (value) => value === undefined,
}
const fields = Object.keys(isComplete) as (keyof KeyRecord)[]

t.test('an intact record passes unchanged, with the fields of a newer release', async (t) => {
  t.same(toRecord({ ...record, limit: 5, lastUsedAt: 8.64e15 }), { ...record, limit: 5, lastUsedAt: 8.64e15 })
  t.same(toRecord({ ...record, newer: 'x' }), { ...record, newer: 'x' })
})

t.test('a record passes exactly when each of its fields is present and valid', async () => {
  const texts = ['', 'x'.repeat(64), 'a'.repeat(64)]
  const close = fc.constantFrom<unknown>(null, 0, -1, 0.5, 1, 2, 8.64e15, 8.64e15 + 2, ...texts)
  const change = fc.tuple(fc.constantFrom(...fields), fc.oneof(close, fc.anything({ withNullPrototype: true })))
  fc.assert(
    fc.property(change, ([field, value]) => {
      const { [field]: _, ...rest } = record
      const passed = toRecord(value === undefined ? rest : { ...rest, [field]: value })
      if (passed && !isComplete[field](passed[field])) throw new Error(`${field} must not pass`)
      if (!passed && typeof value !== 'string' && isComplete[field](value)) throw new Error(`${field} must pass`)
    }),
    { numRuns: 3_000, examples: fields.map((field): [[typeof field, unknown]] => [[field, undefined]]) },
  )
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
