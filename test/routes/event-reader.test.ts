/** Reading the events that pass all filters, from platforms that filter, page and time events in their own ways. */
import t from 'tap'
import { eventPlatform, type Row } from './event-platform.js'
import { idsOf } from './fleet.js'

for (const generation of ['2.x', '3.x'] as const) {
  t.test(`platform ${generation}: a type, kind or alias selects exactly its events (N35)`, async (t) => {
    const { all, list } = await eventPlatform(t, 200, { generation })
    const isNew = generation === '3.x'
    for (const [sent, ...selected] of [
      ['zone_in', 'Zone in'],
      ['geofence.enter', 'Zone in'],
      ['Speeding', 'Overspeed (90 kph)'],
      ['speed_exceeded', 'Overspeed (90 kph)'],
      ['harsh_brake', 'Harsh braking'],
      ['harsh_accel'],
      ['maintenance_due', ...(isNew ? ['Service'] : [])],
      ['driver.changed', ...(isNew ? ['Driver'] : [])],
      ['alarm.triggered', 'SOS', ...(isNew ? [] : ['Driver', 'Service', 'Stop', 'In', 'Cut'])],
      ['geofence_in', 'Zone in', ...(isNew ? ['In'] : [])],
      ['teleport'],
    ] as const) {
      const wanted = all.filter(({ message }) => (selected as readonly string[]).includes(message)).map(({ id }) => id)
      const { body } = await list(`type=${sent}&limit=10&offset=5`)
      t.same([idsOf(body), body.count], [wanted.slice(5, 15), wanted.length], sent)
      const { body: end } = await list(`type=${sent}&offset=1000`)
      t.same([idsOf(end), end.count], [[], wanted.length], `${sent} beyond the end`)
      const devices = all.filter(({ device_id }) => device_id === 2 || device_id === 3).map(({ id }) => id)
      const some = await list(`type=${sent}&device_ids=3,2&limit=10`)
      t.same(idsOf(some.body), wanted.filter((id) => devices.includes(id)).slice(0, 10), `${sent} of two devices`)
    }
    const one = await list('type=zone_in&limit=1')
    t.equal(one.body.count, all.filter(({ message }) => message === 'Zone in').length, 'also where one row fits')
    t.match(one.body.data[0], { device: 'Van 1', type: 'zone_in', kind: 'geofence.enter' })
  })

  t.test(`platform ${generation}: one request costs at most 20 calls, or says how to narrow it`, async (t) => {
    const count = generation === '3.x' ? 30_000 : 3_000
    const { list, calls } = await eventPlatform(t, count, { generation })
    const statuses = new Set<number>()
    for (const query of [
      // The first request of an account has the most other calls.
      'type=zone_in&device_id=1&limit=200&from=2026-01-01T00:00:00Z',
      ...['type=zone_in&limit=1', 'type=other', 'type=harsh_brake', 'limit=200'],
      ...['after_id=0', `after_id=${count - 1_000}`],
      ...['limit=200', `offset=${count / 4 - 500}`, 'type=alarm.triggered'].map((more) => `device_ids=1,2,3,4&${more}`),
    ]) {
      calls.length = 0
      const { status, body } = await list(query)
      statuses.add(status)
      t.ok(calls.length <= 20, `${query}: ${calls.length} calls`)
      const advice = query.startsWith('after')
        ? { param: 'to', message: /: narrow it with `to` or `device_id`\.$/ }
        : { param: 'from', message: /narrow .+ `limit`/ }
      if (status !== 200) t.match([status, body], [400, { error: 'invalid_request', ...advice }])
    }
    t.same(statuses, new Set([200, 400]))
  })
}

