/** Following events with `after_id`: each later event comes once, whenever it is written. */
import t from 'tap'
import { until } from '../redis.js'
import { eventPlatform, type Row } from './event-platform.js'
import { idsOf } from './fleet.js'

for (const generation of ['2.x', '3.x'] as const) {
  t.test(`platform ${generation}: after_id gives every later event once, in ascending order`, async (t) => {
    const { all, list, eventCalls } = await eventPlatform(t, 300, { generation })
    const newest = all.splice(0, 120)
    t.same((await list('after_id=180')).body.data, [], 'nothing new')
    all.unshift(...newest)
    const seen: number[] = []
    for (let last = 180, more = true; more; ) {
      const { body } = await list(`after_id=${last}&limit=50`)
      t.equal(body.count, 300 - last)
      seen.push(...idsOf(body))
      last = seen.at(-1) ?? 0
      more = body.has_more
    }
    t.same(seen, newest.map(({ id }) => id).reverse())
    const some = (await list('after_id=180&device_ids=1,4&type=zone_in&limit=200')).body
    const wanted = newest.filter(({ device_id, message }) => device_id % 3 === 1 && message === 'Zone in')
    t.same(idsOf(some), wanted.map(({ id }) => id).reverse(), 'of two devices and one type')
    eventCalls()
    t.same(idsOf((await list('after_id=299')).body), [300])
    t.ok(eventCalls() <= 3, 'a poll costs few calls')
    t.equal((await list('after_id=0&device_ids=1,2,3,4')).body.count, 300)
    t.equal(eventCalls(), generation === '3.x' ? 5 : 13, 'events on one page of a device cost one call')
    Object.assign(all[0] as Row, { device_id: null, message: 'SOS' })
    t.same(idsOf((await list('after_id=298')).body), [299, 300], 'also one that names no device')
  })
}

t.test('an event that arrives late, behind newer ones, is in the next response to after_id', async (t) => {
  for (const [generation, newer, perPage] of [
    ['3.x', 120, 30],
    ['2.x', 49, 30],
    ['2.x', 49, 45],
  ] as const) {
    const { all, list } = await eventPlatform(t, 300, { generation, perPage })
    all.splice(newer, 0, { ...(all[newer] as Row), id: 301 })
    t.same(idsOf((await list('after_id=300')).body), [301], generation)
    for (const row of all) row.device_id = 1
    all.unshift({ ...(all[0] as Row), id: 302, device_id: 2 })
    t.same(idsOf((await list('after_id=300&device_id=1')).body), [301], 'a newer one of another device delays none')
  }
})

t.test('a follower of several devices or words misses no event that is written during a response', async (t) => {
  for (const filter of ['device_ids=1,2', 'type=maintenance.due']) {
    const rows: Row[] = []
    const isOfSecond = (query: URLSearchParams): boolean =>
      query.get('device_id') === '2' || query.get('type') === 'service_expired'
    const { all, list } = await eventPlatform(t, 0, {
      bodies: { 'call_actions/event_types': { types: [{ type: 'service' }, { type: 'service_expired' }] } },
      // The second list shows both, the first one was read before.
      onCall: (query) => isOfSecond(query) && all.unshift(...rows.splice(0)),
    })
    const row = (id: number, second: boolean): Row => ({
      ...{ id, device_id: second ? 2 : 1, type: second ? 'service_expired' : 'service' },
      ...{ message: 'Service', time: `2026-05-11 00:00:0${id}` },
    })
    all.push(row(1, false))
    rows.push(row(3, true), row(2, false))
    const seen: number[] = []
    for (let poll = 0; poll < 3; poll += 1)
      seen.push(...idsOf((await list(`${filter}&after_id=${seen.at(-1) ?? 1}`)).body))
    t.same(seen, [2, 3], filter)
  }
})

