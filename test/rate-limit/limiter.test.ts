/** Tests of the request limits: budgets, windows, headers, and what an address counts as. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { Secret } from '../../src/auth/credential.js'
import { addressName, networkName } from '../../src/rate-limit/limiter.js'
import { isLong } from '../faults.js'
import { Clock, type Gateway, gateway, gatewayOn, someHash } from '../helper.js'
import { createKey, fleet, limitsOf, otherHash, redisGateway, statusesOf } from '../limits.js'
import { redisServer, until, withoutRedis } from '../redis.js'

/** Three gateways with one Redis. */
async function threeGateways(t: Test, env: Record<string, string>): Promise<[Gateway, Gateway, Gateway]> {
  const { url } = await redisServer(t)
  const open = () => redisGateway(t, url, env)
  return Promise.all([open(), open(), open()])
}

/** On a busy machine Redis is too late for a thousand requests at once. */
const [sentAtOnce, max] = isLong ? [1_000, 100] : [150, 50]
const burst = `of ${sentAtOnce} concurrent requests over three gateways exactly ${max} pass`
t.test(burst, { skip: withoutRedis }, async (t) => {
  const gateways = await threeGateways(t, { RATE_LIMIT_MAX: String(max) })
  const { key } = (await createKey(gateways[0].get)).body
  for (const credential of [someHash, key]) {
    const sent = Array.from({ length: sentAtOnce }, (_, at) => gateways[at % 3]!.get('/v1/devices', credential))
    const results = await Promise.all(sent)
    t.equal(results.filter(({ status }) => status === 429).length, sentAtOnce - max)
    const passed = results.filter(({ status }) => status === 200)
    const remainders = passed.map((one) => limitsOf(one)[1]).sort((a, b) => a - b)
    t.same(remainders, [...Array(max).keys()], 'each of them shows another remainder')
  }
})

t.test('a window shared through Redis ends when its headers say', { skip: withoutRedis }, async (t) => {
  const [here, there] = await threeGateways(t, { RATE_LIMIT_MAX: '2', RATE_LIMIT_WINDOW_S: '2' })
  const { key } = (await createKey(here.get)).body
  const oneWindow = async (credential: string) => {
    const opened = performance.now()
    const first = await here.get('/v1/devices', credential)
    await there.get('/v1/devices', credential)
    const third = await there.get('/v1/devices', credential)
    t.same([first.status, ...limitsOf(first), third.status], [200, 2, 1, 2, 429])
    // If rejected requests prolonged the window, it would never end.
    await until(async () => (await here.get('/v1/devices', credential)).status === 200)
    t.ok(performance.now() - opened >= 2_000)
  }
  await Promise.all([oneWindow(someHash), oneWindow(key)])
})

t.test('no window seems longer than it is after the clock of Redis was set back', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const { get } = await redisGateway(t, server.url, { RATE_LIMIT_MAX: '2' })
  // Redis keeps the end of a window as a wall-clock time.
  await server.command('set', 'gps:count:ip:127.0.0.1', '2', 'PX', '3600000')
  t.same(limitsOf(await get('/health')), [2, 2, 0])
  t.same(limitsOf(await get('/v1/devices')), [2, 1, 60], 'the next count starts anew')
  t.same(limitsOf(await get('/v1/devices')).slice(0, 2), [2, 0])
})

t.test('gateways with one Redis share the budget of key creations', { skip: withoutRedis }, async (t) => {
  const [here, there] = await threeGateways(t, { RATE_LIMIT_MAX: '10' })
  const sent = [await createKey(here.get), await createKey(there.get), await createKey(here.get)]
  t.same(
    sent.map(({ status }) => status),
    [200, 200, 429],
  )
})

t.test('a request over the limit is a 429 that costs the platform nothing, until the announced reset', async (t) => {
  const ticks = new Clock(0)
  const { get, calls } = await gatewayOn(t, { ticks: ticks.now, env: { RATE_LIMIT_MAX: '20' } }, fleet)
  const send = () => get('/v1/drivers', someHash)
  for (let left = 19; left >= 0; left -= 1) {
    const response = await send()
    t.same([response.status === 429, ...limitsOf(response)], [false, 20, left, 60])
  }
  ticks.advance(12_300)
  const before = calls.length
  const exceeded = await send()
  t.same([exceeded.status, exceeded.body.error], [429, 'rate_limit_exceeded'])
  t.same(Object.keys(exceeded.body).sort(), ['error', 'message'])
  t.same(limitsOf(exceeded), [20, 0, 48])
  t.equal(exceeded.headers.get('retry-after'), '48')
  t.equal(calls.length, before)
  ticks.advance(47_699)
  const last = await send()
  t.same([limitsOf(last), last.headers.get('retry-after')], [[20, 0, 1], '1'], 'a client that waits never gets another')
  ticks.advance(1)
  const next = await send()
  t.same([next.status === 429, ...limitsOf(next)], [false, 20, 19, 60])
})

