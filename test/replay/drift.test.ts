/** What counts as a change of the shape of a response. */
import t from 'tap'
import { drift } from '../../src/replay/drift.js'

t.test('a field that is gone from a record counts, also when some rows have no such record', async (t) => {
  const rows = (device: object) => [{ device: null }, { device }, { device: [] }]
  const gone = [{ path: '$[].device.name', what: 'gone', was: 'string', is: '' }]
  t.same(drift(rows({ id: 1, name: 'a' }), rows({ id: 2 })), gone)
})

t.test('drift is a field gone or another kind; a new field, an empty list or a null is harmless', async (t) => {
  const first = { id: 1, name: 'a', note: 'b' }
  const was = { items: [first, { id: 2, name: null }], total: 2 }
  for (const items of [[], [{ id: 1, name: null }]]) t.same(drift(was, { items, total: 1 }), [])
  t.same(drift({ items: [], total: null }, was), [])
  t.same(drift([first], []), [], 'a list may be empty')
  for (const empty of [{}, [], null])
    t.same(drift(was, empty), [{ path: '$', what: 'changed', was: 'object', is: 'empty' }], 'a whole response may not')
  for (const empty of [{}, null])
    t.same(drift([first], empty), [{ path: '$', what: 'changed', was: 'array', is: 'empty' }], 'but a list')
  t.same(drift({ fields: { 'HO 6657': 1, Monaq: 'a' } }, { fields: { 'WA 4471': 2, Zbig: 'b' } }), [])
  t.same(drift(was, { items: [{ id: '1' }], more: 1 }), [
    { path: '$.items[].id', what: 'changed', was: 'number', is: 'string' },
    { path: '$.items[].name', what: 'gone', was: 'string', is: '' },
    { path: '$.total', what: 'gone', was: 'number', is: '' },
    { path: '$.more', what: 'new', was: '', is: 'number' },
  ])
})
