/** Fixtures are what they say they are, and replay answers from them and from nothing else. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { compare } from '../../src/replay/diff.js'
import {
  type Answer,
  Exchange,
  type Folder,
  fileNameOf,
  format,
  parseExchange,
  questionOf,
  readFolder,
} from '../../src/replay/exchange.js'
import { match, nearest } from '../../src/replay/match.js'
import { buildReplay, hashOf, type Miss, type ReplayOptions } from '../../src/replay/replay.js'
import { survivors } from '../../src/replay/survivors.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const fixtures = join(root, 'fixtures')
const accounts = ['acme', 'empty', 'failing', 'heritage', 'oddities']

const manifest = { about: 'A test.', email: 'test@example.com', origin: 'invented' } as const
const folderOf = (exchanges: Exchange[], name = 'test'): Folder => ({ name, manifest, exchanges })
const exchange = (action: string, query: Record<string, string>, ...answers: Answer[]): Exchange => ({
  action,
  query,
  answers,
})

async function listening(test: Test, folders: Folder[], options: ReplayOptions = {}): Promise<string> {
  const app = buildReplay(folders, options)
  test.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api`
}

/** Status, headers and body over a socket of the agent; rejects when the connection breaks. */
async function fetched(
  url: string,
  agent?: Agent,
): Promise<{ status: number; message: IncomingMessage; body: string }> {
  // A connection that breaks after the headers tells the answer and, from Node 24 on, the request as well.
  const asked = get(url, agent === undefined ? {} : { agent }).on('error', () => {})
  const [message] = (await once(asked, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return { status: message.statusCode ?? 0, message, body: Buffer.concat(chunks).toString() }
}

t.test('the committed schema is the one the program checks with', async (t) => {
  const committed: unknown = JSON.parse(await readFile(join(fixtures, 'exchange.schema.json'), 'utf8'))
  t.same(committed, {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...(JSON.parse(JSON.stringify(Exchange)) as object),
  })
})

t.test('every fixture is valid, canonical, rightly named and holds no secret', async (t) => {
  const folders = (await readdir(fixtures, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  t.same(folders.map(({ name }) => name).sort(), accounts)
  for (const name of accounts) {
    const folder = await readFolder(join(fixtures, name))
    t.ok(folder.exchanges.length > 5, `${name} has exchanges`)
    for (const one of folder.exchanges) {
      const left = survivors(one, [hashOf(name)])
      if (left.length > 0) t.same(left, [], `${name}/${fileNameOf(one)}`)
    }
  }
})

t.test('every known peculiarity has its place', async (t) => {
  const { oddities = {} } = (await readFolder(join(fixtures, 'oddities'))).manifest
  for (let number = 1; number <= 65; number++) {
    const name = `N${String(number).padStart(2, '0')}`
    if (!oddities[name]) t.fail(`${name} is nowhere`)
  }
  t.equal(Object.keys(oddities).length, 65)
})

t.test('a file that a reviewer would stumble over is refused, with the reason', async (t) => {
  const good = exchange('get_events', { page: '2' }, { json: [] })
  t.same(parseExchange('get_events.page=2.json', format(good)), good)
  t.throws(() => parseExchange('get_events.json', format(good)), /by its contents its name is get_events.page=2.json/)
  t.throws(() => parseExchange('get_events.page=2.json', JSON.stringify(good)), /not sorted/)
  t.throws(() => parseExchange('x.json', format({ ...good, hash: 'x' })), /x.json/)
  t.throws(() => parseExchange('x.json', format({ ...good, action: '../x' })), /\/action/)
  const two = exchange('get_events', { page: '2' }, { json: [], html: '' })
  t.throws(() => parseExchange('get_events.page=2.json', format(two)), /more than one/)
})

t.test('the layout is JSON that says the same, whatever is in it', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = format(value)
      return (
        compare(JSON.parse(text), JSON.parse(JSON.stringify(value))).length === 0 && format(JSON.parse(text)) === text
      )
    }),
  )
})

t.test('the most specific match wins and what a file does not name is ignored', async (t) => {
  const all = exchange('get_events', { page: '1' })
  const later = exchange('get_events', { page: '*' })
  const one = exchange('get_events', { device_id: '5', page: '1' })
  const history = exchange('get_history', { device_id: '5', from_date: '2026-01-01' })
  const known = [history, later, all, one]
  const asked = (target: string) => match(questionOf(target) ?? { action: '', query: {} }, known)
  t.equal(asked('/api/get_events?lang=en&user_api_hash=x&unknown=1'), all, 'no page is page 1')
  t.equal(asked('/api/get_events?page=7'), later)
  t.equal(asked('/api/get_events/?device_id=5'), one)
  t.equal(asked('/api/get_events?device_id=6'), all)
  t.equal(asked('/api/get_history?device_id=5&from_date=2026-01-01&to_date=2026-01-01'), history)
  t.equal(asked('/api/get_history?device_id=5'), undefined)
  t.equal(questionOf('/other/get_events'), undefined)
  t.same(nearest({ action: 'get_history', query: { device_id: '5', from_date: '2026-01-02' } }, known), {
    file: 'get_history.device_id=5.from_date=2026-01-01.json',
    differs: [{ name: 'from_date', asked: '2026-01-02', recorded: '2026-01-01' }],
  })
  t.match(nearest({ action: 'get_event', query: {} }, known), { action: 'get_events' })
})

