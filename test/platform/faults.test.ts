/** Failures of the platform: callers get a prompt 503, and data again as soon as the platform works. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { certificate, isLong, isUnavailable } from '../faults.js'
import { answers, Clock, gateway, platform, someHash } from '../helper.js'
import { until } from '../redis.js'

const position = { time: '2026-05-12 09:00:00', timestamp: 1_778_576_400, lat: 1, lng: 2 }
const device = { id: 7, name: 'Van 7', online: 'ack', ...position }
const well = answers({ get_devices: [{ items: [device] }] })

/** A platform whose behaviour the test changes, and a gateway on it that has no fresh position for any request. */
async function faulty(t: Test, env: Record<string, string> = {}) {
  let behave: RequestListener = well
  const { url, calls, server } = await platform(t, (request, response) => behave(request, response))
  const [clock, ticks] = [new Clock(), new Clock(0)]
  const settings = { PLATFORM_URL: url, PLATFORM_TIMEOUT_MS: '300', POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '600000' }
  const { get, log, metrics } = await gateway(t, { clock: clock.now, ticks: ticks.now, env: { ...settings, ...env } })
  /** After the cool-down of the breaker; until then, on a busy machine, even a sound response may exceed the deadline. */
  const works = (account = someHash): Promise<void> =>
    until(async () => {
      clock.advance(2)
      ticks.advance(10_000)
      return (await get('/v1/devices', account)).status === 200
    })
  await works()
  const become = (listener: RequestListener): void => {
    behave = listener
  }
  /** All devices of an account, or one. */
  const devicesOf = (account: string, device?: number) => {
    clock.advance(2)
    return get(device === undefined ? '/v1/devices' : `/v1/devices/${device}`, account)
  }
  const devices = () => devicesOf(someHash)
  return { ticks, works, calls, server, clock, get, log, metrics, become, devices, devicesOf }
}

const json = (body: string): RequestListener => {
  return (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body)
}

const html = '<!doctype html><h1>Back soon</h1>'
/** Failures, and whether they open the circuit breaker. */
const failures: Record<string, [behave: RequestListener, opens: boolean]> = {
  hangs: [() => {}, true],
  'is slower than the deadline': [(_, response) => void setTimeout(() => response.end('[]'), 600), true],
  'stops in the middle': [(_, response) => void response.writeHead(200).write('[{"title":'), true],
  'resets every connection': [(request) => void request.socket.destroy(), true],
  'fails with 500': [(_, response) => void response.writeHead(500).end('oops'), true],
  'shows a page for maintenance': [(_, response) => void response.writeHead(200).end(html), true],
  'sends garbage': [(_, response) => void response.writeHead(200).end('\u0000\u0001{]'), true],
  'does not speak HTTP': [(request) => void request.socket.end('220 mail ready\r\n'), true],
  'sends another shape after an upgrade': [json('{"result":{"vehicles":[]}}'), false],
  'sends a number': [json('42'), false],
  'limits the rate': [(_, response) => void response.writeHead(429).end(), false],
}

t.test('a failing platform: 503, at once after several failures, and recovery without a restart', async (t) => {
  const { become, devicesOf, works, log, calls, get, ticks } = await faulty(t)
  const health = async (): Promise<string> => (await get('/health')).body.status
  for (const [at, [name, [behave, opens]]] of Object.entries(failures).entries()) {
    const [account, other] = [`${someHash}${at}`, `${someHash}Z${at}`]
    await works(account)
    ticks.advance(60_000) // for health, a success of another account no longer counts
    become(behave)
    for (let n = 0; n < 6; n += 1) isUnavailable(t, await devicesOf(account), `${name}: failure ${n + 1}`)
    const sent = calls.length
    isUnavailable(t, await devicesOf(account), `${name}: and then`)
    t.equal(calls.length === sent, opens, `${name}: without a request to wait for`)
    const refused = await devicesOf(other)
    isUnavailable(t, refused, `${name}: the validation of another account`)
    t.notMatch(JSON.stringify(refused.body), /oops|Back soon|mail ready|vehicles/, 'no text of the platform')
    t.equal(await health(), 'degraded', name)
    become(well)
    for (const hash of [account, other]) await works(hash)
    t.equal(await health(), 'ok', name)
  }
  t.notMatch(log(), /"state":"open"/, 'one account opens nothing for others')
  t.notOk(log().includes(someHash) || log().includes(encodeURIComponent(someHash)), 'no hash in the log')
})