t.test('the window of one process ends in time, whether its clock stands still or is set', async (t) => {
  const [clock, ticks] = [new Clock(), new Clock(0)]
  const { get } = await gatewayOn(t, { clock: clock.now, ticks: ticks.now, env: { RATE_LIMIT_MAX: '9' } }, fleet)
  const limits = async () => limitsOf(await get('/v1/drivers', someHash))
  for (const [at, step] of [0, 0, -3_600_000, -500, 7_200_000, 0].entries()) {
    clock.advance(step)
    t.same(await limits(), [9, 8 - at, 60 - 10 * at], `after a step of ${step} ms`)
    ticks.advance(10_000)
  }
  t.same(await limits(), [9, 8, 60])
})

t.test('a request over the limit costs the platform nothing, even when its hash is due for validation', async (t) => {
  const clock = new Clock()
  const env = { RATE_LIMIT_MAX: '3', ACCOUNT_TTL_MS: '1000' }
  const { get, calls } = await gatewayOn(t, { clock: clock.now, env }, fleet)
  for (const credential of [(await createKey(get)).body.key, someHash]) {
    t.same(await statusesOf(3, () => get('/v1/me', credential)), [200, 200, 200])
    const before = calls.length
    clock.advance(1_001)
    t.same(await statusesOf(4, () => get('/v1/me', credential)), Array(4).fill(429))
    t.equal(calls.length, before)
  }
})

t.test('two keys of one account, its hash, and another account have a budget each', async (t) => {
  const { get } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '10' } }, fleet)
  const credentials = [someHash, otherHash, (await createKey(get)).body.key, (await createKey(get)).body.key]
  for (let left = 9; left >= 0; left -= 1) {
    for (const credential of credentials) t.equal(limitsOf(await get('/v1/devices', credential))[1], left)
  }
  for (const credential of credentials) t.equal((await get('/v1/devices', credential)).status, 429)
  t.equal(limitsOf(await get('/health'))[1], 8, 'only the two creations count on the address')
})

t.test('a limit that the operator grants to a key holds from its next request on', async (t) => {
  const { get, store } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '10' } }, fleet)
  const [granted, plain] = [(await createKey(get)).body, (await createKey(get)).body]
  const use = async ({ key }: { key: string }) => {
    const response = await get('/v1/devices', key)
    return [response.status, ...limitsOf(response).slice(0, 2)]
  }
  const grant = async (limit: number | null) =>
    store.keys.update(new Secret(granted.key).digest, (record) => ({ ...record, limit }), Date.now())
  t.same(await statusesOf(10, () => get('/v1/devices', granted.key)), Array(10).fill(200))
  t.same(await use(granted), [429, 10, 0])
  await grant(13)
  t.same(await use(granted), [200, 13, 1])
  t.same(await use(granted), [200, 13, 0])
  t.same(await use(granted), [429, 13, 0])
  t.same(await use(plain), [200, 10, 9])
  await grant(null)
  t.same(await use(granted), [429, 10, 0])
})

t.test('the demo token and requests without a credential have one budget each per IPv4 address or /64', async (t) => {
  const { get } = await gateway(t, { env: { RATE_LIMIT_MAX: '3', TRUST_PROXY: '1' } })
  for (const [credential, ok] of [
    ['demo', 200],
    [undefined, 401],
  ] as const) {
    for (const network of ['192.0.2.2', '192.0.2.3', '2001:db8:1:2::', '2001:db8:1:3::']) {
      const statuses = await statusesOf(4, (host) => {
        const address = network.endsWith('::') ? network + host : network
        return get('/v1/me', credential, { headers: { 'x-forwarded-for': address } })
      })
      t.same(statuses, [ok, ok, ok, 429], `${credential} from ${network}`)
    }
  }
})

/** The requests left after each one without a credential that a proxy forwards. */
async function remaining(t: Test, proxy: string | undefined, forwarded: string[]): Promise<number[]> {
  const { get } = await gateway(t, { env: { RATE_LIMIT_MAX: '9', ...(proxy && { TRUST_PROXY: proxy }) } })
  const found = []
  for (const one of forwarded) {
    found.push(limitsOf(await get('/v1/me', undefined, { headers: { 'x-forwarded-for': one } }))[1])
  }
  return found
}

t.test('a forged X-Forwarded-For gains nothing; of a trusted chain the entry of the proxy counts', async (t) => {
  const forged = ['203.0.113.1', '203.0.113.2', 'nonsense', '']
  t.same(await remaining(t, undefined, forged), [8, 7, 6, 5], 'nothing is trusted by default')
  t.same(await remaining(t, '10.0.0.0/8, ::1', forged), [8, 7, 6, 5], 'the peer is not trusted')
  const chains = ['198.51.100.9, 203.0.113.1', '198.51.100.8, 203.0.113.1', '198.51.100.8, 203.0.113.2']
  t.same(await remaining(t, '1', chains), [8, 7, 8], 'one hop: the last entry')
  t.same(await remaining(t, '127.0.0.0/8', chains), [8, 7, 8])
  t.same(await remaining(t, '2', chains), [8, 8, 7], 'two hops: the last but one')
  t.same(await remaining(t, '127.0.0.1,203.0.113.0/24', chains), [8, 8, 7])
  const long = ['198.51.100.8', '198.51.100.9'].map((first) => `${first}${', 203.0.113.1'.repeat(100)}`)
  t.same(await remaining(t, '127.0.0.1,203.0.113.0/24', long), [8, 7], 'only the last 1,024 characters are read')
  const padded = ['203.0.113.1', '203.0.113.2'].map((last) => `${'198.51.100.9, '.repeat(100)}${last}`)
  t.same(await remaining(t, '1', padded), [8, 8], 'which are those of the proxies')
})

