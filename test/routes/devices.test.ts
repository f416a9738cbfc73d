/** `GET /v1/devices` and below: lists, single devices, locations, and how long they come from the cache. */
import type { RequestListener } from 'node:http'
import t from 'tap'
import { answers, Clock, gateway, gatewayOn, someHash } from '../helper.js'
import { only } from '../only.js'
import { idsOf } from './fleet.js'

t.test('the demo token shows the fleet of the sandbox: some devices move, one never connected', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now })
  const location = async (id: number) => get(`/v1/devices/${id}/location`, 'demo')
  const { status, body } = await get('/v1/devices?limit=9999&nonsense=1', 'demo')
  t.same([status, body.count, body.data.length, body.limit, body.has_more], [200, 50, 50, 500, false])
  const moving = (await get('/v1/devices?status=moving', 'demo')).body.data
  t.ok(moving.every((device: { status: string }) => device.status === 'moving'))
  for (const device of body.data.slice(0, 5)) {
    const { address, ...single } = (await get(`/v1/devices/${device.id}`, 'demo')).body
    t.same({ ...single, address: null }, device, 'only a single device waits for its address')
    t.match((await location(device.id)).body, { device_id: device.id, lat: device.lat, lng: device.lng })
  }
  const never = body.data.find(({ last_seen }: { last_seen: string | null }) => last_seen === null)
  t.match(never, { lat: null, lng: null, status: 'offline' })
  t.match(await location(never.id), { status: 404, body: { error: 'no_location' } })
  const first = (await location(moving[0].id)).body
  clock.advance(60_000)
  const second = (await location(moving[0].id)).body
  t.not(`${first.lat} ${first.lng}`, `${second.lat} ${second.lng}`, 'within a minute')
  t.ok(second.timestamp > first.timestamp)
})

t.test('devices come from the cache for POSITION_TTL_MS and no longer', async (t) => {
  const clock = new Clock()
  const items = [{ id: 1, lat: 1, lng: 1, time: '2026-05-12 09:00:00', timestamp: 1 }]
  let takesMs = 0
  const get_devices: RequestListener = (_request, response) => {
    clock.advance(takesMs)
    response.end(JSON.stringify([{ title: 'A', items }]))
  }
  const { get, calls } = await gatewayOn(t, { clock: clock.now }, { get_devices })
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
  takesMs = 3_000
  for (const [ms, expected] of [
    [5_001, 4],
    [2_000, 4],
    [1, 5],
  ] as const) {
    clock.advance(ms)
    await get('/v1/devices/1/location', someHash)
    t.equal(lists(), expected, 'counted from the request')
  }
})