t.test('a follower misses no event that is written while another one waits for the same list', async (t) => {
  const row = (id: number, device_id: number): Row => ({
    ...{ id, device_id, type: 'sos', message: 'SOS', time: `2026-05-11 00:00:0${id}` },
  })
  const lists: (string | null)[] = []
  const waiting: (() => void)[] = []
  const { all, list } = await eventPlatform(t, 0, {
    onCall: (query) => {
      lists.push(query.get('device_id'))
      const [first, second] = ['1', '2'].map((device) => lists.filter((one) => one === device).length)
      if (second === 2) for (const send of waiting.splice(0)) send()
      return lists.at(-1) === '1' && first === 1 ? new Promise<void>((send) => waiting.push(send)) : undefined
    },
  })
  all.push(row(1, 1))
  const first = list('device_ids=1,2&after_id=1')
  await until(async () => lists.includes('2'))
  all.unshift(row(3, 2), row(2, 1))
  t.same(idsOf((await list('device_ids=1,2&after_id=1')).body), [2, 3])
  t.same(idsOf((await first).body), [])
})

t.test('a late event costs no call that a request does not have: it is in the next response', async (t) => {
  const { all, list } = await eventPlatform(t, 479, { generation: '2.x' })
  all.splice(45, 0, { ...(all[45] as Row), id: 480 })
  const { status, body } = await list('after_id=0')
  t.same([status, body.count], [200, 479])
  t.same(idsOf((await list('after_id=479')).body), [480])
})

t.test('a follower misses no event where others, or a late one, are written while its list is read', async (t) => {
  const row = (id: number): Row => ({
    ...{ id, device_id: 1, type: 'sos', message: 'SOS', time: '2026-05-12 00:00:00' },
  })
  const newest = (count: number) => (all: Row[]) =>
    all.unshift(...Array.from({ length: count }, (_, at) => row(100 + count - at)))
  const bursts: [name: string, afterId: number, write: (all: Row[]) => void][] = [
    ['most of a page of new ones', 0, newest(20)],
    ['a page of new ones', 0, newest(30)],
    [
      'one now and a later one behind the first page',
      100,
      (all) => all.splice(45, 0, row(102)) && all.unshift(row(101)),
    ],
  ]
  const paged = [false, true, ['current_page'], ['current_page', 'per_page'], ['total']] as const
  for (const [[name, afterId, write], hidesPaging] of bursts.flatMap((burst) =>
    paged.map((one) => [burst, one] as const),
  )) {
    let isWritten = false
    const { all, list } = await eventPlatform(t, 100, {
      ...{ generation: '2.x', hidesPaging },
      onCall: (query) => {
        if (query.get('page') !== '2' || isWritten) return
        isWritten = true
        write(all)
      },
    })
    const seen: number[] = []
    for (let poll = 0; poll < 4; poll += 1) {
      const { body } = await list(`after_id=${seen.at(-1) ?? afterId}&limit=200`)
      seen.push(...idsOf(body))
    }
    const wanted = all.map(({ id }) => id).filter((id) => id > afterId)
    t.same(
      seen,
      wanted.toSorted((a, b) => a - b),
      `${name}, ${hidesPaging}`,
    )
  }
})

t.test('a follower comes to the end of a list that has rows without an id', async (t) => {
  const { all, list } = await eventPlatform(t, 60)
  for (const id of [null, undefined]) all.unshift({ ...(all[0] as Row), id: id as unknown as number })
  for (const [afterId, seen] of [
    [60, []],
    [59, [60]],
  ] as const) {
    const { body } = await list(`after_id=${afterId}&limit=1`)
    t.same([idsOf(body), body.count, body.has_more], [seen, seen.length, false], `after ${afterId}`)
  }
})

t.test('a follower of a list without paging costs three calls, also with a row that has no id', async (t) => {
  for (const id of [10, null]) {
    const { all, list, eventCalls } = await eventPlatform(t, 40, { ignoresPaging: true, hidesPaging: true })
    Object.assign(all[30] as Row, { id })
    const { status, body } = await list('after_id=20')
    t.same([status, body.count, eventCalls()], [200, 20, 3])
  }
})
