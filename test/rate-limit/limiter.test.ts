/** How many requests callers have, who is counted together, and that the headers say so on every answer. */
import { randomBytes } from 'node:crypto'
import { Agent, request as send } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { digestOf, Secret } from '../../src/auth/credential.js'
import { addressName } from '../../src/rate-limit/limiter.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { type Answer, answers, Clock, type Gateway, gateway, platform, someHash } from '../helper.js'
import { redisServer, until, withoutRedis } from '../redis.js'

const otherHash = someHash.replace('ab', 'zz')
const fleet = answers({ get_devices: [] })
const numbers = ({ headers }: Pick<Answer, 'headers'>) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)))

/** A key of the account behind a hash. */
async function keyOf({ get }: Gateway, hash = someHash): Promise<{ id: string; key: string }> {
  const { status, body } = await get('/v1/keys', undefined, {
    method: 'POST',
    body: JSON.stringify({ platform_hash: hash }),
    headers: { 'content-type': 'application/json' },
  })
  if (status !== 200) throw new Error(`no key: ${JSON.stringify(body)}`)
  return body
}

async function redisStore(t: Test, redisUrl: string): Promise<Store> {
  const store = await openStore({ redisUrl, dataDir: '' }, { clock: Date.now, onError: () => {}, onDamaged: () => {} })
  t.teardown(() => store.close())
  return store
}

/** Three gateways that share one Redis and stand before one platform. */
async function three(t: Test, redisUrl: string, env: Record<string, string> = {}): Promise<Gateway[]> {
  const { url } = await platform(t, fleet)
  const settings = { PLATFORM_URL: url, RATE_LIMIT_MAX: '100', ...env }
  return Promise.all([0, 1, 2].map(async () => gateway(t, { env: settings, store: await redisStore(t, redisUrl) })))
}