const sound: Record<string, unknown> = {
  get_user_data: { email: 'owner@example.com' },
  edit_setup_data: { item: { timezone_id: '61' }, timezones: [{ id: 61, value: 'UTC +01:00' }] },
  get_devices: [{ title: 'A', items: [device] }],
  get_geofences: { items: { geofences: [{ id: 5, name: 'Depot', type: 'circle', radius: 9 }] } },
  get_events: { items: { data: [{ id: 3, time: '2026-05-12 08:00:00' }], total: 1, per_page: 50, current_page: 1 } },
  get_history: {
    items: [{ status: 1, items: [{ latitude: 1, longitude: 2, raw_time: '2026-05-01 08:00:00' }] }],
    distance_sum: '3 km',
  },
  get_alerts: { items: { alerts: [{ id: 4, type: 'sos', devices: [7] }] } },
  services: { data: [{ id: 8, expiration_by: 'days', interval: 9 }], pagination: { total: 1, per_page: 15 } },
  get_user_drivers: { items: { drivers: { data: [{ id: 9, name: 'Jo' }], total: 1 } } },
}

const historyPath = '/v1/history/7?from=2026-05-01&to=2026-05-02'
const devicePaths = '/v1/devices /v1/devices/7 /v1/devices/7/location /v1/alerts /v1/services'.split(' ')
type Structure = [action: string, fields: string[], paths: string[]]
const structure: Structure[] = [
  ['get_user_data', ['email'], ['/v1/me', '/v1/devices']],
  ['edit_setup_data', ['item', 'timezone_id'], ['/v1/events?from=2026-05-01T00:00:00Z', '/v1/services']],
  ['get_devices', ['items', 'id'], [...devicePaths, historyPath]],
  ['get_geofences', ['items', 'geofences', 'id'], ['/v1/geofences', '/v1/geofences/5']],
  ['get_events', ['items', 'data', 'id'], ['/v1/events', '/v1/events?limit=1&offset=1']],
  ['get_history', ['items', 'status', 'latitude', 'longitude', 'raw_time'], [historyPath]],
  ['get_alerts', ['items', 'alerts', 'id'], ['/v1/alerts']],
  ['services', ['data', 'id'], ['/v1/services']],
  ['get_user_drivers', ['items', 'drivers', 'data', 'id'], ['/v1/drivers']],
]

/** Renames each field of each action in turn, on a platform that is sound otherwise. */
async function renameEach(t: Test, sound: Record<string, unknown>, structure: Structure[]): Promise<void> {
  const { become, log, metrics, get, clock, ticks } = await faulty(t, { ACCOUNT_TTL_MS: '1000' })
  const health = async (): Promise<string> => (await get('/health')).body.components.platform
  const fresh = (path: string) => {
    clock.advance(2_000)
    return get(path, someHash)
  }
  for (const [action, fields, paths] of structure) {
    for (const field of fields) {
      const renamed = JSON.stringify(sound[action]).replaceAll(`"${field}":`, `"${field}_v2":`)
      become(answers({ ...sound, [action]: renamed }))
      const logged = log().length
      for (const path of paths) {
        isUnavailable(t, await fresh(path), `${action}.${field}: ${path}`)
        t.equal(await health(), 'down')
      }
      const lines = log()
        .slice(logged)
        .split('\n')
        .filter((line) => line.includes('wrong_shape'))
      t.equal(lines.length, 1, `one log line for ${action}.${field}`)
      t.match(lines[0], new RegExp(`${action}: wrong_shape \\(.*(${field}|fields: )`), 'that names action and fields')
      become(answers(sound))
      // After this the next failure is another outage.
      ticks.advance(10_000)
      for (const path of paths) t.equal((await fresh(path)).status, 200, `${action}.${field} is back: ${path}`)
      t.equal(await health(), 'up')
    }
    t.match(await metrics(), new RegExp(`action="${action}",outcome="wrong_shape"} [1-9]`))
  }
}