t.test('a fleet that stands still keeps its tags while its durations count on, in every format', async (t) => {
  const clock = new Clock()
  const device = { id: 1, lat: 1, lng: 1, online: 'ack', timestamp: 1778501007 }
  Object.assign(device, { stop_duration_sec: 0, idle_duration: '0s', speed: 0 })
  const { get } = await gatewayOn(t, { clock: clock.now }, { get_devices: [{ title: 'A', items: [device] }] })
  const paths = ['', '?limit=3', '?ids=1', '?status=online&format=geojson', '?updated_since=5&format=geojson', '/1']
  const next = async (change: object) => {
    Object.assign(device, change)
    clock.advance(5_001)
    return Promise.all(paths.map((path) => get(`/v1/devices${path}`, someHash)))
  }
  const tags = async (change: object) => (await next(change)).map(({ headers }) => headers.get('etag') ?? '')
  const began = await tags({ stop_duration_sec: 5 })
  t.same(await tags({ stop_duration_sec: 65 }), began)
  const idling = await tags({ idle_duration: '1s' })
  for (const tag of idling) t.notOk(began.includes(tag), 'its engine runs now')
  t.same(await tags({ stop_duration_sec: 100, idle_duration: '1min 5s' }), idling)
  t.match((await next({})).at(-1), { body: { stopped_seconds: 100, idle_seconds: 65 } })
  for (const tag of await tags({ speed: 1 })) t.notOk(idling.includes(tag), 'it moves now')
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
  const { get } = await gatewayOn(t, { clock: new Clock().now }, { get_devices: [{ title: 'A', items }] })
  const rows: [query: string, ids: number[], count: number, limit: number, located: number[]][] = [
    ['ids=5,1,3,1,99', [1, 3, 5], 3, 500, [1]],
    ['ids=3&ids=2', [2, 3], 2, 500, [2]],
    ['ids[]=3&ids%5B%5D=2', [2, 3], 2, 500, [2]],
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
    t.same([idsOf(body), body.count, body.limit], [ids, count, limit], query)
    const { body: geo, headers } = await get(`/v1/devices?${query}&format=geojson`, someHash)
    t.equal(headers.get('content-type'), 'application/geo+json; charset=utf-8')
    t.same([geo.type, geo.count, geo.limit, geo.offset], ['FeatureCollection', count, limit, body.offset])
    t.equal(geo.has_more, body.has_more)
    const shown = body.data.filter(({ id }: { id: number }) => located.includes(id))
    const feature = ({ id, lat, lng, ...rest }: { id: number; lat: number; lng: number }) => ({
      ...{ type: 'Feature', id, geometry: { type: 'Point', coordinates: [lng, lat] } },
      properties: { id, lat, lng, ...rest },
    })
    t.same(geo.features, shown.map(feature))
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

t.test('of a list with long rows no more responses are kept than its memory counts', async (t) => {
  const sensors = Array.from({ length: 30 }, (_, id) => ({ id, type: 'battery', name: `S ${id}`, value: '12.5 V' }))
  const items = Array.from({ length: 20 }, (_, i) => ({ id: i + 1, lat: 1, lng: 2, timestamp: 1, sensors }))
  const options = { clock: new Clock().now, env: { ADDRESS_LOOKUPS_PER_MINUTE: '100' } }
  const { get } = await gatewayOn(t, options, { get_devices: [{ title: 'A', items }], address: 'A street' })
  const addresses = async () => {
    const lists = [50, 51, 52, 53].map(async (limit) => (await get(`/v1/devices?limit=${limit}`, someHash)).body)
    return (await Promise.all(lists)).map(({ data }) => data[0].address)
  }
  t.same(await addresses(), [null, null, null, null])
  t.equal((await get('/v1/devices/1', someHash)).body.address, 'A street')
  // A response that is kept shows the addresses known when it was made.
  const kept = (await addresses()).filter((address) => address === null).length
  t.ok(kept >= 1 && kept < 4, `${kept} of 4 responses`)
})

t.test('a page of so many long rows that it would hold up all other requests is refused', async (t) => {
  const sensor = { type: 'textual', name: 'Temperature', value: '21.5 C' }
  const sensors = Array.from({ length: 800 }, (_, id) => ({ id, ...sensor }))
  const items = Array.from({ length: 200 }, (_, at) => ({ id: at + 1, name: 'Van', sensors }))
  const { get } = await gatewayOn(t, { get_devices: [{ title: 'A', items }] })
  t.equal((await get('/v1/devices?limit=200', someHash)).status, 503)
  t.equal((await get('/v1/devices?limit=100', someHash)).status, 200)
})

t.test('a hash that the platform refuses fails no request of the new hash of its account', async (t) => {
  const newHash = someHash.replace(/...$/, 'new')
  const held: (() => void)[] = []
  const get_devices: RequestListener = (request, response) => {
    const isOld = request.url?.includes(encodeURIComponent(someHash))
    const body = isOld ? 401 : [{ title: 'A', items: [{ id: 1 }] }]
    held.push(() => response.headersSent || answers({ get_devices: body })(request, response))
    // Both lists are requested before the first response; the second has another page.
    if (held.length >= 2) for (const release of held) release()
  }
  const { get } = await gatewayOn(t, { get_devices })
  const both = await Promise.all([someHash, newHash].map((hash) => get('/v1/devices', hash)))
  t.match(both, only({ status: 401 }, { status: 200 }))
})