t.test('clients and trusted proxies are known by their addresses, whatever ports are forwarded', async (t) => {
  const ports = ['192.0.2.7:50123, 203.0.113.1:1', '192.0.2.7:50124, 203.0.113.2', '192.0.2.8:1, [2001:db8::1]:50123']
  t.same(await remaining(t, '127.0.0.1,203.0.113.0/24,2001:db8::/32', ports), [8, 7, 8])
  const brackets = ['[2001:db8::7]:50123', '[2001:db8::7]', '2001:db8::7', '::ffff:192.0.2.7', '[::ffff:192.0.2.7]:1']
  t.same(await remaining(t, '1', [...brackets, '192.0.2.7:1']), [8, 7, 6, 8, 7, 6])
})

t.test('an IPv6 address counts as its /64 and /56 in every spelling, an IPv4 address as itself', async (t) => {
  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 8,
    maxLength: 8,
  })
  /** In full and in capitals, and as short as possible. */
  const spellings = (address: number[]) => {
    const full = address.map((one) => one.toString(16).padStart(4, '0').toUpperCase()).join(':')
    return [full, new URL(`http://[${full}]`).hostname.slice(1, -1)]
  }
  const names = (addresses: number[][]) => {
    const spelled = addresses.flatMap(spellings)
    return [new Set(spelled.map(addressName)).size, new Set(spelled.map(networkName)).size]
  }
  const flipped = ([a = 0, b = 0, c = 0, d = 0, ...rest]: number[], bit: number) => [a, b, c, d ^ bit, ...rest]
  fc.assert(
    fc.property(groups, groups, fc.nat(7), (one, two, bit) => {
      const same64 = [...one.slice(0, 4), ...two.slice(4)]
      fc.pre([one, same64].every((address) => address.slice(0, 5).some((group) => group !== 0)))
      fc.pre(flipped(one, 1 << bit).some((group) => group !== 0) && flipped(one, 256 << bit).some((g) => g !== 0))
      t.same(names([one, same64]), [1, 1])
      t.same(names([one, flipped(one, 1 << bit)]), [2, 1])
      t.same(names([one, flipped(one, 256 << bit)]), [2, 2])
    }),
  )
  for (const [sent, address] of [
    ['2001:db8:1:2:3:4:192.0.2.7', '2001:db8:1:2:3:4:c000:207'],
    ['2001:db8::2:3:4:192.0.2.7', '2001:db8::2:3:4:c000:207'],
    ['2001::3:4:5:6:192.0.2.7', '2001::3:4:5:6:c000:207'],
    ['64:ff9b::192.0.2.7', '64:ff9b::c000:207'],
  ] as const) {
    t.same([addressName(sent), networkName(sent)], [addressName(address), networkName(address)], sent)
  }
  t.equal(addressName('2001:db8::7:5012'), 'ip:2001:db8:0:0::/64', 'without brackets, a port is a part of the address')
  t.equal(addressName('fe80::1%eth0'), addressName('fe80::2'))
  for (const mapped of ['::ffff:192.0.2.7', '::FFFF:C000:207', '0:0:0:0:0:ffff:192.0.2.7'])
    t.same([addressName(mapped), networkName(mapped)], [addressName('192.0.2.7'), undefined], mapped)
  t.not(addressName('192.0.2.7'), addressName('192.0.2.8'))
  t.same([networkName('192.0.2.7'), networkName('::ffff:192.0.2.7'), networkName('x:y')], Array(3))
  t.equal(addressName('x'.repeat(10_000)).length, 67, 'a name is short, whatever a proxy forwards')
  t.equal(addressName(), 'ip:', 'a connection that was reset has no address')
})

t.test('behind a trusted proxy, every request counts on the client, also one with a malformed URL', async (t) => {
  const { get, lines } = await gateway(t, { env: { RATE_LIMIT_MAX: '3', TRUST_PROXY: '1' } })
  const from = (address: string) => (path: string) => get(path, undefined, { headers: { 'x-forwarded-for': address } })
  const [one, other] = [from('192.0.2.1'), from('192.0.2.2')]
  const paths = ['/%zz', '/v1/%ff?a=%zz', '/nowhere', '/%zz']
  t.same(await statusesOf(4, (at) => one(paths[at] ?? '')), [400, 400, 404, 429])
  t.equal(lines('request').at(-1)?.error, 'rate_limit_exceeded', 'in the log, too')
  const { status, headers } = await other('/v1/keys/%zz')
  t.same([status, headers.get('ratelimit-remaining')], [400, '2'])
  t.equal(limitsOf(await get('/health'))[1], 3, 'nothing is counted on the proxy')
})
