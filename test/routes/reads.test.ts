/** Every read resource through the whole chain: what it shows, what it refuses, and that no answer of a platform can break it. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { errorTable } from '../../src/errors.js'
import { Alert } from '../../src/resources/alert.js'
import { Device } from '../../src/resources/device.js'
import { Driver } from '../../src/resources/driver.js'
import { Event } from '../../src/resources/event.js'
import { Geofence, GeofenceDetail } from '../../src/resources/geofence.js'
import { History } from '../../src/resources/history.js'
import { ListOf } from '../../src/resources/list.js'
import { Location } from '../../src/resources/location.js'
import { MaintenanceService } from '../../src/resources/maintenance.js'
import { Me } from '../../src/resources/me.js'
import { answers, Clock, type Gateway, gateway, platform, sandbox, someHash } from '../helper.js'

const clock = new Clock(Date.UTC(2026, 4, 12, 9, 30))

/** A gateway on a sandbox of few vehicles, and the ids of one of them. */
async function fleet(t: Test, devices = 6) {
  const stand = await sandbox(t, { clock: clock.now, devices })
  const { get, log } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: stand.url } })
  const [hash = '', other = ''] = stand.hashes
  const [own, foreign] = stand.accounts
  return {
    get,
    log,
    hash,
    other,
    calls: stand.calls,
    id: own?.firstDeviceId ?? 0,
    foreign: foreign?.firstDeviceId ?? 0,
  }
}

t.test('every resource of the sandbox is in the documented shape, with nothing beyond it', async (t) => {
  const { get, hash, id } = await fleet(t, 50)
  const [geofence] = (await get('/v1/geofences', hash)).body.data
  const shapes: [path: string, schema: TSchema][] = [
    ['/v1/devices', ListOf(Device)],
    [`/v1/devices/${id}`, Device],
    [`/v1/devices/${id}/location`, Location],
    ['/v1/geofences', ListOf(Geofence)],
    [`/v1/geofences/${geofence.id}`, GeofenceDetail],
    ['/v1/events?limit=200', ListOf(Event)],
    [`/v1/history/${id}?from=2026-05-11&to=2026-05-12`, History],
    ['/v1/alerts', ListOf(Alert)],
    ['/v1/services', ListOf(MaintenanceService)],
    ['/v1/drivers', ListOf(Driver)],
    ['/v1/me', Me],
  ]
  for (const [path, schema] of shapes) {
    const { status, body } = await get(path, hash)
    t.equal(status, 200, path)
    t.ok(Compile(schema).Check(body), path)
    if (body.object === 'list') t.ok(body.count > 0, `${path} is not empty`)
  }
})

t.test('the account behind each kind of credential is told', async (t) => {
  const { get } = await gateway(t, { clock: clock.now })
  t.match((await get('/v1/me', 'demo')).body, { object: 'account', credential: 'demo', key: null })
  const { get: own, hash } = await fleet(t)
  t.match((await own('/v1/me', hash)).body, { credential: 'platform_hash', email: 'fleet@example.com', key: null })
})

t.test("another account's geofence, device or driver is unknown, and the platform is not asked about it", async (t) => {
  const { get, hash, other, foreign, calls } = await fleet(t)
  const [theirs] = (await get('/v1/geofences', other)).body.data
  t.equal((await get(`/v1/geofences/${theirs.id}`, hash)).status, 404)
  await get('/v1/devices', hash)
  const before = calls.length
  t.equal((await get(`/v1/history/${foreign}?from=2026-05-11&to=2026-05-11`, hash)).status, 404)
  t.same((await get(`/v1/events?device_id=${foreign}`, hash)).body.data, [])
  t.same((await get(`/v1/services?device_id=${foreign}`, hash)).body.data, [])
  t.same(calls.slice(before), [], 'the list in memory could tell')
  const names = (await get('/v1/drivers', other)).body.data.map(({ id }: { id: number }) => id)
  t.notOk((await get('/v1/drivers', hash)).body.data.some(({ id }: { id: number }) => names.includes(id)))
})

