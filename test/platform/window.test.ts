/** Windows of a list, however the platform pages it: their rows, and the calls they cost. */
import fc from 'fast-check'
import t from 'tap'
import { pageOf } from '../../src/platform/pages.js'
import { type FetchPage, readAll, TooManyCalls, windowOf } from '../../src/platform/window.js'

type Says = 'total' | 'lastPage' | 'currentPage' | 'perPage'
/** The largest page, or, when `fixed`, the size of every page; what the platform says of each page: in `strings`, or that its size is the requested one. */
type Habits = { pageSize: number } & Partial<Record<Says | 'fixed' | 'strings' | 'pretends', boolean>>

const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => ({ id: count - at }))

/** A platform's pager. @param rows are looked up for each call: they may change between two. */
function pager(rows: () => object[], habits: Habits) {
  const calls: string[] = []
  const fetchPage: FetchPage = async (number, limit) => {
    calls.push(`${number}/${limit}`)
    const all = rows()
    const size = habits.fixed ? habits.pageSize : Math.min(limit, habits.pageSize)
    const say = (value: number) => (habits.strings ? String(value) : value)
    const lastPage = Math.max(1, Math.ceil(all.length / size))
    return pageOf({
      items: {
        data: all.slice((number - 1) * size, number * size),
        ...(habits.currentPage ? { current_page: say(number) } : {}),
        ...(habits.total ? { total: say(all.length) } : {}),
        ...(habits.perPage ? { per_page: say(habits.pretends ? limit : size) } : {}),
        ...(habits.lastPage ? { last_page: say(lastPage) } : {}),
      },
    })
  }
  return { calls, fetchPage }
}

const countedWindow = (...window: Parameters<typeof windowOf>) =>
  windowOf(...window).then(async ({ rows, count }) => ({ ...(await count()), rows }))

const tellsAll = { total: true, lastPage: true, currentPage: true, perPage: true }
const numbers = { total: fc.boolean(), lastPage: fc.boolean(), currentPage: fc.boolean(), perPage: fc.boolean() }

t.test('any window is exactly that part of the list, and the total is all of it (N33)', async () => {
  const pageSize = fc.constantFrom(30, 100, 1_000)
  const habits = fc.record({ pageSize, fixed: fc.boolean(), strings: fc.boolean(), ...numbers })
  const window = fc.record({ count: fc.nat(400), offset: fc.nat(450), limit: fc.integer({ min: 1, max: 200 }) })
  await fc.assert(
    fc.asyncProperty(window, habits, async ({ count, offset, limit }, habits) => {
      const all = rowsOf(count)
      const { rows, total } = await countedWindow(pager(() => all, habits).fetchPage, offset, limit)
      const expected = all.slice(offset, offset + limit)
      return JSON.stringify(rows) === JSON.stringify(expected) && total === count
    }),
    { numRuns: 1_000 },
  )
})

t.test('a list is read to its end if its pages fit the requested size, or any number shows more (N50)', async () => {
  const size = fc.constantFrom(20, 30, 50, Number.POSITIVE_INFINITY)
  const habits = fc.record({ ...numbers, strings: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.nat(400), fc.constant(30)), size, habits, async (count, size, habits) => {
      const all = rowsOf(count)
      const { fetchPage, calls } = pager(() => all, { pageSize: 30, fixed: true, ...habits })
      const rows = await readAll(fetchPage, size)
      const tells = [30, 50].includes(size) || habits.total || habits.lastPage || habits.perPage || habits.currentPage
      // Without a total, only an empty page tells that a short one was the last.
      const isShort = calls.length <= count / 30 + 2
      return isShort && JSON.stringify(rows) === JSON.stringify(tells ? all : all.slice(0, 30))
    }),
    { numRuns: 500 },
  )
})