/** One request from a source address of this machine. */
function from(localAddress: string, url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = send(url, { localAddress, headers, agent: false }, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('')
      const found = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
      resolve({ status: response.statusCode ?? 0, headers: found, body: text === '' ? undefined : JSON.parse(text) })
    })
    request.on('error', reject).end()
  })
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` })

t.test(
  'of a thousand requests at once over three gateways exactly a hundred pass',
  { skip: withoutRedis },
  async (t) => {
    const server = await redisServer(t)
    const gateways = await three(t, server.url)
    const { key } = await keyOf(gateways[0]!)
    for (const [count, credential] of [
      [1000, someHash],
      [400, key],
    ] as const) {
      const results = await Promise.all(
        Array.from({ length: count }, (_, i) => gateways[i % 3]!.get('/v1/devices', credential)),
      )
      const passed = results.filter(({ status }) => status === 200)
      t.equal(passed.length, 100)
      t.equal(results.filter(({ status }) => status === 429).length, count - 100)
      const left = passed.map((one) => numbers(one)[1]).sort((a, b) => Number(a) - Number(b))
      t.same(
        left,
        Array.from({ length: 100 }, (_, i) => i),
        'each of them was told another remainder',
      )
    }
  },
)

t.test('a window shared through Redis ends when its headers say', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [here, there] = await three(t, server.url, { RATE_LIMIT_MAX: '2', RATE_LIMIT_WINDOW_S: '1' })
  const { key } = await keyOf(here!)
  for (const credential of [someHash, key]) {
    const one = await here!.get('/v1/devices', credential)
    const opened = performance.now()
    await there!.get('/v1/devices', credential)
    const spent = await there!.get('/v1/devices', credential)
    t.same([one.status, ...numbers(one), spent.status], [200, 2, 1, 1, 429])
    await until(async () => (await here!.get('/v1/devices', credential)).status === 200)
    t.ok(performance.now() - opened > 900)
    t.ok(performance.now() - opened < 1500, 'requests that were refused do not prolong the window')
  }
})

t.test('the 101st request waits for the next window, and that begins anew', async (t) => {
  const clock = new Clock()
  const { url, calls } = await platform(t, fleet)
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '100' } })
  for (let i = 1; i <= 100; i += 1) {
    const answer = await get('/v1/drivers', someHash)
    t.same([answer.status === 429, ...numbers(answer)], [false, 100, 100 - i, 60])
  }
  clock.advance(12_300)
  const before = calls.length
  const { status, headers, body } = await get('/v1/drivers', someHash)
  t.equal(status, 429)
  t.same(Object.keys(body).sort(), ['error', 'message'])
  t.equal(body.error, 'rate_limit_exceeded')
  t.same(numbers({ headers }), [100, 0, 48])
  t.equal(headers.get('retry-after'), '48')
  t.equal(calls.length, before, 'it costs the platform nothing')
  clock.advance(47_699)
  t.equal((await get('/v1/drivers', someHash)).headers.get('retry-after'), '1')
  clock.advance(1)
  const first = await get('/v1/drivers', someHash)
  t.not(first.status, 429)
  t.same(numbers(first), [100, 99, 60])
})

t.test('a polite client, which stops at zero and comes back after Reset, never meets a 429', async (t) => {
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now, env: { RATE_LIMIT_MAX: '40' } })
  let windows = 0
  let sent = 0
  while (windows < 3) {
    const answer = await get('/v1/devices?limit=1', 'demo')
    sent += 1
    t.equal(answer.status, 200)
    const [, remaining = 0, reset = 0] = numbers(answer)
    clock.advance(137)
    if (remaining > 0) continue
    clock.advance(reset * 1000)
    windows += 1
  }
  t.equal(sent, 120, 'and gets all that it may have')
})

t.test('each credential has its own budget: two keys of one account, its hash, and another account', async (t) => {
  const { url } = await platform(t, fleet)
  const there = await gateway(t, { env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '10' } })
  const credentials = [someHash, otherHash, (await keyOf(there)).key, (await keyOf(there)).key]
  for (const left of [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]) {
    for (const credential of credentials) t.equal(numbers(await there.get('/v1/devices', credential))[1], left)
  }
  for (const credential of credentials) t.equal((await there.get('/v1/devices', credential)).status, 429)
  t.equal(numbers(await there.get('/health'))[1], 8, 'the address has only paid for making two keys')
})

t.test('the operator gives one key a higher budget, which holds and shows from its next request on', async (t) => {
  const { url } = await platform(t, fleet)
  const there = await gateway(t, { env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '10' } })
  const [tall, plain] = [await keyOf(there), await keyOf(there)]
  const use = async ({ key }: { key: string }) => {
    const answer = await there.get('/v1/devices', key)
    return [answer.status, ...numbers(answer).slice(0, 2)]
  }
  for (let i = 0; i < 10; i += 1) t.equal((await use(tall))[0], 200)
  t.same(await use(tall), [429, 10, 0])
  await there.store.keys.setLimit(tall.id, 13, Date.now())
  t.same(
    [await use(tall), await use(tall), await use(tall)],
    [
      [200, 13, 1],
      [200, 13, 0],
      [429, 13, 0],
    ],
  )
  t.same(await use(plain), [200, 10, 9])
  await there.store.keys.setLimit(tall.id, null, Date.now())
  t.same(await use(tall), [429, 10, 0])
})

t.test('the demo token and requests without a good credential are counted per address', async (t) => {
  const { url } = await gateway(t, { env: { RATE_LIMIT_MAX: '3' } })
  for (const credential of ['demo', undefined]) {
    for (const address of ['127.0.0.2', '127.0.0.3']) {
      const headers = credential === undefined ? {} : bearer(credential)
      const found = []
      for (const _ of [1, 2, 3, 4]) found.push((await from(address, `${url}/v1/me`, headers)).status)
      const good = credential ? 200 : 401
      t.same(found, [good, good, good, 429], `${credential} from ${address}`)
    }
  }
})

t.test(
  'a forged X-Forwarded-For buys nothing unless a proxy is trusted, and then only what the proxy says',
  async (t) => {
    const remaining = async (env: Record<string, string>, forwarded: string[]) => {
      const { url } = await gateway(t, { env: { RATE_LIMIT_MAX: '9', ...env } })
      const found = []
      for (const one of forwarded)
        found.push(numbers(await from('127.0.0.5', `${url}/v1/me`, { 'x-forwarded-for': one }))[1])
      return found
    }
    const rotating = ['203.0.113.1', '203.0.113.2', 'nonsense', '']
    t.same(await remaining({}, rotating), [8, 7, 6, 5], 'nobody is trusted by default')
    t.same(await remaining({ TRUST_PROXY: '10.0.0.0/8, ::1' }, rotating), [8, 7, 6, 5], 'our peer is not among them')
    const chains = ['198.51.100.9, 203.0.113.1', '198.51.100.8, 203.0.113.1', '198.51.100.8, 203.0.113.2']
    t.same(await remaining({ TRUST_PROXY: '1' }, chains), [8, 7, 8], 'one hop: the last entry counts')
    t.same(await remaining({ TRUST_PROXY: '127.0.0.0/8' }, chains), [8, 7, 8])
    t.same(await remaining({ TRUST_PROXY: '2' }, chains), [8, 8, 7], 'two hops: the last but one')
    t.same(await remaining({ TRUST_PROXY: '127.0.0.5,203.0.113.0/24' }, chains), [8, 8, 7])
    const household = ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::9', '2001:db8:1:3::1', '::ffff:192.0.2.1', '192.0.2.1']
    t.same(await remaining({ TRUST_PROXY: '1' }, household), [8, 7, 8, 8, 7], 'IPv6 by /64, mapped IPv4 as itself')
  },
)

t.test('an IPv6 address counts as its /64 in every spelling', async (t) => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }))
  const eight = fc.array(group, { minLength: 8, maxLength: 8 })
  /** With the longest run of zeros left out, as everybody writes it, and with none left out and capitals. */
  const spellings = (groups: number[]) => {
    const full = groups.map((one) => one.toString(16).padStart(4, '0').toUpperCase()).join(':')
    return [full, new URL(`http://[${full}]`).hostname.slice(1, -1)]
  }
  fc.assert(
    fc.property(eight, eight, (one, two) => {
      fc.pre(one.slice(0, 5).some((part) => part !== 0))
      const neighbour = [...one.slice(0, 4), ...two.slice(4)]
      fc.pre(neighbour.slice(0, 5).some((part) => part !== 0))
      const names = new Set([...spellings(one), ...spellings(neighbour)].map(addressName))
      const stranger = addressName(
        spellings([...one.slice(0, 3), (one[3] as number) ^ 1, ...one.slice(4)])[1] as string,
      )
      return names.size === 1 && !names.has(stranger)
    }),
  )
  t.equal(addressName('fe80::1%eth0'), addressName('fe80::2'))
  t.equal(addressName('::ffff:192.0.2.7'), addressName('192.0.2.7'))
  t.not(addressName('192.0.2.7'), addressName('192.0.2.8'))
})

