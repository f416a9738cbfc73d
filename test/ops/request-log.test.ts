/** The request log line: which account, key and error code it names. */
import t from 'tap'
import { Clock, gateway, someHash } from '../helper.js'
import { createKey, otherHash, type User, usersPlatform } from '../limits.js'

const owner = (): User => ({ hash: someHash, email: 'owner@example.com', userId: 7 })

t.test('the request line names the key, the error code, and of a 429 the account', async (t) => {
  const { url, users } = await usersPlatform(t, owner())
  const clock = new Clock()
  const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '5', DEMO_TOKEN: 'demo' }
  const { get, lines } = await gateway(t, { clock: clock.now, env })
  const { key, id } = (await createKey(get)).body
  for (const credential of [key, someHash, 'demo']) {
    for (let i = 0; i < 6; i += 1) await get('/v1/me', credential)
  }
  ;(users[0] as User).hash = otherHash
  clock.advance(61_000)
  await get('/v1/me', key)
  const all = lines('request').filter(({ route }) => route === '/api/v1/me')
  const account = all[0]?.account
  const exceeded = { status: 429, error: 'rate_limit_exceeded' }
  t.match(all.slice(0, 6), [...Array(5).fill({ status: 200, account, key: id }), { ...exceeded, account, key: id }])
  t.match(all.slice(6, 12), [...Array(5).fill({ status: 200, account }), { ...exceeded, account }])
  t.equal(all[17]?.error, 'rate_limit_exceeded')
  t.equal(all[17]?.account, all[16]?.account, 'the account of the demo')
  t.match(all[18], { status: 401, error: 'invalid_token', key: id })
  t.notOk('error' in (all[0] ?? {}))
})