const [large, small] = [{ pageSize: 1_000 }, { pageSize: 30, fixed: true }]
const saysPages = { lastPage: true, currentPage: true }
const noTotal = { ...saysPages, perPage: true }
/** @param calls number and requested size of each page. */
const costs: [name: string, habits: Habits, count: number, window: [offset: number, limit: number], calls: string][] = [
  ['one page holds it, with the total', { ...large, ...tellsAll }, 20_000, [777, 200], '4/245'],
  ['only the largest page holds it', { ...large, ...tellsAll }, 5_000, [1, 999], '1/1000'],
  ['larger than any page: pages of its size', { ...large, ...tellsAll }, 5_000, [0, 1_001], '1/1000 2/1000'],
  ['small: no page below the minimum size', { ...large, ...tellsAll }, 500, [120, 1], '3/50'],
  ['small pages, the right one first', { ...small, ...tellsAll }, 500, [0, 100], '1/100 2/30 3/30 4/30'],
  ['small pages, another one first', { ...small, ...tellsAll }, 500, [100, 50], '3/50 4/30 5/30'],
  ['the total ends it', { pageSize: 30, total: true, perPage: true }, 60, [0, 100], '1/100 2/30'],
  ['the last page ends it, and has the total', { pageSize: 30, ...noTotal }, 60, [0, 100], '1/100 2/30'],
  ['no total: one more call, for the last page', { ...large, ...noTotal }, 420, [0, 100], '1/100 5/100'],
  ['no total, on the last page: no further call', { ...large, ...noTotal }, 420, [400, 100], '5/100'],
  ['no number, and a length that is no page size: one call', large, 6, [0, 50], '1/50'],
  ['no number: all pages up to the short one', large, 130, [0, 50], '1/50 2/50 3/50'],
  ['no number, all pages full: up to the empty one', large, 100, [50, 50], '2/50 1/50 3/50'],
  ['one short page, and nothing after it', { ...large, lastPage: true }, 30, [40, 5], '1/50'],
  ['a last page, but no current one', { ...large, lastPage: true }, 130, [0, 50], '1/50 3/50'],
  ['a short last page is no page size: the first tells', { ...large, lastPage: true }, 120, [100, 50], '3/50 1/50'],
  ['small pages that the last page gives away', { ...small, ...saysPages }, 90, [0, 50], '1/50 2/30 3/30'],
  ['large pages their rows give away', { pageSize: 200, fixed: true }, 500, [60, 50], '2/55 1/55 1/200 2/200 3/200'],
  ['a full last page of large ones', { pageSize: 100, fixed: true, total: true }, 250, [100, 50], '3/50 1/50 2/100'],
  ['a full page is the size', { ...large, total: true }, 500, [50, 50], '2/50'],
  ['small pages, one in the middle first', { ...small, ...saysPages }, 500, [100, 50], '3/50 4/30 5/30 17/30'],
  ['small pages with the total only', { ...small, total: true }, 500, [30, 80], '1/110 2/30 3/30 4/30'],
  ['behind the end, with the total', { ...large, ...tellsAll }, 10, [400, 50], '9/50'],
  ['behind the end, with the page size alone', { ...large, perPage: true }, 10, [400, 50], '9/50 1/50'],
  ['behind the end, without any number: counted', large, 100, [400, 50], '9/50 1/50 2/50 3/50'],
  ['an empty list with the last page', { ...large, ...saysPages }, 0, [0, 50], '1/50'],
  ['a page size that the rows contradict', { ...small, ...tellsAll, pretends: true }, 137, [0, 50], '1/50 2/30'],
  ['the same, another page first', { ...small, ...tellsAll, pretends: true }, 137, [50, 50], '2/50 3/30 4/30'],
  ['the same, a large window', { ...small, ...tellsAll, pretends: true }, 137, [100, 200], '1/300 4/30 5/30'],
]

