/** The OpenAPI document and the page as served: complete, stable, valid, and compatible with the committed document. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { type ErrorCode, errorTable } from '../../src/errors.js'
import type { OpenApi, Operation } from '../../src/reference/openapi.js'
import { gateway } from '../helper.js'
import { committed, documentPath, isUpdating, remedy, served, write } from './committed.js'
import { breaks } from './compatibility.js'

const run = promisify(execFile)

t.test('the document breaks no client of the committed one, and every addition is committed', async (t) => {
  const text = await served(t)
  const now = JSON.parse(text) as OpenApi
  if (isUpdating) {
    for (const broken of breaks(await committed().catch(() => now), now)) t.comment(`breaking change: ${broken}`)
    await write(documentPath, text)
  }
  const was = await committed()
  t.same(breaks(was, now), [], 'no breaking change')
  t.same(now, was, `the document has changed; ${remedy}`)
})

t.test('one build serves the same bytes everywhere except for `servers`', async (t) => {
  const [first, second, elsewhere] = await Promise.all([
    served(t),
    served(t, { SANDBOX_SEED: '3', RATE_LIMIT_MAX: '7' }),
    served(t, { PUBLIC_URL: 'https://fleet.example.org/deep/down/api/', DEMO_TOKEN: 'other' }),
  ])
  t.equal(first, second)
  const { servers, ...rest } = JSON.parse(elsewhere as string)
  const { servers: _, ...same } = JSON.parse(first as string)
  t.equal(servers[0].url, 'https://fleet.example.org/deep/down/api')
  t.equal(JSON.stringify(rest), JSON.stringify(same))
})

t.test('redocly reports no problem', async (t) => {
  const { stdout, stderr } = await run(
    'node_modules/.bin/redocly',
    ['lint', '--extends=recommended', '--format=json', documentPath],
    { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
  ).catch((failed: { stdout: string; stderr: string }) => failed)
  const { totals, problems } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    totals: { errors: number; warnings: number }
    problems: unknown[]
  }
  t.same(problems, [], stderr)
  t.match(totals, { errors: 0, warnings: 0 })
})

t.test('spectral reports no problem', async (t) => {
  const { stdout } = await run('node_modules/.bin/spectral', [
    'lint',
    '--ruleset=test/reference/spectral.yaml',
    '--fail-severity=hint',
    '--quiet',
    '--format=json',
    documentPath,
  ]).catch((failed: { stdout: string }) => failed)
  t.same(JSON.parse(stdout), [])
})

const operations = (document: OpenApi): [string, string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, Operation] => [method, path, operation]),
  )

t.test('every operation documents its credentials, its response and its errors', async (t) => {
  const document = await committed()
  const ids = operations(document).map(([, , { operationId }]) => operationId)
  t.equal(new Set(ids).size, 15, 'fifteen operations, each with its own id')
  for (const [method, path, operation] of operations(document)) {
    const { summary, description, security, responses, parameters = [], tags } = operation
    const name = `${method} ${path}`
    t.ok(summary && description && tags.length === 1, `${name} has a summary and a description`)
    t.ok(security, `${name} documents its credentials`)
    for (const parameter of parameters) t.ok(parameter.description, `${name} documents ${parameter.name}`)
    const success = responses['200']
    const media = success && 'content' in success ? success.content?.['application/json'] : undefined
    t.ok(media?.example, `${name} has an example`)
    if (path !== '/health') {
      const statuses = Object.keys(responses).filter((status) => status !== '304')
      t.match(statuses, ['200', /4\d\d/], `${name} documents its errors`)
      for (const status of ['401', '429', '500', '503']) t.ok(status in responses, `${name} documents ${status}`)
    }
  }
})

t.test('a response carries every documented header', async (t) => {
  const { get } = await gateway(t)
  const document = await committed()
  const rare = ['X-Api-Key-Expires', 'Cache-Status']
  for (const [method, path, { responses, parameters = [], security }] of operations(document)) {
    if (method !== 'get' || security?.some((one) => 'platformHash' in one && security.length === 1)) continue
    const query = parameters.filter(({ in: place, required }) => place === 'query' && required)
    const filled = path.replace(/\{\w+\}/, () => String(parameters.find((one) => one.in === 'path')?.example))
    const { status, headers } = await get(
      `${filled}?${query.map(({ name, example }) => `${name}=${example}`).join('&')}`,
      'demo',
    )
    t.equal(status, 200, `${path} responds to its own examples`)
    const documented = responses['200'] && 'headers' in responses['200'] ? responses['200'].headers : {}
    for (const header of Object.keys(documented ?? {})) {
      if (!rare.includes(header)) t.ok(headers.has(header), `${path} carries ${header}`)
    }
  }
})

t.test('an error response matches its documentation', async (t) => {
  const { get } = await gateway(t)
  const { components } = await committed()
  const shown = Object.values(components.responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  )
  const codes = Object.keys(errorTable).filter((code) => code !== 'method_not_allowed') as ErrorCode[]
  t.same([...new Set(shown)].sort(), codes.sort(), 'every code is documented except 405, which belongs to no operation')
  const { status, body } = await get('/v1/devices/4711', 'demo')
  const example = components.responses.NotFound?.content?.['application/json']?.examples?.not_found
  t.equal(status, 404)
  t.same(Object.keys(body), Object.keys((example as { value: object }).value))
})

t.test('every breaking change is reported with its place, an addition is not', async (t) => {
  const was = await committed()
  type Change = (document: OpenApi) => void
  const operation = (document: OpenApi, path: string): Operation => document.paths[path]?.get as Operation
  // biome-ignore lint/suspicious/noExplicitAny: reaches into schemas of every shape
  const schema = (document: OpenApi, name: string): any => document.components.schemas[name]
  const cases: [RegExp | undefined, Change][] = [
    [/\/v1\/me is gone/, (d) => delete d.paths['/v1/me']],
    [/\.lat is gone/, (d) => delete schema(d, 'Device').properties.lat],
    [/parameters\.status is gone/, (d) => operation(d, '/v1/devices').parameters?.shift()],
    [/enum\.moving is gone/, (d) => schema(d, 'Device').properties.status.enum.pop()],
    [
      /\.speed\.type\.(number is gone|string is new)/,
      (d) => Object.assign(schema(d, 'Location').properties.speed, { type: 'string' }),
    ],
    [/\.id\.type\.null is new/, (d) => Object.assign(schema(d, 'Driver').properties.id, { type: ['integer', 'null'] })],
    [/\.required\.name is gone/, (d) => schema(d, 'Driver').required.splice(1, 1)],
    [
      /parameters\.limit\.schema\.maximum is 100, was/,
      (d) => narrow(operation(d, '/v1/events'), 'limit', { maximum: 100 }),
    ],
    [/parameters\.type\.required is (new|true)/, (d) => require(operation(d, '/v1/events'), 'type')],
    [/requestBody\..*\.required\.label is new/, (d) => schema(d, 'CreateKey').required.push('label')],
    [/responses\.403 is gone/, (d) => delete operation(d, '/v1/devices').responses['403']],
    [/security\.demoToken is gone/, (d) => operation(d, '/v1/devices').security?.shift()],
    [
      /security\.(none is gone|apiKey is new)/,
      (d) => Object.assign(operation(d, '/health'), { security: [{ apiKey: [] }] }),
    ],
    [
      /requestBody is new/,
      (d) => Object.assign(operation(d, '/v1/me'), { requestBody: { required: true, content: {} } }),
    ],
    [/parameters is new/, (d) => addParameter(operation(d, '/v1/me'), { name: 'zone', required: true })],
    [undefined, (d) => Object.assign(schema(d, 'Device').properties, { fuel: { type: 'number' } })],
    [undefined, (d) => schema(d, 'Device').required.push('fuel')],
    [undefined, (d) => schema(d, 'CreateKey').required.splice(0)],
    [undefined, (d) => addParameter(operation(d, '/v1/me'), { name: 'verbose' })],
    [undefined, (d) => narrow(operation(d, '/v1/events'), 'limit', { maximum: 1000 })],
    [undefined, (d) => Object.assign(d.paths, { '/v1/trips': structuredClone(d.paths['/v1/drivers']) })],
  ]
  for (const [sentence, change] of cases) {
    const is = structuredClone(was)
    change(is)
    const found = breaks(was, is)
    if (sentence) t.ok(found.length > 0 && found.every((one) => sentence.test(one)), `${sentence}: ${found.join('; ')}`)
    else t.same(found, [])
  }
})

function addParameter(operation: Operation, parameter: { name: string; required?: boolean }): void {
  operation.parameters = [...(operation.parameters ?? []), { in: 'query', schema: {}, ...parameter }]
}
const named = ({ parameters = [] }: Operation, name: string) => parameters.find((one) => one.name === name)
function narrow(operation: Operation, name: string, to: Record<string, number>): void {
  Object.assign(named(operation, name)?.schema as object, to)
}
function require(operation: Operation, name: string): void {
  Object.assign(named(operation, name) as object, { required: true })
}

t.test('the page refers to no other origin and works below any path', async (t) => {
  const { url } = await gateway(t, { env: { PUBLIC_URL: 'https://fleet.example.org/deep/down/api' } })
  const response = await fetch(`${url}/docs`)
  const html = await response.text()
  t.equal(response.status, 200)
  t.match(response.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self';/)
  t.notMatch(response.headers.get('content-security-policy'), /unsafe/)
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
  t.equal((await fetch(`${url}/docs/..%2f..%2fpackage.json`)).status, 404)
})

t.test('a service without a demo shows no token and nothing of the map', async (t) => {
  const { url } = await gateway(t, { env: { PLATFORM_URL: 'http://127.0.0.1:9/api' } })
  const html = await (await fetch(`${url}/docs`)).text()
  t.notMatch(html, /map\.js|map\.css|data-demo|Bearer demo|#map|#rehearsal/)
  t.match(html, /Bearer &lt;API_KEY&gt;/)
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
  const { url } = await gateway(t)
  const { url: landed, status } = await fetch(new URL('/', url))
  t.same([status, landed], [200, `${url}/docs`])
})

t.test('every operation has an anchor, a link in the navigation and its errors as links, not as tables', async (t) => {
  const { url } = await gateway(t)
  const html = await (await fetch(`${url}/docs`)).text()
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  for (const [, path, { operationId }] of operations(await committed())) {
    t.ok(ids.has(`operation-${operationId}`), operationId)
    t.match(html, `<li><a href="#operation-${operationId}">`)
    t.match(html, `data-path="${path}"`)
  }
  for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) t.ok(ids.has(target), `#${target} exists`)
})

t.test('the page says what the service promises', async (t) => {
  const { url } = await gateway(t)
  const text = (await (await fetch(`${url}/docs`)).text()).replace(/<[^>]+>/g, '').replace(/\s+/g, ' ')
  for (const promise of [
    /99\.9 %/,
    /300 ms/,
    /24 hours/,
    /48 hours ahead/,
    /Sundays between 02:00 and 04:00 UTC/,
    /resell/,
    /other accounts: it is forbidden and may cause immediate suspension/,
    /authorization of vehicle owners and drivers/,
    /at least 12 months/,
    /90 days ahead/,
    /Not available yet.*geofence\.enter/,
    /Changelog # ?The interface|Changelog The interface/,
  ])
    t.match(text, promise)
})
