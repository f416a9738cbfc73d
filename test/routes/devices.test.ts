/** `GET /v1/devices` and below: lists, single devices, locations, and how long they come from the cache. */
import t from 'tap'
import { answers, Clock, gateway, platform, sandbox, someHash } from '../helper.js'
import { fleet } from './fleet.js'

t.test('the demo token lists the whole sandbox fleet, with some devices moving', async (t) => {
  const { get } = await gateway(t)
  const { status, body } = await get('/v1/devices', 'demo')
  t.equal(status, 200)
  t.equal(body.count, 50)
  t.equal(body.data.length, 50)
  t.equal(body.has_more, false)
  const ids = body.data.map(({ id }: { id: number }) => id)
  t.same(
    ids,
    [...ids].sort((a, b) => a - b),
    'by id',
  )
  const moving = await get('/v1/devices?status=moving', 'demo')
  t.ok(moving.body.count >= 5)
  t.ok(moving.body.data.every(({ status }: { status: string }) => status === 'moving'))
})

t.test('the location of a moving device changes within a minute', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now })
  const { body } = await get('/v1/devices?status=moving&limit=1', 'demo')
  const { id } = body.data[0]
  const first = (await get(`/v1/devices/${id}/location`, 'demo')).body
  clock.advance(60_000)
  const second = (await get(`/v1/devices/${id}/location`, 'demo')).body
  t.not(`${first.lat} ${first.lng}`, `${second.lat} ${second.lng}`)
  t.ok(second.timestamp > first.timestamp)
})

t.test('a single device equals its list item, and its location agrees with it', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now })
  const { body } = await get('/v1/devices', 'demo')
  for (const device of body.data.slice(0, 5)) {
    const { address, ...single } = (await get(`/v1/devices/${device.id}`, 'demo')).body
    // Only a single device waits for its address.
    t.same({ ...single, address: null }, device)
    const { body: location } = await get(`/v1/devices/${device.id}/location`, 'demo')
    t.same([location.device_id, location.lat, location.lng], [device.id, device.lat, device.lng])
  }
})

t.test('a device that never connected is listed without a position, and its location is no_location', async (t) => {
  const { get } = await gateway(t)
  const { body } = await get('/v1/devices', 'demo')
  const never = body.data.find(({ last_seen }: { last_seen: string | null }) => last_seen === null)
  t.same([never.lat, never.lng, never.status], [null, null, 'offline'])
  const { status, body: error } = await get(`/v1/devices/${never.id}/location`, 'demo')
  t.same([status, error.error], [404, 'no_location'])
})

t.test('pages of a list add up to the list, and a limit above the maximum is lowered to it', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now })
  const whole = (await get('/v1/devices', 'demo')).body.data
  const tiles = await Promise.all([0, 20, 40].map((offset) => get(`/v1/devices?limit=20&offset=${offset}`, 'demo')))
  t.same(
    tiles.flatMap(({ body }) => body.data),
    whole,
  )
  t.same(
    tiles.map(({ body }) => body.has_more),
    [true, true, false],
  )
  const lowered = (await get('/v1/devices?limit=9999&nonsense=1', 'demo')).body
  t.same([lowered.limit, lowered.count], [500, 50])
})

t.test('an invalid parameter is a 400 that names it', async (t) => {
  const { get } = await gateway(t)
  const bad: Record<string, string[]> = {
    limit: ['0', '-1', '1e3', '%205', '1.5', '', 'ten', '99999999999999999999x', '5&limit=6'],
    offset: ['-1', 'x', '1e1', '0x10', '9'.repeat(30)],
    status: ['driving', '', 'ONLINE'],
    ids: ['', 'x', '0', '1,,2', '1;2', '1%2C-2', '1&ids='],
    updated_since: ['', '-1', '2026-05-12', '1.5'],
    format: ['', 'kml', 'GeoJSON', 'geojson&format=json'],
  }
  for (const [param, values] of Object.entries(bad)) {
    for (const value of values) {
      const { status, body } = await get(`/v1/devices?${param}=${value}`, 'demo')
      t.same([status, body.error, body.param], [400, 'invalid_request', param], `${param}=${value}`)
    }
  }
})

t.test('an id that is unknown, of another account or no id at all is a 404 that names it as sent', async (t) => {
  const { url, hashes, calls, accounts } = await sandbox(t)
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const foreign = String(accounts[1]?.firstDeviceId)
  for (const id of [
    '999999999',
    foreign,
    '0',
    '-1',
    '1e3',
    'abc',
    '1.0',
    '007',
    '99999999999999999999',
    'x'.repeat(500),
  ]) {
    const { status, body } = await get(`/v1/devices/${id}`, hashes[0])
    t.same([status, body.error], [404, 'not_found'], id)
    t.match(body.message, id.slice(0, 64))
    t.ok(body.message.length < 120)
  }
  t.equal(calls.filter((call) => call.includes('get_devices')).length, 2, 'what cannot be an id is not asked for')
})

t.test('a credential sent in place of an id is not repeated', async (t) => {
  const { get } = await gateway(t)
  for (const secret of [`gps_live_${'ab12'.repeat(12)}`, someHash]) {
    const { status, body } = await get(`/v1/devices/${encodeURIComponent(secret)}`, 'demo')
    t.equal(status, 404)
    t.notMatch(body.message, secret.slice(9, 30))
  }
})

