/** Every read route: its errors, its isolation between accounts, and what a missing permission gets. */
import { deepEqual } from 'node:assert/strict'
import { check } from '@placemarkio/check-geojson'
import fc from 'fast-check'
import t from 'tap'
import { type Answer, type Bodies, Clock, gatewayOn, someHash } from '../helper.js'
import { only } from '../only.js'
import { days, fleet, idsOf } from './fleet.js'

const { get, hash, otherHash, id, foreignId, calls } = await fleet(t, 9)

t.test('an invalid parameter is a 400 that names it', async (t) => {
  const cases: [path: string, param: string][] = [
    [`/v1/history/${id}`, 'from'],
    [`/v1/history/${id}?from=2026-02-30&to=2026-03-01`, 'from'],
    [`/v1/history/${id}?from=2026-05-11&to=11-05-2026`, 'to'],
    [`/v1/history/${id}?from=2026-05-11T00:00:00Z&to=2026-05-12`, 'from'],
    [`/v1/history/${id}?from=2026-05-12&to=2026-05-11`, 'from'],
    ['/v1/events?from=yesterday', 'from'],
    ['/v1/events?to=2026-13-01', 'to'],
    ['/v1/events?from=', 'from'],
    ['/v1/events?from=2026-05-12&to=2026-05-11', 'from'],
    ['/v1/events?device_ids=1,2,3,4,5,6,7,8,9,10,11', 'device_ids'],
    ['/v1/events?device_ids=1&device_id=1', 'device_ids'],
    ['/v1/devices?updated_since=2026-05-12', 'updated_since'],
    ['/v1/geofences?format=kml', 'format'],
  ]
  for (const [path, param] of cases) {
    const { status, body } = await get(path, hash)
    t.same([status, body.error, body.param], [400, 'invalid_request', param], path)
  }
  const { body } = await get('/v1/events?from=yesterday', hash)
  const expected = 'an ISO 8601 date or date-time, such as 2026-05-11 or 2026-05-11T08:30:00Z'
  t.equal(body.message, `\`from\` must be ${expected}.`, 'the message says what is expected')
})

t.test('a 404 names the id as sent, truncated, and never a credential', async (t) => {
  const { get, hash, foreignId, calls } = await fleet(t)
  const key = `gps_live_${'0123456789ab'.repeat(4)}`
  const asSent = ['999999', String(foreignId), '1e3', '0', '-1', '1.0', '007', 'abc', '9'.repeat(20)]
  const rows: [sent: string, named: string][] = [
    ...asSent.map((sent): [string, string] => [sent, sent]),
    ['9'.repeat(99), '9'.repeat(64)],
    [`${'9'.repeat(63)}😀`, '9'.repeat(63)],
    [`x${key}`, 'x…'],
    [hash, '…'],
  ]
  for (const [sent, named] of rows) {
    for (const path of ['devices/ID', 'devices/ID/location', `history/ID?${days}`, 'geofences/ID']) {
      const { status, body } = await get(`/v1/${path.replace('ID', encodeURIComponent(sent))}`, hash)
      const noun = path.startsWith('geofences') ? 'geofence' : 'device'
      t.strictSame([status, body.message], [404, `There is no ${noun} with id ${named}.`], path)
    }
  }
  t.equal(calls.filter((call) => call.includes('get_devices')).length, 2, 'what cannot be an id is not asked for')
})