t.test('where the calls are used up, the rows that were read are the first of a window, if they fill it', async (t) => {
  const { all, list, calls } = await eventPlatform(t, 3_000, { generation: '2.x' })
  const wanted = all.filter(({ message }) => message === 'Zone in').map(({ id }) => id)
  const { status, body } = await list('type=zone_in&limit=20&offset=10')
  t.same([status, idsOf(body), body.has_more], [200, wanted.slice(10, 30), true])
  t.ok(body.count > 30 && body.count < wanted.length)
  t.ok(calls.length <= 20)
  t.equal((await list('type=zone_in&limit=200')).status, 400)
})

t.test('where the calls are used up, no unread event is counted but one behind a full window', async (t) => {
  for (const [count, query, least, most, calls] of [
    [800, 'limit=50', 800, 800, 16],
    [3_200, 'device_ids=1,2,3,4&limit=200', 2_800, 3_200, 16],
    [16_000, 'type=other&limit=10', 1_777, 1_777, 16],
    // The last one that is read belongs to the window. One call is for the list of types.
    [16_000, 'type=maintenance_due&limit=200&offset=1467', 1_668, 1_668, 15],
  ] as const) {
    const { list, eventCalls } = await eventPlatform(t, count, { hidesPaging: true })
    const { body } = await list(query)
    t.equal(eventCalls(), calls, query)
    t.ok(body.count >= least && body.count <= most, `${query}: ${body.count}`)
    t.same([body.data.length, body.has_more], [body.limit, true], query)
  }
})

const ten = Array.from({ length: 10 }, (_, at) => at + 1)
const bodies = { get_devices: [{ title: 'A', items: ten.map((id) => ({ id, name: `Van ${id}` })) }] }

t.test('a filter that the platform ignores leaves calls for reading without it', async (t) => {
  for (const [query, hidesPaging, calls] of [
    ['device_id=3&limit=5', true, 4],
    ['device_id=3&limit=200', true, 4],
    [`device_ids=${ten}&limit=5`, false, 11],
  ] as const) {
    const platform = await eventPlatform(t, hidesPaging ? 2_000 : 900, { ignoresDevice: true, hidesPaging, bodies })
    const { status, body } = await platform.list(query)
    const wanted = platform.all.filter(({ device_id }) => !hidesPaging || device_id === 3).map(({ id }) => id)
    t.same([status, body.count, idsOf(body)], [200, wanted.length, wanted.slice(0, body.limit)], query)
    t.equal(platform.eventCalls(), calls, query)
  }
})

t.test('of several lists, no row is in a window before one that the calls did not reach', async (t) => {
  const { all, list } = await eventPlatform(t, 6_000, { generation: '2.x' })
  const ofOneDevice = all.splice(0, 4_000).filter(({ device_id }) => device_id !== 1)
  const older = all.filter(({ device_id, message }) => device_id === 1 && message === 'Zone in').slice(0, 20)
  all.splice(0, all.length, ...ofOneDevice, ...older)
  // Time decides, not the id.
  for (const row of all) row.id = 10_000 - row.id
  const wanted = all.filter(({ device_id, message }) => device_id < 3 && message === 'Zone in').map(({ id }) => id)
  const statuses = new Set<number>()
  for (let limit = 20; limit <= 60; limit += 10) {
    const { status, body } = await list(`type=zone_in&device_ids=1,2&limit=${limit}`)
    statuses.add(status)
    if (status === 200) t.same(idsOf(body), wanted.slice(0, limit))
  }
  t.same(statuses, new Set([200, 400]))
})

t.test('the windows of several lists have each event once, in whatever order the platform has them', async (t) => {
  const { all, list } = await eventPlatform(t, 120)
  const sent = [...all]
  const times = sent.map(({ time }) => time)
  const orders: Record<string, (at: number) => number> = {
    'by time, then by the lower id': (at) => at - (at % 6),
    'by id, with late events': (at) => (at % 5 === 0 ? Math.min(at + 17, 119) : at),
    'by id, with all in reverse': (at) => 119 - at,
  }
  for (const [order, timeOf] of Object.entries(orders)) {
    for (const [at, row] of sent.entries()) Object.assign(row, { id: at + 1, time: times[timeOf(at)] })
    if (order.startsWith('by id')) for (const [at, row] of sent.entries()) row.id = 120 - at
    for (const query of ['device_ids=1,2,3', 'type=geofence.enter']) {
      const whole = idsOf((await list(`${query}&limit=200`)).body)
      const windows: number[] = []
      for (let offset = 0; offset < whole.length; offset += 7)
        windows.push(...idsOf((await list(`${query}&limit=7&offset=${offset}`)).body))
      t.same(windows.toSorted(), whole.toSorted(), `${query}, ${order}`)
    }
  }
})

