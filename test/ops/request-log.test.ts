/** The request log line, and the busiest callers: which account, key and error code they name. */
import t from 'tap'
import { Callers } from '../../src/ops/callers.js'
import { Clock, gatewayOn, someHash } from '../helper.js'
import { accountsOf, createKey, otherHash, owner, statusesOf } from '../limits.js'
import { only } from '../only.js'

for (const email of ['owner@example.com', undefined]) {
  t.test(`lines and callers name account, key and error code of an account with the e-mail ${email}`, async (t) => {
    const user = { ...owner(), email }
    const clock = new Clock()
    const env = { RATE_LIMIT_MAX: '5', DEMO_TOKEN: 'demo' }
    const { get, lines, callers } = await gatewayOn(t, { clock: clock.now, ticks: clock.now, env }, accountsOf([user]))
    const { key, id } = (await createKey(get)).body
    for (const credential of [key, someHash, 'demo']) await statusesOf(6, () => get('/v1/me', credential))
    await get('/v1/me')
    const busiest = callers()
    user.hash = otherHash
    clock.advance(61_000)
    for (const credential of [key, otherHash]) await get('/v1/me', credential)
    const all = lines('request').filter(({ route }) => route === '/api/v1/me')
    const [{ account }, demo] = [all[0] ?? {}, all[16]?.account]
    t.match(account, /^[\w-]{22}$/)
    const exceeded = { status: 429, error: 'rate_limit_exceeded' }
    t.match(
      all.slice(0, 6),
      only(...Array(5).fill({ status: 200, account, key: id }), { ...exceeded, account, key: id }),
    )
    t.match(all.slice(6, 12), only(...Array(5).fill({ status: 200, account }), { ...exceeded, account }))
    t.match(all[17], { ...exceeded, account: demo })
    t.match(all[19], { status: 401, error: 'invalid_token', account, key: id })
    t.equal(all[20]?.account === account, email !== undefined, 'without an e-mail, each hash is an account')
    t.notOk('error' in (all[0] ?? {}))
    t.same(busiest, [
      { account, key: null, requests: 7, limited: 1 },
      { account, key: id, requests: 6, limited: 1 },
      { account: demo, key: null, requests: 6, limited: 1 },
    ])
  })
}

t.test('a line shows the address of the client, and no other text that a proxy forwards as one', async (t) => {
  const { get, lines } = await gatewayOn(t, { env: { TRUST_PROXY: '1' } }, accountsOf([owner()]))
  const key = `gps_live_${'0123456789abcdef'.repeat(3)}`
  for (const sent of [
    '192.0.2.7',
    '2001:DB8::7',
    'fe80::7%br-lan',
    '::FFFF:192.0.2.9',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '12345',
    key,
    'x"y',
    someHash,
    `${'9'.repeat(65)}`,
  ])
    await get('/v1/me', undefined, { headers: { 'x-forwarded-for': sent } })
  const shown = lines('request').map(({ ip }) => ip)
  t.same(shown, ['192.0.2.7', '2001:DB8::7', 'fe80::7%br-lan', '192.0.2.9', ...Array(6).fill('invalid')])
})

t.test('a request is listed for at least a minute and less than 80 s', async (t) => {
  let now = 5_000_000
  const callers = new Callers(() => now)
  callers.count('a', null, false)
  now += 60_000
  t.equal(callers.top().length, 1)
  now += 20_000
  t.equal(callers.top().length, 0)
  for (let i = 0; i < 4; i += 1) {
    callers.count('b', 'key', i === 0)
    now += 15_000
  }
  t.same(callers.top(), [{ account: 'b', key: 'key', requests: 4, limited: 1 }], 'summed over the minute')
})

t.test('however many callers there are, the list and the memory are bounded', async (t) => {
  const callers = new Callers(() => 0)
  callers.count('busy', null, false)
  for (let i = 0; i < 10_000; i += 1) callers.count('account', `key-${i}`, false)
  callers.count('busy', null, false)
  t.equal(callers.top().length, 50)
  t.match(callers.top()[0], { account: 'busy', requests: 2 })
  for (let i = 0; i < 3; i += 1) callers.count('late', null, false)
  t.notOk(
    callers.top().some(({ account }) => account === 'late'),
    'further ones are not kept',
  )
})
