/** Authentication of a request: what a missing, a wrong and a refused credential lead to. */
import t from 'tap'
import { answers, Clock, gateway, platform, sandbox, someHash } from '../helper.js'

t.test('a missing credential is unauthorized, and a wrong one is invalid_token', async (t) => {
  const { url } = await sandbox(t)
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const none = await get('/v1/devices')
  t.same([none.status, none.body.error, none.headers.get('www-authenticate')], [401, 'unauthorized', 'Bearer'])
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', 'bearer']) {
    const { body } = await get('/v1/devices', undefined, { headers: { authorization } })
    t.equal(body.error, 'unauthorized', authorization)
  }
  for (const wrong of ['nonsense', someHash, `gps_live_${'0'.repeat(48)}`, 'gps_live_short', 'demo', 'x'.repeat(600)]) {
    const { status, body, headers } = await get('/v1/devices', wrong)
    t.same([status, body.error], [401, 'invalid_token'], wrong.slice(0, 20))
    t.match(headers.get('www-authenticate'), 'invalid_token')
  }
})

t.test('a credential is validated once per minute, with one call for all that wait', async (t) => {
  const clock = new Clock()
  const { url, calls } = await platform(t, answers({ get_devices: [] }))
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  const validations = () => calls.filter((call) => call.includes('get_user_data')).length
  await Promise.all(Array.from({ length: 30 }, () => get('/v1/devices', someHash)))
  t.equal(validations(), 1)
  clock.advance(59_999)
  await get('/v1/devices', someHash)
  t.equal(validations(), 1)
  clock.advance(2)
  await get('/v1/devices', someHash)
  t.equal(validations(), 2)
})

t.test('a refusal by the platform drops the cached data and validation of the account at once', async (t) => {
  const clock = new Clock()
  let refuses = false
  const { url, calls } = await platform(t, (request, response) => {
    if (refuses) response.writeHead(401).end('{"status":0,"error":"Unauthorized"}')
    else answers({ get_devices: [{ title: 'A', items: [{ id: 1 }] }], get_geofences: { items: [] } })(request, response)
  })
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  t.equal((await get('/v1/devices', someHash)).status, 200)
  refuses = true
  t.same([(await get('/v1/devices', someHash)).status], [200], 'fresh positions are answered from memory')
  t.equal((await get('/v1/geofences', someHash)).status, 401)
  const { status, body } = await get('/v1/devices', someHash)
  t.same([status, body.error], [401, 'invalid_token'], 'the cached list is gone with the refusal')
  t.match(calls.at(-1), 'get_user_data', 'and so is the validation')
})