t.test('a question without an answer is told what comes nearest, without the credential', async (t) => {
  const misses: Miss[] = []
  const acme = await readFolder(join(fixtures, 'acme'))
  const base = await listening(t, [acme], { onMiss: (miss) => misses.push(miss) })
  const secret = hashOf('acme')
  const query = `user_api_hash=${encodeURIComponent(secret)}&device_id=501&from_date=2026-03-14&to_date=2026-03-15`
  const { status, body } = await fetched(`${base}/get_history?${query}`)
  t.equal(status, 501)
  t.same(JSON.parse(body), { error: 'no_recorded_answer', ...misses[0] })
  t.match(misses, [
    {
      folder: 'acme',
      asked: { action: 'get_history' },
      nearest: { differs: [{ name: 'to_date', asked: '2026-03-15', recorded: '2026-03-14' }] },
    },
  ])
  t.notMatch(body, /\$2y/)
})

t.test('each of several folders answers to its own hash, one folder to any or to the one given', async (t) => {
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

t.test('answers in sequence come in order, the last one repeats, and nobody else is touched', async (t) => {
  const base = await listening(t, [
    folderOf([
      exchange('get_alerts', {}, { json: 1 }, { status: 500, html: 'x' }, { json: 3 }),
      exchange('get_devices', {}, { json: [] }),
    ]),
  ])
  const statuses: string[] = []
  for (let i = 0; i < 5; i++) {
    const { status, body } = await fetched(`${base}/get_alerts?user_api_hash=h`)
    statuses.push(`${status} ${body}`)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h`)).body, '[]')
  }
  t.same(statuses, ['200 1', '500 x', '200 3', '200 3', '200 3'])
})

t.test('misbehaviour reaches the client as written, and the next call on the same agent is well again', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const body = { json: { items: [1, 2, 3], status: 1 } }
  const ways: Record<string, Answer> = {
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
  const base = await listening(t, [
    folderOf(Object.entries(ways).map(([way, a]) => exchange('get_devices', { way }, a))),
  ])
  const ask = async (way: string) => {
    const result = await fetched(`${base}/get_devices?user_api_hash=h&way=${way}`, agent)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h&way=good`, agent)).status, 200)
    return result
  }
  t.match(await ask('redirect'), { status: 302, message: { headers: { location: '/login' } }, body: '' })
  t.match(await ask('html'), { status: 503, message: { headers: { 'retry-after': '9', 'content-type': /html/ } } })
  t.equal((await ask('cut')).body, JSON.stringify(body.json).slice(0, 10))
  t.equal((await ask('bom')).body, `\uFEFF${JSON.stringify(body.json)}`)
  t.match(await ask('slow'), { status: 200 })
  t.equal((await ask('nothing')).body, '')
  t.equal((await ask('raw')).body, '{"a":')
  for (const way of ['before', 'during']) {
    await t.rejects(ask(way), { code: 'ECONNRESET' }, way)
    t.equal((await fetched(`${base}/get_devices?user_api_hash=h&way=good`, agent)).status, 200)
  }
})

t.test('a thousand exchanges by many clients at once, and none is missed or mixed up', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  t.teardown(() => agent.destroy())
  let misses = 0
  const ids = Array.from({ length: 1000 }, (_, i) => String(i))
  const exchanges = ids.map((id) => exchange('get_history', { device_id: id }, { json: { id } }))
  const base = await listening(t, [folderOf(exchanges)], { onMiss: () => misses++ })
  const answers = await Promise.all(
    ids.map(async (id) => (await fetched(`${base}/get_history?lang=en&device_id=${id}&user_api_hash=h`, agent)).body),
  )
  t.same(
    answers,
    ids.map((id) => JSON.stringify({ id })),
  )
  t.equal(misses, 0)
})

t.test('only reading is answered', async (t) => {
  const base = await listening(t, [folderOf([exchange('get_devices', {}, { json: [] })])])
  const response = await fetch(`${base}/get_devices?user_api_hash=h`, { method: 'POST' })
  t.equal(response.status, 405)
  t.notMatch(await response.text(), /user_api_hash/)
})

/** The command line as a process, in the loader this test runs in. */
function commandLine(...args: string[]): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, join(root, 'src/replay/main.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: root,
  })
}

/** The first text on its standard output that has the pattern; rejects when it ends without. */
function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk) => {
      text += String(chunk)
      const [found] = pattern.exec(text) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error(`never said ${pattern}: ${text}`)))
  })
}

t.test('the command line with --strict ends in failure after a miss and only then', async (t) => {
  for (const [action, code] of [
    ['get_devices', 0],
    ['get_sensors', 1],
  ] as const) {
    const child = commandLine(join(fixtures, 'acme'), '--port', '0', '--strict')
    t.teardown(() => child.kill('SIGKILL'))
    const base = await said(child, /http:\/\/127\.0\.0\.1:\d+\/api/)
    await fetched(`${base}/${action}?user_api_hash=h`)
    child.kill('SIGTERM')
    t.same(await once(child, 'exit'), [code, null], action)
  }
})

t.test('compare names the place of every difference and of nothing else', async (t) => {
  t.same(compare({ a: [1, { b: 2 }], c: 1 }, { a: [1, { b: 3 }], d: 1 }), [
    { path: '$.a[1].b', left: 2, right: 3 },
    { path: '$.c', left: 1, right: undefined },
    { path: '$.d', left: undefined, right: 1 },
  ])
  t.same(compare([], {}), [{ path: '$', left: [], right: {} }])
  fc.assert(fc.property(fc.jsonValue(), (value) => compare(value, structuredClone(value)).length === 0))
})
