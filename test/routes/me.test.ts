/** `GET /v1/me`. */
import t from 'tap'
import { answers, gateway, platform, someHash } from '../helper.js'
import { clock, fleet } from './fleet.js'

t.test('the response has the kind and the account of the credential', async (t) => {
  const { get } = await gateway(t, { clock: clock.now })
  t.match((await get('/v1/me', 'demo')).body, { object: 'account', credential: 'demo', key: null })
  const { get: own, hash } = await fleet(t)
  t.match((await own('/v1/me', hash)).body, { credential: 'platform_hash', email: 'fleet@example.com', key: null })
})

t.test('the UTC offset is that of the account, null where its platform does not tell', async (t) => {
  const { get, hash, otherHash } = await fleet(t)
  t.equal((await get('/v1/me', hash)).body.utc_offset, '+01:00')
  t.equal((await get('/v1/me', otherHash)).body.utc_offset, '+03:00')
  const { url } = await platform(t, answers({}))
  const { get: without } = await gateway(t, { env: { PLATFORM_URL: url } })
  t.match(await without('/v1/me', someHash), { status: 200, body: { utc_offset: null } })
})
