/** `GET /v1/events`. */
import type { RequestListener } from 'node:http'
import t from 'tap'
import { eventKinds } from '../../src/resources/event-kind.js'
import { Clock, gatewayOn, someHash } from '../helper.js'
import { only } from '../only.js'
import { eventPlatform } from './event-platform.js'
import { fleet, idsOf } from './fleet.js'

t.test('from and to are the same instant in every UTC offset', async (t) => {
  const { get, hash } = await fleet(t)
  const ids = async (range: string) => idsOf((await get(`/v1/events?limit=200&${range}`, hash)).body)
  // The account's clock is UTC +01:00.
  const wall = await ids('from=2026-05-11T08:00:00&to=2026-05-11T20:00:00')
  const { data } = (await get('/v1/events?limit=200&from=2026-05-11', hash)).body
  const isInside = ({ timestamp }: { timestamp: string }) => /-11 ((0[89]|1\d):|20:00:00)/.test(timestamp)
  t.ok(wall.length > 0 && !data.every(isInside))
  t.same(wall, idsOf({ data, features: data.filter(isInside) }))
  t.same(await ids('from=2026-05-11T07:00:00Z&to=2026-05-11T19:00:00Z'), wall)
  t.same(await ids('from=2026-05-11T12:30:00%2B05:30&to=2026-05-11T14:00:00-05:00'), wall)
  t.same(await ids('from=2026-05-11 08:00:00&to=2026-05-11T20:00'), wall)
  const day = await ids('from=2026-05-11&to=2026-05-11')
  t.same(await ids('from=2026-05-11T00:00:00&to=2026-05-11T23:59:59'), day, 'a date alone is the whole day')
})

t.test('every documented word of a kind that the sandbox has finds events of that kind', async (t) => {
  const { get, hash } = await fleet(t, 20)
  const unseen = ['stop', 'idle', 'move.start', 'driver.changed', 'fuel.filled', 'fuel.stolen', 'power.cut', 'other']
  const found = async (type: string, kind: string) => {
    const { body } = await get(`/v1/events?type=${type}&from=2026-05-04&limit=200`, hash)
    t.same([...new Set(body.data?.map((event: { kind: string }) => event.kind))], [kind], type)
  }
  for (const { kind, aliases } of eventKinds)
    if (!unseen.includes(kind)) for (const type of [kind, ...aliases]) await found(type, kind)
  const [entered] = (await get('/v1/events?type=geofence.enter&limit=1', hash)).body.data
  const geofences = (await get('/v1/geofences', hash)).body.data
  const geofence = geofences.find(({ id }: { id: number }) => id === entered.geofence.id)
  t.match(geofence, { name: entered.geofence.name })
  t.ok(idsOf((await get('/v1/alerts', hash)).body).includes(entered.alert_id))
})

t.test('where event rows lack the name of their device, it is requested once, and not the whole list', async (t) => {
  const clock = new Clock()
  const row = { device_id: 5, message: 'SOS', time: '2026-05-11 08:00:00' }
  const data = [
    { ...row, id: 2, device_name: 'Van' },
    { ...row, id: 1, device_name: '-' },
  ]
  const get_devices = [{ items: [{ id: 5, name: 'Van 12' }] }]
  const get_events: RequestListener = (_, response) => {
    // What is known of the device expires meanwhile.
    clock.advance(6_000)
    response.end(JSON.stringify({ items: { data, total: 2 } }))
  }
  const { get, calls } = await gatewayOn(t, { clock: clock.now }, { get_events, get_devices })
  t.match((await get('/v1/events?device_id=5', someHash)).body.data, only({ device: 'Van' }, { device: 'Van 12' }))
  const [call = '', ...others] = calls.filter((call) => call.includes('get_devices'))
  t.match(call, 'id=5')
  t.same(others, [])
})

t.test('rows that are no events end no list early, and no empty page says that more follow', async (t) => {
  const event = (id: number) => ({ id, device_id: 1, device_name: 'Van 1', type: 'sos', time: '2026-05-12 09:00:00' })
  const data = [event(9), { ...event(8), id: 0 }, event(7), event(6), { ...event(5), id: null }]
  const items = { total: 5, per_page: 50, current_page: 1, last_page: 1, data }
  const bodies = { get_devices: [{ title: 'A', items: [{ id: 1 }] }], get_events: { status: 1, items } }
  const { get } = await gatewayOn(t, bodies)
  for (const [query, expected] of [
    ['limit=2', [9, 7, 6]],
    ['limit=2&type=alarm.triggered', [9, 7, 6]],
    ['limit=2&after_id=6', [7, 9]],
    ['after_id=9', []],
  ] as const) {
    const found: number[] = []
    for (let offset = 0, hasMore = true; hasMore; ) {
      const { body } = await get(`/v1/events?${query}&offset=${offset}`, someHash)
      found.push(...idsOf(body))
      offset += body.limit
      hasMore = body.has_more
      t.equal(hasMore, offset < body.count, `${query}: up to ${offset} of ${body.count}`)
    }
    t.same(found, expected, query)
  }
})

t.test('words that the platform lists, in capitals too, select their events without reading all others', async (t) => {
  const types = [{ type: 'SERVICE' }, { type: 'Service_Expired' }]
  const bodies = { 'call_actions/event_types': { types } }
  const { all, calls, list, eventCalls } = await eventPlatform(t, 20_000, { bodies })
  const wanted = all.filter(({ type }) => type === 'service').map(({ id }) => id)
  const { status, body } = await list('type=Maintenance_Due&limit=20')
  t.same([status, idsOf(body), body.count], [200, wanted.slice(0, 20), wanted.length])
  t.equal(eventCalls(), 2)
  t.same(idsOf((await list(`type=maintenance_due&after_id=${wanted[1]}`)).body), wanted.slice(0, 1))
  t.notMatch(calls.join(), 'event_types')
  t.equal(eventCalls(), 3, 'a poll is one call for each word, and one to follow')
})

t.test('two words for each of eight devices are read separately, within the calls of one request', async (t) => {
  const items = Array.from({ length: 8 }, (_, at) => ({ id: at + 1, name: `Van ${at + 1}` }))
  const { all, list } = await eventPlatform(t, 20_000, { bodies: { get_devices: [{ title: 'A', items }] } })
  const wanted = all.filter(({ type }) => type === 'zone_in' || type === 'geofence_in').map(({ id }) => id)
  const query = `type=geofence_in&device_ids=${items.map(({ id }) => id)}`
  const { status, body } = await list(`${query}&offset=2700&limit=20`)
  t.same([status, idsOf(body)], [200, wanted.slice(2_700, 2_720)])
  t.same(idsOf((await list(`${query}&after_id=${wanted[2]}`)).body), [wanted[1], wanted[0]], 'one more call to follow')
})