/** Asks with many credentials from one address, a few at a time, and gives the statuses. */
async function flood(url: string, tokens: string[], lanes = 40): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes })
  const one = (token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = send(`${url}/v1/me`, { agent, headers: bearer(token) }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      request.on('error', reject).end()
    })
  const statuses: number[] = []
  const left = [...tokens]
  const lane = async () => {
    for (let token = left.pop(); token !== undefined; token = left.pop()) statuses.push(await one(token))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  agent.destroy()
  return statuses
}

const randomHash = () => `$2y$10$${randomBytes(40).toString('hex').slice(0, 53)}`
const randomKey = () => `gps_live_${randomBytes(24).toString('hex')}`

t.test(
  'ten thousand guesses from one address cost the platform a budget, and who is known there goes on',
  async (t) => {
    const { url, calls } = await platform(t, (request, response) => {
      const isKnown = request.url?.includes(encodeURIComponent(someHash))
      if (isKnown) fleet(request, response)
      else response.writeHead(401).end('{"status":0,"message":"Unauthorized"}')
    })
    const clock = new Clock()
    const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '100', DEMO_TOKEN: 'demo' }
    const there = await gateway(t, { clock: clock.now, env })
    const { key } = await keyOf(there)
    t.equal((await there.get('/v1/me', someHash)).status, 200)
    const before = calls.length
    const guesses = Array.from({ length: 10_000 }, (_, i) => (i % 10 === 0 ? randomKey() : randomHash()))
    const [statuses] = await Promise.all([
      flood(there.url, guesses),
      (async () => {
        for (let i = 0; i < 90; i += 1) {
          for (const good of [someHash, key, 'demo']) t.equal((await there.get('/v1/me', good)).status, 200)
        }
      })(),
    ])
    t.ok(calls.length - before <= 100, `${calls.length - before} calls`)
    t.same(new Set(statuses), new Set([401, 429]))
    t.ok(statuses.filter((status) => status === 401).length <= 100)
    const spent = calls.length
    const creation = await there.get('/v1/keys', undefined, {
      method: 'POST',
      body: JSON.stringify({ platform_hash: randomHash() }),
      headers: { 'content-type': 'application/json' },
    })
    t.same([creation.status, calls.length], [429, spent], 'making keys is no way to go on guessing')
    clock.advance(61_000)
    t.equal((await there.get('/v1/me', someHash)).status, 200, 'after the window a known hash is validated again')
    t.equal((await there.get('/v1/me', randomHash())).status, 401)
  },
)