t.test('devices come from the cache for POSITION_TTL_MS and no longer', async (t) => {
  const clock = new Clock()
  const { url, calls } = await platform(
    t,
    answers({
      get_devices: [{ title: 'A', items: [{ id: 1, lat: 1, lng: 1, time: '2026-05-12 09:00:00', timestamp: 1 }] }],
    }),
  )
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  const lists = () => calls.filter((call) => call.includes('get_devices')).length
  await Promise.all(Array.from({ length: 25 }, () => get('/v1/devices', someHash)))
  t.equal(lists(), 2, 'many waiting share one list, whose second page is requested once')
  for (const path of ['/v1/devices', '/v1/devices/1', '/v1/devices/1/location', '/v1/devices/2'])
    await get(path, someHash)
  t.equal(lists(), 2, 'a fresh list serves list, device and location')
  clock.advance(4_999)
  await get('/v1/devices/1/location', someHash)
  t.equal(lists(), 2)
  clock.advance(2)
  await get('/v1/devices/1/location', someHash)
  t.equal(lists(), 3)
  t.match(calls.at(-1), /[?&]id=1(&|$)/, 'a single device without a fresh list costs a small call')
})

t.test('rows that are no devices are skipped and reported, never the whole list', async (t) => {
  const items = [{ id: 1 }, null, { name: 'no id' }, { id: 'x' }, { id: '2' }]
  const { url } = await platform(t, answers({ get_devices: [{ title: 'A', items }] }))
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url } })
  const { body } = await get('/v1/devices', someHash)
  t.same(
    body.data.map(({ id }: { id: number }) => id),
    [1, 2],
  )
  t.match(log(), '"action":"get_devices","rows":')
})

t.test('`ids` and `updated_since` select devices, as JSON and as GeoJSON, with any status and page', async (t) => {
  const seconds = (age: number) => Date.UTC(2026, 4, 12, 9, 30) / 1000 - age
  const place = { lat: 48.2, lng: 16.3, online: 'ack' }
  const items = [
    { id: 1, ...place, timestamp: seconds(900) },
    { id: 2, ...place, timestamp: seconds(900), acktimestamp: seconds(60) },
    { id: 3, online: 'ack', timestamp: seconds(30) },
    { id: 4, ...place, timestamp: 0, device_data: { traccar: { time: '2026-05-12 09:29:00' } } },
    { id: 5, online: 'offline' },
  ]
  const { url } = await platform(t, answers({ get_devices: [{ title: 'A', items }] }))
  const { get } = await gateway(t, { clock: new Clock().now, env: { PLATFORM_URL: url } })
  const rows: [query: string, ids: number[], count: number, limit: number, located: number[]][] = [
    ['ids=5,1,3,1,99', [1, 3, 5], 3, 500, [1]],
    ['ids=3&ids=2', [2, 3], 2, 500, [2]],
    ['ids=5,4,1&limit=2&offset=1', [4, 5], 3, 2, [4]],
    ['ids=99', [], 0, 500, []],
    [`updated_since=${seconds(60)}`, [2, 3, 4], 3, 50, [2, 4]],
    [`updated_since=${seconds(59)}`, [3], 1, 50, []],
    ['updated_since=0', [1, 2, 3, 4, 5], 5, 50, [1, 2, 4]],
    [`ids=1,2,5&updated_since=${seconds(900)}&status=online`, [1, 2], 2, 500, [1, 2]],
    ['status=offline', [5], 1, 50, []],
  ]
  for (const [query, ids, count, limit, located] of rows) {
    const { body } = await get(`/v1/devices?${query}`, someHash)
    t.same([body.data.map(({ id }: { id: number }) => id), body.count, body.limit], [ids, count, limit], query)
    const { body: geo, headers } = await get(`/v1/devices?${query}&format=geojson`, someHash)
    t.match(headers.get('content-type'), /^application\/geo\+json/)
    t.same([geo.type, geo.count, geo.limit, geo.offset], ['FeatureCollection', count, limit, body.offset])
    t.equal(geo.has_more, body.has_more)
    t.same(
      geo.features,
      body.data
        .filter(({ id }: { id: number }) => located.includes(id))
        .map((properties: { id: number; lat: number; lng: number }) => {
          const { id, lat, lng } = properties
          return { type: 'Feature', id, geometry: { type: 'Point', coordinates: [lng, lat] }, properties }
        }),
    )
  }
})

t.test('500 long ids fit into a URL, one more is a 400 that names the parameter', async (t) => {
  const { get } = await gateway(t)
  const ids = Array.from({ length: 501 }, (_, at) => 10 ** 14 + at)
  const { status, body } = await get(`/v1/devices?ids=${ids.slice(1).join(',')}`, 'demo')
  t.same([status, body.count], [200, 0])
  const tooMany = Array.from({ length: 501 }, (_, at) => at + 1).join(',')
  t.match((await get(`/v1/devices?ids=${tooMany}`, 'demo')).body, { error: 'invalid_request', param: 'ids' })
})

t.test('no parameter or format shows a device of another account', async (t) => {
  const { get, hash, otherHash, id, foreignId } = await fleet(t, 3)
  const idsOf = async (query: string, credential: string): Promise<number[]> => {
    const { body } = await get(`/v1/devices?${query}`, credential)
    return (body.data ?? body.features).map((item: { id: number }) => item.id)
  }
  for (const format of ['json', 'geojson']) {
    const ids = `ids=${id},${foreignId}&format=${format}`
    // Both accounts read the same URL, twice: from the platform and from the cache.
    for (const _ of [1, 2]) {
      t.same(await idsOf(ids, hash), [id])
      t.same(await idsOf(ids, otherHash), [foreignId])
      const [mine, theirs] = [await idsOf(`format=${format}`, hash), await idsOf(`format=${format}`, otherHash)]
      t.ok(mine.includes(id) && theirs.includes(foreignId))
      t.same(
        mine.filter((one) => theirs.includes(one)),
        [],
      )
      const since = `updated_since=0&format=${format}`
      t.same(await idsOf(since, hash), mine)
      t.same(await idsOf(since, otherHash), theirs)
    }
  }
})
