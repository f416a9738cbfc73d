/** Replay sends exactly what is recorded, and explains what it cannot send. */
import { once } from 'node:events'
import { Agent, get as httpGet, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import t from 'tap'
import { compare, send } from '../../src/replay/diff.js'
import { type Exchange, parseTarget, type RecordedResponse } from '../../src/replay/exchange.js'
import { readFolder } from '../../src/replay/folder.js'
import { buildReplay, hashOf, match, nearest } from '../../src/replay/replay.js'
import { platform } from '../helper.js'
import { only } from '../only.js'
import { accounts, exchange, fixtures, folderOf, get, listening } from './folders.js'
import { acme, run } from './started.js'

t.test('folders of the same name, which would have the same hash, are refused', async (t) => {
  const text = 'two folders with the same name would have the same hash: rename one'
  t.same(await run(t, 'replay', [acme, acme]), { code: 2, text })
})

t.test('a comparison waits as long as an overloaded gateway asks, and takes other errors as they are', async (t) => {
  const texts = ['{}', '{"message":"The gateway is overloaded."}', '{"message":"The platform is down."}']
  const { url, calls } = await platform(t, (_, response) => {
    response.writeHead(calls.length === 1 ? 429 : 503, { 'retry-after': '0' }).end(texts[calls.length - 1])
  })
  t.match(await send(url, '/v1/me', 'demo'), { status: 503, body: { message: 'The platform is down.' } })
  t.equal(calls.length, 3)
})

/** Status, headers and body over a socket of the agent; rejects when the connection is reset. */
async function fetched(url: string, agent: Agent) {
  // From Node 24 on, a reset after the headers is an error of the request as well.
  const request = httpGet(url, { agent }).on('error', () => {})
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  return { status: message.statusCode ?? 0, headers: message.headers, body: (await buffer(message)).toString() }
}

t.test('a request matches only a recording with exactly its parameters, or a wildcard in writing', async (t) => {
  const all = exchange('get_events', { page: '1' })
  const later = exchange('get_events', { page: '*' })
  const one = { ...exchange('get_events', { device_id: '5', page: '1' }), any: ['limit'] }
  const history = exchange('get_history', { device_id: '5', from_date: '2026-01-01' })
  const alerts = { ...exchange('get_alerts', {}), any: ['*'] }
  const several = exchange('get_devices', { 'id[]': '5', 'id[1]': '6' })
  const groups = exchange('get_groups', { 'id[]': '*' })
  const latest = { ...exchange('get_devices_latest', { time: '1' }), any: ['id[]'] }
  const recorded = [history, later, all, one, alerts, several, groups, latest]
  const found = (target: string) => match(parseTarget(target) ?? { action: '', query: {} }, recorded)
  const cases: [target: string, expected: Exchange | undefined][] = [
    ['/api/get_events?lang=en&user_api_hash=x&page=1', all],
    ['/api/get_events?page=7', later],
    ['/api/get_events/?page=1&device_id=5', one],
    ['/api/get_events?page=1&device_id=5&limit=9', one],
    ['/api/get_alerts?whatever=1&constructor=1', alerts],
    ['/api/get_devices?id[]=5&id[]=6', several],
    ['/api/get_devices?id[]=7&id[]=6', undefined],
    ['/api/get_devices?id[]=6', undefined],
    ['/api/get_groups?id[]=5&id[]=6', groups],
    ['/api/get_groups?id[]=5&x[]=6&x[]=7', undefined],
    ['/api/get_devices_latest?time=1&id[]=5&id[]=6', latest],
    ['/api/get_devices_latest?time=1&time[]=5&time[]=6', undefined],
    ['/api/get_events?page=2&page=1', all],
    ['/api/get_events', undefined],
    ['/api/get_events?page=1&constructor=1', undefined],
    ['/api/get_events?page=1&device_id=6', undefined],
    ['/api/get_events?page=1&limit=9', undefined],
    ['/api/get_history?device_id=5', undefined],
    ['/api/get_history?device_id=5&from_date=2026-01-01&to_date=2026-01-01', undefined],
  ]
  for (const [target, expected] of cases) t.equal(found(target), expected, target)
  t.equal(parseTarget('/other/get_events'), undefined)
  t.same(nearest({ action: 'get_history', query: { from_date: '2026-01-02', to_date: '2026-01-03' } }, recorded), {
    file: 'get_history.device_id=5.from_date=2026-01-01.json',
    differs: [
      { name: 'device_id', recorded: '5' },
      { name: 'from_date', sent: '2026-01-02', recorded: '2026-01-01' },
      { name: 'to_date', sent: '2026-01-03' },
    ],
  })
  const services = ['get_alerts', 'services', 'services/501'].map((action) => exchange(action, {}))
  t.match(nearest({ action: 'services/502', query: {} }, services), { file: /services\.501/, action: 'services/501' })
  t.match(nearest({ action: 'get_event', query: { page: '1' } }, [history, all]), {
    action: 'get_events',
    differs: only(),
  })
})

t.test('each of several folders accepts its own hash, one folder any hash or the given one', async (t) => {
  const folders = await Promise.all(accounts.map((name) => readFolder(join(fixtures, name))))
  const many = await listening(t, buildReplay(folders))
  for (const { name, manifest } of folders) {
    t.match(hashOf(name), /^\$2y\$10\$[./A-Za-z0-9]{53}$/)
    t.match(await (await get(many, 'get_user_data', hashOf(name))).json(), { email: manifest.email })
  }
  const one = await listening(t, buildReplay(folders.slice(0, 1)))
  const given = await listening(t, buildReplay(folders.slice(0, 1), { hash: 'mine' }))
  t.equal((await fetch(`${many}/get_user_data`)).status, 401)
  const cases: [base: string, hash: string, status: number][] = [
    [many, 'other', 401],
    [one, 'other', 200],
    [one, '', 401],
    [given, 'other', 401],
    [given, 'mine', 200],
  ]
  for (const [base, hash, status] of cases) t.equal((await get(base, 'get_user_data', hash)).status, status, hash)
})

t.test('responses come in order, the last one repeats, and other exchanges are not affected', async (t) => {
  const alerts = exchange('get_alerts', {}, { json: 1 }, { status: 500, html: 'x' }, { json: 3 })
  const base = await listening(t, buildReplay([folderOf([alerts, exchange('get_devices', {}, { json: [] })])]))
  for (const [status, text] of [[200, '1'] as const, [500, 'x'] as const, [200, '3'] as const, [200, '3'] as const]) {
    const response = await get(base, 'get_alerts')
    t.same([response.status, await response.text()], [status, text])
    t.equal(await (await get(base, 'get_devices')).text(), '[]')
  }
})

t.test('misbehaviour reaches the client as recorded, and the next request on the same agent succeeds', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const body = { json: { items: [1, 2, 3], status: 1 } }
  const ways: Record<string, RecordedResponse> = {
    good: body,
    redirect: { status: 302, headers: { location: '/login' } },
    html: { status: 503, html: '<h1>away</h1>', headers: { 'retry-after': '9' } },
    cut: { ...body, cut_at: 10 },
    bom: { ...body, bom: true },
    slow: { ...body, delay_ms: 30 },
    before: { reset: 'before' },
    during: { ...body, reset: 'during' },
    nothing: {},
    raw: { text: '{"a":' },
    typed: { text: 'x', headers: { 'Content-Type': 'text/csv' } },
  }
  const exchanges = Object.entries(ways).map(([way, response]) => exchange('get_devices', { way }, response))
  const base = await listening(t, buildReplay([folderOf(exchanges)]))
  const request = async (way: string) => {
    const result = await fetched(`${base}/get_devices?user_api_hash=h&way=${way}`, agent)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h&way=good`, agent)).status, 200)
    return result
  }
  t.match(await request('redirect'), { status: 302, headers: { location: '/login' }, body: '' })
  t.match(await request('html'), { status: 503, headers: { 'retry-after': '9', 'content-type': /html/ } })
  t.equal((await request('cut')).body, JSON.stringify(body.json).slice(0, 10))
  t.equal((await request('bom')).body, `\uFEFF${JSON.stringify(body.json)}`)
  t.match(await request('slow'), { status: 200 })
  t.equal((await request('nothing')).body, '')
  t.equal((await request('raw')).body, '{"a":')
  t.match(await request('typed'), { headers: { 'content-type': 'text/csv' } })
  for (const way of ['before', 'during']) {
    await t.rejects(request(way), { code: 'ECONNRESET' }, way)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h&way=good`, agent)).status, 200)
  }
})

