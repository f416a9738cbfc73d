/** A list that is truly empty stays one; a response that holds rows and yields none is a changed platform. */
import t from 'tap'
import { changed, checkedHistory, checkGroups, checkPage } from '../../src/platform/changed.js'
import { read } from '../../src/platform/shape.js'
import { wireHistory } from '../../src/platform/wire.js'
import { isDisplayTime } from '../../src/resources/display-time.js'

/** `ok`, or the detail of the failure. */
function outcome(check: () => void): string {
  try {
    check()
    return 'ok'
  } catch (error) {
    return (error as { detail?: string }).detail ?? String(error)
  }
}

const rows = [{ id: 1 }, { id: '2' }]
const numbers = { total: 137, per_page: 50, current_page: 1 }

t.test('a page is accepted unless it holds rows, or says that there are some, and yields none', async (t) => {
  const pages: [name: string, body: unknown, expected: RegExp, page?: number][] = [
    ['rows', { items: { ...numbers, data: rows } }, /^ok$/],
    ['half of the rows without an id', { data: [{ key: 1 }, { id: 2 }] }, /^ok$/],
    ['no rows', { items: [] }, /^ok$/],
    ['no rows in an object', { items: {} }, /^ok$/],
    ['no rows at all', { items: null }, /^ok$/],
    ['rows with numeric keys', { items: { 3: { id: 1 } } }, /^ok$/],
    ['rows as JSON text', { items: JSON.stringify(rows) }, /^ok$/],
    ['a total of 0', { items: { total: 0, per_page: 50, current_page: 1, data: [] } }, /^ok$/],
    ['a total of 0 without rows', { items: { total: '0' } }, /^ok$/],
    ['numeric keys, and none on this page', { status: 1, pagination: { total: 0 } }, /^ok$/],
    ['numeric keys, and none where rows should be', { pagination: { total: 2 } }, /^no rows/],
    ['no rows as JSON text', { items: ' [ ] ' }, /^ok$/],
    ['words in place of rows', { items: 'No events' }, /^ok$/],
    ['broken JSON text', { items: { data: '[{"id":1' } }, /^no rows; fields: none$/],
    ['JSON text of another object', { items: JSON.stringify({ fences: rows }) }, /^no rows; fields: fences$/],
    ['a page past the end', { items: { ...numbers, current_page: 4, data: [] } }, /^ok$/, 4],
    ['a page past the end without numbers', { items: { total: 9, data: [] } }, /^ok$/, 2],
    ['one bad row on the last page', { items: { data: [{ key: 7 }] } }, /^ok$/, 3],
    ['`data` renamed', { items: { ...numbers, rows } }, /^no rows; fields: total, per_page, current_page, rows$/],
    ['`data` renamed, no total', { items: { current_page: 1, rows } }, /^no rows; fields: current_page, rows$/],
    ['`data` renamed on page 2', { items: { ...numbers, current_page: 2, rows } }, /^no rows/, 2],
    ['a total without rows', { items: { ...numbers, data: [] } }, /^no rows/],
    ['the list renamed', { items: { fences: rows } }, /^no rows; fields: fences$/],
    ['`id` renamed', { items: [{ key: 1, name: 'x' }] }, /^no id in any row; fields: key, name$/],
    ['`id` renamed on page 2', { items: [{ key: 1 }, { key: 2 }] }, /^no id in any row/, 2],
    ['`id` unusable', { items: [{ id: 0 }, { id: null }, { id: 'x' }, { id: [] }] }, /^no id in any row/],
    ['rows that are no records', { items: [1, 'x'] }, /^no id in any row; fields: none$/],
  ]
  for (const [name, body, expected, page = 1] of pages) {
    const found = outcome(() => checkPage('get_events', body, page))
    t.match(found, expected, name)
  }
})

t.test('groups are accepted unless none of them has items', async (t) => {
  const lists: [name: string, groups: unknown, expected: RegExp][] = [
    ['no groups', [], /^ok$/],
    ['no groups in an object', {}, /^ok$/],
    ['groups without rows', [{ title: 'A', items: [] }, { title: 'B' }], /^ok$/],
    ['groups with numeric keys', { 4: { items: {} } }, /^ok$/],
    ['`items` renamed', [{ title: 'A', objects: rows }], /^no items in any group; fields: title, objects$/],
    ['`items` became another object', [{ items: { list: rows } }], /^no items in any group/],
    ['devices in place of groups', rows, /^no items in any group; fields: id$/],
    ['the list renamed', { list: [{ items: rows }] }, /^no groups; fields: list$/],
    ['groups as broken JSON text', '[{"items":', /^no groups; fields: none$/],
    ['items as broken JSON text', [{ items: '[{"id":1' }], /^no items in any group; fields: items$/],
  ]
  for (const [name, groups, expected] of lists) {
    const found = outcome(() => checkGroups('get_devices', groups))
    t.match(found, expected, name)
  }
})

t.test('a history is accepted unless no group is of a known kind, or no point has a readable time', async (t) => {
  const point = { lat: 1, lng: 2, raw_time: 'soon', time: '12-05-2026 08:00:00' }
  const drive = { status: '1', items: [point, { lat: 1, lng: 2 }] }
  const other = { status: 9, items: [point] }
  const timeless = { status: 1, items: [{ ...point, time: 1778572800 }] }
  const histories: [name: string, items: unknown, expected: RegExp][] = [
    ['no groups', [], /^ok$/],
    ['some groups of another kind', [other, drive], /^ok$/],
    ['no known kind', [{ status: 'drive', items: [point] }, other], /^no status in any group$/],
    ['no readable time', [timeless], /^no raw_time or time in any point$/],
  ]
  for (const [name, items, expected] of histories) {
    const found = outcome(() => checkedHistory(read(wireHistory, { items }), { items }, isDisplayTime))
    t.match(found, expected, name)
  }
})

t.test('a failure names fields, and no key that may be data', async (t) => {
  const found = { id: 1, 'a@example.com': 1, $2y$10$abc: 1, 'Van 7': 1, 12: 1, ['x'.repeat(40)]: 1 }
  t.equal(changed('get_devices', 'items', found).message, 'get_devices: wrong_shape (no items; fields: id)')
})