t.test('a parameter that cannot be read is a 400 that names it', async (t) => {
  const { get, hash, id } = await fleet(t)
  const cases: [path: string, param: string][] = [
    [`/v1/history/${id}`, 'from'],
    [`/v1/history/${id}?from=2026-05-11`, 'to'],
    [`/v1/history/${id}?from=2026-02-30&to=2026-03-01`, 'from'],
    [`/v1/history/${id}?from=2026-05-11&to=11-05-2026`, 'to'],
    [`/v1/history/${id}?from=2026-05-11T00:00:00Z&to=2026-05-12`, 'from'],
    [`/v1/history/${id}?from=2026-05-12&to=2026-05-11`, 'from'],
    ['/v1/events?from=yesterday', 'from'],
    ['/v1/events?to=2026-13-01', 'to'],
    ['/v1/events?from=2026-05-12&to=2026-05-11', 'from'],
    ['/v1/events?device_id=x', 'device_id'],
    ['/v1/events?device_id=1&device_id=2', 'device_id'],
    ['/v1/events?limit=0', 'limit'],
    ['/v1/services?device_id=-1', 'device_id'],
    ['/v1/drivers?offset=-1', 'offset'],
  ]
  for (const [path, param] of cases) {
    const { status, body } = await get(path, hash)
    t.same([status, body.error, body.param], [400, 'invalid_request', param], path)
  }
})

t.test('any window of devices and events is that part of the whole list, under any filter', async (t) => {
  const { get, hash, id } = await fleet(t, 4)
  const filters = [
    '/v1/devices?',
    '/v1/devices?status=online',
    '/v1/events?from=2026-05-11',
    `/v1/events?device_id=${id}&from=2026-05-01&to=2026-05-09T12:00:00Z`,
    '/v1/events?type=ignition_on&from=2026-05-05',
    '/v1/events?type=nothing_of_the_kind',
  ]
  const whole = new Map<string, { id: number }[]>()
  for (const filter of filters) whole.set(filter, await everything(get, `${filter}&limit=200`, hash))
  t.ok((whole.get(filters[3] ?? '')?.length ?? 0) > 50)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...filters),
      fc.nat({ max: 250 }),
      fc.integer({ min: 1, max: 220 }),
      async (filter, offset, limit) => {
        const all = whole.get(filter) ?? []
        const { body } = await get(`${filter}&limit=${limit}&offset=${offset}`, hash)
        const applied = filter.startsWith('/v1/events') ? Math.min(limit, 200) : limit
        t.same(body.data, all.slice(offset, offset + applied))
        t.same([body.count, body.limit, body.offset], [all.length, applied, offset])
        t.equal(body.has_more, offset + applied < all.length)
      },
    ),
    { numRuns: 1000 },
  )
})

/** The concatenated windows of a list. */
async function everything(get: Gateway['get'], path: string, hash: string): Promise<{ id: number }[]> {
  const items: { id: number }[] = []
  for (;;) {
    const { body } = await get(`${path}&offset=${items.length}`, hash)
    items.push(...body.data)
    if (!body.has_more) return items
  }
}

t.test('from and to mean the same instant whatever offset they are written in', async (t) => {
  const { get, hash } = await fleet(t)
  const ids = async (range: string) =>
    (await get(`/v1/events?limit=200&${range}`, hash)).body.data.map(({ id }: { id: number }) => id)
  // The account's clock is UTC +01:00.
  const wall = await ids('from=2026-05-11T08:00:00&to=2026-05-11T20:00:00')
  t.ok(wall.length > 0)
  t.same(await ids('from=2026-05-11T07:00:00Z&to=2026-05-11T19:00:00Z'), wall)
  t.same(await ids('from=2026-05-11T12:30:00%2B05:30&to=2026-05-11T14:00:00-05:00'), wall)
  t.same(await ids('from=2026-05-11 08:00:00&to=2026-05-11T20:00'), wall)
  const day = await ids('from=2026-05-11&to=2026-05-11')
  t.same(await ids('from=2026-05-11T00:00:00&to=2026-05-11T23:59:59'), day, 'a date alone is its whole day')
})

