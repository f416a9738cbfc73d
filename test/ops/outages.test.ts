/** Outages in the log: a line when one begins, one for each further reason, one with a count when it is over, however many requests fail. */
import t from 'tap'
import { outagesIn } from '../../src/ops/outages.js'
import { type Bodies, gatewayOn, someHash } from '../helper.js'
import { statusesOf } from '../limits.js'
import { only } from '../only.js'
import { until } from '../redis.js'

t.test('an outage of the platform is one line, and its end one with a count, without a stack', async (t) => {
  const well = { items: [] }
  const bodies: Bodies = { get_geofences: well }
  let ticks = 0
  const { get, log, lines } = await gatewayOn(t, { ticks: () => ticks }, bodies)
  const geofences = () => get('/v1/geofences', someHash)
  t.equal((await geofences()).status, 200)
  for (const failures of [30, 3]) {
    bodies.get_geofences = 500
    t.same(await statusesOf(failures, geofences), Array(failures).fill(503))
    bodies.get_geofences = well
    ticks += 10_000
    await until(async () => (await geofences()).status === 200)
  }
  const told = lines('outage begins', 'outage over')
  const of = 'platform get_geofences'
  t.match(
    told,
    only(
      { level: 'warn', of, reason: /server_error/, reqId: /./, msg: 'outage begins' },
      { level: 'warn', of, failures: Number, msg: 'outage over' },
      { of, msg: 'outage begins' },
      { of, failures: Number, msg: 'outage over' },
    ),
  )
  t.equal(told.length, 4)
  t.ok(told[1]?.failures >= 30 && told[3]?.failures >= 3)
  t.notMatch(log(), '"stack"')
  const failed = lines('request').filter(({ error }) => error === 'gateway_error')
  t.equal(failed.length, told[1]?.failures + told[3]?.failures)
})

t.test('a failure of the sandbox is no outage of the platform beside it', async (t) => {
  const env = { DEMO_TOKEN: 'demo', PLATFORM_TIMEOUT_MS: '1' }
  const { get, lines } = await gatewayOn(t, { env }, {})
  await until(async () => (await get('/v1/geofences', 'demo')).status === 503)
  const failed = lines('outage begins').map(({ of }) => of)
  t.same(new Set(failed.map((of) => of.split(' ')[0])), new Set(['sandbox']))
})

t.test('a key that the store does not know is no outage of the store', async (t) => {
  const { get, log, metrics } = await gatewayOn(t, {})
  t.equal((await get('/v1/me', `gps_live_${'0'.repeat(48)}`)).status, 401)
  t.match(await metrics(), 'gateway_store_calls_total{verb="use",outcome="none"} 1')
  t.notMatch(log(), 'outage')
})

t.test('failures and successes that alternate are one outage', async (t) => {
  const lines: unknown[][] = []
  let now = 0
  const outages = outagesIn({ warn: (...line: unknown[]) => void lines.push(line) }, () => now)
  const cause = Object.assign(new Error('two'), { code: 'ECODE' })
  for (let i = 0; i < 100; i += 1) {
    outages.failed('a', new Error('one', { cause }), 'r')
    outages.succeeded('a')
    now += 9_000
  }
  t.same(lines, [[{ of: 'a', reason: 'one; two (ECODE)', reqId: 'r' }, 'outage begins']])
  now += 1_000
  outages.succeeded('b')
  outages.succeeded('a')
  t.same(lines[1], [{ of: 'a', failures: 100, seconds: 891 }, 'outage over'])
  outages.failed('b', new Error('one (ECODE)', { cause }))
  t.match(lines[2], [{ reason: /^one \(ECODE\); two$/ }], 'a code that a message names is not repeated')
})

t.test('an outage is over only with a success, however long the pauses between its failures', async (t) => {
  const lines: unknown[][] = []
  let now = 0
  const outages = outagesIn({ warn: (...line: unknown[]) => void lines.push(line) }, () => now)
  outages.failed('a', new Error('timeout'), 'r')
  outages.succeeded('a')
  for (; now < 60_000; now += 15_000) outages.failed('a', new Error('timeout'), 'r')
  t.same(
    lines.map(([, msg]) => msg),
    ['outage begins', 'outage goes on', 'outage goes on', 'outage goes on'],
  )
  outages.succeeded('a')
  t.same(lines[4], [{ of: 'a', failures: 5, seconds: 45 }, 'outage over'])
})

t.test('an outage logs each of its reasons once, and no more than five', async (t) => {
  const lines: unknown[][] = []
  const outages = outagesIn({ warn: (...line: unknown[]) => void lines.push(line) }, () => 0)
  const reasons = ['down', 'no field email', 'down', 'c', 'd', 'no field email', 'e', 'f', 'g']
  for (const reason of reasons) outages.failed('a', new Error(reason), 'r')
  const line = (reason: string, msg: string) => [{ of: 'a', reason, reqId: 'r' }, msg]
  const further = ['no field email', 'c', 'd', 'e'].map((reason) => line(reason, 'outage has another reason'))
  t.same(lines, [line('down', 'outage begins'), ...further])
})

t.test('an outage of the gateway itself is over with a success', async (t) => {
  let ticks = 0
  const options = { ticks: () => ticks, env: { PLATFORM_TIMEOUT_MS: '60000' } }
  const { get, log } = await gatewayOn(t, options, { get_geofences: () => {} })
  const stuck = get('/v1/geofences', someHash)
  await until(async () => {
    ticks += 50_000
    return /"of":"gateway".*"outage begins"/.test(log())
  })
  t.equal((await stuck).status, 503)
  ticks += 10_000
  t.equal((await get('/v1/nowhere')).status, 404)
  t.notMatch(log(), /"outage over"/)
  await get('/health')
  t.match(log(), /"of":"gateway","failures":1,.*"outage over"/)
})
