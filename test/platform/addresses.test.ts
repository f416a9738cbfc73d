/** Addresses from the platform's geocoder: within a budget, by account, and never at the cost of a response. */
import type { RequestListener, ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { Addresses } from '../../src/platform/addresses.js'
import { kilobytesKept } from '../faults.js'
import { type Bodies, Clock, gateway, gatewayOn, platform, someHash } from '../helper.js'
import { otherHash } from '../limits.js'
import { until } from '../redis.js'
import { hangs, sends } from './faulty.js'

const on = { ADDRESS_LOOKUPS_PER_MINUTE: '400' }

/** Devices 1 to 9 some 20 m apart, and device 10 at nearly the place of device 1; none has an address. */
const latitude = (at: number): number => 48.2 + (at === 9 ? 0.000_04 : at / 5_000)
const items = Array.from({ length: 10 }, (_, at) => ({ id: at + 1, lat: latitude(at), lng: 16.3, timestamp: 1 }))
const get_devices = [{ items }]

/** A gateway in front of a platform with this geocoder, and the number of calls of the geocoder so far. */
async function geocoded(t: Test, geocoder: unknown, env: Record<string, string> = on) {
  const ticks = new Clock(0)
  const bodies: Bodies = { get_devices, address: geocoder }
  const options = { ticks: ticks.now, env: { POSITION_TTL_MS: '600000', ...env } }
  const { get, metrics, calls } = await gatewayOn(t, options, bodies)
  const lookups = (): number => calls.filter((url) => url.includes('address?')).length
  const address = async (device: number, hash = someHash): Promise<string | null> => {
    const { status, body } = await get(`/v1/devices/${device}`, hash)
    t.equal(status, 200)
    return body.address
  }
  const advance = (ms: number): void => ticks.advance(ms)
  return { get, metrics, address, advance, calls, bodies, lookups }
}

const street = 'Mill Lane 7'

t.test('a device and its location get the address of their position, which is looked up once', async (t) => {
  const { get, calls, lookups } = await geocoded(t, street)
  for (let i = 0; i < 2; i += 1) {
    const paths = ['/v1/devices/1', '/v1/devices/1/location', '/v1/devices/10']
    const found = await Promise.all(paths.map((path) => get(path, someHash)))
    for (const [at, path] of paths.entries()) t.equal(found[at]?.body.address, 'Mill Lane 7', path)
  }
  t.equal(lookups(), 1, 'device 10 has the same coordinates, to 4 decimals')
  // Whichever request arrived first.
  t.ok(calls.some((call) => /\/api\/address\?.*lat=48\.2(0004)?&lng=16\.3$/.test(call)))
  const { body } = await get('/v1/devices', someHash)
  const addresses = body.data.map((device: { address: string | null }) => device.address)
  t.same(addresses, ['Mill Lane 7', ...Array(8).fill(null), 'Mill Lane 7'])
  t.equal(lookups(), 1, 'a list takes what is known')
})

t.test('the address that the platform sends with a device is shown, without a lookup', async (t) => {
  for (const env of [{}, on]) {
    const { get, bodies, lookups } = await geocoded(t, street, env)
    bodies.get_devices = [{ items: [{ ...items[0], address: 'Sent 1' }] }]
    for (const path of ['', '/1', '/1/location']) {
      const { body } = await get(`/v1/devices${path}`, someHash)
      t.equal((body.data?.[0] ?? body).address, 'Sent 1', path)
    }
    t.equal(lookups(), 0)
  }
})

t.test('every form of an address that platforms send is read', async (t) => {
  const forms: [body: string, address: string | null][] = [
    ['Mill Lane 7', 'Mill Lane 7'],
    ['"Mill Lane 7"', 'Mill Lane 7'],
    ['{"status":1,"location":{"address":" Mill \\n Lane 7"}}', 'Mill Lane 7'],
    ['\ufeff{"address":"Mill Lane 7"}', 'Mill Lane 7'],
    ['1010', '1010'],
    [`${'x'.repeat(299)}🚚 7`, 'x'.repeat(299)],
    ['-', null],
    ['', null],
    ['null', null],
  ]
  const { address, bodies, lookups } = await geocoded(t, '')
  for (const [at, [body, expected]] of forms.entries()) {
    bodies.address = body
    for (const _ of [1, 2]) t.equal(await address(at + 1), expected, body.slice(0, 60))
    t.equal(lookups(), at + 1, 'also the absence of an address is remembered')
  }
  const empty = await geocoded(t, '')
  for (const [at, body] of ['[]', '{"status":1,"location":[]}', '{"location":null}'].entries()) {
    empty.bodies.address = body
    t.equal(await empty.address(at + 1), null, body)
    t.equal(empty.lookups(), at + 1, 'the lookups of the account go on')
  }
  const older = await geocoded(t, 404)
  older.bodies.geo_address = street
  t.equal(await older.address(1), 'Mill Lane 7')
  t.match(older.calls.at(-1), /\/geo_address\?.*lat=48\.2&lon=16\.3$/)
})

t.test('the absence of an address is cached for ten minutes, also for a device that stands still', async (t) => {
  const { address, advance, bodies, lookups } = await geocoded(t, '-')
  t.equal(await address(1), null)
  bodies.address = street
  advance(599_999)
  t.equal(await address(1), null)
  t.equal(lookups(), 1)
  advance(1)
  t.equal(await address(1), 'Mill Lane 7')
  advance(86_400_000)
  t.equal(await address(1), 'Mill Lane 7')
  t.equal(lookups(), 2, 'an address holds for good')
})

t.test('nothing is looked up unless it is configured, and the demo has addresses in any case', async (t) => {
  const { address, lookups } = await geocoded(t, street, {})
  t.equal(await address(1), null)
  t.equal(lookups(), 0)
  const { get, metrics } = await gateway(t)
  const { body } = await get('/v1/devices?status=moving&limit=1', 'demo')
  const location = () => get(`/v1/devices/${body.data[0].id}/location`, 'demo')
  // On a busy machine, the lookup may take longer than a response waits for it.
  await until(async () => /Sandbox$/.test((await location()).body.address))
  t.match(await metrics(), 'gateway_address_lookups_total{outcome="found"} 1')
})

t.test('an account has a quarter of the lookups of a minute, and all together have no more than all', async (t) => {
  const { address, advance, metrics, lookups } = await geocoded(t, street, { ADDRESS_LOOKUPS_PER_MINUTE: '8' })
  const found = async (hash: string): Promise<number> => {
    let count = 0
    for (let device = 1; device <= 9; device += 1) count += Number((await address(device, hash)) !== null)
    return count
  }
  t.equal(await found(someHash), 2)
  t.equal(await found(otherHash), 2, 'one account leaves the others theirs')
  t.equal(await found(someHash), 2)
  t.match(await metrics(), 'gateway_address_lookups_total{outcome="over_budget"} 21')
  advance(60_000)
  t.equal(await found(someHash), 4)
  t.equal(lookups(), 6)

  const single = await geocoded(t, street, { ADDRESS_LOOKUPS_PER_MINUTE: '1' })
  t.equal(await single.address(1), 'Mill Lane 7')
  t.equal(await single.address(1, otherHash), null)
})

t.test('a lookup that fails after the end of its minute leaves the account the next one', async (t) => {
  const held: ServerResponse[] = []
  const { address, advance, bodies, metrics } = await geocoded(
    t,
    ((_, response) => void held.push(response)) as RequestListener,
  )
  const late = address(1)
  await until(() => held.length === 1)
  advance(60_000)
  bodies.address = street
  t.equal(await address(2), street)
  held[0]?.writeHead(500).end()
  t.equal(await late, null)
  await until(async () => (await metrics()).includes('gateway_address_lookups_total{outcome="failed"} 1'))
  t.equal(await address(3), street)
})

t.test('a geocoder that fails or hangs costs no response, no health and no account', async (t) => {
  const failures: Record<string, unknown> = {
    '401': sends('{"status":0,"message":"Unauthorized"}', 401),
    'half of an object': '{"address":"Mill',
    'a login page': '<!DOCTYPE html><title>Login</title>',
    'another shape': '{"status":0}',
    'an endless body': 'x'.repeat(100_000),
  }
  const { get, address, advance, bodies, metrics, lookups } = await geocoded(t, '')
  for (const [at, [name, geocoder]] of Object.entries(failures).entries()) {
    bodies.address = geocoder
    const [own, others] = [`${someHash}a${at}`, `${someHash}b${at}`]
    const before = lookups()
    t.equal(await address(1, own), null, name)
    const failed = lookups()
    for (let device = 2; device < 9; device += 1) t.equal(await address(device, own), null)
    t.equal(lookups(), failed, 'after a failure the lookups of the account rest')
    await address(1, others)
    t.ok(failed > before && lookups() > failed, 'those of others do not')
    advance(60_000)
    const again = lookups()
    await address(1, own)
    t.ok(lookups() > again, 'for a minute')
  }
  t.equal((await get('/health')).body.status, 'ok')
  const series = await metrics()
  t.notMatch(series, /gateway_platform_\w+\{[^}]*action="(geo_)?address"/)
  t.match(series, 'gateway_breaker_state{realm="platform",state="closed"} 1')
  t.match(series, `gateway_address_lookups_total{outcome="failed"} ${3 * Object.keys(failures).length}`)
  bodies.address = hangs
  const started = performance.now()
  t.equal(await address(1), null)
  t.ok(performance.now() - started < 2_000, 'in far less than the time of a call')
})

t.test('lookups of one account that hang cost the others no lookups', async (t) => {
  const geocoder: RequestListener = ({ url = '' }, response) => void (url.includes('lat=9') && response.end(street))
  const { url } = await platform(t, geocoder)
  const ended: string[] = []
  const addresses = new Addresses({ url, perMinute: 400, now: () => 0, onLookup: (outcome) => ended.push(outcome) })
  t.teardown(() => addresses.close())
  for (let lat = 10; lat < 25; lat += 1) void addresses.find('a', someHash, { lat, lng: 1 })
  t.equal(await addresses.find('b', otherHash, { lat: 10, lng: 1 }), null)
  await until(() => ended.length === 16)
  void addresses.find('b', otherHash, { lat: 9, lng: 1 })
  await until(() => addresses.get('b', { lat: 9, lng: 1 }) === street)
})

t.test('an address that the platform sent to one account is never sent to another', async (t) => {
  const geocoder: RequestListener = ({ url = '' }, response) =>
    response.end(url.includes(encodeURIComponent(otherHash)) ? 'Seen by other' : 'Seen by owner')
  const { get, address } = await geocoded(t, geocoder)
  t.equal(await address(1), 'Seen by owner')
  t.equal((await get('/v1/devices', otherHash)).body.data[0].address, null)
  t.equal(await address(1, otherHash), 'Seen by other')
  t.equal(await address(1), 'Seen by owner')
})

t.test('an address keeps no memory of the page that it is the start of', async (t) => {
  const { url } = await platform(t, sends('Mill Lane 7. '.repeat(1_000)))
  const addresses = new Addresses({ url, perMinute: 10_000, now: () => 0, onLookup: () => {} })
  t.teardown(() => addresses.close())
  const find = async (n: number) => addresses.find('a', someHash, { lat: n / 1_000, lng: 1 })
  const kilobytes = await kilobytesKept(find)
  t.equal((await find(1))?.length, 300)
  t.ok(kilobytes < 5, `${kilobytes} kB for each address`)
})
