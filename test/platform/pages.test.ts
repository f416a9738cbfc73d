/** Pages of a list, in every layout of the platform. */
import t from 'tap'
import { DistinctRows, hasMore, mayBeTruncated, pageOf } from '../../src/platform/pages.js'

const page = (rows: number, numbers: object = {}) => ({
  rows: Array.from({ length: rows }, () => ({})),
  total: undefined,
  perPage: undefined,
  currentPage: undefined,
  lastPage: undefined,
  ...numbers,
})

t.test('every paginator layout reads as the same page', async (t) => {
  const numbers = { total: '57', per_page: 30, current_page: '1', last_page: 2 }
  const rows = [{ id: 1 }]
  const layouts: [name: string, body: unknown, key: string | undefined][] = [
    ['items is the paginator', { status: 1, items: { ...numbers, data: rows } }, undefined],
    ['items.<name> is the paginator', { status: 1, items: { drivers: { ...numbers, data: rows } } }, 'drivers'],
    ['flat beside status', { status: 1, ...numbers, data: rows, links: [] }, undefined],
    ['data beside pagination', { status: 1, data: rows, pagination: numbers }, undefined],
  ]
  for (const [name, body, key] of layouts) {
    t.same(pageOf(body, key), { rows, total: 57, perPage: 30, currentPage: 1, lastPage: 2 }, name)
  }
})

t.test('a body without a paginator is one page', async (t) => {
  const rows = [{ id: 1 }]
  t.same(pageOf(rows), { ...page(0), rows })
  t.same(pageOf({ items: { geofences: rows } }, 'geofences').rows, rows)
  t.same(pageOf({ geofences: rows }, 'geofences').rows, rows)
  t.same(pageOf({ items: rows }, 'geofences').rows, rows, 'the rows in place of the object that holds them')
  t.same(pageOf({ items: { other: rows } }, 'geofences').rows, { other: rows })
  t.same(pageOf({ items: null }, 'geofences').rows, null)
  t.same(pageOf(null).rows, null)
  t.same(pageOf({ items: rows, pagination: [9] }).total, undefined)
})

t.test('numbers of a page are non-negative integers, or absent', async (t) => {
  const total = (raw: unknown) => pageOf({ data: [], total: raw }).total
  for (const [raw, expected] of [
    [0, 0],
    [7, 7],
    ['0', 0],
    ['123456789012345', 123_456_789_012_345],
  ] as const) {
    t.equal(total(raw), expected)
  }
  for (const raw of [-1, 1.5, 2 ** 53, '1234567890123456', '-1', '1.5', ' 1', '', 'x', null, [1], true]) {
    t.equal(total(raw), undefined, JSON.stringify(raw))
  }
})

t.test('there may be another page after a full one, unless a number says otherwise', async (t) => {
  t.ok(hasMore(page(30, { currentPage: 1, lastPage: 2 }), 30))
  t.notOk(hasMore(page(27, { currentPage: 2, lastPage: 2 }), 57))
  t.notOk(hasMore(page(30, { currentPage: 3, lastPage: 2, total: 99 }), 60), 'the last page counts more than the total')
  t.notOk(hasMore(page(0, { currentPage: 1, lastPage: 9 }), 0), 'an empty page ends a list, whatever the numbers say')
  t.ok(hasMore(page(5, { total: 11, currentPage: 1 }), 10), 'by the total where the last page is unknown')
  t.ok(hasMore(page(5, { total: 11, lastPage: 3 }), 10), 'or the current one')
  t.notOk(hasMore(page(5, { total: 10 }), 10))
  t.ok(hasMore(page(30, { perPage: 30 }), 30), 'N33 without totals a full page may not be the last')
  t.ok(hasMore(page(31, { perPage: 30 }), 31))
  t.notOk(hasMore(page(12, { perPage: 30 }), 42), 'N33 without totals a short page is the last')
  t.notOk(hasMore(page(5), 5), 'a body without any numbers is the whole list')
})

t.test('rows of several pages come once each, by their ids; rows without an id are all different', async (t) => {
  const found = new DistinctRows()
  const add = (...rows: unknown[]): boolean => found.add({ ...page(0), rows })
  t.ok(add({ id: 1 }, { id: '2' }, { name: 'x' }))
  t.ok(add({ id: '1' }, { id: 2 }, { name: 'x' }, { id: null }))
  t.notOk(add({ id: 1 }, { id: 2 }), 'nothing new')
  t.notOk(add())
  t.same(found.rows, [{ id: 1 }, { id: '2' }, { name: 'x' }, { name: 'x' }, { id: null }])
})

t.test('a device list may be truncated when its length is a page size', async (t) => {
  for (const rows of [100, 200, 500, 1_000]) t.ok(mayBeTruncated(rows), `${rows}`)
  for (const rows of [0, 1, 99, 101, 250, 1_001, 1_100, 10_000]) t.notOk(mayBeTruncated(rows), `${rows}`)
})
