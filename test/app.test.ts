/** The gateway as a whole: the sandbox stands in for a platform, and every client is served alike. */
import t from 'tap'
import { Clock, gateway, sandbox } from './helper.js'

t.test('a sandbox behind PLATFORM_URL returns the same as the one in the process', async (t) => {
  const clock = new Clock()
  const { url, hashes } = await sandbox(t, { clock: clock.now })
  const [inside, outside] = await Promise.all([
    gateway(t, { clock: clock.now }),
    gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } }),
  ])
  const [demo, own] = await Promise.all([inside.get('/v1/devices', 'demo'), outside.get('/v1/devices', hashes[0])])
  t.same(own.body, demo.body)
})

t.test('a trailing slash, an Accept header and HEAD change nothing about the response', async (t) => {
  const { get } = await gateway(t)
  t.equal((await get('/v1/devices/', 'demo')).status, 200)
  t.equal((await get('/v1/devices', 'demo', { headers: { accept: 'text/html' } })).status, 200)
  const head = await get('/v1/devices', 'demo', { method: 'HEAD' })
  t.same([head.status, head.body], [200, undefined])
  t.equal(head.headers.get('access-control-allow-origin'), null)
})
