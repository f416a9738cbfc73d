/** API keys as their owners meet them: made, used, listed, revoked, expired; on one gateway or on several, whatever happens to them. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { openStore } from '../../src/store/open.js'
import { type Answer, answers, Clock, type Gateway, gateway, platform, someHash } from '../helper.js'
import { GatewayProcess, gatewayProcess } from '../process.js'
import { clusterReplica, redisCluster, redisServer, stopOnceCopied, until, withoutRedis } from '../redis.js'

const otherHash = someHash.replace('ab', 'zz')
const dayMs = 86_400_000
const keyForm = /gps_live_[0-9a-f]{48}/

/** Lets in any hash whose name is in its address, each as an account of its own. */
const emails: Record<string, string> = { [someHash]: 'Owner@Example.com', [otherHash]: 'other@example.com' }
const twoAccounts: Parameters<typeof platform>[1] = (request, response) => {
  const hash = new URL(request.url ?? '', 'http://x').searchParams.get('user_api_hash') ?? ''
  const email = emails[hash]
  if (email === undefined) response.writeHead(401).end('{"status":0,"message":"Unauthorized"}')
  else answers({ get_devices: [], get_user_data: { email } })(request, response)
}

type Ask = (path: string, credential?: string, init?: RequestInit) => Promise<Answer>

