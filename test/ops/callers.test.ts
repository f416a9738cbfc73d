/** The busiest callers of the last minute: by account and key, without old requests, and bounded. */
import t from 'tap'
import { Callers } from '../../src/ops/callers.js'
import { openOps } from '../../src/ops/listener.js'
import { gatewayOn, someHash } from '../helper.js'
import { createKey } from '../limits.js'

t.test('the busiest callers are listed with their requests and 429s, without a credential', async (t) => {
  const { get, callers, log } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '5' } }, { get_devices: [] })
  const { id, key } = (await createKey(get)).body
  for (let i = 0; i < 7; i += 1) await get('/v1/me', key)
  await get('/v1/me', someHash)
  await get('/v1/me')
  const metrics = { text: async () => ({ type: '', body: '' }), callers: { top: callers } }
  const ops = await openOps({ host: '127.0.0.1', port: 0, metrics, isDraining: () => false })
  t.teardown(() => ops.close())
  const text = await (await fetch(`${ops.url}/callers`)).text()
  const [, account] = /"account":"([\w-]{22})"/.exec(log()) ?? []
  t.same(JSON.parse(text), [
    { account, key: id, requests: 7, limited: 2 },
    { account, key: null, requests: 2, limited: 0 },
  ])
})

t.test('a request is listed for at least a minute and less than 80 s', async (t) => {
  let now = 5_000_000
  const callers = new Callers(() => now)
  callers.count('a', null, false)
  for (const [wait, listed] of [
    [0, 1],
    [60_000, 1],
    [20_000, 0],
  ] as const) {
    now += wait
    t.equal(callers.top().length, listed)
  }
  for (let i = 0; i < 4; i += 1) {
    callers.count('b', 'key', i === 0)
    now += 15_000
  }
  t.same(callers.top(), [{ account: 'b', key: 'key', requests: 4, limited: 1 }], 'summed over the minute')
})

t.test('however many callers there are, the list and the memory are bounded', async (t) => {
  const callers = new Callers(() => 0)
  callers.count('busy', null, false)
  for (let i = 0; i < 100_000; i += 1) callers.count('account', `key-${i}`, false)
  callers.count('busy', null, false)
  t.equal(callers.top().length, 50)
  t.match(callers.top()[0], { account: 'busy', requests: 2 })
})
