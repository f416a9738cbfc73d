/** Any window of a list, however the platform pages it. */
import fc from 'fast-check'
import t from 'tap'
import { pageOf } from '../../src/platform/pages.js'
import { type Ask, pageSizeFor, windowOf } from '../../src/platform/window.js'

interface Habits {
  /** Rows the platform gives out at most per page; `fixed` = whatever was asked for. */
  pageSize: number
  fixed: boolean
  total: boolean
  lastPage: boolean
  perPage: boolean
  /** Numbers as strings. */
  strings: boolean
}

/** A platform's pager over rows that may grow at the head while it is read. */
function pager(rows: () => { id: number }[], habits: Habits, onCall: () => void = () => {}): Ask {
  return async (page, limit) => {
    onCall()
    const all = rows()
    const size = habits.fixed ? habits.pageSize : Math.min(limit, habits.pageSize)
    const data = all.slice((page - 1) * size, page * size)
    const say = (value: number) => (habits.strings ? String(value) : value)
    return pageOf({
      items: {
        data,
        current_page: say(page),
        ...(habits.total ? { total: say(all.length) } : {}),
        ...(habits.perPage ? { per_page: say(size) } : {}),
        ...(habits.lastPage ? { last_page: say(Math.max(1, Math.ceil(all.length / size))) } : {}),
      },
    })
  }
}

const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => ({ id: count - at }))

const someHabits = fc
  .record({
    pageSize: fc.constantFrom(30, 100, 1000),
    fixed: fc.boolean(),
    total: fc.boolean(),
    lastPage: fc.boolean(),
    perPage: fc.boolean(),
    strings: fc.boolean(),
  })
  // A platform that ignores the page size and says nothing about it cannot be told from a short list.
  .filter(({ fixed, perPage, pageSize }) => perPage || (!fixed && pageSize === 1000))

t.test('any window is exactly that part of the list, and the total is all of it', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 400 }),
      fc.integer({ min: 0, max: 450 }),
      fc.integer({ min: 1, max: 200 }),
      someHabits,
      async (count, offset, limit, habits) => {
        const all = rowsOf(count)
        const { rows, total } = await windowOf(
          pager(() => all, habits),
          offset,
          limit,
        )
        t.same(rows, all.slice(offset, offset + limit))
        if (offset < count || habits.total) t.equal(total, count, JSON.stringify({ count, offset, limit, habits }))
      },
    ),
    { numRuns: 500 },
  )
})

t.test('rows pushed on by a new one between two calls do not repeat within one answer', async (t) => {
  const habits: Habits = { pageSize: 30, fixed: true, total: true, lastPage: true, perPage: true, strings: false }
  const all = rowsOf(200)
  let calls = 0
  const ask = pager(
    () => all,
    habits,
    () => {
      calls += 1
      if (calls > 1) all.unshift({ id: 1000 + calls })
    },
  )
  const { rows } = await windowOf(ask, 0, 100)
  const ids = rows.map((row) => (row as { id: number }).id)
  t.equal(new Set(ids).size, 100)
  t.same(
    ids,
    rowsOf(200)
      .slice(0, 100)
      .map(({ id }) => id),
    'and none is lost',
  )
})

t.test('a platform that repeats its first page for ever is not asked for ever', async (t) => {
  let calls = 0
  const ask: Ask = async () => {
    calls += 1
    return pageOf({ items: { data: rowsOf(30), per_page: 30 } })
  }
  const { rows } = await windowOf(ask, 0, 200)
  t.equal(rows.length, 30)
  t.ok(calls <= 3)
})

t.test('a window that one page can hold costs one call', async (t) => {
  const habits: Habits = { pageSize: 1000, fixed: false, total: true, lastPage: true, perPage: true, strings: false }
  for (const [offset, limit] of [
    [0, 50],
    [50, 50],
    [30, 50],
    [777, 200],
    [12_345, 7],
  ] as const) {
    let calls = 0
    const all = rowsOf(20_000)
    await windowOf(
      pager(
        () => all,
        habits,
        () => {
          calls += 1
        },
      ),
      offset,
      limit,
    )
    t.equal(calls, 1, `${offset}+${limit} in pages of ${pageSizeFor(offset, limit)}`)
  }
})
