/** The OpenAPI document and the page as served: complete, stable, valid, and compatible with the committed document. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { type ErrorCode, errorTable } from '../../src/errors.js'
import type { OpenApi } from '../../src/reference/document.js'
import type { Response } from '../../src/reference/openapi.js'
import { eventKinds } from '../../src/resources/event-kind.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gateway } from '../helper.js'
import { createKey } from '../limits.js'
import { committed, documentPath, isUpdating, publicUrl, remedy, write } from './committed.js'
import { breaks } from './compatibility.js'

const run = promisify(execFile)

const { url, get } = await gateway(t, { env: { PUBLIC_URL: publicUrl } })
const documentOf = async (url: string): Promise<string> => (await fetch(`${url}/openapi.json`)).text()
const text = await documentOf(url)
/** With another address, token of the demo, fleet and limit. */
const deepUrl = 'https://fleet.example.org/deep/down/api'
const other = { DEMO_TOKEN: 'other', SANDBOX_SEED: '3', RATE_LIMIT_MAX: '70' }
const deep = await gateway(t, { env: { PUBLIC_URL: `${deepUrl}/`, ...other } })
const html = await (await fetch(`${url}/docs`)).text()
if (isUpdating) {
  const now = JSON.parse(text) as OpenApi
  for (const broken of breaks(await committed().catch(() => now), now)) t.comment(`breaking change: ${broken}`)
  await write(documentPath, text)
}
const document = await committed()

t.test('the document is the committed one', async (t) => {
  t.same(JSON.parse(text), document, `the document has changed; ${remedy}`)
})

t.test('one build serves the same bytes everywhere except for `servers`', async (t) => {
  const { servers, ...rest } = JSON.parse(await documentOf(deep.url))
  const { servers: _, ...same } = JSON.parse(text)
  t.equal(servers[0].url, deepUrl)
  t.equal(JSON.stringify(rest), JSON.stringify(same))
})

t.test('redocly and spectral report no problem', async (t) => {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const lint = async (program: string, ...args: string[]) => {
    const words = ['lint', '--format=json', ...args, documentPath]
    const linting = run(`node_modules/.bin/${program}`, words, { env })
    const { stdout } = await linting.catch((failed: { stdout: string }) => failed)
    return JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))
  }
  const [redocly, spectral] = await Promise.all([
    lint('redocly', '--extends=recommended'),
    lint('spectral', '--ruleset=test/reference/spectral.yaml', '--fail-severity=hint', '--quiet'),
  ])
  t.same(redocly.problems, [])
  t.same(spectral, [])
})

t.test('every pattern of the document compiles in every language, and generators can copy it into code', (t) => {
  const patterns = [...text.matchAll(/"pattern": (".+")/g)].map(([, json = '']) => JSON.parse(json) as string)
  t.ok(patterns.length > 4)
  for (const pattern of patterns) t.match(pattern, /^(?:[ -[\]-~]|\\d)+$/)
  t.end()
})

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
)

t.test('every operation documents its credentials, its parameters, its response and its errors', async (t) => {
  t.equal(operations.length, 15, 'count a new operation here')
  for (const { method, path, operation } of operations) {
    const { security, responses, parameters = [] } = operation
    const name = `${method} ${path}`
    t.ok(security, `${name} documents its credentials`)
    for (const parameter of parameters) t.ok(parameter.description, `${name} documents ${parameter.name}`)
    t.match(responses['200'], { content: { 'application/json': { example: /./ } } }, `${name} has an example`)
    const errors = path === '/health' ? [] : ['401', '429', '500', '503']
    for (const status of errors) t.ok(status in responses, `${name} documents ${status}`)
    for (const status of Object.keys(responses)) t.match(status, /^\d{3}$/, `${name} has no range such as 4XX`)
  }
})

