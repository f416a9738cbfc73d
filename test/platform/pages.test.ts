/** Pages of a list, in every layout of the platform. */
import t from 'tap'
import { mayBeTruncated, pageOf } from '../../src/platform/pages.js'

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
  for (const raw of [0, 7, '0', '123456789012345']) t.equal(total(raw), Number(raw))
  for (const raw of [-1, 1.5, 2 ** 53, '1234567890123456', '-1', '1.5', ' 1', '', 'x', null, [1], true]) {
    t.equal(total(raw), undefined, JSON.stringify(raw))
  }
})

t.test('a device list may be truncated when its length is a page size', async (t) => {
  for (const rows of [100, 200, 500, 1_000]) t.ok(mayBeTruncated(rows), `${rows}`)
  for (const rows of [0, 1, 99, 101, 250, 1_001, 1_100, 10_000]) t.notOk(mayBeTruncated(rows), `${rows}`)
})
