/** The platform client over real sockets: what it sends, what it sends again, and how failures are reported. */
import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { PlatformRefused } from '../../src/platform/errors.js'
import { HttpClient } from '../../src/platform/http-client.js'
import { readAll, windowOf } from '../../src/platform/window.js'
import { failureOf } from '../devices/worker.js'
import { Clock, platform as openPlatform, platformClient, someHash } from '../helper.js'
import { listening, until } from '../redis.js'
import { accountOn, clientOn, endless, hangs, pageIn, resets, sendsBy, trickles } from './faulty.js'

const someone = { id: 'a', hash: someHash, isKnown: true }

t.test('N58 the hash arrives whole, percent-encoded, with the language pinned', async (t) => {
  const { url, calls } = await openPlatform(t, { get_devices: [] })
  const platform = platformClient(t, `${url}/`)
  await platform.get('get_devices', someone, { id: 7, type: undefined })
  const sent = new URL(calls[0] ?? '', 'http://localhost')
  t.equal(sent.pathname, '/api/get_devices')
  t.equal(sent.searchParams.get('user_api_hash'), someHash)
  t.notMatch(calls[0], /[$]/, 'a raw $ would be read otherwise by some servers')
  t.same([...sent.searchParams.keys()], ['lang', 'user_api_hash', 'id'])
  t.equal(sent.searchParams.get('lang'), 'en')
})

t.test('a response that is not complete in time is unavailable, and gets no second request', async (t) => {
  for (const answer of [hangs, trickles]) {
    const { platform, calls, outcomes } = await clientOn(t, answer, { timeoutMs: 300 })
    await t.rejects(platform.get('get_devices', someone), { message: /timeout$/ })
    t.equal(calls.length, 1)
    t.same(outcomes, ['timeout'])
  }
})

t.test('calls that got their turn too late for a response are no sign of an outage', async (t) => {
  const held: ServerResponse[] = []
  const timeoutMs = 2_000
  const { platform, outcomes } = await clientOn(t, (_request, response) => void held.push(response), { timeoutMs })
  const begun = performance.now()
  const calls = Promise.allSettled(Array.from({ length: 16 }, () => platform.get('get_devices', someone)))
  await until(() => performance.now() - begun > timeoutMs / 2 + 50)
  for (const response of held.splice(0)) response.end('[]')
  await calls
  t.same(outcomes, [...Array(8).fill('ok'), ...Array(8).fill('overload')])
  const next = platform.get('get_devices', someone)
  await until(() => held.length === 9)
  for (const response of held) response.end('[]')
  t.same(await next, [])
})

t.test('a call ends at its deadline also while it has no connection', async (t) => {
  // It accepts connections, and never responds to the offer of TLS.
  const url = await listening(t, (socket) => {
    socket.on('error', () => {}).resume()
    t.teardown(() => socket.destroy())
  })
  const platform = platformClient(t, url.replace('redis:', 'https:'), { timeoutMs: 300 })
  const started = performance.now()
  await t.rejects(platform.get('get_devices', someone), { message: 'get_devices: timeout (no connection)' })
  t.ok(performance.now() - started < 8_000, 'before the connection is given up')
})

t.test('a truncated gzip, or a body that is none, fails its call and no process, whatever the status', async (t) => {
  const page = Buffer.from(JSON.stringify({ message: Array.from({ length: 40_000 }, (_, at) => at * 7919).join() }))
  const bodies = [gzipSync('{"status":1}').subarray(0, 15), gzipSync(page).subarray(0, -20), page, Buffer.alloc(0)]
  for (const status of [200, 302, 401, 403, 404, 500, 502]) {
    for (const [at, body] of bodies.entries()) {
      const { platform } = await clientOn(t, (_request, response) => {
        response.writeHead(status, { 'content-encoding': 'gzip' }).write(body)
        setImmediate(() => response.end())
      })
      t.match(await failureOf(platform.get('get_devices', someone)), /^(?!data$)[a-z_]+$/, `${status}, body ${at}`)
    }
  }
})