t.test('a changed platform: 503 for whatever needs a renamed field, and recovery without a restart', async (t) => {
  await renameEach(t, sound, structure)
  const { services, ...older } = sound
  await renameEach(t, { ...older, get_services: services }, [['get_services', ['data', 'id'], ['/v1/services']]])
})

t.test('no data is an empty list; unreadable rows are counted and logged, and the others are served', async (t) => {
  const { become, get, clock, log, metrics } = await faulty(t)
  const none: Record<string, unknown> = {
    get_devices: [],
    get_geofences: { items: {} },
    get_events: { items: { data: [], total: 0 } },
    get_alerts: { items: { alerts: [] } },
    services: { data: [], pagination: { total: 0 } },
    get_user_drivers: { items: { drivers: { data: [], total: 0 } } },
  }
  const lists = ['/v1/devices', '/v1/geofences', '/v1/events', '/v1/alerts', '/v1/services', '/v1/drivers']
  for (const get_devices of [[], {}, { items: [] }, [{ title: 'A', items: [] }]]) {
    become(answers({ ...none, get_devices: JSON.stringify(get_devices) === '{}' ? { data: {} } : get_devices }))
    clock.advance(2)
    for (const path of lists) t.match(await get(path, someHash), { status: 200, body: { count: 0, data: [] } }, path)
  }
  const half = [device, { ...device, id: null }]
  become(answers({ ...none, get_devices: [{ items: half }], get_geofences: { items: [{ id: 5 }, { key: 6 }] } }))
  clock.advance(2)
  t.match(await get('/v1/devices', someHash), { status: 200, body: { count: 1, data: [{ id: 7 }] } })
  t.match(await get('/v1/geofences', someHash), { status: 200, body: { count: 1, data: [{ id: 5 }] } })
  for (const action of ['get_devices', 'get_geofences']) {
    t.match(await metrics(), `gateway_rows_skipped_total{action="${action}"} 1`)
    t.match(log(), new RegExp(`"action":"${action}","rows":1,"msg":"rows skipped"`))
  }
})

t.test('a proxy that refuses does not invalidate an account', async (t) => {
  const { become, devices, calls } = await faulty(t)
  const pages: [status: number, body: string][] = [
    [403, '<h1>cloudflare</h1>'],
    [401, '<html>401 Authorization Required</html>'],
    [401, ''],
    [419, '<h1>Page expired</h1>'],
    [403, '{"code":7}'],
  ]
  for (const [status, body] of pages) {
    become((_, response) => void response.writeHead(status).end(body))
    isUnavailable(t, await devices(), `${status} ${body}`)
  }
  become(well)
  const sent = calls.length
  t.equal((await devices()).status, 200)
  t.notMatch(calls.slice(sent).join(), /get_user_data/, 'nothing of it is forgotten')
  become((_, response) => void response.writeHead(403).end('{"message":"No permission"}'))
  t.match(await devices(), { status: 403, body: { error: 'forbidden' } })
  become((_, response) => void response.writeHead(401).end('{"status":0,"error":"Unauthorized"}'))
  t.match(await devices(), { status: 401, body: { error: 'invalid_token' } })
})

t.test('a platform that is gone and comes back on the same address', async (t) => {
  const { server, devices, works, log } = await faulty(t)
  t.equal((await devices()).status, 200)
  const { port } = server.address() as AddressInfo
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
  for (let n = 0; n < 10; n += 1) isUnavailable(t, await devices(), `call ${n}`)
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  await works()
  t.notOk(log().includes(someHash))
})

