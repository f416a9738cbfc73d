/** The list envelope, paging and query strings. */
import t from 'tap'
import { Type } from 'typebox'
import { DevicesQuery } from '../../src/resources/device.js'
import { EventsQuery } from '../../src/resources/event.js'
import { HistoryQuery } from '../../src/resources/history.js'
import { envelope, Ids, ListQuery, page, readQuery } from '../../src/resources/list.js'

const IdsQuery = Type.Object({ ids: Type.Optional(Ids(4, 'Only these')) })

t.test('the envelope has the applied paging and whether more items follow', async (t) => {
  const items = [1, 2, 3, 4, 5]
  const rows: [query: { limit?: number; offset?: number }, limit: number, has_more: boolean, data: number[]][] = [
    [{ limit: 2, offset: 1 }, 2, true, [2, 3]],
    [{ limit: 2, offset: 3 }, 2, false, [4, 5]],
    [{ limit: 2, offset: 9 }, 2, false, []],
    [{ offset: 3 }, 2, false, [4, 5]],
    [{}, 5, false, items],
  ]
  for (const [query, limit, has_more, data] of rows) {
    const expected = { object: 'list', count: 5, limit, offset: query.offset ?? 0, has_more, data }
    t.strictSame(page(items, query), expected, JSON.stringify(query))
  }
  t.strictSame(page([], {}), { object: 'list', count: 0, limit: 0, offset: 0, has_more: false, data: [] })
  t.equal(envelope(['a'], 90, { limit: 1, offset: 88 }).has_more, true)
  t.equal(envelope(['a'], 90, { limit: 1, offset: 89 }).has_more, false)
  t.equal(envelope(['a'], 90, { limit: 50, offset: 40 }).has_more, false, 'whatever was left out')
})

t.test('a high limit is lowered, unknown parameters are ignored, no default is set', async (t) => {
  const rows: [...Parameters<typeof readQuery>, object][] = [
    [DevicesQuery, {}, {}],
    [DevicesQuery, { limit: '501', offset: '7', x: ['1', '2'] }, { limit: 500, offset: 7 }],
    [DevicesQuery, { limit: '1' }, { limit: 1 }],
    [DevicesQuery, { limit: '99999999999999999999' }, { limit: 500 }],
    [DevicesQuery, { status: 'moving' }, { status: 'moving' }],
    [EventsQuery, { limit: '201', offset: '-0' }, { limit: 200, offset: 0 }],
    [EventsQuery, { type: 'x'.repeat(100) }, { type: 'x'.repeat(100) }],
    [EventsQuery, { type: 'x', from: '2026-05-11' }, { type: 'x', from: '2026-05-11' }],
    [HistoryQuery, { from: 'x'.repeat(100), to: '' }, { from: 'x'.repeat(100), to: '' }],
    [ListQuery, { offset: '0' }, { offset: 0 }],
    [IdsQuery, { ids: '7' }, { ids: [7] }],
    [IdsQuery, { ids: '12,7,12,3' }, { ids: [3, 7, 12] }],
    [IdsQuery, { ids: ['9', '8,7'] }, { ids: [7, 8, 9] }],
    [IdsQuery, { 'ids[]': ['9', '8'], ids: '7' }, { ids: [7, 8, 9] }],
    [IdsQuery, { 'ids[0]': '9', 'ids[1]': '8', 'ids[x]': '7', 'id[]': '6', 'ids[][]': '5' }, { ids: [8, 9] }],
  ]
  for (const [schema, query, value] of rows) t.strictSame(readQuery(schema, query), { value }, JSON.stringify(query))
})

t.test('an invalid parameter is named, with what it must be, and its value is not repeated', async (t) => {
  const atLeast1 = 'must be an integer of at least 1'
  const oneOf3 = 'must be one of online, offline, moving'
  const upTo4 = 'must be 1 to 4 ids, separated by commas'
  type Row = [...Parameters<typeof readQuery>, param: string, expected: string]
  const limits = '1e3| 5|5 |+5|0|-1|1.0||x|0x10|٥'.split('|')
  const ids = ['', '1,', ',1', '1, 2', '-1', '0', '1e3', 'x', '9'.repeat(20), '1,2,3,4,5', ['1', ''], ['1,2,3', '4,5']]
  const rows: Row[] = [
    ...limits.map((limit): Row => [DevicesQuery, { limit }, 'limit', atLeast1]),
    ...ids.map((ids): Row => [IdsQuery, { ids }, 'ids', upTo4]),
    [IdsQuery, { 'ids[]': ['1', 'x'] }, 'ids', upTo4],
    [DevicesQuery, { limit: ['5', '5'] }, 'limit', 'must not be repeated'],
    [DevicesQuery, { offset: '-1' }, 'offset', 'must be an integer of at least 0'],
    [DevicesQuery, { offset: '99999999999999999999' }, 'offset', 'must be an integer of at least 0'],
    ...['parked', 'Moving', ''].map((status): Row => [DevicesQuery, { status }, 'status', oneOf3]),
    [EventsQuery, { device_id: '99999999999999999999' }, 'device_id', atLeast1],
    [EventsQuery, { type: '' }, 'type', 'must be text of 1 to 100 characters'],
    [EventsQuery, { type: 'x'.repeat(101) }, 'type', 'must be text of 1 to 100 characters'],
    [EventsQuery, { from: ['2026-05-11', '2026-05-12'] }, 'from', 'must not be repeated'],
    [HistoryQuery, { from: '2026-05-11', to: 'x'.repeat(101) }, 'to', 'must be text of 1 to 100 characters'],
    [HistoryQuery, { from: '2026-05-11' }, 'to', 'is required'],
    [HistoryQuery, { to: '2026-05-11' }, 'from', 'is required'],
  ]
  for (const [schema, query, param, expected] of rows)
    t.strictSame(readQuery(schema, query), { param, expected }, JSON.stringify(query))
})
