/** Windows of a list, however the platform pages it: their rows, and the calls they cost. */
import fc from 'fast-check'
import t from 'tap'
import { pageOf } from '../../src/platform/pages.js'
import {
  CallBudget,
  type FetchPage,
  pageSizeFor,
  readUntil,
  TooManyCalls,
  windowOf,
} from '../../src/platform/window.js'

interface Habits {
  /** The largest page, or, when `fixed`, the size of every page whatever was requested. */
  pageSize: number
  fixed?: boolean
  /** What it says of each page. */
  total?: boolean
  lastPage?: boolean
  currentPage?: boolean
  perPage?: boolean
  /** Numbers as strings. */
  strings?: boolean
}

interface Row {
  id: number
}

const rowsOf = (count: number): Row[] => Array.from({ length: count }, (_, at) => ({ id: count - at }))

/** A platform's pager. @param rows are looked up for each call: they may change between two. */
function pager(rows: () => Row[], habits: Habits) {
  const calls: [number: number, size: number][] = []
  const fetchPage: FetchPage = async (number, limit) => {
    calls.push([number, limit])
    const all = rows()
    const size = habits.fixed ? habits.pageSize : Math.min(limit, habits.pageSize)
    const say = (value: number) => (habits.strings ? String(value) : value)
    const lastPage = Math.max(1, Math.ceil(all.length / size))
    return pageOf({
      items: {
        data: all.slice((number - 1) * size, number * size),
        ...(habits.currentPage ? { current_page: say(number) } : {}),
        ...(habits.total ? { total: say(all.length) } : {}),
        ...(habits.perPage ? { per_page: say(size) } : {}),
        ...(habits.lastPage ? { last_page: say(lastPage) } : {}),
      },
    })
  }
  return { calls, fetchPage }
}

const tellsAll = { total: true, lastPage: true, currentPage: true, perPage: true }

/** A platform that ignores the page size and says nothing about it looks like a short list. */
const isReadable = ({ fixed, perPage, pageSize }: Habits): boolean => perPage === true || (!fixed && pageSize === 1_000)

t.test('any window is exactly that part of the list, and the total is all of it', async () => {
  const habits = fc
    .record({
      pageSize: fc.constantFrom(30, 100, 1_000),
      fixed: fc.boolean(),
      total: fc.boolean(),
      lastPage: fc.boolean(),
      currentPage: fc.boolean(),
      perPage: fc.boolean(),
      strings: fc.boolean(),
    })
    .filter(isReadable)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 400 }),
      fc.integer({ min: 0, max: 450 }),
      fc.integer({ min: 1, max: 200 }),
      habits,
      async (count, offset, limit, habits) => {
        const all = rowsOf(count)
        const { rows, total } = await windowOf(pager(() => all, habits).fetchPage, offset, limit)
        const expected = all.slice(offset, offset + limit)
        const isTotalKnown = offset < count || habits.total
        return JSON.stringify(rows) === JSON.stringify(expected) && (!isTotalKnown || total === count)
      },
    ),
    { numRuns: 1_000 },
  )
})

