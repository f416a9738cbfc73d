/** `GET /health`. */
import t from 'tap'
import { answers, Clock, gateway, platform, someHash } from '../helper.js'

t.test('health needs no credential, is not counted, and shows what recent calls saw', async (t) => {
  let broken = false
  const { url } = await platform(t, (request, response) => {
    if (broken) response.writeHead(502).end()
    else answers({ get_devices: [] })(request, response)
  })
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '3' } })
  for (let at = 0; at < 10; at += 1) {
    const { status, headers } = await get('/health')
    t.equal(status, 200)
    t.equal(headers.get('ratelimit-remaining'), '3')
  }
  await get('/v1/devices', someHash)
  clock.advance(7_000)
  t.match((await get('/health')).body, {
    status: 'ok',
    version: '1.0.0',
    uptime_s: 7,
    components: { platform: 'up', store: 'up' },
  })
  broken = true
  await get('/v1/devices', someHash)
  t.match((await get('/health')).body, { status: 'degraded', components: { platform: 'down' } })
})
