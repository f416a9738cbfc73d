/** Every read route: its isolation between accounts, and what a missing permission gets. */
import { check } from '@placemarkio/check-geojson'
import t from 'tap'
import { answers, Clock, gatewayOn, someHash } from '../helper.js'
import { days, fleet, idsOf } from './fleet.js'

type Feature = { properties: object }

t.test('GeoJSON passes a validator of RFC 7946, and has the geofences of the account only', async (t) => {
  const { get, hash, otherHash } = await fleet(t)
  for (const path of ['devices', 'geofences']) {
    const [mine, theirs] = await Promise.all(
      [hash, otherHash].map(async (credential) => {
        const { body, headers } = await get(`/v1/${path}?format=geojson`, credential)
        t.match(headers.get('content-type'), /^application\/geo\+json/)
        check(JSON.stringify(body))
        t.ok(body.features.length > 0 && body.count >= body.features.length)
        return idsOf(body)
      }),
    )
    t.notOk(mine?.some((id) => theirs?.includes(id)))
  }
  const { data: devices } = (await get('/v1/devices', hash)).body
  const located = devices.filter(({ lat }: { lat: number | null }) => lat !== null)
  const { features } = (await get('/v1/devices?format=geojson', hash)).body
  t.equal(JSON.stringify(features.map(({ properties }: Feature) => properties)), JSON.stringify(located))
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
  const { get, hash, otherHash } = await fleet(t)
  const me = { credential: 'platform_hash', email: 'fleet@example.com', utc_offset: '+01:00', key: null }
  t.match((await get('/v1/me', hash)).body, me)
  t.equal((await get('/v1/me', otherHash)).body.utc_offset, '+03:00')
  const { get: without } = await gatewayOn(t, { env: { DEMO_TOKEN: 'demo' } }, {})
  t.match(await without('/v1/me', someHash), { status: 200, body: { utc_offset: null } })
  t.match((await without('/v1/me', 'demo')).body, { object: 'account', credential: 'demo', key: null })
})

t.test("another account's geofence, device or driver is unknown, without a platform call", async (t) => {
  const { get, hash, otherHash, foreignId, calls } = await fleet(t)
  const [theirs] = (await get('/v1/geofences', otherHash)).body.data
  t.equal((await get(`/v1/geofences/${theirs.id}`, hash)).status, 404)
  await get('/v1/devices', hash)
  const before = calls.length
  t.equal((await get(`/v1/history/${foreignId}?from=2026-05-11&to=2026-05-11`, hash)).status, 404)
  t.same((await get(`/v1/events?device_id=${foreignId}`, hash)).body.data, [])
  t.same((await get(`/v1/services?device_id=${foreignId}`, hash)).body.data, [])
  t.same(calls.slice(before), [], 'the cached list is enough')
  const drivers = idsOf((await get('/v1/drivers', otherHash)).body)
  t.notOk(idsOf((await get('/v1/drivers', hash)).body).some((id) => drivers.includes(id)))
})

t.test('a permission that the account lacks on the platform is a 403 that names the resource', async (t) => {
  const { get } = await gatewayOn(t, (request, response) => {
    if (request.url?.match(/get_user_data|get_devices/))
      answers({ get_devices: [{ title: 'A', items: [{ id: 1 }] }] })(request, response)
    else response.writeHead(403).end('{"message":"No permission"}')
  })
  for (const resource of ['geofences', 'events', 'history', 'alerts', 'maintenance services', 'drivers']) {
    const path = resource.replace('history', `history/1?${days}`).replace('maintenance ', '')
    const { status, body } = await get(`/v1/${path}`, someHash)
    t.same([status, body.error], [403, 'forbidden'], path)
    t.equal(body.message, `The account has no permission to read ${resource} on the tracking platform.`)
  }
  const { status, body } = await get('/v1/events?from=2026-05-11T00:00:00Z', someHash)
  t.same([status, body.message.includes('to read its time zone on')], [403, true], 'which an offset needs')
})

t.test('health needs no credential, is not counted, and shows what recent calls saw', async (t) => {
  let broken = false
  const clock = new Clock()
  const { get } = await gatewayOn(t, { clock: clock.now, env: { RATE_LIMIT_MAX: '3' } }, (request, response) => {
    if (broken) response.writeHead(502).end()
    else answers({ get_devices: [] })(request, response)
  })
  for (let at = 0; at < 10; at += 1) {
    const { status, headers } = await get('/health')
    t.equal(status, 200)
    t.equal(headers.get('ratelimit-remaining'), '3')
  }
  await get('/v1/devices', someHash)
  clock.advance(7_000)
  const components = { platform: 'up', store: 'up' }
  t.match((await get('/health')).body, { status: 'ok', version: '1.0.0', uptime_s: 7, components })
  broken = true
  await get('/v1/devices', someHash)
  t.match((await get('/health')).body, { status: 'degraded', components: { platform: 'down' } })
})