t.test('any window of devices and events is that part of the complete list, filtered or not', async (t) => {
  const ofDevice = `events?device_id=${id}&from=2026-05-11`
  const filters = ['devices?', 'devices?updated_since=1', ofDevice, 'events?type=overspeed&from=2026-05-11', 'events?']
  const complete = new Map<string, Answer['body']>()
  for (const filter of filters) {
    const { body } = await get(`/v1/${filter}&limit=200`, hash)
    complete.set(filter, body)
    t.ok(body.count > 5 && (filter === 'events?' || body.count === body.data.length), filter)
  }
  const windows = fc.record({
    filter: fc.constantFrom(...filters),
    // Many windows end near the end of a list, some behind it.
    offset: fc.oneof(fc.nat(12), fc.nat(110)),
    limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 90 })),
  })
  await fc.assert(
    fc.asyncProperty(windows, async ({ filter, offset, limit }) => {
      const all = complete.get(filter)
      const [data, has_more] = [all.data.slice(offset, offset + limit), offset + limit < all.count]
      const { body } = await get(`/v1/${filter}&offset=${offset}&limit=${limit}`, hash)
      deepEqual(body, { ...all, offset, limit, has_more, data })
    }),
    { numRuns: 200 },
  )
})

t.test('GeoJSON passes a validator of RFC 7946, and has the geometry of each geofence alone', async (t) => {
  for (const path of ['devices', 'geofences']) {
    const { body, headers } = await get(`/v1/${path}?format=geojson`, hash)
    t.equal(headers.get('content-type'), 'application/geo+json; charset=utf-8')
    check(JSON.stringify(body))
    t.ok(body.features.length > 0 && body.count >= body.features.length)
  }
  const { body } = await get('/v1/geofences?format=geojson&limit=2&offset=1', hash)
  const { body: list } = await get('/v1/geofences?limit=2&offset=1', hash)
  t.same([body.count, body.limit, body.offset, body.has_more], [list.count, 2, 1, true])
  for (const [at, { id, geometry, properties }] of body.features.entries()) {
    const { body: single } = await get(`/v1/geofences/${id}`, hash)
    t.same([geometry, { ...properties, geometry }], [single.geometry, single])
    t.match(single, list.data[at])
  }
})

t.test('`/me` has kind, account and UTC offset of the credential, null where its platform does not tell', async (t) => {
  const me = { credential: 'platform_hash', email: 'fleet@example.com', utc_offset: '+01:00', key: null }
  t.match((await get('/v1/me', hash)).body, me)
  t.equal((await get('/v1/me', otherHash)).body.utc_offset, '+03:00')
  const { get: without } = await gatewayOn(t, { env: { DEMO_TOKEN: 'demo' } }, {})
  t.match(await without('/v1/me', someHash), { status: 200, body: { utc_offset: null } })
  t.match((await without('/v1/me', 'demo')).body, { object: 'account', credential: 'demo', key: null })
})

t.test('no list has a row of another account, in any format, from the platform or from the cache', async (t) => {
  const both = `ids=${id},${foreignId}`
  const devices = [both, 'limit=50', 'updated_since=0'].map((query) => `devices?${query}`)
  const events = ['', '&after_id=0&from=2026-05-12', `&device_${both}`].map((more) => `events?limit=200${more}`)
  const geo = [...devices, 'geofences?limit=50'].map((path) => `${path}&format=geojson`)
  const paths = [...devices, ...events, ...geo, 'geofences', 'alerts', 'services', 'drivers']
  const listed = (credential: string) =>
    Promise.all(paths.map(async (path) => idsOf((await get(`/v1/${path}`, credential)).body)))
  for (const _ of ['platform', 'cache']) {
    // Both accounts read the same URLs at the same time.
    const [mine, theirs] = await Promise.all([listed(hash), listed(otherHash)])
    t.same([mine[0], theirs[0]], [[id], [foreignId]])
    for (const [at, path] of paths.entries()) {
      t.ok(mine[at]?.length && theirs[at]?.length, path)
      const common = mine[at]?.filter((one) => theirs[at]?.includes(one))
      t.same(common, [], path)
    }
  }
})

t.test("another account's geofence or device is unknown, the device without a platform call", async (t) => {
  const [theirs] = (await get('/v1/geofences', otherHash)).body.data
  t.equal((await get(`/v1/geofences/${theirs.id}`, hash)).status, 404)
  await get('/v1/devices', hash)
  const before = calls.length
  for (const more of ['', '&format=geojson', '&positions=false'])
    t.match(await get(`/v1/history/${foreignId}?${days}${more}`, hash), { status: 404, body: { error: 'not_found' } })
  const [one, some] = [`device_id=${foreignId}`, `device_ids=${foreignId},${foreignId + 1}`]
  for (const list of [`services?${one}`, `events?${one}`, `events?${some}`, `events?${some}&after_id=0`])
    t.same((await get(`/v1/${list}`, hash)).body.data, [], list)
  t.same(calls.slice(before), [], 'the cached list is enough')
})