t.test(
  'rotating through the /64s of one /56 gives four budgets of failed credentials, however they are sent',
  async (t) => {
    const { url, calls } = await platform(t, (request, response) => {
      if (request.url?.includes(encodeURIComponent(someHash))) fleet(request, response)
      else setTimeout(() => response.writeHead(401).end('{"status":0,"message":"Unauthorized"}'), 5)
    })
    const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '10', TRUST_PROXY: '1' }
    const address = (i: number, network = '2001:db8:1:ab') => `${network}${(i % 256).toString(16).padStart(2, '0')}::1`
    for (const how of ['one by one', 'at once'] as const) {
      const { get } = await gateway(t, { env })
      const guess = (from: string, i: number) => {
        const headers = { 'x-forwarded-for': from }
        if (i % 3 > 0) return get('/v1/me', randomHash(), { headers })
        const body = JSON.stringify({ platform_hash: randomHash() })
        return get('/v1/keys', undefined, {
          method: 'POST',
          body,
          headers: { ...headers, 'content-type': 'application/json' },
        })
      }
      const before = calls.length
      t.equal((await get('/v1/me', someHash, { headers: { 'x-forwarded-for': address(7) } })).status, 200)
      const answers: Answer[] = []
      const all = Array.from({ length: 200 }, (_, i) => i)
      if (how === 'at once') answers.push(...(await Promise.all(all.map((i) => guess(address(i), i)))))
      else for (const i of all) answers.push(await guess(address(i), i))
      t.ok(calls.length - before <= 41, `${calls.length - before} calls`)
      t.ok(answers.filter(({ status }) => status === 401).length <= 40)
      t.same(new Set(answers.map(({ status }) => status)), new Set([401, 429]))
      const spent = await guess(address(200), 1)
      t.same([spent.status, ...numbers(spent).slice(0, 2)], [429, 10, 0], 'the headers agree')
      t.match(spent.headers.get('retry-after'), /^[1-9]\d*$/)
      t.equal((await get('/v1/me', someHash, { headers: { 'x-forwarded-for': address(9) } })).status, 200)
      t.equal((await get('/v1/me', undefined, { headers: { 'x-forwarded-for': address(10) } })).status, 401)
      t.equal((await guess(address(0, '2001:db8:1:ac'), 1)).status, 401, 'the next /56 has a budget of its own')
    }
  },
)