t.test('a connection that ends before its response is tried once more, and only once', async (t) => {
  const cut =
    (headers: Record<string, string>, status = 200): RequestListener =>
    ({ socket }, response) =>
      void response.writeHead(status, headers).write('[', () => setImmediate(() => socket.destroy()))
  const [length, close] = [{ 'content-length': '2' }, { connection: 'close' }]
  for (const ends of [resets, cut({}), cut(length), cut(close), cut({ ...length, ...close }), cut(length, 401)]) {
    let left = 0
    const { platform, calls } = await clientOn(t, (request, response) => {
      if (left-- > 0) ends(request, response)
      else response.end('[]')
    })
    left = 1
    t.same(await platform.get('get_devices', someone), [])
    t.equal(calls.length, 2)
    left = 2
    t.match(await failureOf(platform.get('get_devices', someone)), 'connection')
    t.equal(calls.length, 4)
  }
})

t.test('a second attempt has room where the first one had', async (t) => {
  const body = JSON.stringify(['x'.repeat(10_000)])
  const answer: RequestListener = (_request, response) => {
    if (calls.length > 1) response.end(body)
    else response.writeHead(200).write(body.slice(0, -1), () => setImmediate(() => response.destroy()))
  }
  const { platform, calls } = await clientOn(t, answer, { budget: new ByteBudget(120_000) })
  t.same(await platform.get('get_devices', someone), JSON.parse(body))
  t.equal(calls.length, 2)
})

t.test('a call is not lost where all idle connections are lost at once', async (t) => {
  const sockets: Socket[] = []
  const waiting: ServerResponse[] = []
  const { platform } = await clientOn(t, ({ socket }, response) => {
    sockets.push(socket)
    if (waiting.push(response) >= 4) for (const each of waiting) each.end('[]')
  })
  const get = () => platform.get('get_devices', someone)
  await Promise.all([get(), get(), get(), get()])
  await endOfTurn() // the client takes its connections back
  for (const socket of sockets) socket.resetAndDestroy()
  t.same(await Promise.all([get(), get()]), [[], []])
})

t.test('a call in its second attempt ends when the client is closed', async (t) => {
  const { url, calls } = await openPlatform(t, (request, response) => {
    if (calls.length === 1) resets(request, response)
  })
  const client = new HttpClient({ url, connections: 1 })
  const request = { action: 'get_devices', hash: someHash, query: {} } as const
  const sent = client.send(request, AbortSignal.timeout(60_000), async () => {})
  await until(() => calls.length === 2)
  await Promise.all([client.close(), t.rejects(sent, { message: /connection/ })])
})

t.test('a page that stalls costs no time where the status decides, and a refusal may be late', async (t) => {
  const failures = { 302: 'redirect', 404: 'missing_action', 500: 'server_error' }
  const late: ServerResponse[] = []
  const { platform } = await clientOn(t, (request, response) => {
    const status = Number(new URL(request.url ?? '', 'http://x').searchParams.get('status') ?? 401)
    response.writeHead(status).write('{"')
    if (status === 401) late.push(response)
  })
  const refusals = [
    platform.get('get_alerts', someone),
    platform.run('get_devices', someone, { id: undefined, now: 0 }),
  ]
  const refused = Promise.all(refusals.map(failureOf))
  await until(() => late.length === 2)
  const calls = Object.keys(failures).map((status) => failureOf(platform.get('get_events', someone, { status })))
  t.same(await Promise.all(calls), Object.values(failures))
  for (const response of late) response.end('error":"Unauthorized"}')
  t.same(await refused, ['PlatformRefused', 'PlatformRefused'])
})

t.test('a bug while a response is read does not count as a failure of the platform', async (t) => {
  const { platform } = await clientOn(t, { get_events: { items: { data: [] }, status: 1 } })
  const bug = (): never => {
    throw new TypeError('a bug')
  }
  for (let n = 0; n < 10; n += 1) await t.rejects(platform.get('get_events', someone, {}, bug), TypeError)
  await platform.get('get_events', someone)
})