t.test('an error response matches its documentation', async (t) => {
  const { components } = document
  const shown = Object.values(components.responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  )
  const codes = Object.keys(errorTable).filter((code) => code !== 'method_not_allowed') as ErrorCode[]
  t.same(
    [...new Set(shown)].sort(),
    codes.sort(),
    '`codesOf` names every code except that of 405, which belongs to no operation',
  )
  for (const [path, name, code] of [
    ['/v1/devices/4711', 'NotFound', 'not_found'],
    ['/v1/devices?limit=0', 'InvalidRequest', 'invalid_request'],
  ] as const) {
    const example = components.responses[name]?.content?.['application/json']?.examples?.[code]
    const { docs: _, ...body } = (await get(path, 'demo')).body
    t.match(example, { value: { ...body, docs: /#error-/ } }, path)
  }
})

t.test('a response, whatever its status, has no header that is not documented', async (t) => {
  const platform_hash = sandboxAccounts()[0]?.hash as string
  const { body: made } = await createKey(get, { platform_hash, expires_in_days: 10 })
  const ofEvery = /^(connection|content-(encoding|length|type)|date|keep-alive|x-content-type-options)$/
  const send = async (path: string, headers: Record<string, string> = {}, credential = made.key) => {
    const operation = document.paths[path.startsWith('/v1/devices/') ? '/v1/devices/{id}' : (path.split('?')[0] ?? '')]
    const response = await get(path, credential, { headers })
    const documented = operation?.get?.responses[response.status] as Response & { $ref?: string }
    const { headers: names = {} } = documented.$ref
      ? (document.components.responses[documented.$ref.split('/').at(-1) ?? ''] as Response)
      : documented
    const known = new Set(Object.keys(names).map((name) => name.toLowerCase()))
    const unknown = [...response.headers.keys()].filter((name) => !known.has(name) && !ofEvery.test(name))
    t.same(unknown, [], `${path} ${response.status}`)
    t.equal(response.headers.has('x-api-key-expires'), credential === made.key, path)
    return response
  }
  const { headers } = await send('/v1/devices?limit=2')
  const same = await send('/v1/devices?limit=2', { 'if-none-match': headers.get('etag') ?? '' })
  t.equal(same.status, 304)
  await send('/health', {}, 'demo')
  for (const path of ['/v1/devices/4711', '/v1/me', '/v1/keys', '/v1/events', '/v1/events?from=x']) await send(path)
  for (const code of ['not_found', 'rate_limit_exceeded', 'gateway_error', 'headers_too_large'])
    await send('/v1/devices/1001', { prefer: `error=${code}` }, 'demo')
})

/** The document with another value, or none, at a place. @param place keys, and names of parameters, with spaces between. */
function changed(place: string, value: unknown): OpenApi {
  type Node = Record<string, unknown>
  const copy = structuredClone(document)
  const keys = place.split(' ')
  const step = (at: Node, key: string) => (Array.isArray(at) ? at.find(({ name }) => name === key) : at[key]) as Node
  const holder = keys.slice(0, -1).reduce(step, copy as unknown as Node)
  holder[keys.at(-1) as string] = value
  return JSON.parse(JSON.stringify(copy))
}

t.test('every breaking change is reported with its place, an addition is not', async (t) => {
  const [lists, zone] = ['paths /v1/devices get', { name: 'zone', in: 'query', schema: {} }]
  const { required: fields } = document.components.schemas.Device as { required: string[] }
  const maximum = 'paths /v1/events get parameters limit schema maximum'
  const cases: [place: string, value: unknown, sentence?: RegExp][] = [
    ['paths /v1/me', undefined, /\/v1\/me is gone$/],
    ['components schemas Device properties lat', undefined, /\.lat is gone$/],
    [`${lists} parameters status name`, 'state', /\.parameters\.status is gone$/],
    ['components schemas Device properties status enum', ['online', 'offline'], /\.status.*\.enum\.moving is gone$/],
    ['components schemas Location properties speed type', 'string', /\.speed\.type\.(number is gone|string is new)$/],
    ['components schemas Driver properties id type', ['integer', 'null'], /\.id\.type\.null is new$/],
    ['components schemas Driver required', ['id'], /\.required\.\w+ is gone$/],
    [maximum, 100, /\.limit\.schema\.maximum is 100, was 200$/],
    ['paths /v1/events get parameters type required', true, /\.parameters\.type\.required is (new|true)/],
    ['components schemas CreateKey required', ['platform_hash', 'label'], /\.requestBody\..*\.required\.label is new$/],
    [`${lists} responses 403`, undefined, /\.responses\.403 is gone$/],
    [`${lists} security`, [{ apiKey: [] }, { platformHash: [] }], /\.security\.demoToken is gone$/],
    ['paths /health get security', [{ apiKey: [] }], /\.security\.none is gone$/],
    ['paths /v1/me get requestBody', { required: true }, /\.requestBody is new$/],
    ['paths /v1/me get parameters', [{ ...zone, required: true }], /\.parameters is new$/],
    ['components schemas Device properties fuel', { type: 'number' }],
    ['components schemas Device required', [...fields, 'fuel']],
    ['components schemas CreateKey required', []],
    ['paths /v1/me get parameters', [zone]],
    [maximum, 1000],
    ['paths /v1/events get parameters limit schema default', undefined],
    ['paths /v1/events get parameters limit schema default', 10, /\.default is 10, was 50$/],
    ['paths /v1/trips', {}],
  ]
  for (const [place, value, sentence] of cases) {
    const found = breaks(document, changed(place, value))
    if (sentence) t.ok(found.length > 0 && found.every((one) => sentence.test(one)), `${place}: ${found.join('; ')}`)
    else t.same(found, [], place)
  }
})

t.test('the page refers to no other origin and works below any path', async (t) => {
  const { url } = deep
  const response = await fetch(`${url}/docs`)
  const html = await response.text()
  t.equal(response.status, 200)
  const policy = response.headers.get('content-security-policy')
  const own = /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';/
  t.match(policy, own)
  t.notMatch(policy, /unsafe/)
  t.ok(response.headers.has('ratelimit-remaining'))
  const links = [...html.matchAll(/(?:href|src|data-console)="([^"]*)"/g)].flatMap(([, link = '']) => link.split(' '))
  const others = /^(#|openapi\.json$|https:\/\/openapi-ts\.dev$)/
  for (const link of links.filter((link) => !others.test(link))) {
    t.match(link, /^docs\/[a-z.-]+\?v=[0-9a-f]{12}$/, `${link} is relative`)
    const asset = await fetch(new URL(link, `${url}/docs`))
    t.equal(asset.status, 200)
    t.match(asset.headers.get('cache-control'), /immutable/)
  }
  t.notMatch(html, /<script>|\son\w+=|style="/, 'nothing inline')
  const slash = await fetch(`${url}/docs/`, { redirect: 'manual' })
  t.equal(new URL(slash.headers.get('location') as string, `${url}/docs/`).href, `${url}/docs`)
  t.equal(slash.headers.get('cache-control'), 'private, no-cache', 'a shared cache would keep it')
  t.equal((await fetch(`${url}/docs/..%2f..%2fpackage.json`)).status, 404)
})

const chapters = (html: string) => [...html.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id)

t.test('a service without a demo shows no token and nothing of the map', async (t) => {
  const { url } = await gateway(t, { env: { PLATFORM_URL: 'http://127.0.0.1:9/api' } })
  const without = await (await fetch(`${url}/docs`)).text()
  t.notMatch(without, /map\.js|map\.css|data-demo|Bearer demo|#map|#rehearsal/)
  t.match(without, /Bearer &lt;API_KEY&gt;/)
  const rehearsed = [...html.matchAll(/<code>Prefer: error=(\w+)<\/code>/g)].map(([, code]) => code)
  t.same(new Set(rehearsed), new Set(Object.keys(errorTable)), 'with one, each error says how to rehearse it')
  const missing = chapters(html).filter((id) => !chapters(without).includes(id))
  t.same(missing, ['map', 'rehearsal'])
})

t.test('a caller without requests can still read what a 429 means, within a limit of the reference', async (t) => {
  const { url, get } = await gateway(t, { env: { RATE_LIMIT_MAX: '3' } })
  const statuses = async (path: string, times: number) =>
    Promise.all(Array.from({ length: times }, async () => (await fetch(`${url}/${path}`)).status))
  while ((await get('/v1/me', 'demo')).status !== 429);
  while ((await get('/v1/me')).status !== 429);
  t.same(await statuses('docs', 2), [200, 200])
  t.same(await statuses('openapi.json', 2), [200, 429])
})

t.test('the root leads to the reference', async (t) => {
  const { url: landed, status } = await fetch(new URL('/', url))
  t.same([status, landed], [200, `${url}/docs`])
})

t.test('every link has a target, every chapter a link, and no id is used twice', async (t) => {
  const all = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  const ids = new Set(all)
  t.equal(ids.size, all.length)
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target)
  const missing = targets.filter((target) => !ids.has(target))
  t.same(missing, [])
  const [contents = ''] = html.split('</nav>')
  for (const id of chapters(html)) t.ok(contents.includes(`href="#${id}"`), `${id} is in the contents`)
  t.ok(operations.every(({ operation }) => targets.includes(`operation-${operation.operationId}`)))
})

t.test('a table of the document does not stand on the page as Markdown, but has its words there', async (t) => {
  t.match(JSON.stringify(document), /\|---\|/)
  t.notMatch(html, /\|---\|/)
  t.match(html, /What happened, independent of the platform's words</)
  for (const word of eventKinds.flatMap(({ aliases }) => aliases)) t.match(html, `<code>${word}</code>`)
})