const made = (ask: Ask, body: object = { platform_hash: someHash }): Promise<Answer> =>
  ask('/v1/keys', undefined, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const revoked = (ask: Ask, id: string, hash = someHash) => ask(`/v1/keys/${id}`, hash, { method: 'DELETE' })

/** The same for a gateway that is a process of its own. */
const asking =
  (url: () => string): Ask =>
  async (path, credential, init = {}) => {
    const headers = new Headers(init.headers)
    if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`)
    const response = await fetch(`${url()}${path}`, { ...init, headers })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

async function stand(t: Test, env: Record<string, string> = {}) {
  const clock = new Clock()
  const { url, calls } = await platform(t, twoAccounts)
  const there = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url, DEMO_TOKEN: 'demo', ...env } })
  return { ...there, clock, calls }
}

t.test('a key is made, used, listed and revoked as documented', async (t) => {
  const { get, clock } = await stand(t)
  const now = clock.now()
  const { status, body, headers } = await made(get, {
    platform_hash: someHash,
    label: '  Dépôt 北  ',
    expires_in_days: 40,
  })
  t.equal(status, 200)
  t.match(headers.get('content-type'), 'application/json')
  t.match(body, {
    object: 'api_key',
    id: /^[0-9a-f-]{36}$/,
    key: /^gps_live_[0-9a-f]{48}$/,
    label: 'Dépôt 北',
    created_at: now,
    expires_at: now + 40 * dayMs,
    platform_email: 'owner@example.com',
    message: /\w/,
  })
  const me = await get('/v1/me', body.key)
  t.match(me.body, { credential: 'api_key', email: 'owner@example.com', key: { id: body.id, label: 'Dépôt 北' } })
  const hint = `${body.key.slice(0, 13)}…${body.key.slice(-4)}`
  clock.advance(5)
  const second = (await made(get)).body
  t.same([second.label, second.expires_at - second.created_at], ['', 365 * dayMs])
  const { body: list } = await get('/v1/keys', someHash)
  t.match(list, { object: 'list', count: 2, has_more: false })
  t.same(list.data[1], {
    object: 'api_key',
    id: body.id,
    key: hint,
    label: 'Dépôt 北',
    created_at: now,
    expires_at: now + 40 * dayMs,
    last_used_at: now,
    status: 'active',
  })
  t.equal(list.data[0].id, second.id, 'newest first')
  t.equal(list.data[0].last_used_at, null)
  t.same((await get('/v1/keys?limit=1&offset=1', someHash)).body.data, [list.data[1]])
  const gone = await revoked(get, body.id)
  t.match(gone, {
    status: 200,
    body: { object: 'api_key', id: body.id, deleted: true, revoked_at: now + 5, message: /\w/ },
  })
  t.same(Object.keys(gone.body).sort(), ['deleted', 'id', 'message', 'object', 'revoked_at'])
  t.match(await get('/v1/devices', body.key), { status: 401, body: { error: 'invalid_token' } })
  t.equal((await revoked(get, body.id)).status, 404, 'revoked once')
  t.equal((await get('/v1/keys', someHash)).body.count, 1)
  t.equal((await get('/v1/devices', second.key)).status, 200, 'the other key is not concerned')
})

t.test('only the platform hash manages keys; any other credential is told so, on each route', async (t) => {
  const { get } = await stand(t)
  const { key, id } = (await made(get)).body
  for (const credential of [key, 'demo']) {
    const [list, deletion, creation] = await Promise.all([
      get('/v1/keys', credential),
      revoked(get, id, credential),
      made(get, { platform_hash: credential }),
    ])
    for (const { status, body } of [list, deletion]) {
      t.same([status, body.error], [401, 'invalid_token'])
      t.match(body.message, /platform hash/)
    }
    t.same([creation.status, creation.body.error], [401, 'invalid_token'])
    t.match(creation.body.message, /platform_hash/)
  }
  for (const path of ['/v1/keys', `/v1/keys/${id}`]) {
    const init = path === '/v1/keys' ? {} : { method: 'DELETE' }
    t.equal((await get(path, undefined, init)).body.error, 'unauthorized')
    t.equal((await get(path, 'wrong', init)).body.error, 'invalid_token')
  }
  t.equal((await made(get, { platform_hash: 'wrong' })).body.error, 'invalid_token')
  t.equal((await get('/v1/keys', someHash)).body.count, 1)
})

t.test('a body that is not as documented makes no key, and the answer names the field', async (t) => {
  const { get, calls } = await stand(t)
  const platform_hash = someHash
  const bad: [body: unknown, param?: string][] = [
    [{}, 'platform_hash'],
    [{ platform_hash: 5 }, 'platform_hash'],
    [{ platform_hash: '' }, 'platform_hash'],
    [{ platform_hash: null }, 'platform_hash'],
    [{ platform_hash: 'x'.repeat(513) }, 'platform_hash'],
    [{ platform_hash, label: 5 }, 'label'],
    [{ platform_hash, label: null }, 'label'],
    [{ platform_hash, label: 'x'.repeat(101) }, 'label'],
    [{ platform_hash, label: 'a\nb' }, 'label'],
    [{ platform_hash, label: 'a\u0000b' }, 'label'],
    [{ platform_hash, label: 'a\u0085b' }, 'label'],
    [{ platform_hash, label: 'a\u2028b' }, 'label'],
    [{ platform_hash, label: 'a\ud800b' }, 'label'],
    ...[0, -1, 3651, 1.5, '30', true, null, [30]].map((days): [unknown, string] => [
      { platform_hash, expires_in_days: days },
      'expires_in_days',
    ]),
    [[]],
    ['text'],
    [null],
    [7],
  ]
  for (const [body, param] of bad) {
    const answer = await made(get, body as object)
    const name = JSON.stringify(body).slice(0, 80)
    t.same([answer.status, answer.body.error, answer.body.param], [400, 'invalid_request', param], name)
  }
  t.equal(calls.length, 0, 'none of them was worth a question to the platform')
  t.equal((await get('/v1/keys', someHash)).body.count, 0)
})

t.test('a label keeps any script up to a hundred characters, without the spaces around it', async (t) => {
  const { get } = await stand(t, { MAX_KEYS_PER_ACCOUNT: '1000' })
  const character = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
    .filter((one) => /^[^\p{C}\p{Z}]+$/u.test(one))
  const label = fc.array(character, { minLength: 1, maxLength: 30 }).map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(label, fc.constantFrom('', ' ', '\t\n ', '\u3000'.repeat(90)), async (label, space) => {
      fc.pre([...label].length <= 100)
      const { status, body } = await made(get, { platform_hash: someHash, label: `${space}${label}${space}` })
      t.same([status, body.label], [200, label])
    }),
    { numRuns: 60 },
  )
  for (const long of ['é'.repeat(100), '字'.repeat(100), '🚚'.repeat(100), `  ${'x'.repeat(100)}  `]) {
    t.match(await made(get, { platform_hash: someHash, label: long }), { status: 200, body: { label: long.trim() } })
  }
  t.equal((await made(get, { platform_hash: someHash, label: '🚚'.repeat(101) })).status, 400)
  t.equal((await made(get, { platform_hash: someHash, label: ' \t ' })).body.label, '')
})

t.test('a key works to its last millisecond, and says when that is in its last thirty days', async (t) => {
  const { get, clock } = await stand(t)
  const { key, id, expires_at } = (await made(get, { platform_hash: someHash, expires_in_days: 31 })).body
  const notice = async () => (await get('/v1/devices', key)).headers.get('x-api-key-expires')
  t.equal(await notice(), null)
  clock.advance(dayMs)
  t.equal(await notice(), null, 'thirty days left')
  clock.advance(1)
  t.equal(await notice(), new Date(expires_at).toUTCString())
  t.match(await notice(), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
  t.equal((await get('/v1/devices', someHash)).headers.get('x-api-key-expires'), null)
  clock.advance(expires_at - clock.now() - 1)
  t.equal((await get('/v1/devices', key)).status, 200)
  clock.advance(1)
  t.match(await get('/v1/devices', key), { status: 401, body: { error: 'invalid_token' } })
  t.equal((await get('/v1/keys', someHash)).body.count, 0)
  t.equal((await revoked(get, id)).status, 404)
})

t.test('the last use is known to the minute', async (t) => {
  const { get, clock } = await stand(t)
  const { key } = (await made(get)).body
  const lastUse = async () => (await get('/v1/keys', someHash)).body.data[0].last_used_at
  const first = clock.now()
  for (const [wait, expected] of [
    [0, 0],
    [59_999, 0],
    [1, 60_000],
    [60_000, 120_000],
  ] as const) {
    clock.advance(wait)
    await get('/v1/devices', key)
    t.equal(await lastUse(), first + expected)
  }
})

t.test('a foreign key and one that never was are told apart by nobody', async (t) => {
  const { get } = await stand(t)
  const { id, key } = (await made(get)).body
  const unknown = '4b2f8f0e-97a0-4f07-8f55-0c2f1a4be211'
  const found = await Promise.all([id, unknown].map((one) => revoked(get, one, otherHash)))
  const words = found.map(({ status, body }, i) => [
    status,
    JSON.stringify(body).replaceAll([id, unknown][i] as string, ''),
  ])
  t.equal(words[0]?.[0], 404)
  t.same(words[0], words[1])
  for (const name of [...found[0]!.headers.keys()]) {
    if (/request-id|ratelimit|date/.test(name)) continue
    t.equal(found[0]!.headers.get(name), found[1]!.headers.get(name), name)
  }
  t.equal((await get('/v1/devices', key)).status, 200)
  t.equal((await get('/v1/keys', otherHash)).body.count, 0)
  for (const odd of ['x', '%00', 'a'.repeat(300), id.toUpperCase().replace(/\d/g, 'F'), '..%2fkeys']) {
    t.match(await revoked(get, odd), { status: 404, body: { error: 'not_found' } })
  }
})

t.test(
  'keys survive a password change: the new hash lists and revokes them, though they open nothing any more',
  async (t) => {
    let good = someHash
    const { url } = await platform(t, (request, response) => {
      const isGood = new URL(request.url ?? '', 'http://x').searchParams.get('user_api_hash') === good
      if (isGood) answers({ get_devices: [] })(request, response)
      else response.writeHead(401).end('{"status":0,"message":"Unauthorized"}')
    })
    const clock = new Clock()
    const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
    const { key, id } = (await made(get)).body
    t.equal((await get('/v1/devices', key)).status, 200)
    good = otherHash
    clock.advance(60_001)
    for (const old of [key, someHash]) {
      t.match(await get('/v1/devices', old), { status: 401, body: { error: 'invalid_token' } })
    }
    t.match((await get('/v1/keys', otherHash)).body, { count: 1, data: [{ id }] })
    const renewed = (await made(get, { platform_hash: otherHash })).body
    t.equal((await get('/v1/devices', renewed.key)).status, 200)
    t.equal((await revoked(get, id, otherHash)).status, 200)
    t.equal((await get('/v1/keys', otherHash)).body.count, 1)
  },
)

t.test(
  'no answer but that of the creation holds a whole key, and no line of the log holds any credential',
  async (t) => {
    const { get, log, metrics } = await stand(t, { MAX_KEYS_PER_ACCOUNT: '3' })
    const keys = [(await made(get)).body, (await made(get)).body]
    const { key, id } = keys[0]
    const everything = await Promise.all([
      get('/v1/keys', someHash),
      ...['/v1/me', '/v1/devices', '/v1/drivers', '/v1/keys', `/v1/devices/${key}`, `/v1/devices?status=${key}`].map(
        (path) => get(path, key),
      ),
      get(`/v1/keys/${id}`, someHash, { method: 'DELETE' }),
      get('/v1/devices', key),
      made(get, { platform_hash: key }),
      made(get, { platform_hash: someHash, expires_in_days: key }),
      get('/health', key),
      get('/nowhere', key),
      get('/v1/devices', key, { method: 'POST' }),
    ])
    const echoed = everything.filter(({ body, headers }) => keyForm.test(JSON.stringify([body, [...headers]])))
    t.same(echoed, [], 'also not to who sends a key where an id belongs')
    const kept = `${log()}${await metrics()}`
    t.ok(kept.length > 1000)
    for (const secret of [...keys.map((one) => one.key), someHash, encodeURIComponent(someHash)])
      t.notOk(kept.includes(secret))
  },
)

const sharing = async (t: Test, redisUrl: string, env: Record<string, string>): Promise<Gateway> => {
  const store = await openStore({ redisUrl, dataDir: '' }, { clock: Date.now, onError: () => {}, onDamaged: () => {} })
  t.teardown(() => store.close())
  return gateway(t, { env, store })
}

t.test(
  'no account gets more keys than it may have, made on two gateways at once',
  { skip: withoutRedis },
  async (t) => {
    const server = await redisServer(t)
    const { url } = await platform(t, twoAccounts)
    const env = { PLATFORM_URL: url, MAX_KEYS_PER_ACCOUNT: '7' }
    const [one, two] = await Promise.all([sharing(t, server.url, env), sharing(t, server.url, env)])
    const results = await Promise.all(Array.from({ length: 30 }, (_, i) => made((i % 2 ? one : two).get)))
    t.equal(results.filter(({ status }) => status === 200).length, 7)
    const refused = results.filter(({ status }) => status !== 200)
    for (const { status, body } of refused) t.same([status, body.error], [409, 'too_many_keys'])
    const list = (await two.get('/v1/keys', someHash)).body
    t.equal(list.count, 7)
    t.equal((await made(one.get, { platform_hash: otherHash })).status, 200, 'others are not concerned')
    await revoked(one.get, list.data[0].id)
    t.same([(await made(two.get)).status, (await made(one.get)).status], [200, 409])
  },
)

t.test(
  'creating, spending and revoking keys in a loop yields no more responses than the permitted creations',
  async (t) => {
    const { url } = await platform(t, twoAccounts)
    const env = { PLATFORM_URL: url, RATE_LIMIT_MAX: '25', TRUST_PROXY: '1' }
    const clock = new Clock()
    const places: [name: string, gateways: Gateway[]][] = [['embedded', [await gateway(t, { env, clock: clock.now })]]]
    if (withoutRedis === false) {
      const { url: redisUrl } = await redisServer(t)
      places.push(['Redis', await Promise.all([sharing(t, redisUrl, env), sharing(t, redisUrl, env)])])
    }
    for (const [name, gateways] of places) {
      let [served, turn] = [0, 0]
      let last: Answer | undefined
      /** Each request from an address of its own, so that no address runs out. */
      const ask: Ask = (path, credential, init = {}) => {
        const headers = new Headers(init.headers)
        headers.set('x-forwarded-for', `192.0.2.${turn % 250}`)
        turn += 1
        return (gateways[turn % gateways.length] as Gateway).get(path, credential, { ...init, headers })
      }
      for (let i = 0; i < 12; i += 1) {
        last = await made(ask)
        if (last.status !== 200) continue
        while ((await ask('/v1/me', last.body.key)).status === 200) served += 1
        t.equal((await revoked(ask, last.body.id)).status, 200)
      }
      t.equal(served, 5 * 25, name)
      t.same([last?.status, last?.body.error], [429, 'rate_limit_exceeded'], name)
      t.same(Object.keys(last?.body).sort(), ['error', 'message'])
      t.same([last?.headers.get('ratelimit-limit'), last?.headers.get('ratelimit-remaining')], ['5', '0'], name)
      t.equal(last?.headers.get('retry-after'), last?.headers.get('ratelimit-reset'), name)
      t.equal((await made(ask, { platform_hash: otherHash })).status, 200, 'another account is unaffected')
    }
    clock.advance(60_000)
    t.equal((await made(places[0]![1][0]!.get)).status, 200, 'the next window has a budget of its own')
  },
)

t.test(
  'a key made on one gateway works on the other at once, and a thousand revocations hold at once',
  { skip: withoutRedis },
  async (t) => {
    const server = await redisServer(t)
    const { url } = await platform(t, twoAccounts)
    const env = { PLATFORM_URL: url, REDIS_URL: server.url, MAX_KEYS_PER_ACCOUNT: '100' }
    const [one, two] = (await Promise.all([gatewayProcess(t, env), gatewayProcess(t, env)])).map((process) =>
      asking(() => process.url),
    ) as [Ask, Ask]
    const seen = { made: 0, used: 0, revoked: 0, refused: 0 }
    const lane = async (at: number): Promise<void> => {
      const [here, there] = at % 2 ? [one, two] : [two, one]
      for (let i = 0; i < 125; i += 1) {
        const { status, body } = await made(here)
        if (status === 200) seen.made += 1
        if ((await there('/v1/me', body.key)).status === 200) seen.used += 1
        if ((await revoked(here, body.id)).status === 200) seen.revoked += 1
        if ((await there('/v1/me', body.key)).status === 401) seen.refused += 1
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, at) => lane(at)))
    t.same(seen, { made: 1000, used: 1000, revoked: 1000, refused: 1000 })
    t.equal((await two('/v1/keys', someHash)).body.count, 0)
  },
)

t.test('a gateway killed in the middle of creations loses no key whose answer arrived', async (t) => {
  const { url } = await platform(t, twoAccounts)
  const places: [string, Record<string, string>][] = [['embedded', { DATA_DIR: t.testdir({}) }]]
  if (withoutRedis === false) places.push(['Redis', { REDIS_URL: (await redisServer(t)).url }])
  for (const [name, place] of places) {
    const env = { PLATFORM_URL: url, MAX_KEYS_PER_ACCOUNT: '1000', ...place }
    const first = await new GatewayProcess([], env).ready()
    t.teardown(() => first.signal('SIGKILL'))
    const handedOut: { id: string; key: string }[] = []
    const lane = async (): Promise<void> => {
      for (;;) {
        const answer = await made(asking(() => first.url)).catch(() => undefined)
        if (answer?.status !== 200) return
        if (handedOut.push(answer.body) === 60) first.signal('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    await first.exited
    const second = await gatewayProcess(t, env)
    const ask = asking(() => second.url)
    t.ok(handedOut.length >= 60, name)
    const statuses = await Promise.all(handedOut.map(async ({ key }) => (await ask('/v1/me', key)).status))
    t.same(new Set(statuses), new Set([200]), name)
    const ids: string[] = (await ask('/v1/keys', someHash)).body.data.map(({ id }: { id: string }) => id)
    t.equal(new Set(ids).size, ids.length, 'none is listed twice')
    t.same(
      handedOut.filter(({ id }) => !ids.includes(id)),
      [],
      'and none is missing',
    )
  }
})

/** Asks in every way without end, until told to stop; what came of it. */
function restless(ask: Ask, known: { key: string }) {
  const found: { what: string; status: number; retry: string | null }[] = []
  const keys: string[] = [known.key]
  let isOver = false
  const ways: Record<string, () => Promise<Answer>> = {
    key: () => ask('/v1/me', keys[Math.floor(Math.random() * keys.length)]),
    hash: () => ask('/v1/me', someHash),
    list: () => ask('/v1/keys', someHash),
    create: () => made(ask),
    health: () => ask('/health'),
  }
  const lane = async ([what, way]: [string, () => Promise<Answer>]) => {
    while (!isOver) {
      const { status, headers, body } = await way()
      found.push({ what, status, retry: headers.get('retry-after') })
      if (what === 'create' && status === 200) keys.push(body.key)
      await new Promise((next) => setTimeout(next, 5))
    }
  }
  const running = Promise.all(Object.entries(ways).map(lane))
  return {
    /** Resolves once several requests of every way that began after this call have been answered. */
    async turnsOver(): Promise<void> {
      const before = found.length
      const answered = (way: string) => found.slice(before).filter(({ what }) => what === way).length
      await until(() => Object.keys(ways).every((way) => answered(way) > 3))
    },
    async stop() {
      isOver = true
      await running
      return { found, keys }
    },
  }
}

async function holds(
  t: Test,
  ask: Ask,
  { found, keys }: Awaited<ReturnType<ReturnType<typeof restless>['stop']>>,
): Promise<void> {
  for (const { what, status, retry } of found) {
    const isFree = what === 'hash' || what === 'health'
    const isDocumented = status === 200 || (!isFree && status === 503 && retry === '1')
    if (!isDocumented) t.fail(`${what}: ${status}`)
  }
  t.ok(
    found.some(({ status }) => status === 503),
    'the outage was felt',
  )
  const statuses = await Promise.all(keys.map(async (key) => (await ask('/v1/me', key)).status))
  t.same(new Set(statuses), new Set([200]), 'no key that was handed out is lost')
}

t.test(
  'when Redis freezes, dies and comes back while requests run, none waits for it and no key is lost',
  { skip: withoutRedis },
  async (t) => {
    const server = await redisServer(t, '--appendonly', 'yes', '--appendfsync', 'always')
    const { url } = await platform(t, twoAccounts)
    const { get } = await sharing(t, server.url, { PLATFORM_URL: url, MAX_KEYS_PER_ACCOUNT: '1000', LOG_LEVEL: 'warn' })
    const { turnsOver, stop } = restless(get, (await made(get)).body)
    const works = async () => (await made(get)).status === 200
    for (const how of ['freeze', 'stop'] as const) {
      await server[how]()
      await until(async () => !(await works()))
      await turnsOver()
      if (how === 'freeze') server.thaw()
      else await server.start()
      await until(works)
    }
    await holds(t, get, await stop())
  },
)

t.test(
  'when a node of the cluster dies while requests run, none waits for its replica and no key is lost',
  { skip: withoutRedis },
  async (t) => {
    const { url: redisUrl, nodes } = await redisCluster(t)
    const replica = await clusterReplica(t, nodes[0]!, nodes)
    const { url } = await platform(t, twoAccounts)
    const { get } = await sharing(t, redisUrl, { PLATFORM_URL: url, MAX_KEYS_PER_ACCOUNT: '1000', LOG_LEVEL: 'warn' })
    const known: { key: string }[] = []
    for (let i = 0; i < 30; i += 1) known.push((await made(get)).body)
    const { turnsOver, stop } = restless(get, known[0]!)
    await stopOnceCopied(nodes[0]!, replica)
    const works = async () =>
      (await Promise.all(known.map(({ key }) => get('/v1/me', key)))).every(({ status }) => status === 200)
    await until(async () => !(await works()))
    await turnsOver()
    t.equal(await replica.command('cluster', 'failover', 'takeover'), 'OK')
    await until(works)
    const { found, keys } = await stop()
    await holds(t, get, { found, keys: [...keys, ...known.map(({ key }) => key)] })
  },
)