const costs: {
  name: string
  habits: Habits
  count: number
  window: [offset: number, limit: number]
  calls: [number: number, size: number][]
  total?: number
}[] = [
  {
    name: 'a window that one page holds, with the total',
    habits: { pageSize: 1_000, ...tellsAll },
    count: 20_000,
    window: [777, 200],
    calls: [[4, 245]],
  },
  {
    name: 'a window that only the largest page holds',
    habits: { pageSize: 1_000, ...tellsAll },
    count: 5_000,
    window: [1, 999],
    calls: [[1, 1_000]],
  },
  {
    name: 'a window larger than any page: pages of its size',
    habits: { pageSize: 1_000, ...tellsAll },
    count: 5_000,
    window: [0, 1_001],
    calls: [
      [1, 1_001],
      [2, 1_000],
    ],
  },
  {
    name: 'a small window: no page below the minimum size',
    habits: { pageSize: 1_000, ...tellsAll },
    count: 500,
    window: [120, 1],
    calls: [[3, 50]],
  },
  {
    name: 'a platform with small pages that starts with the right one',
    habits: { pageSize: 30, fixed: true, ...tellsAll },
    count: 500,
    window: [0, 100],
    calls: [
      [1, 100],
      [2, 30],
      [3, 30],
      [4, 30],
    ],
  },
  {
    name: 'a platform with small pages, whose right page has another number',
    habits: { pageSize: 30, fixed: true, ...tellsAll },
    count: 500,
    window: [100, 50],
    calls: [
      [3, 50],
      [4, 30],
      [5, 30],
    ],
  },
  {
    name: 'a list that ends within the window: the total ends it',
    habits: { pageSize: 30, total: true, perPage: true },
    count: 60,
    window: [0, 100],
    calls: [
      [1, 100],
      [2, 30],
    ],
  },
  {
    name: 'a list that ends within the window: the last page ends it, and has the total',
    habits: { pageSize: 30, lastPage: true, currentPage: true, perPage: true },
    count: 60,
    window: [0, 100],
    calls: [
      [1, 100],
      [2, 30],
    ],
  },
  {
    name: 'without a total: one more call, for the last page',
    habits: { pageSize: 1_000, lastPage: true, currentPage: true, perPage: true },
    count: 420,
    window: [0, 100],
    calls: [
      [1, 100],
      [5, 100],
    ],
  },
  {
    name: 'without a total, on the last page: no further call',
    habits: { pageSize: 1_000, lastPage: true, currentPage: true, perPage: true },
    count: 420,
    window: [400, 100],
    calls: [[5, 100]],
  },
  {
    name: 'without any number: all pages up to the short one',
    habits: { pageSize: 1_000 },
    count: 130,
    window: [0, 50],
    calls: [
      [1, 50],
      [2, 50],
      [3, 50],
    ],
  },
  {
    name: 'without any number, all pages full: up to the empty one',
    habits: { pageSize: 1_000 },
    count: 100,
    window: [50, 50],
    calls: [
      [2, 50],
      [3, 50],
    ],
  },
  {
    name: 'a last page without the number of the current one: as with it',
    habits: { pageSize: 1_000, lastPage: true },
    count: 130,
    window: [0, 50],
    calls: [
      [1, 50],
      [3, 50],
    ],
  },
  {
    name: 'a short last page without the number of the current one',
    habits: { pageSize: 1_000, lastPage: true },
    count: 120,
    window: [100, 50],
    calls: [[3, 50]],
  },
  {
    name: 'pages smaller than requested, which only the last page gives away',
    habits: { pageSize: 30, lastPage: true, currentPage: true },
    count: 90,
    window: [0, 50],
    calls: [
      [1, 50],
      [2, 30],
      [3, 30],
    ],
  },
  {
    name: 'pages larger than requested, which only their rows give away',
    habits: { pageSize: 200, fixed: true },
    count: 500,
    window: [60, 50],
    calls: [
      [2, 55],
      [1, 200],
      [2, 200],
      [3, 200],
    ],
  },
  {
    name: 'a short last page is not taken for a page size',
    habits: { pageSize: 1_000, lastPage: true, currentPage: true },
    count: 120,
    window: [100, 50],
    calls: [[3, 50]],
  },
  {
    name: 'a window behind the end, with the total',
    habits: { pageSize: 1_000, ...tellsAll },
    count: 10,
    window: [400, 50],
    calls: [[9, 50]],
  },
  {
    name: 'a window behind the end, without any number: no total either',
    habits: { pageSize: 1_000 },
    count: 100,
    window: [400, 50],
    calls: [[9, 50]],
    total: 0,
  },
  {
    name: 'an empty list with the last page',
    habits: { pageSize: 1_000, lastPage: true, currentPage: true },
    count: 0,
    window: [0, 50],
    calls: [[1, 50]],
  },
]

