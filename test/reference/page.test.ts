/** The page: its templates, and its code, which runs as pasted, also through a proxy that validates against the document. */
import { readdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Response as Documented } from '../../src/reference/openapi.js'
import { filled } from '../../src/reference/page.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gateway } from '../helper.js'
import { createKey } from '../limits.js'
import { Program } from '../process.js'
import { freePort } from '../redis.js'
import { type Block, blocksOf, runBlock } from './blocks.js'
import { committed, documentPath, publicUrl } from './committed.js'

const { url, get } = await gateway(t, { env: { PUBLIC_URL: publicUrl, PLATFORM_TIMEOUT_MS: '60000' } })
const blocks = await blocksOf(url)

/** The expected output of each block. */
const prints: Record<string, RegExp> = {
  'first-shell': /^\{"object":"list","count":50,"limit":2,/,
  'first-javascript': /^\d+ moving\n.* \d+(\.\d+)? km\/h at -?\d+\.\d+ -?\d+\.\d+/,
  'first-python': /^\d+ moving\n.* \d+(\.\d+)? km\/h at -?\d+\.\d+ -?\d+\.\d+/,
  'all-events': /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /,
  'since-instant': /^\{"object":"list","count":\d+,"limit":5,/,
  stale: /^\{"object":"location","device_id":1001,/,
  'conditional-javascript': /^50 devices\n(un)?changed\n/,
  'conditional-python': /^50 devices\n(un)?changed\n/,
  rehearse: /^HTTP\/1\.1 429 .*"error":"rate_limit_exceeded"/s,
}
/** In client.test.ts. */
const elsewhere = ['generate', 'typed']
const ofRetries = ['back-off-javascript', 'back-off-python']
const ofResponses = ['envelope', 'error-body', 'webhook']

/** The blocks of operations are named by operation and language; the test with Prism runs them. */
const ofOperation = /^[a-z]+[A-Z]\w+-(\w+)$/

t.test('every block that reads runs as pasted', async (t) => {
  const others = [...blocks.keys()].filter((name) => !ofOperation.test(name))
  const tested = [...Object.keys(prints), ...ofRetries, ...ofResponses, ...elsewhere]
  t.same(others.sort(), tested.sort(), 'every block is tested')
  const run = async ([name, wanted]: [string, RegExp]) => {
    const { code, out, err } = await runBlock(blocks.get(name) as Block)
    // curl fails on the error that is rehearsed.
    t.equal(code, name === 'rehearse' ? 22 : 0, `${name} ends as expected: ${err}`)
    t.match(out, wanted, `${name} prints its result`)
  }
  await Promise.all(Object.entries(prints).map(run))
})

t.test('the retry examples wait until the window ends and then succeed', async (t) => {
  const limited = await gateway(t, { env: { PUBLIC_URL: publicUrl, RATE_LIMIT_MAX: '2', RATE_LIMIT_WINDOW_S: '2' } })
  const waiting = await blocksOf(limited.url)
  while ((await limited.get('/v1/me', 'demo')).status !== 429);
  for (const { code, out, err } of await Promise.all(ofRetries.map((name) => runBlock(waiting.get(name) as Block)))) {
    t.equal(code, 0, err)
    t.match(out, /^North depot polygon\n/)
  }
})

t.test('responses look like the examples on the page', async (t) => {
  const list = await get('/v1/events?limit=200&offset=400', 'demo')
  const envelope = JSON.parse(blocks.get('envelope')?.code as string)
  t.same(Object.keys(list.body), Object.keys(envelope))
  t.match(list.body, { object: 'list', limit: envelope.limit, offset: envelope.offset, has_more: envelope.has_more })
  const { docs, ...example } = JSON.parse(blocks.get('error-body')?.code as string)
  t.same((await get('/v1/devices/4711', 'demo')).body, { ...example, docs: docs.replace(url, publicUrl) })
})

t.test('only a command of curl is labelled curl', async (t) => {
  const html = await (await fetch(`${url}/docs`)).text()
  const labelled = html.split('<figcaption>curl<').slice(1)
  t.ok(labelled.length > 15)
  t.same(
    labelled.map((rest) => /<code[^>]*>(?:<[^>]*>)?(\w*)/.exec(rest)?.[1]).filter((word) => word !== 'curl'),
    [],
  )
})

t.test('an operation shows its parameters and fields with type, bounds and what is required', async (t) => {
  const html = await (await fetch(`${url}/docs`)).text()
  const of = (id: string) =>
    (html.split(`id="operation-${id}"`)[1]?.split('</article>')[0] ?? '').replace(/<[^>]+>/g, '').replace(/\s+/g, ' ')
  t.match(of('listDevices'), /ids array of integer .*limit integer, 1 to 500 .*offset integer, default 0 /)
  t.match(of('listEvents'), / limit integer, 1 to 200, default 50 /)
  t.match(of('listDevices'), /The \d+ fields of an item of data .*sensors array of Sensor .*sensors\[\]\.id integer/)
  t.match(of('getHistory'), /from string required .*to string required .*The \d+ fields object &quot;history&quot; /)
  t.match(of('createKey'), /Parameters platform_hash string required .*expires_in_days integer, 1 to 3650 /)
  t.match(of('getMe'), /Response The 8 fields .*email string or null .*key OwnKey or null .*key\.id string /)
  for (const id of ['getMe', 'getHealth']) t.notMatch(of(id), /Parameters| required /, id)
})

/** `prism proxy --errors`: a violation of the document becomes an error response. @returns its URL. */
async function prism(t: Test, upstream: string): Promise<string> {
  const port = await freePort()
  const words = ['proxy', documentPath, upstream, '--errors', `--port=${port}`]
  const child = new Program(t, process.execPath, ['node_modules/.bin/prism', ...words])
  await child.printed(/is listening/)
  return `http://127.0.0.1:${port}`
}

const bodyAndHeaders = '{ ...(await response.json()), headers: [...response.headers.keys()] }'
const printJson: Record<'javascript' | 'python', [shown: string, printed: string]> = {
  javascript: ['response.status, await response.json()', `JSON.stringify(${bodyAndHeaders})`],
  python: ['response.status, json.load(response)', 'json.dumps(json.load(response))'],
}

/** The blocks of one language as one program, which prints a line for each: a process for each would take long. */
const joined: Record<string, (codes: string[]) => string> = {
  shell: (codes) => codes.map((code) => `${code}\necho\n`).join(''),
  javascript: (codes) => codes.map((code) => `{\n${code.replace(...printJson.javascript)}\n}\n`).join(''),
  python: (codes) => codes.map((code) => `${code.replace(...printJson.python)}\n`).join(''),
}

t.test('the code of every operation passes a validating proxy, and gets the documented headers and body', async (t) => {
  const proxy = await prism(t, url)
  const blocks = await blocksOf(url, proxy)
  const operations = Object.values((await committed()).paths).flatMap((item) => Object.values(item))
  const hash = sandboxAccounts()[0]?.hash as string
  const rare = ['X-Api-Key-Expires', 'Cache-Status']
  for (const [language, join] of Object.entries(joined)) {
    const { body: key } = await createKey(get, { platform_hash: hash })
    const codes = operations.map(({ operationId }) =>
      (blocks.get(`${operationId}-${language}`) as Block).code
        .replaceAll('<PLATFORM_HASH>', hash)
        .replace(/keys\/[\w-]{36}/, `keys/${key.id}`),
    )
    const { code, out, err } = await runBlock({ name: language, language, code: join(codes) })
    t.equal(code, 0, `${language}: ${err}`)
    const lines = out.trim().split('\n')
    t.equal(lines.length, operations.length, 'one response for each operation')
    for (const [at, { operationId, responses }] of operations.entries()) {
      const { headers: sent, ...body } = JSON.parse(lines[at] as string)
      const shown = JSON.parse(blocks.get(`${operationId}-response`)?.code as string)
      t.same(Object.keys(body), Object.keys(shown), `${operationId} in ${language}`)
      const documented = Object.keys((responses['200'] as Documented).headers ?? {})
      if (sent === undefined) continue
      const missing = documented.filter((name) => !rare.includes(name) && !sent.includes(name.toLowerCase()))
      t.same(missing, [], `${operationId} carries its headers`)
    }
  }
  const wrong = await fetch(`${proxy}/v1/devices?status=parked`, { headers: { authorization: 'Bearer demo' } })
  t.equal(wrong.status, 422, 'the proxy does validate')
})

const folder = 'src/reference/assets'
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => !file.isDirectory())
const textOf = (ending: string): string[] =>
  files
    .filter(({ name }) => name.endsWith(ending))
    .map(({ name, parentPath }) => readFileSync(`${parentPath}/${name}`, 'utf8'))

t.test('a value, a function of words, and the blocks for a service with or without a demo are filled', async (t) => {
  const html = '<a{{#demo}} b="{{b}}"{{/demo}}>{{^demo}}none{{/demo}}{{join c d}}{{#demo}}{{b}}{{/demo}}</a>'
  const values = { b: '$&', join: (...words: string[]) => words.join('+') }
  t.equal(filled(html, values, true), '<a b="$&">c+d$&</a>')
  t.equal(filled(html, values, false), '<a>nonec+d</a>')
})

t.test('a placeholder without a value is an error, and so is one of a block that is not complete', async (t) => {
  for (const html of ['{{name}}', '{{name a}}', '{{#demo}}a{{#demo}}b{{/demo}}'])
    t.throws(() => filled(html, { demo: '' }, true), /has no value/, html)
})

t.test('every block ends', async (t) => {
  for (const html of textOf('.html')) {
    const marks = (html.match(/\{\{[#^/]demo\}\}/g) ?? []).join('')
    t.match(marks, /^(\{\{[#^]demo\}\}\{\{\/demo\}\})*$/)
  }
})

t.test('every file of the folder is used', async (t) => {
  const users = [...textOf('.html'), ...textOf('.js'), readFileSync('src/reference/page.ts', 'utf8')].join('\n')
  t.ok(files.length > 20)
  const words = new Set(users.split(/[^\w.-]+/))
  t.same(
    files.map(({ name }) => name).filter((name) => !words.has(name)),
    [],
  )
})

t.test('the page says what the service promises', async (t) => {
  const html = await (await fetch(`${url}/docs`)).text()
  const text = html.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ')
  const promises = `99.9 %; 300 ms; 24 hours; 48 hours ahead; Sundays between 02:00 and 04:00 UTC; 90 days ahead; resell;
    other accounts: it is forbidden and may cause immediate suspension; at least 12 months;
    authorization of vehicle owners and drivers; Not available yet; limit is the number of items, 0 if there are none; geofence.enter; Changelog The interface`
  for (const promise of promises.split(/;\s+/)) t.ok(text.includes(promise), promise)
})

t.test('one visit of the page, its console included, is within any limit of requests', async (t) => {
  const { url } = await gateway(t, { env: { RATE_LIMIT_MAX: '2' } })
  const page = await (await fetch(`${url}/docs`)).text()
  const files = new Set(page.match(/docs\/[\w.-]+\?v=\w+/g))
  const imported = ['console.js', 'map-drawing.js', 'map-layout.js'].map((name) => `docs/${name}`)
  const visit = async () => {
    const responses = await Promise.all([...files, ...imported].map((path) => fetch(`${url}/${path}`)))
    return new Set(responses.map(({ status }) => status))
  }
  t.match([...files].join(), /swagger-ui-bundle/)
  t.same(await visit(), new Set([200]))
  await visit()
  t.same(await visit(), new Set([429]), 'but a limit there is')
})
