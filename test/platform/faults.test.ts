/** A platform that fails, hangs or cannot be found: what callers get, and what the log says. */
import type { RequestListener, ServerResponse } from 'node:http'
import t from 'tap'
import { textIn } from '../../src/platform/body.js'
import { HttpClient } from '../../src/platform/http-client.js'
import { isLong, isUnavailable, kilobytesKept, nowhere } from '../faults.js'
import { type Bodies, gateway, gatewayOn, platform, someHash } from '../helper.js'
import { until } from '../redis.js'
import { faulty, hangs, impatient, page, resets, sends, well } from './faulty.js'

/** Failures, and whether they open the circuit breaker. */
const failures: Record<string, [behave: RequestListener, opens: boolean]> = {
  'resets every connection': [resets, true],
  'fails with 500': [sends('oops', 500), true],
  'shows a page for maintenance': [page, true],
  'sends garbage': [sends('\u0000\u0001{]'), true],
  'does not speak HTTP': [(request) => void request.socket.end('220 mail ready\r\n'), true],
  'sends another shape after an upgrade': [sends('{"result":{"vehicles":[]}}'), false],
  'limits the rate': [sends('', 429), false],
}

const isClosed = /gateway_breaker_state\{realm="platform",state="closed"\} 1/

t.test('many connections look up the name of the platform once, so that Redis gets its turn', async (t) => {
  const { url } = await platform(t, well)
  const client = new HttpClient({ url: url.replace('127.0.0.1', 'localhost'), connections: 20 })
  t.teardown(() => client.close())
  const request = { action: 'get_devices', hash: someHash, query: {} } as const
  const send = () => client.send(request, AbortSignal.timeout(5_000), (body) => textIn(body, 1_000))
  const sent = Promise.all(Array.from({ length: 20 }, send))
  t.equal(process.getActiveResourcesInfo().filter((name) => name === 'GetAddrInfoReqWrap').length, 1)
  t.ok((await sent).every((text) => text?.includes('Van 7')))
})

t.test('a timeout during the name lookup says so', async (t) => {
  const client = new HttpClient({ url: 'http://localhost:9', connections: 1 })
  t.teardown(() => client.close())
  const deadline = new AbortController()
  const sent = client.send({ action: 'get_devices', hash: someHash, query: {} }, deadline.signal, async () => {})
  deadline.abort()
  await t.rejects(sent, { message: 'get_devices: timeout (name lookup)' })
})

t.test('a failing platform: 503, at once after several failures, and recovery without a restart', async (t) => {
  const { become, devicesOf, works, metrics, calls, get, ticks } = await faulty(t)
  const health = async (): Promise<string> => (await get('/health')).body.status
  for (const [at, [name, [behave, opens]]] of Object.entries(failures).entries()) {
    const [account, other] = [`${someHash}${at}`, `${someHash}Z${at}`]
    await works(account)
    ticks.advance(60_000) // for health, a success of another account no longer counts
    become(behave)
    const failed = await Promise.all([undefined, 1, 2, 3, 4, 5].map((device) => devicesOf(account, device)))
    for (const refused of failed) isUnavailable(t, refused, name)
    const sent = calls.length
    isUnavailable(t, await devicesOf(account), `${name}: and then`)
    t.equal(calls.length === sent, opens, `${name}: without a request to wait for`)
    const refused = await devicesOf(other)
    isUnavailable(t, refused, `${name}: the validation of another account`)
    t.notMatch(JSON.stringify(refused.body), /oops|Back soon|mail ready|vehicles/, 'no text of the platform')
    t.equal(await health(), 'degraded', name)
    t.match(await metrics(), isClosed, `${name}: two accounts open nothing for others`)
    become(well)
    for (const hash of [account, other]) await works(hash)
    t.equal(await health(), 'ok', name)
  }
})

t.test('an outage that three accounts notice spares all the others the wait, until one probe succeeds', async (t) => {
  const { become, devicesOf, works, calls, metrics } = await faulty(t, impatient)
  const accounts = Array.from({ length: 6 }, (_, n) => `${someHash.slice(0, -1)}${n}`)
  for (const account of accounts) await works(account)
  become(hangs)
  const late = accounts.slice(0, 3).flatMap((account) => [devicesOf(account, 7), devicesOf(account, 8)])
  for (const refused of await Promise.all(late)) isUnavailable(t, refused, 'at the deadline')
  const sent = calls.length
  for (const account of accounts.slice(3)) isUnavailable(t, await devicesOf(account), 'an account without a failure')
  t.equal(calls.length, sent)
  t.match(await metrics(), /gateway_breaker_state\{realm="platform",state="open"\} 1/)
  become(well)
  await works(accounts[5])
  t.match(await metrics(), isClosed)
  t.equal((await devicesOf(accounts[4] as string)).status, 200)
})