t.test('with every other call failing, each response is right or a 503, and the breaker stays closed', async (t) => {
  const { become, devices, metrics } = await faulty(t)
  let n = 0
  become((request, response) => {
    n += 1
    if (n % 2 === 0) well(request, response)
    else response.writeHead(502).end()
  })
  let good = 0
  for (let call = 0; call < 40; call += 1) {
    const response = await devices()
    if (response.status === 200) good += 1
    else isUnavailable(t, response, `call ${call}`)
  }
  t.ok(good >= 15, `${good} of 40 were right`)
  t.match(await metrics(), /gateway_breaker_state\{realm="platform",state="closed"\} 1/)
})

t.test('an outage that three accounts notice spares all the others the wait, until one probe succeeds', async (t) => {
  const { become, devicesOf, works, log, calls, metrics } = await faulty(t)
  const accounts = Array.from({ length: 6 }, (_, n) => `${someHash.slice(0, -1)}${n}`)
  for (const account of accounts) await works(account)
  become(() => {})
  await Promise.all(accounts.slice(0, 3).flatMap((account) => [devicesOf(account, 7), devicesOf(account, 8)]))
  t.match(log(), /"state":"open"/)
  const sent = calls.length
  for (const account of accounts.slice(3)) isUnavailable(t, await devicesOf(account), 'an account without a failure')
  t.equal(calls.length, sent)
  t.match(await metrics(), /gateway_breaker_state\{realm="platform",state="open"\} 1/)
  become(well)
  await works(accounts[5])
  t.match(await metrics(), /gateway_breaker_state\{realm="platform",state="closed"\} 1/)
  t.equal((await devicesOf(accounts[4] as string)).status, 200)
})

t.test('a certificate that cannot be trusted: the hash is never sent', async (t) => {
  const { key, cert } = certificate(t.testdir({}))
  const seen: string[] = []
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (incoming, response) => {
    seen.push(incoming.url ?? '')
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  await unreachable(t, `https://127.0.0.1:${(server.address() as AddressInfo).port}/api`, /SELF_SIGNED/)
  t.same(seen, [])
})

t.test('a host name that leads nowhere', (t) => unreachable(t, 'https://tracker.invalid/api', /ENOTFOUND|EAI_AGAIN/))

/** @param reason is logged for the operator. */
async function unreachable(t: Test, url: string, reason: RegExp): Promise<void> {
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url } })
  for (let n = 0; n < 7; n += 1) isUnavailable(t, await get('/v1/devices', someHash), `call ${n}`)
  t.match(log(), reason)
  t.notOk(log().includes(someHash))
}

t.test('a wall clock that jumps neither fails requests nor keeps positions for longer than their TTL', async (t) => {
  let jump = 0
  let speed = 10
  const { url } = await platform(t, (request, response) => {
    answers({ get_devices: [{ items: [{ ...device, speed }] }] })(request, response)
  })
  let now = Date.UTC(2026, 4, 12, 9)
  const { get } = await gateway(t, { clock: () => now + jump, env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '1000' } })
  const speedSeen = async (): Promise<number> => {
    const { status, headers, body } = await get('/v1/devices', someHash)
    t.equal(status, 200)
    t.ok(Number(headers.get('ratelimit-reset')) <= 60, 'the window is no longer than a window')
    return body.data[0].speed
  }
  t.equal(await speedSeen(), 10)
  const day = 86_400_000
  for (const by of [day, -day, -30 * day, 365 * day, -3_600_000]) {
    jump += by
    speed += 1
    now += 5_001
    t.equal(await speedSeen(), speed, `after a jump of ${by / 1_000} s, and a TTL later`)
  }
})

t.test('requests to a platform that is down leave no memory behind', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { become, devices } = await faulty(t, { LOG_LEVEL: 'silent' })
  await devices()
  become(() => {})
  const many = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 100) await Promise.all(Array.from({ length: 100 }, devices))
  }
  await many(isLong ? 4_000 : 500)
  collect()
  const before = process.memoryUsage().heapUsed
  await many(isLong ? 40_000 : 2_000)
  collect()
  const grownMb = (process.memoryUsage().heapUsed - before) / 1024 / 1024
  t.ok(grownMb < (isLong ? 15 : 8), `${grownMb.toFixed(1)} MB`)
})
