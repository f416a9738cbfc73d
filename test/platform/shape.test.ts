/** Reading by a shape: what is kept, what is left out, and that nothing throws. */
import t from 'tap'
import { itemsOf, read, type Tally } from '../../src/platform/shape.js'
import { wireDevice } from '../../src/platform/wire.js'

t.test('items that are no records are left out and counted, and the rest is kept', async (t) => {
  const tally: Tally = { skipped: 0 }
  const rows = read([wireDevice] as const, [{ id: 1 }, null, 'x', [], 7, { id: '2' }], tally)
  t.match(rows, [{ id: 1 }, { id: '2' }])
  t.equal(rows.length, 2)
  t.equal(tally.skipped, 4)
  t.equal(read([wireDevice] as const, [null, { id: 1 }]).length, 1, 'without a tally too')
  const lists = [[{ id: 'scalar' }]] as const
  t.same(read(lists, [[{ id: 1 }, 2], 'x'], tally), [[{ id: 1 }], []])
  t.equal(tally.skipped, 5, 'in lists of lists the records only')
  t.same(read(['scalar'] as const, [1, null, {}], tally), [1, undefined, undefined])
  t.equal(tally.skipped, 5, 'items of other lists are not')
})

t.test('only the fields of the shape are read, and no inherited one', async (t) => {
  const [row] = read([wireDevice] as const, [JSON.parse('{"id":1,"imei":"990000000000001","__proto__":{"name":"x"}}')])
  t.notOk('imei' in (row ?? {}))
  t.equal(row?.name, undefined)
  t.same(read({ constructor: 'scalar', toString: 'scalar' } as const, {}), {
    constructor: undefined,
    toString: undefined,
  })
})

t.test('scalars are texts, flags and finite numbers', async (t) => {
  for (const raw of ['', 'x', 0, -1.5, true, false]) t.equal(read('scalar', raw), raw)
  for (const raw of [null, undefined, [], {}, Number.NaN, Number.POSITIVE_INFINITY]) {
    t.equal(read('scalar', raw), undefined)
  }
})

t.test('ids come from a list of ids or of records with an id', async (t) => {
  t.same(read('ids', [1, '2', { id: 3 }, { name: 'x' }, null, [4]]), [1, '2', 3, undefined, undefined, undefined])
  t.same(read('ids', 'x'), [])
})

t.test('a list may be an array, a PHP array with gaps, or either as JSON text', async (t) => {
  t.same(itemsOf([1, 2]), [1, 2])
  t.same(itemsOf({ 0: 1, 7: 2, pagination: 3, '1a': 4, a1: 5 }), [1, 2])
  t.same(itemsOf(' [1,2]'), [1, 2])
  t.same(itemsOf('{"0":1,"x":2}'), [1])
  for (const raw of [null, undefined, 7, 'text', '[1,', '"[1]"', '']) t.same(itemsOf(raw), [], JSON.stringify(raw))
})

t.test('a record may be JSON text; anything else reads as a record without values', async (t) => {
  const shape = { id: 'scalar', parts: ['scalar'], owner: { id: 'scalar' } } as const
  const empty = { id: undefined, parts: [], owner: { id: undefined } }
  t.same(read(shape, '{"id":1,"parts":{"3":4},"owner":"{\\"id\\":5}"}'), { id: 1, parts: [4], owner: { id: 5 } })
  for (const raw of [null, undefined, 7, 'x', [], '[]', '{', true]) t.same(read(shape, raw), empty, JSON.stringify(raw))
})
