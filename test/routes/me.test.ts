/** `GET /v1/me`. */
import t from 'tap'
import { gateway } from '../helper.js'
import { clock, fleet } from './fleet.js'

t.test('the response has the kind and the account of the credential', async (t) => {
  const { get } = await gateway(t, { clock: clock.now })
  t.match((await get('/v1/me', 'demo')).body, { object: 'account', credential: 'demo', key: null })
  const { get: own, hash } = await fleet(t)
  t.match((await own('/v1/me', hash)).body, { credential: 'platform_hash', email: 'fleet@example.com', key: null })
})
