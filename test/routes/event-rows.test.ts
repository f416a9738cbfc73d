/** Several lists of events as one. */
import fc from 'fast-check'
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireEvent } from '../../src/platform/wire.js'
import { distinct, merged } from '../../src/routes/event-rows.js'

t.test('the first rows of merged lists do not depend on how many rows of each were read', async () => {
  const time = fc.constantFrom('2026-05-11 09:00:00', '2026-05-11 09:00:01', '2026-05-11 10:00:00', null)
  const row = fc.oneof({ weight: 5, arbitrary: fc.record({ id: fc.nat(), time }) }, fc.constantFrom('bad', null, {}))
  await fc.assert(
    fc.property(fc.array(fc.array(row, { maxLength: 8 }), { maxLength: 4 }), fc.nat(20), (lists, count) => {
      // Rows are told apart by the list and the place that they come from.
      const placed = lists.map((rows, list) =>
        rows.map((row, at) =>
          row !== null && typeof row === 'object' ? { ...row, id: `1${at}${list}`, list, at } : row,
        ),
      )
      const first = merged(placed.map((rows) => rows.slice(0, count))).slice(0, count)
      return JSON.stringify(first) === JSON.stringify(merged(placed).slice(0, count))
    }),
    { numRuns: 2_000 },
  )
})

t.test('a row that several lists have comes once, and rows without an id are not taken for one', async (t) => {
  const rows = [{ id: 7, time: 'a' }, { time: 'b' }, { id: '7', time: 'a' }, { time: 'c' }, { id: 8 }]
  const names = distinct(rows.map((row) => read(wireEvent, row))).map(({ id, time }) => `${id} ${time}`)
  t.same(names, ['7 a', 'undefined b', 'undefined c', '8 undefined'])
})