t.test('a burst of guesses by both ways together costs no more than a budget', async (t) => {
  const { url, calls } = await platform(t, (_request, response) => {
    setTimeout(() => response.writeHead(401).end('{"status":0,"message":"Unauthorized"}'), 20)
  })
  const { get } = await gateway(t, { env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '20' } })
  const burst = async (size: number): Promise<Set<number>> => {
    const guesses = Array.from({ length: size }, (_, i) =>
      i % 2
        ? get('/v1/me', randomHash())
        : get('/v1/keys', undefined, {
            method: 'POST',
            body: JSON.stringify({ platform_hash: randomHash() }),
            headers: { 'content-type': 'application/json' },
          }),
    )
    return new Set((await Promise.all(guesses)).map(({ status }) => status))
  }
  t.same(await burst(10), new Set([401]))
  t.equal(calls.length, 10)
  t.ok([...(await burst(90))].every((status) => status === 401 || status === 429))
  t.ok(calls.length <= 20, `${calls.length} calls`)
})

t.test('many requests with one unknown hash are one guess', async (t) => {
  const { url, calls } = await platform(t, (request, response) => setTimeout(() => fleet(request, response), 20))
  const { get } = await gateway(t, { env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '4' } })
  const hashes = [someHash, otherHash]
  const results = await Promise.all(Array.from({ length: 8 }, (_, i) => get('/v1/me', hashes[i % 2])))
  t.same(new Set(results.map(({ status }) => status)), new Set([200]))
  t.equal(calls.length, 2)
})

t.test('a revoked key that goes on being sent is a failure of its address', async (t) => {
  const { url } = await platform(t, fleet)
  const there = await gateway(t, { env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '5' } })
  const { id, key } = await keyOf(there)
  t.equal((await there.get('/v1/me', key)).status, 200)
  t.equal((await there.get(`/v1/keys/${id}`, someHash, { method: 'DELETE' })).status, 200)
  const found = []
  for (let i = 0; i < 5; i += 1) found.push((await there.get('/v1/me', key)).status)
  t.same(found, [401, 401, 401, 401, 429], 'one of five went on the key itself')
  t.equal((await there.get('/v1/me', otherHash)).status, 429, 'an unknown hash is not even tried from there')
  t.equal((await there.get('/v1/me', someHash)).status, 200, 'a known one is')
})

t.test('a key whose hash the platform refuses costs the platform no more than a guess does', async (t) => {
  let refuses = false
  const { url, calls } = await platform(t, (request, response) => {
    if (refuses) response.writeHead(401).end('{"status":0,"message":"Unauthorized"}')
    else fleet(request, response)
  })
  const clock = new Clock()
  const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '15' }
  const there = await gateway(t, { clock: clock.now, env })
  const keys = [await keyOf(there), await keyOf(there), await keyOf(there)]
  clock.advance(61_000)
  refuses = true
  const before = calls.length
  const statuses = []
  for (let i = 0; i < 45; i += 1) statuses.push((await there.get('/v1/me', keys[i % 3]!.key)).status)
  t.ok(calls.length - before <= 15, `${calls.length - before} calls`)
  t.same(statuses.slice(0, 15), Array(15).fill(401))
  t.same(new Set(statuses.slice(15)), new Set([429]))
  refuses = false
  clock.advance(61_000)
  t.equal(
    (await there.get('/v1/me', keys[0]!.key)).status,
    200,
    'it works again when the platform takes the hash again',
  )
})

