/** Fixtures are valid, and replay sends exactly what they record. */
import { once } from 'node:events'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { compare } from '../../src/replay/diff.js'
import {
  Exchange,
  type Folder,
  fileNameOf,
  format,
  formatFolder,
  parseExchange,
  parseTarget,
  type RecordedResponse,
  readFolder,
} from '../../src/replay/exchange.js'
import { findLeaks } from '../../src/replay/find-leaks.js'
import { jsonIn, linesOf } from '../../src/replay/json-lines.js'
import { match, nearest } from '../../src/replay/match.js'
import { buildReplay, hashOf, type ReplayOptions } from '../../src/replay/replay.js'

const root = process.cwd()
const fixtures = join(root, 'fixtures')
const accounts = ['acme', 'empty', 'failing', 'heritage', 'oddities']

const manifest = { about: 'A test.', email: 'test@example.com', origin: 'invented' } as const
const folderOf = (exchanges: Exchange[], name = 'test'): Folder => ({ name, manifest, exchanges })
const exchange = (action: string, query: Record<string, string>, ...responses: RecordedResponse[]): Exchange => ({
  action,
  query,
  responses,
})

async function listening(test: Test, folders: Folder[], options: ReplayOptions = {}): Promise<string> {
  const app = buildReplay(folders, options)
  test.teardown(() => app.close())
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/api`
}

/** Status, headers and body over a socket of the agent; rejects when the connection is reset. */
async function fetched(url: string, agent?: Agent) {
  // From Node 24 on, a reset after the headers is an error of the request as well.
  const request = get(url, agent === undefined ? {} : { agent }).on('error', () => {})
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  return { status: message.statusCode ?? 0, message, body: (await buffer(message)).toString() }
}

t.test('the committed schema is the one the program validates with', async (t) => {
  const { $schema, ...committed } = JSON.parse(await readFile(join(fixtures, 'exchange.schema.json'), 'utf8'))
  t.equal($schema, 'https://json-schema.org/draft/2020-12/schema')
  t.same(committed, JSON.parse(JSON.stringify(Exchange)))
})

t.test('every fixture is valid, canonical, correctly named and without a leak', async (t) => {
  const folders = (await readdir(fixtures, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  t.same(folders.map(({ name }) => name).sort(), accounts)
  for (const name of accounts) {
    const folder = await readFolder(join(fixtures, name))
    t.ok(folder.exchanges.length > 5, `${name} has exchanges`)
    for (const one of folder.exchanges) {
      const text = await readFile(join(fixtures, name, fileNameOf(one)), 'utf8')
      t.equal(text, format(one))
      t.same(findLeaks(one, [hashOf(name)]), [], `${name}/${fileNameOf(one)}`)
    }
  }
})

t.test('every known variation of the platform has a fixture', async (t) => {
  const { oddities = {} } = (await readFolder(join(fixtures, 'oddities'))).manifest
  const names = Array.from({ length: 65 }, (_, n) => `N${String(n + 1).padStart(2, '0')}`)
  t.same(Object.keys(oddities).sort(), names)
})

t.test('what is wrong with a file is told with line, expected and found', async (t) => {
  const withResponse = (text: string) => `{"action": "x", "query": {}, "responses": [${text}]}`
  const cases: [text: string, message: RegExp][] = [
    ['{\n  "action": "x"\n  "query": {}\n}', /line 3: expected , or }, found "query"/],
    ['{\n  "action": nothing\n}', /line 2: expected a value, found nothing/],
    ['{\n  action: 1\n}', /line 2: expected a name in double quotes, found action/],
    ['[1,\n2', /line 2: expected , or \], found the end of the file/],
    ['{}\n{}', /line 2: expected the end of the file, found \{/],
    ['{\n"action": "../x",\n"query": {}, "responses": [{}] }', /line 2: \/action must match .*, found "\.\.\/x"/],
    [withResponse('{ "status":\n"ok" }'), /line 2: \/responses\/0\/status must be integer, found "ok"/],
    [withResponse('\n{ "json": 1, "html": "" }'), /line 2: expected one body, found json/],
    [withResponse('{}],\n"hash": [1'), /^x\.json: line 2: \/hash must not be here, found \[1\]$/],
  ]
  for (const [text, message] of cases) t.throws(() => parseExchange('x.json', text), { message })
  const account = '{ "about": "A test.",\n "email": "a@example.org", "origin": "invented" }'
  const folder = t.testdir({ 'account.json': account })
  const message = /account\.json: line 2: \/email must match .*, found "a@example\.org"$/
  await t.rejects(readFolder(folder), { message })
})

t.test('every JSON text has a line for each value, and any other text is an error', async (t) => {
  const seed = Date.now()
  t.comment(`seed ${seed}`)
  const hasLines = (text: string): boolean => {
    try {
      return linesOf(text).size > 0
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ' 1'), (json, at, text) => {
      const place = at % (json.length + 1)
      const mutated = json.slice(0, place) + text + json.slice(place)
      return hasLines(mutated) === (jsonIn(mutated) !== undefined)
    }),
    { seed },
  )
})

t.test('a file in another layout is read, and --format gives it the canonical layout and name', async (t) => {
  const folder = t.testdir({
    'account.json': '{"about": "One.", "email": "a@example.com", "origin": "invented"}',
    'get_events.page=2.json': '{"responses": [{"json": []}],\n\n"query": {"page": "2"}, "action": "get_events"}',
  })
  const good = exchange('get_events', { page: '2' }, { json: [] })
  t.same((await readFolder(folder)).exchanges, [good])
  await rename(join(folder, 'get_events.page=2.json'), join(folder, 'mine.json'))
  await t.rejects(readFolder(folder), { message: /mine\.json: expected the name get_events\.page=2\.json/ })
  t.same(await formatFolder(folder), ['get_events.page=2.json'])
  t.equal(await readFile(join(folder, 'get_events.page=2.json'), 'utf8'), format(good))
  t.same((await readdir(folder)).sort(), ['account.json', 'get_events.page=2.json'])
  t.same(await formatFolder(folder), [], 'a second time changes nothing')
  await writeFile(join(folder, 'copy.json'), format(good))
  await t.rejects(formatFolder(folder), { message: /copy\.json: .* found that of get_events\.page=2\.json/ })
  await rename(join(folder, 'get_events.page=2.json'), join(folder, 'other.json'))
  await t.rejects(formatFolder(folder), /found that of get_events/, 'of two files with one request')
  t.equal((await readdir(folder)).length, 3, 'neither is lost')
})

t.test('the canonical layout keeps every JSON value', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const read = JSON.parse(format(value))
      return compare(read, JSON.parse(JSON.stringify(value))).length === 0 && format(read) === format(value)
    }),
  )
})

t.test('a request matches only a recording with exactly its parameters, or a wildcard in writing', async (t) => {
  const all = exchange('get_events', { page: '1' })
  const later = exchange('get_events', { page: '*' })
  const one = { ...exchange('get_events', { device_id: '5', page: '1' }), any: ['limit'] }
  const history = exchange('get_history', { device_id: '5', from_date: '2026-01-01' })
  const alerts = { ...exchange('get_alerts', {}), any: ['*'] }
  const recorded = [history, later, all, one, alerts]
  const found = (target: string) => match(parseTarget(target) ?? { action: '', query: {} }, recorded)
  const cases: [target: string, expected: Exchange | undefined][] = [
    ['/api/get_events?lang=en&user_api_hash=x&page=1', all],
    ['/api/get_events?page=7', later],
    ['/api/get_events/?page=1&device_id=5', one],
    ['/api/get_events?page=1&device_id=5&limit=9', one],
    ['/api/get_alerts?whatever=1', alerts],
    ['/api/get_events', undefined],
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
  t.match(nearest({ action: 'get_event', query: {} }, recorded), { action: 'get_events' })
})

t.test('each of several folders accepts its own hash, one folder any hash or the given one', async (t) => {
  const folders = await Promise.all(accounts.map((name) => readFolder(join(fixtures, name))))
  const many = await listening(t, folders)
  for (const { name, manifest } of folders) {
    t.match(hashOf(name), /^\$2y\$10\$[./A-Za-z0-9]{53}$/)
    const { body } = await fetched(`${many}/get_user_data?user_api_hash=${encodeURIComponent(hashOf(name))}`)
    t.match(JSON.parse(body), { email: manifest.email })
  }
  t.equal((await fetched(`${many}/get_user_data?user_api_hash=other`)).status, 401)
  t.equal((await fetched(`${many}/get_user_data`)).status, 401)

  const one = await listening(t, folders.slice(0, 1))
  t.equal((await fetched(`${one}/get_user_data?user_api_hash=other`)).status, 200)
  t.equal((await fetched(`${one}/get_user_data?user_api_hash=`)).status, 401)
  const given = await listening(t, folders.slice(0, 1), { hash: 'mine' })
  t.equal((await fetched(`${given}/get_user_data?user_api_hash=other`)).status, 401)
  t.equal((await fetched(`${given}/get_user_data?user_api_hash=mine`)).status, 200)
})

t.test('responses come in order, the last one repeats, and other exchanges are not affected', async (t) => {
  const alerts = exchange('get_alerts', {}, { json: 1 }, { status: 500, html: 'x' }, { json: 3 })
  const base = await listening(t, [folderOf([alerts, exchange('get_devices', {}, { json: [] })])])
  const statuses: string[] = []
  for (let i = 0; i < 5; i++) {
    const { status, body } = await fetched(`${base}/get_alerts?user_api_hash=h`)
    statuses.push(`${status} ${body}`)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h`)).body, '[]')
  }
  t.same(statuses, ['200 1', '500 x', '200 3', '200 3', '200 3'])
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
  }
  const exchanges = Object.entries(ways).map(([way, response]) => exchange('get_devices', { way }, response))
  const base = await listening(t, [folderOf(exchanges)])
  const request = async (way: string) => {
    const result = await fetched(`${base}/get_devices?user_api_hash=h&way=${way}`, agent)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h&way=good`, agent)).status, 200)
    return result
  }
  t.match(await request('redirect'), { status: 302, message: { headers: { location: '/login' } }, body: '' })
  t.match(await request('html'), { status: 503, message: { headers: { 'retry-after': '9', 'content-type': /html/ } } })
  t.equal((await request('cut')).body, JSON.stringify(body.json).slice(0, 10))
  t.equal((await request('bom')).body, `\uFEFF${JSON.stringify(body.json)}`)
  t.match(await request('slow'), { status: 200 })
  t.equal((await request('nothing')).body, '')
  t.equal((await request('raw')).body, '{"a":')
  for (const way of ['before', 'during']) {
    await t.rejects(request(way), { code: 'ECONNRESET' }, way)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h&way=good`, agent)).status, 200)
  }
})

t.test('only GET is served', async (t) => {
  const base = await listening(t, [folderOf([exchange('get_devices', {}, { json: [] })])])
  const response = await fetch(`${base}/get_devices?user_api_hash=h`, { method: 'POST' })
  t.equal(response.status, 405)
  t.notMatch(await response.text(), /user_api_hash/)
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