for (const { name, habits, count, window, calls, total = count } of costs) {
  t.test(`calls for a window: ${name}`, async (t) => {
    const all = rowsOf(count)
    const platform = pager(() => all, habits)
    const [offset, limit] = window
    const found = await windowOf(platform.fetchPage, offset, limit)
    t.same(platform.calls, calls)
    t.same(found.rows, all.slice(offset, offset + limit))
    t.equal(found.total, total)
  })
}

t.test('every window the API allows costs one call where pages may be as large as the platform says', async () => {
  const all = rowsOf(6_000)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 5_800 }), fc.integer({ min: 1, max: 200 }), async (offset, limit) => {
      const { fetchPage, calls } = pager(() => all, { pageSize: 1_000, ...tellsAll })
      await windowOf(fetchPage, offset, limit)
      return calls.length === 1 && pageSizeFor(offset, limit) <= 1_000
    }),
  )
})

t.test('rows that new ones shift between two calls do not repeat, and none is lost', async (t) => {
  const all = rowsOf(200)
  let isFirst = true
  const platform = pager(
    () => {
      if (!isFirst) all.unshift({ id: 1_000 + all.length })
      isFirst = false
      return all
    },
    { pageSize: 30, fixed: true, ...tellsAll },
  )
  const { rows } = await windowOf(platform.fetchPage, 0, 100)
  t.same(rows, rowsOf(200).slice(0, 100))
})

t.test('rows without an id are all different', async (t) => {
  const data = Array.from({ length: 60 }, () => ({ message: 'SOS' }))
  const { rows, total } = await windowOf(async () => pageOf({ items: { data, total: 60 } }), 0, 100)
  t.equal(rows.length, 60)
  t.equal(total, 60)
})

t.test('a platform that repeats its first page is called twice', async (t) => {
  let calls = 0
  const repeat = async (numbers: object) => {
    calls = 0
    return windowOf(
      async () => {
        calls += 1
        return pageOf({ items: { data: rowsOf(30), per_page: 30, ...numbers } })
      },
      0,
      200,
    )
  }
  t.hasStrict(await repeat({}), { rows: rowsOf(30), total: 30 })
  t.equal(calls, 2)
  t.hasStrict(await repeat({ total: 90 }), { rows: rowsOf(30), total: 90 })
  t.equal(calls, 2)
})

t.test('a page size of 0 is none, and a last page of 0 neither', async (t) => {
  const empty = { data: [], per_page: 0, last_page: 0, current_page: 1 }
  t.hasStrict(await windowOf(async () => pageOf({ items: empty }), 0, 50), { rows: [], total: 0 })
  const full = { data: rowsOf(7), per_page: 0, last_page: 0, current_page: 1 }
  t.hasStrict(await windowOf(async () => pageOf({ items: full }), 0, 50), { rows: rowsOf(7), total: 7 })
})

t.test('a list that never ends is read no further than its budget', async (t) => {
  const { fetchPage, calls } = pager(() => rowsOf(100_000), { pageSize: 1, fixed: true, perPage: true })
  const limited = (budget: CallBudget): FetchPage => {
    return async (number, size) => {
      budget.spend()
      return fetchPage(number, size)
    }
  }
  await t.rejects(windowOf(limited(new CallBudget(7)), 10, 1_000), TooManyCalls)
  t.equal(calls.length, 7)
})

t.test('pages are read until one is enough, or the list ends, each row once', async (t) => {
  const all = rowsOf(100)
  const isBelow = (min: number) => (rows: unknown[]) => (rows as Row[]).every(({ id }) => id < min)
  for (const habits of [tellsAll, { perPage: true }]) {
    const { fetchPage, calls } = pager(() => all, { pageSize: 30, fixed: true, ...habits })
    t.same(await readUntil(fetchPage, 1_000, isBelow(60)), all.slice(0, 90))
    t.equal(calls.length, 3)
    t.same(await readUntil(fetchPage, 1_000, () => false), all)
    t.same(await readUntil(fetchPage, 1_000, () => true), all.slice(0, 30))
  }
})