t.test('a request over its budget costs the store one question and no more', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [there] = await three(t, server.url, { RATE_LIMIT_MAX: '2' })
  const { key } = await keyOf(there!)
  const scripts = async () => {
    const stats = await server.command('info', 'commandstats')
    return [...stats.matchAll(/cmdstat_evalsha:calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0)
  }
  for (const credential of [someHash, key]) {
    for (const _ of [1, 2]) t.equal((await there!.get('/v1/devices', credential)).status, 200)
    const before = await scripts()
    for (let i = 0; i < 10; i += 1) t.equal((await there!.get('/v1/devices', credential)).status, 429)
    t.equal((await scripts()) - before, 10)
  }
})

t.test('keys that do not exist leave no count of their own behind', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  const [there] = await three(t, server.url)
  for (let i = 0; i < 30; i += 1) t.equal((await there!.get('/v1/me', randomKey())).status, 401)
  t.equal(await server.command('dbsize'), '1', 'only that of the address')
})

t.test(
  'while Redis is away each instance counts by itself, and no request waits for it twice',
  { skip: withoutRedis },
  async (t) => {
    const server = await redisServer(t, '--appendonly', 'yes')
    const { url } = await platform(t, fleet)
    const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '50', DEMO_TOKEN: 'demo' }
    const there = await gateway(t, { env, store: await redisStore(t, server.url) })
    const { key } = await keyOf(there)
    const lines = (text: string) => there.log().split(text).length - 1
    const [away, back] = ['Redis away: counting requests in process', 'counting requests in Redis again']
    const timed = async (path: string, credential?: string, init?: RequestInit) => {
      const started = performance.now()
      const answer = await there.get(path, credential, init)
      return { ...answer, ms: performance.now() - started }
    }
    const revocation = { method: 'DELETE' }
    for (const [round, how] of (['freeze', 'stop'] as const).entries()) {
      const full = numbers(await there.get('/v1/me', someHash))[1] as number
      await server[how]()
      const asked = [
        timed('/v1/me', key),
        timed('/v1/me', someHash),
        timed('/v1/me', otherHash),
        timed('/v1/me', 'demo'),
        timed('/v1/me'),
        timed('/v1/me', randomHash()),
        timed('/v1/keys', someHash),
        timed(`/v1/keys/${crypto.randomUUID()}`, someHash, revocation),
        timed('/v1/keys', undefined, {
          method: 'POST',
          body: JSON.stringify({ platform_hash: someHash }),
          headers: { 'content-type': 'application/json' },
        }),
        timed('/health'),
      ]
      const first = await Promise.all(asked)
      t.same(
        first.map(({ status }) => status),
        [503, 200, 200, 200, 401, 200, 503, 503, 503, 200],
        how,
      )
      for (const { ms, status, headers } of first) {
        // Two waits would be half a second.
        t.ok(ms < 450, `${status} after ${Math.round(ms)} ms`)
        for (const number of numbers({ headers })) t.ok(Number.isInteger(number) && number >= 0)
        if (status === 503) t.equal(headers.get('retry-after'), '1')
      }
      const started = performance.now()
      for (let i = 0; i < 20; i += 1) t.equal((await there.get('/v1/me', key)).status, 503)
      t.equal((await there.get('/v1/me', randomKey())).body.error, 'gateway_error')
      t.equal((await there.get('/v1/me', otherHash)).status, 200, 'who has no key is unaffected')
      t.ok(performance.now() - started < 1500, 'nobody waits for what is known to be away')
      const remaining = []
      for (const _ of [1, 2, 3]) remaining.push(numbers(await there.get('/v1/me', someHash))[1] as number)
      t.same(
        [remaining[0]! - remaining[1]!, remaining[1]! - remaining[2]!],
        [1, 1],
        'the headers are true for this instance',
      )
      t.ok(full > 0)
      t.same([lines(away), lines(back)], [round + 1, round])
      if (how === 'freeze') server.thaw()
      else await server.start()
      await until(async () => (await there.get('/v1/me', key)).status === 200)
      await until(async () => {
        await there.get('/health')
        return lines(back) === round + 1
      })
      t.same([lines(away), lines(back)], [round + 1, round + 1], 'one line when it starts and one when it ends')
    }
    t.ok(await there.store.keys.find(digestOf(new Secret(key)), Date.now()), 'no key was lost')
  },
)