const metresPerDegree = 111_195

/** Metres between two positions, near enough for neighbours. */
function metres(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const [dy, dx] = [b.lat - a.lat, (b.lng - a.lng) * Math.cos((a.lat * Math.PI) / 180)]
  return Math.hypot(dx, dy) * metresPerDegree
}

t.test('the totals of a history agree with the positions it lists', async (t) => {
  const { get, hash, id } = await fleet(t, 6)
  for (const device of [id, id + 1, id + 2, id + 3]) {
    const { body } = await get(`/v1/history/${device}?from=2026-05-10&to=2026-05-11`, hash)
    type Position = { time: string; lat: number; lng: number; speed: number }
    const positions: Position[] = body.positions
    if (positions.length === 0) {
      t.same([body.distance_km, body.top_speed], [0, 0])
      continue
    }
    const km = positions.slice(1).reduce((sum, at, before) => sum + metres(positions[before] as Position, at) / 1000, 0)
    t.ok(Math.abs(km - body.distance_km) <= 0.2 + km * 0.005, `${km} km of positions, ${body.distance_km} km told`)
    t.equal(body.top_speed, Math.round(Math.max(...positions.map(({ speed }) => speed))))
    const times = positions.map(({ time }) => time)
    t.same(times, [...times].sort(), 'in time order')
    const span = (Date.parse(`${times.at(-1)}Z`) - Date.parse(`${times[0]}Z`)) / 1000
    t.ok(
      Math.abs(body.move_seconds + body.stop_seconds - span) <= 120,
      `${body.move_seconds} + ${body.stop_seconds} s in ${span} s`,
    )
  }
})

t.test('each event lies on the history of its day', async (t) => {
  const { get, hash, id } = await fleet(t, 4)
  let checked = 0
  for (const device of [id, id + 1, id + 2]) {
    const { body: history } = await get(`/v1/history/${device}?from=2026-05-11&to=2026-05-11`, hash)
    const { body: events } = await get(`/v1/events?device_id=${device}&from=2026-05-11&to=2026-05-11&limit=200`, hash)
    for (const event of events.data) {
      if (event.lat === null || event.type === 'offline_duration') continue
      const nearest = Math.min(
        ...history.positions.map((position: { lat: number; lng: number }) => metres(position, event)),
      )
      t.ok(nearest < 50, `${event.type} at ${event.timestamp} is ${Math.round(nearest)} m from the track`)
      checked += 1
    }
  }
  t.ok(checked > 10)
})

t.test('the permission missing on the platform is a 403 that names the resource', async (t) => {
  const { url } = await platform(t, (request, response) => {
    if (request.url?.match(/get_user_data|get_devices/))
      answers({ get_devices: [{ title: 'A', items: [{ id: 1 }] }] })(request, response)
    else response.writeHead(403).end('{"message":"No permission"}')
  })
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  for (const [path, resource] of [
    ['/v1/geofences', 'geofences'],
    ['/v1/events', 'events'],
    ['/v1/history/1?from=2026-05-11&to=2026-05-11', 'history'],
    ['/v1/alerts', 'alerts'],
    ['/v1/services', 'maintenance services'],
    ['/v1/drivers', 'drivers'],
  ] as const) {
    const { status, body } = await get(path, someHash)
    t.same([status, body.error], [403, 'forbidden'], path)
    t.match(body.message, resource)
    t.notMatch(body.message, 'No permission')
  }
})

