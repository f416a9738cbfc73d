/** Pages that lack rows, and rows that lack an id. */
import t from 'tap'
import { pageOf } from '../../src/platform/pages.js'
import { type FetchPage, windowOf } from '../../src/platform/window.js'

t.test('a platform that leaves rows out of its pages loses no other', async (t) => {
  const all = Array.from({ length: 250 }, (_, at) => ({ id: 250 - at }))
  const hidden = new Set([148, 130, 111])
  const fetchPage: FetchPage = async (number, limit) => {
    const data = all.slice(limit * (number - 1), limit * number).filter(({ id }) => !hidden.has(id))
    return pageOf({
      items: { data, current_page: number, per_page: limit, last_page: Math.ceil(250 / limit), total: 250 },
    })
  }
  const found = new Set<unknown>()
  for (let offset = 0; offset < 250; offset += 50)
    for (const row of (await windowOf(fetchPage, offset, 50)).rows) found.add(row)
  t.equal(found.size, 247)
})

t.test('rows without an id that are nested deeper than the stack are compared, too', async (t) => {
  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  const pages: object[][] = [1, 2].map((page) =>
    Array.from({ length: 50 }, (_, at) => ({ message: `${page} ${at}`, deep })),
  )
  const read = async (repeated: boolean): Promise<unknown[]> => {
    const fetchPage: FetchPage = async (number) => pageOf({ data: pages[repeated ? 0 : number - 1] ?? [] })
    return (await windowOf(fetchPage, 50, 50)).rows
  }
  t.equal((await read(false)).length, 50)
  t.equal((await read(true)).length, 0)
})
