/** `GET /v1/services`, from every platform action that has maintenance services. */
import type { RequestListener } from 'node:http'
import t from 'tap'
import { type Answer, answers, Clock, gatewayOn, someHash } from '../helper.js'
import { only } from '../only.js'
import { pageIn, sendsBy } from '../platform/faulty.js'
import { until } from '../redis.js'
import { clock, idsOf } from './fleet.js'

const row = { id: '4', name: 'Oil', expiration_by: 'odometer', interval: '100', last_service: '50' }
const paged = { data: [row], current_page: 1, last_page: 1, status: 1 }

const devicesIn = ({ data }: Answer['body']) => data.map((service: { device_id: number }) => service.device_id)

t.test('without the action for all services, devices with services are requested one by one (N48)', async (t) => {
  const items = [
    { id: 1, services: [{ name: 'Oil', value: 'Odometer Left (3 km)' }] },
    { id: 2, services: [] },
  ]
  const { get, calls } = await gatewayOn(t, { get_devices: [{ title: 'A', items }], get_services: paged })
  for (let round = 0; round < 3; round += 1) {
    const { body } = await get('/v1/services', someHash)
    t.match(body.data, only({ id: 4, device_id: 1, expires_at: 150 }))
  }
  t.equal(calls.filter((call) => call.startsWith('/api/services')).length, 3, 'which may be there by now')
  t.notMatch(calls.join(), 'device_id=2', 'a device without services is not requested')
})

t.test('the services of a large account take few calls, also where the platform ignores the page size', async (t) => {
  const ids = Array.from({ length: 900 }, (_, at) => at + 1)
  const all = ids.map((id) => ({ ...row, id, device_id: 1 }))
  let largest = 0
  const services = sendsBy((query) => {
    const [page, size] = [pageIn(query), Math.min(largest, Number(query.get('limit') ?? 15))]
    const pagination = { total: 900, per_page: size, current_page: page, last_page: Math.ceil(900 / size) }
    return { status: 1, data: all.slice((page - 1) * size, page * size), pagination }
  })
  const { get, calls } = await gatewayOn(t, { get_devices: [{ title: 'A', items: [{ id: 1 }] }], services })
  for (const [size, expected] of Object.entries({ 1000: 9, 50: 18, 15: 60 })) {
    largest = Number(size)
    calls.length = 0
    t.same(idsOf((await get('/v1/services', someHash)).body), ids)
    t.equal(calls.filter((call) => call.startsWith('/api/services?')).length, expected)
  }
})

t.test('after 30 seconds of calls for single devices no further one is requested, and all is a 503', async (t) => {
  const items = Array.from({ length: 100 }, (_, at) => ({ id: at + 1 }))
  let ticks = 0
  const get_services: RequestListener = (...call) => {
    ticks += 4_000
    answers({ get_services: paged })(...call)
  }
  const bodies = { get_devices: [{ title: 'A', items }], get_services }
  const { get, calls } = await gatewayOn(t, { ticks: () => ticks }, bodies)
  t.match(await get('/v1/services', someHash), { status: 503, body: { error: 'gateway_error' } })
  t.equal(calls.filter((call) => call.includes('get_services')).length, 8)
})

t.test('services in the device list need no further call, and no permission to read the settings', async (t) => {
  const service = { id: 9, name: 'Tyres', expiration_by: 'days', interval: 30, last_service: '2026-05-01' }
  const listing = { id: 1, device_data: { services: [service] }, services: [{ id: 9, value: '19d.' }] }
  const items: object[] = [listing, { id: 3 }]
  const bodies = { edit_setup_data: 403, get_devices: [{ title: 'A', items }], get_services: paged }
  const { get, calls } = await gatewayOn(t, { clock: clock.now, env: { POSITION_TTL_MS: '1' } }, bodies)
  const { body } = await get('/v1/services', someHash)
  const dates = { last_service_date: '2026-05-01', expires_date: '2026-05-31' }
  t.match(body.data, only({ id: 9, device_id: 1, remaining: 19, ...dates }))
  t.notMatch(calls.join(), 'get_services')
  clock.advance(1_000)
  items.push({ id: 2, services: [{ name: 'Oil', value: 'Odometer Left (3 km)' }] })
  const { data } = (await get('/v1/services', someHash)).body
  t.match(data, only({ id: 4, device_id: 2 }, { id: 9 }), 'but for a device that only shows them')
})

t.test('a device alone has the services that it has in the list of all, for no further call', async (t) => {
  const items = [{ id: 1, device_data: { services: [row] } }, { id: 2 }]
  const { get, calls } = await gatewayOn(t, { get_devices: [{ title: 'A', items }], get_services: paged })
  const found = async (query: string) => devicesIn((await get(`/v1/services${query}`, someHash)).body)
  t.same([await found(''), await found('?device_id=1'), await found('?device_id=2')], [[1], [1], []])
  t.notMatch(calls.join(), 'get_services')
})

