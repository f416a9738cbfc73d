/** The hook of authentication: what every response to an API key announces. */
import t from 'tap'
import { Clock, gatewayOn, someHash } from '../helper.js'
import { createKey, fleet } from '../limits.js'

t.test('a 429 and a 503 to a key announce its expiry, too', async (t) => {
  const clock = new Clock()
  let isDown = false
  const { get } = await gatewayOn(t, { clock: clock.now, env: { RATE_LIMIT_MAX: '5' } }, (request, response) => {
    if (isDown) response.writeHead(500).end()
    else fleet(request, response)
  })
  const { key, expires_at } = (await createKey(get, { platform_hash: someHash, expires_in_days: 3 })).body
  const found = async () => {
    const { status, headers } = await get('/v1/me', key)
    return [status, headers.get('x-api-key-expires')]
  }
  const expiry = new Date(expires_at).toUTCString()
  isDown = true
  clock.advance(61_000)
  t.same(await found(), [503, expiry])
  for (let i = 2; i <= 5; i += 1) await found()
  t.same(await found(), [429, expiry])
})
