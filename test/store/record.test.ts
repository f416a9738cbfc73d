/** The decoder of stored records: total, and strict about every field. */
import fc from 'fast-check'
import t from 'tap'
import { type KeyRecord, toRecord } from '../../src/store/record.js'
import { aKey, anOwner } from './places.js'

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

t.test('a record without one of its fields is refused', async (t) => {
  for (const field of fields.filter((field) => field !== 'renewal')) {
    const { [field]: _, ...rest } = record
    t.equal(toRecord(rest), undefined, field)
  }
})

t.test('a record passes exactly when each of its fields is of its kind', async () => {
  const texts = ['', 'x'.repeat(64), 'a'.repeat(64)]
  const close = fc.constantFrom<unknown>(null, 0, -1, 0.5, 1, 2, 8.64e15, 8.64e15 + 2, ...texts)
  const change = fc.tuple(fc.constantFrom(...fields), fc.oneof(close, fc.anything({ withNullPrototype: true })))
  fc.assert(
    fc.property(change, ([field, value]) => {
      const passed = toRecord({ ...record, [field]: value })
      if (passed && !isComplete[field](passed[field])) throw new Error(`${field} must not pass`)
      if (!passed && typeof value !== 'string' && isComplete[field](value)) throw new Error(`${field} must pass`)
    }),
    { numRuns: 3_000 },
  )
})

t.test('nothing makes it throw', async () => {
  const options = { withNullPrototype: true, withBigInt: true, withDate: true, withMap: true, withSparseArray: true }
  fc.assert(fc.property(fc.anything(options), (value) => toRecord(value) === undefined))
})
