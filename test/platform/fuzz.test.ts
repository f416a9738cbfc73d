/** Platform responses damaged in their values, bytes, status and framing: callers get the documented shape or a documented error, never a 500. */
import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { check } from '@placemarkio/check-geojson'
import fc from 'fast-check'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { errorTable } from '../../src/errors.js'
import { isLong } from '../faults.js'
import { Clock, gateway, platform, sandbox, someHash } from '../helper.js'
import { until } from '../redis.js'
import { routesOf } from '../routes/fleet.js'

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const runs = isLong ? 20_000 : 140

/** Values in place of another one of the JSON. */
const texts = ['', '-', '0', '0000-00-00', 'Not connected', '[{"a":', '<p>']
const odd = fc.oneof(
  fc.constantFrom<unknown>(...texts, null, [], {}, [[]], [null], { 0: {} }, true, false),
  fc.constantFrom<unknown>(0, -1, 1e308, Number.MAX_SAFE_INTEGER, 'x'.repeat(50_000)),
  fc.string(),
  fc.double({ noNaN: true }),
  fc.jsonValue(),
)

/** Replaces or removes one of the values of a body, at any depth. */
function mutate(body: unknown, pick: number, value: unknown): void {
  const places: [holder: Record<string, unknown>, key: string][] = []
  JSON.stringify(body, function (this: Record<string, unknown>, key, node: unknown) {
    if (node !== body) places.push([this, key])
    return node
  })
  const [holder, key] = places[pick % Math.max(1, places.length)] ?? [{}, '']
  if (value === undefined) delete holder[key]
  else holder[key] = value
}

const rarely = <T, U>(value: fc.Arbitrary<T>, otherwise: U): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary: value })

/** What happens to a response on its way. */
const damage = fc.record({
  // One of the values of the JSON is replaced, or removed.
  value: fc.option(fc.record({ pick: fc.nat(), by: fc.option(odd, { nil: undefined }) }), { nil: undefined }),
  status: rarely(fc.constantFrom(201, 204, 206, 301, 302, 400, 401, 403, 404, 419, 429, 500, 502, 503, 504), 200),
  headers: rarely(
    fc.constantFrom<Record<string, string>>(
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'br' },
      { 'content-type': 'text/html' },
      { location: 'https://other.example/login' },
      { 'transfer-encoding': 'chunked' },
    ),
    {},
  ),
  change: rarely(fc.record({ at: fc.nat(), byte: fc.nat(255) }), undefined),
  // Below 1 the body is cut off.
  sent: rarely(fc.double({ min: 0, max: 1, noNaN: true }), 1),
  repeat: rarely(fc.constant(true), false),
  isGzip: rarely(fc.constant(true), false),
  // The connection is destroyed instead of ended.
  isReset: rarely(fc.constant(true), false),
})
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never

/** The response of `good`, damaged. */
const damaged =
  (
    good: () => Promise<Buffer>,
    { status, headers, value, change, sent, repeat, isGzip, isReset }: Damage,
  ): RequestListener =>
  async (_request, response) => {
    let body = Buffer.from(await good())
    if (value) {
      const json = JSON.parse(body.toString())
      mutate(json, value.pick, value.by)
      body = Buffer.from(JSON.stringify(json))
    }
    if (change && body.length > 0) body[change.at % body.length] = change.byte
    if (repeat) body = Buffer.concat([body, body])
    if (isGzip) body = gzipSync(body)
    response.writeHead(status, { ...(isGzip ? { 'content-encoding': 'gzip' } : {}), ...headers })
    const part = body.subarray(0, Math.floor(sent * body.length))
    if (isReset) response.write(part, () => response.destroy())
    else response.end(part)
  }

if (isLong) t.setTimeout(1_800_000)
t.test('whatever becomes of a platform response, the caller gets a documented one', async (t) => {
  t.comment(`seed ${seed}, ${runs} responses: repeat with SEED=${seed}`)
  const clock = new Clock()
  const stand = await sandbox(t, { clock: clock.now, devices: 3 })
  const [hash = ''] = stand.hashes
  const id = stand.accounts[0]?.firstDeviceId ?? 0
  const paths = routesOf(id)
  const checks = new Map(paths.map(([, path, schema]) => [path, Compile(schema)]))
  let target = ''
  let harm: Damage | undefined
  const { url } = await platform(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    searchParams.set('user_api_hash', hash)
    const good = async (): Promise<Buffer> => {
      const sound = await fetch(`${stand.url}${pathname.replace('/api', '')}?${searchParams}`)
      return Buffer.from(await sound.arrayBuffer())
    }
    if (harm && pathname.endsWith(`/${target}`)) return void damaged(good, harm)(request, response)
    good().then((body) => response.end(body))
  })
  const env = { PLATFORM_URL: url, PLATFORM_TIMEOUT_MS: '300', LOG_LEVEL: 'error' }
  const { get, log } = await gateway(t, { clock: clock.now, ticks: clock.now, env })
  /** Nothing is cached any more, and the circuit breaker is closed again. */
  const later = (): void => clock.advance(600_000)
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), damage, async ([action, path], next) => {
      target = action
      harm = next
      later()
      const { status, body } = await get(path, someHash)
      seen.set(status, (seen.get(status) ?? 0) + 1)
      if (path.includes('geojson') && status === 200) check(JSON.stringify(body))
      if (status === 200) return checks.get(path)?.Check(body) === true
      // A paginator that promises thousands of pages.
      if (status === 400) return action === 'get_events' && body.param === 'from'
      return [401, 403, 404, 503].includes(status) && body.error in errorTable
    }),
    { numRuns: runs, seed },
  )
  t.ok((seen.get(200) ?? 0) > 0.25 * runs, `responses by status: ${JSON.stringify([...seen])}`)
  t.equal(log(), '', 'nothing was a bug of the gateway')
  harm = undefined
  // A call that waits for the rest of a response may be in flight until its deadline.
  await until(async () => {
    later()
    return (await get('/v1/devices', someHash)).status === 200
  })
})
