/** Reading by a shape, and pages of a list in every layout of the platform: what is kept, what is left out. */
import t from 'tap'
import { mayBeTruncated, pageOf } from '../../src/platform/pages.js'
import { itemsOf, read, type Tally } from '../../src/platform/shape.js'
import { wireDevice } from '../../src/platform/wire.js'
import { only } from '../only.js'
import { maps } from '../resources/rows.js'

t.test('items that are no records are left out and counted, and the rest is kept', async (t) => {
  const tally: Tally = { skipped: 0 }
  const rows = read([wireDevice] as const, [{ id: 1 }, null, 'x', [], 7, { id: '2' }], tally)
  t.match(rows, only({ id: 1 }, { id: '2' }))
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
  const [row] = read([wireDevice] as const, [JSON.parse('{"id":1,"color":"red","__proto__":{"name":"x"}}')])
  t.notOk('color' in (row ?? {}))
  t.equal(row?.name, undefined)
  t.same(Object.values(read({ constructor: 'scalar', toString: 'scalar' } as const, {})), [undefined, undefined])
})

t.test('scalars are texts, flags and finite numbers', async (t) => {
  for (const raw of ['', 'x', 0, -1.5, true, false]) t.equal(read('scalar', raw), raw)
  for (const raw of [null, undefined, [], {}, Number.NaN, Number.POSITIVE_INFINITY])
    t.equal(read('scalar', raw), undefined)
})

maps('a list may be an array, a PHP array with gaps, or either as JSON text (N16 to N18, N51)', itemsOf, [
  [[1, 2], [1, 2], { 0: 1, 7: 2, pagination: 3, '1a': 4, a1: 5 }, ' [1,2]', '{"0":1,"7":2,"x":3}'],
  [[], null, undefined, 7, 'text', '[1,', '"[1]"', ''],
])

t.test('a record may be JSON text or only its name; anything else reads as one without values (N13)', async (t) => {
  const shape = { id: 'scalar', parts: ['scalar'], owner: { id: 'scalar' } } as const
  const empty = { id: undefined, parts: [], owner: { id: undefined } }
  t.same(read(shape, '{"id":1,"parts":{"3":4},"owner":"{\\"id\\":5}"}'), { id: 1, parts: [4], owner: { id: 5 } })
  for (const raw of [null, undefined, 7, 'x', [], '[]', '{', true]) t.same(read(shape, raw), empty, JSON.stringify(raw))
  const named = { id: 'scalar', name: 'scalar' } as const
  for (const raw of ['Jo', '[North] 3', '']) t.same(read(named, raw), { id: undefined, name: raw })
  for (const raw of ['{"id":', '[]', '[{"id":1}]', 'null', 7]) t.same(read(named, raw), read(named, {}), `${raw}`)
})

t.test('every paginator layout reads as the same page', async (t) => {
  const numbers = { total: '57', per_page: 30, current_page: '1', last_page: 2 }
  const rows = [{ id: 1 }]
  const layouts: [name: string, body: unknown, key: string | undefined][] = [
    ['items is the paginator', { status: 1, items: { ...numbers, data: rows } }, undefined],
    ['items.<name> is the paginator', { status: 1, items: { drivers: { ...numbers, data: rows } } }, 'drivers'],
    ['flat beside status', { status: 1, ...numbers, data: rows, links: [] }, undefined],
    ['data beside pagination', { status: 1, data: rows, pagination: numbers }, undefined],
    ['numeric keys beside pagination', { 3: rows[0], pagination: numbers }, undefined],
    ['the same in items', { status: 1, items: { 3: rows[0], pagination: numbers } }, 'drivers'],
    ['the same in items.<name>', { items: { drivers: { 3: rows[0], pagination: numbers } } }, 'drivers'],
    ['a list in items.<name>, pagination in items', { items: { drivers: rows, pagination: numbers } }, 'drivers'],
    ['a list in items.<name>, pagination beside items', { items: { drivers: rows }, pagination: numbers }, 'drivers'],
    ['a list in items.<name>, its numbers in items', { items: { drivers: rows, ...numbers } }, 'drivers'],
    ['a list in items, its numbers beside it', { status: 1, items: rows, ...numbers }, undefined],
    ['items as JSON text', { items: JSON.stringify({ drivers: { ...numbers, data: rows } }) }, 'drivers'],
    ['items.<name> as JSON text', { items: { drivers: JSON.stringify({ ...numbers, data: rows }) } }, 'drivers'],
  ]
  for (const [name, body, key] of layouts) {
    t.same(pageOf(body, key), { rows, total: 57, perPage: 30, currentPage: 1, lastPage: 2 }, name)
  }
})

t.test('a body without a paginator is one page', async (t) => {
  const rows = [{ id: 1 }]
  const noNumbers = { total: undefined, perPage: undefined, currentPage: undefined, lastPage: undefined }
  t.same(pageOf(rows), { rows, ...noNumbers })
  for (const body of [{ items: { geofences: rows } }, { geofences: rows }, { items: rows }])
    t.same(pageOf(body, 'geofences').rows, rows)
  t.same(pageOf({ items: { other: rows } }, 'geofences').rows, { other: rows })
  t.same(pageOf({ items: null }, 'geofences').rows, null)
  t.same(pageOf(null).rows, null)
  t.same(pageOf({ items: rows, pagination: [9] }).total, undefined)
  const zeros = { per_page: 0, current_page: '0', last_page: 0 }
  t.same(pageOf({ data: rows, ...zeros, total: 0 }), { rows, ...noNumbers, total: 0 }, 'only the total may be 0')
})

maps('numbers of a page are non-negative integers, or absent', (total: unknown) => pageOf({ data: [], total }).total, [
  [0, 0, '0'],
  [7, 7],
  [123456789012345, '123456789012345'],
  [undefined, -1, 1.5, 2 ** 53, '1234567890123456', '-1', '1.5', ' 1', '', 'x', null, [1], true],
])

maps('a device list may be truncated when its length is a page size', mayBeTruncated, [
  [true, 100, 200, 500, 1_000],
  [false, 0, 1, 99, 101, 250, 1_001, 1_100, 10_000],
])