/** Sends bytes, reads until the gateway closes, and gives status and headers of the first answer that is one. */
const raw = (url: string, bytes: string): Promise<{ status: number; headers: Headers }> =>
  new Promise((done, failed) => {
    let text = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', failed)
    socket.on('close', () => {
      const [line = '', ...lines] = (text.replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, '').split('\r\n\r\n')[0] ?? '').split(
        '\r\n',
      )
      const pairs = lines.map((one): [string, string] => [
        one.slice(0, one.indexOf(':')),
        one.slice(one.indexOf(':') + 1).trim(),
      ])
      done({ status: Number(line.split(' ')[1]), headers: new Headers(pairs) })
    })
  })

t.test('whatever bytes come from an address, every answer is counted and says truly what is left', async (t) => {
  const clock = new Clock()
  const { url } = await platform(t, fleet)
  const max = 100_000
  const there = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url, RATE_LIMIT_MAX: String(max) } })
  let used = 0
  let sent = 0
  const line = fc.oneof(
    fc.constantFrom('GET /api/v1/devices HTTP/1.1', 'GET /api/health HTTP/1.1', 'POST /api/v1/keys HTTP/1.1'),
    fc.constantFrom('HEAD /api/v1/me HTTP/1.1', 'OPTIONS * HTTP/1.1', 'CONNECT a:1 HTTP/1.1', 'GET /x%zz HTTP/1.1'),
    fc
      .tuple(
        fc.constantFrom('GET', 'PUT', 'PROPFIND', 'get', 'BREW', ''),
        fc.webPath(),
        fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/3', ''),
      )
      .map((parts) => parts.join(' ')),
    fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 60 }),
  )
  const header = fc.oneof(
    fc.constantFrom(
      'Host: x',
      'Content-Length: 3',
      'Content-Length: -1',
      'Transfer-Encoding: chunked',
      'Expect: 100-continue',
      'Expect: wonders',
    ),
    fc.constantFrom(
      'Upgrade: h2c',
      'Authorization: Bearer gps_live_x',
      'Authorization: Basic eA==',
      'Content-Type: application/json',
      'no colon',
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 40 }),
    fc.constantFrom(10_000, 20_000).map((length) => `X: ${'y'.repeat(length)}`),
  )
  const body = fc.constantFrom('', '{}\n', 'zz\r\n\r\n', '{"platform_hash":')
  await fc.assert(
    fc.asyncProperty(line, fc.array(header, { maxLength: 4 }), body, async (line, headers, body) => {
      const bytes = `${[line, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n${body}\r\n\r\n`
      const answer = await raw(there.url, bytes)
      sent += 1
      const [limit, remaining, reset] = numbers(answer) as [number, number, number]
      const left = max - used
      const name = JSON.stringify(bytes.slice(0, 200))
      t.ok(answer.status >= 200 && answer.status < 500, `${answer.status} to ${name}`)
      t.equal(limit, max, name)
      // A look at /health is free; bytes after the end of a request are one more that is refused.
      t.ok(remaining <= left && remaining >= left - 2, `${remaining} left, ${left} before ${name}`)
      t.ok(Number.isInteger(reset) && reset >= 0 && reset <= 60)
      t.ok(used === 0 || reset > 0 || remaining === max)
      used = max - numbers(await there.get('/health'))[1]!
      t.ok(used >= max - remaining, 'and the next answer agrees')
      clock.advance(7)
    }),
    { numRuns: 300 },
  )
  t.ok(sent >= 300)
})