t.test('a request waits for a second for the probe of another one, which may hang', async (t) => {
  const { become, devicesOf, get, calls, clock, ticks, arrivals } = await faulty(t)
  const held: ServerResponse[] = []
  const requests: Record<string, () => ReturnType<typeof get>> = {
    'a list of devices': () => devicesOf(),
    'a device': () => devicesOf(someHash, 7),
    'another list': () => get('/v1/geofences', someHash),
    'a validation': () => get('/v1/geofences', someHash),
  }
  for (const [name, request] of Object.entries(requests)) {
    if (name === 'a validation') clock.advance(600_000)
    become(resets)
    for (let n = 0; n < 5; n += 1) isUnavailable(t, await request(), name)
    become((_request, response) => void held.push(response))
    ticks.advance(2_000)
    const sent = calls.length
    let isProbing = true
    const probe = request().finally(() => {
      isProbing = false
    })
    await until(() => calls.length > sent)
    // The probe has begun: the next one may, too, while it hangs.
    ticks.advance(2_000)
    isUnavailable(t, await request(), name)
    t.ok(isProbing, `${name}: without waiting for its end`)
    t.equal(calls.length, sent + 1)
    become({ ...well, get_geofences: { items: [] } })
    const other = arrivals(1)
    const joined = request()
    await other
    held.pop()?.destroy()
    t.same([(await probe).status, (await joined).status], [200, 200], `${name}: the second attempt works`)
  }
})

t.test('a host name that leads nowhere is a 503, and the log has the reason', async (t) => {
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: `https://${nowhere}/api` } })
  for (let n = 0; n < 7; n += 1) isUnavailable(t, await get('/v1/devices', someHash), `call ${n}`)
  t.match(log(), /ENOTFOUND/)
})

t.test('requests to a platform that is down leave no memory behind', async (t) => {
  const { become, devicesOf } = await faulty(t, { ...impatient, LOG_LEVEL: 'silent' })
  await devicesOf()
  become(hangs)
  const hundred = () => Promise.all(Array.from({ length: 100 }, () => devicesOf()))
  for (let n = 1; n < (isLong ? 40 : 2); n += 1) await hundred()
  const kilobytes = await kilobytesKept(hundred, isLong ? 400 : 5)
  t.ok(kilobytes < (isLong ? 38 : 409), `${kilobytes} kB for a hundred`)
})

t.test('requests of an account beyond its queue get 503, and the platform is not blamed', async (t) => {
  const held: ServerResponse[] = []
  const none = '{"items":{"data":[]},"status":1}'
  const bodies: Bodies = { get_events: (_: unknown, response: ServerResponse) => held.push(response) }
  const { get, lines } = await gatewayOn(t, bodies)
  await get('/v1/me', someHash)
  const events = Array.from({ length: 80 }, (_, at) => get(`/v1/events?offset=${at * 1_000}&limit=1`, someHash))
  const refused = await Promise.any(events)
  bodies.get_events = none
  for (const response of held) response.end(none)
  isUnavailable(t, refused, 'beyond the queue')
  t.equal(refused.body.message, 'The service is overloaded. Try again shortly.')
  t.same(new Set((await Promise.all(events)).map(({ status }) => status)), new Set([200, 503]))
  const blamed = lines('outage begins').map(({ of }) => of)
  t.same(blamed, ['gateway'])
})

t.test('a response that no `limit` makes smaller is not called a platform that is away', async (t) => {
  const data = Array.from({ length: 50_001 }, (_, at) => ({ id: at + 1 }))
  const { get } = await gatewayOn(t, { get_devices: [], get_user_drivers: { items: { drivers: { data } } } })
  const refused = await get('/v1/drivers?limit=1', someHash)
  isUnavailable(t, refused, '50,001 drivers')
  t.equal(refused.body.message, 'The response of the tracking platform is too large.')
})