t.test('calls that wait for a slot while their action is stopped are not sent', async (t) => {
  const { platform, calls } = await clientOn(t, (_request, response) => void response.writeHead(500).end())
  const failures = await Promise.all(Array.from({ length: 40 }, () => failureOf(platform.get('get_devices', someone))))
  const stopped = failures.filter((failure) => failure === 'breaker_open')
  t.equal(calls.length + stopped.length, 40)
  t.ok(stopped.length > 20, `${stopped.length} were not sent`)
})

t.test('a redirect is never followed', async (t) => {
  const { platform, calls } = await clientOn(t, (request, response) => {
    response.writeHead(302, { location: request.url?.includes('get_events') ? '/login' : '/api/elsewhere' })
    response.end('<html>')
  })
  await t.rejects(platform.get('get_events', someone), PlatformRefused)
  t.match(await failureOf(platform.get('get_devices', someone)), 'redirect')
  t.equal(calls.length, 2)
})

t.test('a response that never ends is given up without being held in memory, and the next call works', async (t) => {
  let sentMb = 0
  const user = { email: 'owner@example.com' }
  const get_geofences = endless('', () => {
    sentMb += 1
  })
  const { platform } = await clientOn(t, { get_user_data: user, get_geofences })
  t.match(await failureOf(platform.get('get_geofences', someone)), 'too_large')
  t.ok(sentMb < 150, `it stopped reading (${sentMb} MB sent)`)
  t.same(await platform.get('get_user_data', someone), user)
})

/** A list that never ends; each page is about 20 kB. */
const endlessList = (onPage = () => {}): RequestListener =>
  sendsBy((query) => {
    onPage()
    const page = pageIn(query)
    const data = Array.from({ length: 100 }, (_, at) => ({ id: page * 100 + at, name: 'x'.repeat(170) }))
    return { items: { data, total: 1e9, per_page: 100, current_page: page } }
  })

t.test('a list that never ends takes no more memory than its budget, and gives it back', async (t) => {
  const budget = new ByteBudget(4_000_000)
  const { platform, calls } = await clientOn(t, endlessList(), { budget })
  const account = accountOn(platform)
  const lists = await Promise.all([
    failureOf(account.list('get_user_drivers')),
    failureOf(account.list('get_user_drivers')),
  ])
  t.same(lists, ['overload', 'overload'])
  t.ok(calls.length > 3 && calls.length < 30, `${calls.length} pages, for both together`)
  await until(async () => budget.usedBytes === 0)
})

t.test('a list that never ends is given up after 30 seconds', async (t) => {
  const clock = new Clock()
  const slow = endlessList(() => clock.advance(16_000))
  const { platform, calls } = await clientOn(t, slow, { now: clock.now })
  const account = accountOn(platform)
  t.equal(await failureOf(account.list('get_user_drivers')), 'timeout')
  t.equal(calls.length, 5, 'one, and four at once')
  const pages = account.eventPages({}, account.openCallBudget(20))
  t.equal(await failureOf(readAll(pages, 100, () => false)), 'timeout')
  t.equal(await failureOf(windowOf(pages, 0, 1)), 'timeout')
  t.equal(calls.length, 7)
})

t.test('a document of very many small records is no more than its budget allows', async (t) => {
  const budget = new ByteBudget(2 ** 28)
  const { platform } = await clientOn(t, { get_events: `[${'{},'.repeat(1_000_000)}{}]` }, { budget })
  t.equal(await failureOf(platform.get('get_events', someone)), 'overload')
  t.equal(budget.usedBytes, 0)
})

t.test('no conversion of an account to text shows its hash', async (t) => {
  const account = accountOn((await clientOn(t, {})).platform)
  const texts = [`${account}`, JSON.stringify(account), inspect(account, { depth: 9, showHidden: true })]
  for (const text of texts) t.notMatch(text, someHash.slice(8, 30))
})