t.test('where `device_id` is ignored, each event comes once, and no other unless rows hide their device', async (t) => {
  for (const hidden of ['none', 'some', 'all']) {
    const hidesDevice = hidden === 'all'
    const { all, list } = await eventPlatform(t, 90, { generation: '2.x', ignoresDevice: true, hidesDevice })
    if (hidden === 'some') for (const row of all) if (row.id % 7 === 0) Object.assign(row, { device_id: null })
    const ids = (devices: number[], selects = (_row: Row) => true) =>
      all.filter((row) => selects(row) && (hidesDevice || devices.includes(row.device_id))).map(({ id }) => id)
    const both = ids([2, 3])
    const rows: [query: string, wanted: number[], count?: number][] = [
      ['device_id=2&limit=200', ids([2])],
      ['device_ids=2,3&limit=200', both],
      ['device_ids=2,3&limit=10&offset=20', both.slice(20, 30), both.length],
      ['device_ids=2,3&limit=200&type=zone_in', ids([2, 3], ({ message }) => message === 'Zone in')],
      ['device_ids=2,3&limit=200&after_id=50', ids([2, 3], ({ id }) => id > 50).reverse()],
    ]
    for (const [query, wanted, count = wanted.length] of rows) {
      const { body } = await list(query)
      t.same([idsOf(body), body.count], [wanted, count], query)
    }
  }
})

t.test('a list costs no more calls than it needs', async (t) => {
  const { list, eventCalls } = await eventPlatform(t, 2_000, { bodies })
  for (const [query, expected] of [
    ['type=teleport', 1],
    ['limit=10&offset=5', 1],
    [`type=geofence_in&device_ids=${ten}`, 10],
    ['after_id=1850', 1],
    ['after_id=1000', 3],
  ] as const) {
    t.equal((await list(query)).status, 200)
    t.equal(eventCalls(), expected, query)
  }
})

t.test('only events that pass the filter are counted, also where all of the window do', async (t) => {
  const { all, list } = await eventPlatform(t, 540)
  const [, oldest] = all.filter(({ type }) => type === 'custom').toReversed()
  Object.assign(oldest as Row, { message: 'Door opened' })
  const { body } = await list('type=harsh_brake&limit=5')
  t.same([body.count, body.data.length], [59, 5], 'of a word that several kinds share')
  const ignoring = await eventPlatform(t, 200, { ignoresDevice: true, hidesPaging: true })
  for (const [at, row] of ignoring.all.entries()) row.device_id = at < 60 ? 3 : 1
  t.equal((await ignoring.list('device_id=3&limit=5')).body.count, 60, 'which the platform ignores')
})

t.test('without a list of types, or with one of no use, all events are read for those of several words', async (t) => {
  for (const types of [404, 500, [], {}, { types: [{ type: 'zone_in' }, { type: 7 }, {}] }, '<html>']) {
    const { all, list, calls } = await eventPlatform(t, 70, { bodies: { 'call_actions/event_types': types } })
    const wanted = all.filter(({ type }) => type === 'driver').map(({ id }) => id)
    t.same(idsOf((await list('type=driver.changed')).body), wanted, JSON.stringify(types))
    calls.length = 0
    await list('type=maintenance_due')
    t.ok(calls.length <= 3, 'asked once an account, unless it fails')
  }
})