t.test('only GET is served', async (t) => {
  const devices = exchange('get_devices', {}, { json: 1 }, { json: 2 })
  const base = await listening(t, buildReplay([folderOf([devices])]))
  for (const method of ['POST', 'HEAD']) {
    const response = await get(base, 'get_devices', 'h', { method })
    t.match([response.status, response.headers.get('allow')], [405, 'GET'], method)
    t.notMatch(await response.text(), /user_api_hash/)
  }
  t.equal(await (await get(base, 'get_devices')).text(), '1', 'the sequence has not advanced')
})

t.test('headers of the connection and of a single request are no difference, others are', async (t) => {
  const sent = async (headers: Record<string, string>) => {
    const { url } = await platform(t, (_, response) => response.writeHead(200, { etag: 'a', ...headers }).end('{}'))
    return send(url, '/v1/me', 'x')
  }
  const ofOne = { connection: 'close', trailer: 'x', 'transfer-encoding': 'chunked', age: '1', 'x-request-id': 'a' }
  const ofOther = {
    'keep-alive': 'timeout=9',
    'content-length': '2',
    'proxy-authenticate': 'x',
    'ratelimit-reset': '3',
  }
  const one = await sent(ofOne)
  t.same(compare(one, await sent(ofOther)), [])
  t.same(compare(one, await sent({ etag: 'b' })), [{ path: '$.headers.etag', left: 'a', right: 'b' }])
})

t.test('compare names the path of every difference and nothing else', async (t) => {
  t.same(compare({ a: [1, { b: 2 }], c: 1 }, { a: [1, { b: 3 }], d: 1 }), [
    { path: '$.a[1].b', left: 2, right: 3 },
    { path: '$.c', left: 1, right: undefined },
    { path: '$.d', left: undefined, right: 1 },
  ])
  t.same(compare([], {}), [{ path: '$', left: [], right: {} }])
  fc.assert(fc.property(fc.jsonValue(), (value) => compare(value, structuredClone(value)).length === 0))
})