t.test('a permission that the account lacks on the platform is a 403 that names the resource', async (t) => {
  const get_user_data = { email: 'owner@example.com' }
  const bodies = { '*': 403, get_user_data, get_devices: [{ title: 'A', items: [{ id: 1 }] }] }
  const { get } = await gatewayOn(t, bodies)
  for (const resource of ['geofences', 'events', 'history', 'alerts', 'maintenance services', 'drivers']) {
    const path = resource.replace('history', `history/1?${days}`).replace('maintenance ', '')
    const { status, body } = await get(`/v1/${path}`, someHash)
    t.same([status, body.error], [403, 'forbidden'], path)
    t.equal(body.message, `The account has no permission to read ${resource} on the tracking platform.`)
  }
  const { status, body } = await get('/v1/events?from=2026-05-11T00:00:00Z', someHash)
  t.same([status, body.message.includes('to read its time zone on')], [403, true], 'which an offset needs')
})

t.test('a row that the platform repeats is listed and counted once, the first one', async (t) => {
  const rows = [3, '1', 3, 1].map((id, at) => ({ id, name: `Row ${at}` }))
  const { get } = await gatewayOn(t, {
    get_devices: [{ title: 'A', items: [{ id: 1, device_data: { services: rows } }] }],
    get_geofences: { items: { geofences: rows } },
    get_alerts: { items: { alerts: rows } },
    get_user_drivers: { items: { drivers: { data: rows } } },
  })
  for (const list of ['geofences', 'alerts', 'drivers', 'services']) {
    const { body } = await get(`/v1/${list}?limit=1&offset=1`, someHash)
    t.match(body, { count: 2, has_more: false, data: only({ id: 3, name: 'Row 0' }) }, list)
  }
})

t.test('a device row of 100 kB is read once for all drivers and services of its device', async (t) => {
  const [sensors, services] = [2_000, 3_000].map((count) =>
    Array.from({ length: count }, (_, id) => ({ id, type: 't' })),
  )
  const items = Array.from({ length: 110 }, (_, id) => ({ id: id + 1, sensors, services }))
  const rows = Array.from({ length: 10_000 }, (_, id) => ({ id: id + 1, device_id: 1 + (id % 110) }))
  const drivers = rows.map(({ id }) => ({ id, device_id: 1 }))
  const bodies = { get_devices: [{ items }], get_user_drivers: { items: { drivers } }, services: { data: rows } }
  const { get } = await gatewayOn(t, bodies)
  await get('/v1/devices', someHash)
  for (const list of ['drivers', 'services']) {
    const before = process.cpuUsage()
    t.equal((await get(`/v1/${list}`, someHash)).body.count, rows.length)
    t.ok(process.cpuUsage(before).user < 4e6, `${list}: each time would take 20 s`)
  }
})

t.test('health needs no credential, and shows what recent calls saw', async (t) => {
  const bodies: Bodies = { get_devices: [] }
  const [clock, ticks] = [new Clock(), new Clock()]
  const { get } = await gatewayOn(t, { clock: clock.now, ticks: ticks.now }, bodies)
  await get('/v1/devices', someHash)
  clock.advance(-3_600_000) // the system's clock was wrong
  ticks.advance(7_000)
  const components = { platform: 'up', store: 'up' }
  t.match((await get('/health')).body, { status: 'ok', version: '1.0.0', uptime_s: 7, components })
  bodies.get_devices = 502
  await get('/v1/devices', someHash)
  t.match((await get('/health')).body, { status: 'degraded', components: { platform: 'down' } })
})