t.test(
  'N48 an older platform gives its maintenance services device by device, and is not asked for the new way again',
  async (t) => {
    const row = { id: '4', name: 'Oil', expiration_by: 'odometer', interval: '100', last_service: '50' }
    const items = [
      { id: 1, services: [{ name: 'Oil', value: 'Odometer Left (3 km)' }] },
      { id: 2, services: [] },
    ]
    const { url, calls } = await platform(
      t,
      answers({
        get_devices: [{ title: 'A', items }],
        get_services: { data: [row], current_page: 1, last_page: 1, status: 1 },
      }),
    )
    const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
    for (let round = 0; round < 3; round += 1) {
      const { body } = await get('/v1/services', someHash)
      t.match(body.data, [{ id: 4, device_id: 1, expires_at: 150 }])
    }
    t.equal(calls.filter((call) => call.startsWith('/api/services')).length, 1)
    t.notOk(
      calls.some((call) => call.includes('device_id=2')),
      'a device that shows no services is not asked for them',
    )
  },
)

t.test('maintenance services stand in the device list of some platforms, and cost no call there', async (t) => {
  const service = { id: 9, name: 'Tyres', expiration_by: 'days', interval: 30, last_service: '2026-05-01' }
  const items = [{ id: 1, device_data: { services: [service] } }]
  const { url, calls } = await platform(t, answers({ get_devices: [{ title: 'A', items }] }))
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  const { body } = await get('/v1/services', someHash)
  t.match(body.data, [
    { id: 9, device_id: 1, remaining: 19, last_service_date: '2026-05-01', expires_date: '2026-05-31' },
  ])
  t.notOk(calls.some((call) => call.includes('get_services')))
})

t.test('a 2.x platform that ignores the event type is filtered here, exactly', async (t) => {
  const data = Array.from({ length: 65 }, (_, at) => ({
    id: 65 - at,
    device_id: 1,
    message: at % 3 === 0 ? 'Zone in' : 'Overspeed (90 kph)',
    time: '2026-05-11 10:00:00',
  }))
  const { url } = await platform(t, (request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://localhost').searchParams.get('page') ?? 1)
    const items = {
      total: 65,
      per_page: 30,
      current_page: page,
      last_page: 3,
      data: data.slice((page - 1) * 30, page * 30),
    }
    answers({ get_devices: [{ title: 'A', items: [{ id: 1, name: 'Van' }] }], get_events: { status: 1, items } })(
      request,
      response,
    )
  })
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const { body } = await get('/v1/events?type=zone_in&limit=10&offset=5', someHash)
  const wanted = data.filter(({ message }) => message === 'Zone in').map(({ id }) => id)
  t.same(
    body.data.map(({ id }: { id: number }) => id),
    wanted.slice(5, 15),
  )
  t.equal(body.count, wanted.length)
  t.match(body.data[0], { device: 'Van', type: 'zone_in' }, 'N35 name and type are found')
})

t.test('20,000 points of history come whole and in order', async (t) => {
  const time = (at: number) => new Date(Date.UTC(2026, 4, 11) + at * 4_000).toISOString().slice(0, 19).replace('T', ' ')
  const points = Array.from({ length: 20_000 }, (_, at) => ({
    id: at + 1,
    raw_time: time(at),
    lat: 40 + at / 1e5,
    lng: 2,
    speed: 30,
    other: 'x'.repeat(200),
  }))
  const history = {
    items: [{ status: 1, items: points }],
    distance_sum: '22.2 Km',
    top_speed: '30 kph',
    move_duration: '22h 13min',
    stop_duration: '0s',
    status: 1,
  }
  const { url } = await platform(
    t,
    answers({ get_devices: [{ title: 'A', items: [{ id: 1 }] }], get_history: history }),
  )
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const { body } = await get('/v1/history/1?from=2026-05-11&to=2026-05-11', someHash)
  t.equal(body.positions.length, 20_000)
  t.match(body, { distance_km: 22.2, move_seconds: 79_980 })
  t.match(body.positions[19_999], { time: time(19_999), lat: 40.19999, lng: 2, speed: 30, address: null })
})