t.test('a window costs no more calls than it needs, one where a page may be as large as it', async (t) => {
  for (const [name, habits, count, [offset, limit], calls] of costs) {
    const all = rowsOf(count)
    const platform = pager(() => all, habits)
    const found = await countedWindow(platform.fetchPage, offset, limit)
    t.equal(platform.calls.join(' '), calls, name)
    t.same(found, { rows: all.slice(offset, offset + limit), total: count, isCounted: true }, name)
    if (habits.pretends) t.same(await readAll(platform.fetchPage, 50), all, 'the whole list')
  }
  const all = rowsOf(6_000)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 5_800 }), fc.integer({ min: 1, max: 200 }), async (offset, limit) => {
      const { fetchPage, calls } = pager(() => all, { pageSize: 1_000, ...tellsAll })
      await countedWindow(fetchPage, offset, limit)
      return calls.length === 1
    }),
  )
})

t.test('rows that new ones shift between two calls do not repeat, and none is lost', async (t) => {
  const growing = (all: object[]) => () => all.splice(0, all.length, { id: 1_000 + all.length }, ...all)
  for (const habits of [{ ...small, ...tellsAll }, small]) {
    const { fetchPage } = pager(growing(rowsOf(200)), habits)
    t.same((await windowOf(fetchPage, 0, 100)).rows, rowsOf(200).slice(0, 100))
  }
  const list = growing(rowsOf(200))
  const same: FetchPage = async () => pageOf({ data: list().slice(0, 50) })
  for (const offset of [50, 120]) t.same((await windowOf(same, offset, 50)).rows, [], 'nor where each is the first')
})

t.test('rows come once each, by their ids in either spelling; rows without an id are all different', async (t) => {
  const nameless = Array.from({ length: 60 }, () => ({ message: 'SOS' }))
  const found = await countedWindow(async () => pageOf({ items: { data: nameless, total: 60 } }), 0, 100)
  t.same([found.rows, found.total], [nameless, 60])
  const unnumbered = rowsOf(100).map(({ id }) => ({ message: id }))
  t.same((await windowOf(pager(() => unnumbered, large).fetchPage, 50, 50)).rows, unnumbered.slice(50))
  const pages = [
    [{ id: 1 }, { id: '2' }, { name: 'x' }],
    [{ id: '1' }, { id: 2 }, { name: 'x' }, { id: null }],
    [{ id: 1 }, { id: 2 }],
  ]
  const fetchPage: FetchPage = async (number) => pageOf({ data: pages[number - 1], last_page: 9 })
  const wanted = [{ id: 1 }, { id: '2' }, { name: 'x' }, { name: 'x' }, { id: null }]
  t.same(await readAll(fetchPage, Number.POSITIVE_INFINITY), wanted, 'up to a page of nothing new')
})

t.test('behind its end a list is empty and has no more, also where the platform repeats a page', async (t) => {
  const [all, thirty, seven] = [rowsOf(57), rowsOf(30), rowsOf(7)]
  const same = (items: object) => () => items
  const clamping = (more: object) => (number: number) => {
    const current_page = Math.min(number, 2)
    return { data: all.slice(50 * (current_page - 1), 50 * current_page), current_page, ...more }
  }
  const clamped = [clamping({ total: 57 }), clamping({ per_page: 50 }), clamping({ last_page: 2 })]
  const first = { data: thirty, current_page: 1, per_page: 30, last_page: 2, total: 57 }
  const zeros = { data: [], per_page: 0, last_page: 0, current_page: 1 }
  const platforms: [windows: string, rows: object[], total: number, ...items: ((number: number) => object)[]][] = [
    ['57/10 60/10 200/50 0/57', all, 57, same({ data: all, total: 57 }), ...clamped],
    ['0/30', thirty, 57, same(first)],
    ['30/30 30/10', thirty, 30, same(first)],
    ['0/200', thirty, 30, same({ data: thirty, per_page: 30 })],
    ['0/200', thirty, 90, same({ data: thirty, per_page: 30, total: 90 })],
    // An empty page ends a list, whatever its numbers; a page size or last page of 0 is none, and a total is at least the rows.
    ['0/50', [], 0, same(zeros)],
    ['0/50', seven, 7, same({ ...zeros, data: seven }), same({ ...zeros, data: seven, total: 0 })],
    ['0/50', [], 400, same({ ...zeros, last_page: 9, total: 400 })],
  ]
  const windowsOf = '0/1 0/50 10/1 10/50 50/1 50/199 1000/50'
  for (const data of [thirty, rowsOf(50), rowsOf(100), rowsOf(300)])
    platforms.push([windowsOf, data, data.length, same({ data }), same({ data, last_page: 1 })])
  for (const [windows, rows, total, ...pagers] of platforms)
    for (const [at, items] of pagers.entries()) {
      for (const window of windows.split(' ')) {
        const [offset = 0, limit = 0] = window.split('/').map(Number)
        const calls: number[] = []
        const fetchPage: FetchPage = async (number) => pageOf({ items: items(calls.push(number) && number) })
        const found = await countedWindow(fetchPage, offset, limit)
        t.same([found.rows, found.total], [rows.slice(offset, offset + limit), total], `${total}: ${at}, ${window}`)
        if (limit === 200) t.equal(calls.length, 2, 'it is called twice')
        t.ok(calls.every(Number.isInteger), 'each page has a number')
      }
    }
  const repeating: FetchPage = async () => pageOf({ items: first })
  t.same(await readAll(repeating, 30, () => false), thirty)
})

