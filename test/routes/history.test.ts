/** `GET /v1/history/:device_id`. */
import t from 'tap'
import { type Bodies, gatewayOn, someHash } from '../helper.js'
import { only } from '../only.js'
import { historyOf, stamp } from '../platform/faulty.js'
import { days, fleet } from './fleet.js'

const { get, hash, id } = await fleet(t)

t.test('a history of 100,000 points is complete and in order, and other requests do not wait for it', async (t) => {
  const totals = { distance_sum: '111 Km', top_speed: '30 kph', move_duration: '27h 46min', stop_duration: '0s' }
  const get_history = JSON.stringify({ ...historyOf(100_000, { other: 'x'.repeat(100) }), ...totals })
  const bodies = { get_devices: [{ title: 'A', items: [{ id: 1 }] }], get_history }
  const { get, url: base } = await gatewayOn(t, { env: { PLATFORM_TIMEOUT_MS: '60000' } }, bodies)
  t.equal((await get('/v1/devices/1', someHash)).status, 200)
  const headers = { authorization: `Bearer ${someHash}` }
  const large = fetch(`${base}/v1/history/1?from=2026-05-11&to=2026-05-12`, { headers })
  let isPending = true
  void large.finally(() => {
    isPending = false
  })
  const times = [performance.now()]
  while (isPending) {
    await get('/health')
    times.push(performance.now())
  }
  const longest = Math.max(...times.slice(1).map((at, before) => at - (times[before] ?? 0)))
  const total = (times.at(-1) ?? 0) - (times[0] ?? 0)
  // The translation alone takes a quarter of the time; on the event loop it would be one gap.
  t.ok(longest < total / 5, `${times.length} responses, ${longest} of ${total} ms between two of them`)
  const response = await large
  t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  const body = (await response.json()) as { positions: { time: string }[] }
  t.equal(body.positions.length, 100_000)
  t.match(body, { distance_km: 111, move_seconds: 99_960 })
  t.ok(body.positions.every(({ time }, at) => at === 0 || time > (body.positions[at - 1]?.time ?? '')))
  t.match(body.positions[99_999], { time: stamp(99_999), lat: 40.99999, lng: 2, speed: 30, address: null })
})

t.test('a track is GeoJSON, and `positions=false` leaves out the positions only', async (t) => {
  const path = `/v1/history/${id}?${days}`
  // At once: of requests in flight, only equal ones share a call.
  const [{ body: history }, { status, headers, body }, { body: without }] = await Promise.all([
    get(path, hash),
    get(`${path}&format=geojson`, hash),
    get(`${path}&positions=false`, hash),
  ])
  t.same([status, headers.get('content-type')], [200, 'application/geo+json; charset=utf-8'])
  const { positions, ...rest } = history
  t.equal(body.geometry.coordinates.length, positions.length)
  t.same(body.properties, { ...rest, times: positions.map(({ time }: { time: string }) => time) })
  t.same(without, { ...history, positions: [] }, 'no positions')
})

t.test('more days than HISTORY_MAX_DAYS or an unknown value are a 400 that names the parameter', async (t) => {
  const bodies = { get_devices: [{ items: [{ id: 1 }] }], get_history: { status: 0, message: 'No data found' } }
  const { get } = await gatewayOn(t, { env: { HISTORY_MAX_DAYS: '3' } }, bodies)
  for (const [query, param] of [
    ['from=2026-02-27&to=2026-03-01', undefined],
    ['from=2026-02-27&to=2026-03-02', 'to'],
    ['from=1970-01-01&to=9999-12-31', 'to'],
    ['from=2026-02-27&to=2026-02-27&positions=no', 'positions'],
    ['from=2026-02-27&to=2026-02-27&format=kml', 'format'],
  ] as const) {
    const { status, body } = await get(`/v1/history/1?${query}`, someHash)
    t.same([status, body.param], [param ? 400 : 200, param], query)
    if (param === 'to') t.match(body.message, /: the maximum number of days is 3\.$/, 'with any number')
  }
})

t.test("the platform's word that there is no data is an empty history; any other failure is not", async (t) => {
  const bodies: Bodies = { get_devices: [{ title: 'A', items: [{ id: 1 }] }] }
  const { get, log } = await gatewayOn(t, bodies)
  for (const [message, status] of Object.entries({
    'No data found': 200,
    'No history found.': 200,
    'No data plan, contact support': 503,
    'Something went wrong': 503,
  })) {
    bodies.get_history = { status: 0, message }
    const { status: found, body } = await get('/v1/history/1?from=2026-05-11&to=2026-05-11', someHash)
    t.equal(found, status, message)
    if (status === 200) t.match(body, { distance_km: 0, positions: only(), trips: only(), move_duration: '0s' })
  }
  t.notMatch(log(), 'rows skipped')
})