t.test("services of a device that is not listed are in the account's unit of distance, null if unknown", async (t) => {
  const get_devices = [{ title: 'A', items: [{ id: 1 }] }]
  const services = { data: [1, 2].map((device_id) => ({ ...row, id: device_id, device_id })), status: 1 }
  const amounts = { interval: 160.93, last_service: 80.47, expires_at: 241.4 }
  const nulls = { interval: null, last_service: null, expires_at: null }
  const miles = { item: { timezone_id: 57, unit_of_distance: 'mi' } }
  for (const [edit_setup_data, expected] of [
    [miles, amounts],
    [403, nulls],
  ] as const) {
    const { get, calls } = await gatewayOn(t, { get_devices, services, edit_setup_data })
    t.match((await get('/v1/services?device_id=1', someHash)).body, { count: 1, data: only({ expires_at: 150 }) })
    t.notMatch(calls.join(), 'edit_setup_data', 'which others do not need')
    t.match((await get('/v1/services', someHash)).body.data[1], { device_id: 2, ...expected })
  }
})

t.test("the days that remain are those of the account's calendar", async (t) => {
  const services = { data: [{ id: 9, expiration_by: 'days', interval: 30, last_service: '2026-05-01' }], status: 1 }
  const east = { item: { timezone_id: 1 }, timezones: [{ id: 1, value: 'UTC +14:00' }] }
  for (const [edit_setup_data, remaining] of [
    [403, 19],
    [east, 18],
  ] as const) {
    const clock = new Clock(Date.UTC(2026, 4, 12, 12))
    const { get } = await gatewayOn(t, { clock: clock.now }, { get_devices: [], services, edit_setup_data })
    t.match((await get('/v1/services', someHash)).body.data, only({ id: 9, remaining }))
  }
})

t.test('the dates of a silent device are in the order of day and month that others show', async (t) => {
  const data = [1, 9].map((device_id) => ({
    ...{ id: device_id, device_id, expiration_by: 'days', interval: 365 },
    ...{ last_service: '11-09-2025', expires_date: '11-09-2026' },
  }))
  const never = { id: 1, time: 'Not connected', timestamp: 0 }
  const timestamp = Date.UTC(2026, 10, 26, 12) / 1000
  for (const [time, last_service_date] of [
    ['26-11-2026 12:00:00', '2025-09-11'],
    ['11/26/2026 12:00 PM', '2025-11-09'],
    ['2026-11-26 12:00:00', '2025-11-09'],
  ] as const) {
    const clock = new Clock(timestamp * 1000)
    const bodies = { get_devices: [{ items: [never, { id: 2, time, timestamp }] }], services: { ...paged, data } }
    const { get } = await gatewayOn(t, { clock: clock.now }, bodies)
    const { body } = await get('/v1/services', someHash)
    t.match(body.data, only({ last_service_date }, { last_service_date }), time)
  }
})

t.test('devices with an empty list of services have none, and are not requested one by one', async (t) => {
  const items = [
    { id: 1, device_data: { services: [] } },
    { id: 2, device_data: { services: [] }, sensors: 'none' },
    { id: 3, device_data: { name: 'Van' } },
    { id: 4, device_data: [] },
  ]
  const get_services = sendsBy((query) => ({ ...paged, data: [{ ...row, id: query.get('device_id') }] }))
  const { get, calls } = await gatewayOn(t, { get_devices: [{ title: 'A', items }], get_services })
  const { body } = await get('/v1/services', someHash)
  t.match(body, { count: 3, data: only({ device_id: 2 }, { device_id: 3 }, { device_id: 4 }) })
  t.notMatch(calls.join(), 'device_id=1', 'unlike the others, whose rows do not say, or not as the platform writes it')
})

t.test('what a failed request has left behind does not fail the next one', async (t) => {
  const event = { id: 9, device_id: 2, message: 'SOS', time: '2026-05-12 09:00:00' }
  let release: (() => void) | undefined
  /** Fails for device 1, waits for device 2. */
  const perDevice =
    (body: object): RequestListener =>
    ({ url = '' }, response) => {
      if (/device_id=1(&|$)/.test(url)) response.end('<html>')
      else
        release = () => {
          release = undefined
          response.end(JSON.stringify(body))
        }
    }
  const { get, arrivals } = await gatewayOn(t, {
    get_devices: [{ title: 'A', items: [{ id: 1 }, { id: 2 }] }],
    get_services: perDevice({ data: [{ id: 6, name: 'Oil' }] }),
    get_events: perDevice({ items: { data: [event] } }),
  })
  for (const [both, second] of Object.entries({
    '/v1/services': '/v1/services?device_id=2',
    '/v1/events?device_ids=1,2': '/v1/events?device_id=2',
  })) {
    t.equal((await get(both, someHash)).status, 503)
    await until(() => release !== undefined)
    const arrived = arrivals(1)
    const next = get(second, someHash)
    await arrived
    release?.()
    t.equal((await next).status, 200, second)
  }
})