t.test('a list that never ends is read no further than its budget', async (t) => {
  const { fetchPage, calls } = pager(() => rowsOf(100_000), { pageSize: 1, fixed: true, perPage: true })
  let left = 7
  const limited: FetchPage = async (number, size) => {
    if (left-- === 0) throw new TooManyCalls()
    return fetchPage(number, size)
  }
  await t.rejects(windowOf(limited, 10, 1_000), TooManyCalls)
  t.equal(calls.length, 7)
  left = 7
  const found = await countedWindow(limited, 0, 5)
  t.same([found.rows.length, found.total, found.isCounted], [5, 7, false], 'a total that is known not to be all')
})

t.test('a whole list is read four pages at a time, none beyond its last one, and keeps its order', async (t) => {
  const all = rowsOf(95)
  for (const habits of [{ lastPage: true }, { total: true }]) {
    const { fetchPage, calls } = pager(() => all, { pageSize: 10, fixed: true, perPage: true, ...habits })
    let [open, most] = [0, 0]
    const slow: FetchPage = async (number, size) => {
      open += 1
      most = Math.max(most, open)
      for (let turn = 0; turn < 1 + (number % 3); turn += 1) await new Promise((next) => setImmediate(next))
      open -= 1
      return fetchPage(number, size)
    }
    t.same(await readAll(slow, Number.POSITIVE_INFINITY), all)
    t.same([calls.length, most], [10, 4])
  }
})

t.test('after a page that fails no further page of a list is requested', async (t) => {
  const { fetchPage } = pager(() => rowsOf(500), { pageSize: 10, fixed: true, ...tellsAll })
  const requested: number[] = []
  const failing: FetchPage = async (number, size) => {
    requested.push(number)
    if (number > 2) throw new Error(`page ${number}`)
    return fetchPage(number, size)
  }
  await t.rejects(readAll(failing, Number.POSITIVE_INFINITY), { message: 'page 3' })
  t.same(requested, [1, 2, 3, 4, 5, 6])
})

t.test('pages are read until one suffices or the list ends, each row once', async (t) => {
  const all = rowsOf(100)
  const isBelow = (min: number) => (rows: unknown[]) => (rows as { id: number }[]).every(({ id }) => id < min)
  for (const habits of [tellsAll, { perPage: true }]) {
    const { fetchPage, calls } = pager(() => all, { pageSize: 30, fixed: true, ...habits })
    t.same(await readAll(fetchPage, 1_000, isBelow(60)), all.slice(0, 90))
    t.equal(calls.length, 3)
    t.same(await readAll(fetchPage, 1_000, () => false), all)
    t.same(await readAll(fetchPage, 1_000, () => true), all.slice(0, 30))
  }
})