/** What stands where something else was expected. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    [],
    {},
    '',
    '-',
    '0',
    0,
    -1,
    true,
    false,
    1e308,
    Number.MAX_SAFE_INTEGER,
    '0000-00-00',
    'Not connected',
    [[]],
    [null],
    { 0: {} },
    '[{"a":',
    '<p>',
  ),
  fc.string(),
  fc.double({ noNaN: true }),
  fc.jsonValue(),
  fc.constant('x'.repeat(50_000)),
)

/** The body with one of its values, however deep, replaced or removed. */
function mutate(body: unknown, pick: number, value: unknown): unknown {
  const copy = structuredClone(body)
  const places: [holder: Record<string, unknown>, key: string][] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key])
      visit((node as Record<string, unknown>)[key])
    }
  }
  visit(copy)
  const place = places[pick % Math.max(1, places.length)]
  if (!place) return value
  if (value === undefined) delete place[0][place[1]]
  else place[0][place[1]] = value
  return copy
}

t.test('whatever one value of an answer becomes, the caller gets the documented shape or a 503', async (t) => {
  const now = new Clock()
  const stand = await sandbox(t, { clock: now.now, devices: 3 })
  const [hash = ''] = stand.hashes
  const sample = async (action: string, query = '') =>
    (await fetch(`${stand.url}/${action}?user_api_hash=${encodeURIComponent(hash)}&lang=en${query}`)).json()
  const id = stand.accounts[0]?.firstDeviceId ?? 0
  const day = '&from_date=2026-05-11&from_time=00:00&to_date=2026-05-11&to_time=08:00'
  const sound: Record<string, unknown> = {
    get_user_data: await sample('get_user_data'),
    edit_setup_data: { item: { timezone_id: '61' }, timezones: [{ id: 61, value: 'UTC +01:00' }], status: 1 },
    get_devices: await sample('get_devices'),
    get_geofences: await sample('get_geofences'),
    get_events: await sample('get_events', '&limit=5'),
    get_history: await sample('get_history', `&device_id=${id}${day}`),
    get_alerts: await sample('get_alerts'),
    services: await sample('services'),
    get_services: await sample('get_services', `&device_id=${id}`),
    get_user_drivers: await sample('get_user_drivers'),
  }
  const asked: [action: string, path: string, schema: TSchema][] = [
    ['get_user_data', '/v1/me', Me],
    ['edit_setup_data', '/v1/events?from=2026-05-11T00:00:00Z', ListOf(Event)],
    ['get_devices', '/v1/devices', ListOf(Device)],
    ['get_devices', `/v1/devices/${id}`, Device],
    ['get_devices', `/v1/devices/${id}/location`, Location],
    ['get_geofences', '/v1/geofences', ListOf(Geofence)],
    ['get_geofences', '/v1/geofences/101', GeofenceDetail],
    ['get_events', '/v1/events?limit=5', ListOf(Event)],
    ['get_events', '/v1/events?limit=3&offset=2&type=overspeed', ListOf(Event)],
    ['get_history', `/v1/history/${id}?from=2026-05-11&to=2026-05-11`, History],
    ['get_alerts', '/v1/alerts', ListOf(Alert)],
    ['services', '/v1/services', ListOf(MaintenanceService)],
    ['get_user_drivers', '/v1/drivers', ListOf(Driver)],
  ]
  const checks = new Map(asked.map(([, path, schema]) => [path, Compile(schema)]))
  let bodies = sound
  const { url } = await platform(t, (request, response) => answers(bodies)(request, response))
  const { get, log } = await gateway(t, { clock: now.now, env: { PLATFORM_URL: url, LOG_LEVEL: 'error' } })
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...asked),
      fc.nat(),
      fc.option(odd, { nil: undefined }),
      async ([action, path], pick, value) => {
        bodies = { ...sound, [action]: mutate(sound[action], pick, value) }
        now.advance(120_000) // nothing is remembered from the round before
        const { status, body } = await get(path, someHash)
        seen.set(status, (seen.get(status) ?? 0) + 1)
        if (status === 200) return checks.get(path)?.Check(body) === true
        return [401, 403, 404, 503].includes(status) && body.error in errorTable && body.error !== 'internal_error'
      },
    ),
    { numRuns: 1500 },
  )
  t.ok((seen.get(200) ?? 0) > 500, `answered: ${JSON.stringify([...seen])}`)
  t.equal(log(), '', 'nothing was a bug of ours')
})
