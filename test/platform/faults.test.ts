/** Failures of the platform: callers get a prompt 503, and data again as soon as the platform works. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { isLong, isUnavailable } from '../faults.js'
import { answers, Clock, gateway, platform, someHash } from '../helper.js'
import { until } from '../redis.js'

const device = {
  id: 7,
  name: 'Van 7',
  online: 'ack',
  time: '2026-05-12 09:00:00',
  timestamp: 1_778_576_400,
  lat: 1,
  lng: 2,
}
/** Works, with an account for each hash. */
const well: RequestListener = (request, response) => {
  const hash = new URL(request.url ?? '', 'http://localhost').searchParams.get('user_api_hash') ?? ''
  const bodies = { get_user_data: { email: `${hash.at(-1)}@example.com` }, get_devices: [{ items: [device] }] }
  answers(bodies)(request, response)
}

/** A platform whose behaviour the test changes, and a gateway on it that has no fresh position for any request. */
async function faulty(t: Test, env: Record<string, string> = {}) {
  let behave: RequestListener = well
  const { url, calls, server } = await platform(t, (request, response) => behave(request, response))
  const clock = new Clock()
  const settings = { PLATFORM_URL: url, PLATFORM_TIMEOUT_MS: '300', POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '600000' }
  const { get, log, metrics } = await gateway(t, { clock: clock.now, env: { ...settings, ...env } })
  // The first call compiles code on both sides; on a busy machine it may exceed the deadline.
  await until(async () => (await get('/v1/devices', someHash)).status === 200)
  return {
    calls,
    server,
    log,
    metrics,
    become: (listener: RequestListener) => {
      behave = listener
    },
    /** The device list of one account. */
    devices: () => {
      clock.advance(2)
      return get('/v1/devices', someHash)
    },
    /** As another account: all devices, or one. */
    devicesOf: (account: string, device?: number) => {
      clock.advance(2)
      return get(device === undefined ? '/v1/devices' : `/v1/devices/${device}`, account)
    },
    health: () => get('/health'),
  }
}

const json = (body: string): RequestListener => {
  return (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body)
}

/** Failures, and whether they open the circuit breaker. */
const failures: Record<string, { behave: RequestListener; opens: boolean }> = {
  hangs: { behave: () => {}, opens: true },
  'is slower than the deadline': {
    behave: (_, response) => void setTimeout(() => response.end('[]'), 600),
    opens: true,
  },
  'stops in the middle': { behave: (_, response) => void response.writeHead(200).write('[{"title":'), opens: true },
  'resets every connection': { behave: (request) => void request.socket.destroy(), opens: true },
  'fails with 500': { behave: (_, response) => void response.writeHead(500).end('oops'), opens: true },
  'shows a page for maintenance': {
    behave: (_, response) => void response.writeHead(200).end('<!doctype html><h1>Back soon</h1>'),
    opens: true,
  },
  'sends garbage': { behave: (_, response) => void response.writeHead(200).end('\u0000\u0001{]'), opens: true },
  'does not speak HTTP': { behave: (request) => void request.socket.end('220 mail ready\r\n'), opens: true },
  'sends another shape after an upgrade': { behave: json('{"result":{"vehicles":[]}}'), opens: false },
  'sends a number': { behave: json('42'), opens: false },
  'limits the rate': { behave: (_, response) => void response.writeHead(429).end(), opens: false },
}

for (const [name, { behave, opens }] of Object.entries(failures)) {
  t.test(`a platform that ${name}: 503, at once after several failures, and recovery without a restart`, async (t) => {
    const { become, devices, log, metrics, calls, health } = await faulty(t)
    t.equal((await devices()).status, 200)
    become(behave)
    for (let n = 0; n < 6; n += 1) isUnavailable(t, await devices(), `failure ${n + 1}`)
    const sent = calls.length
    const started = performance.now()
    isUnavailable(t, await devices(), 'and then')
    if (opens) {
      t.ok(performance.now() - started < 150, 'without waiting for the platform')
      t.equal(calls.length, sent, 'nor sending a request')
    }
    t.equal(/outcome="breaker_open"/.test(await metrics()), opens)
    t.notMatch(log(), /"state":"open"/, 'one account opens nothing for others')
    t.equal((await health()).body.status, 'degraded')
    become(well)
    await until(async () => (await devices()).status === 200)
    t.equal((await health()).body.status, 'ok')
    t.notOk(log().includes(someHash) || log().includes(encodeURIComponent(someHash)), 'no hash in the log')
  })
}

t.test('a platform that is gone and comes back on the same address', async (t) => {
  const { server, devices, log } = await faulty(t)
  t.equal((await devices()).status, 200)
  const { port } = server.address() as AddressInfo
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
  for (let n = 0; n < 10; n += 1) isUnavailable(t, await devices(), `call ${n}`)
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  await until(async () => (await devices()).status === 200)
  t.notOk(log().includes(someHash))
})

t.test(
  'a platform that fails every other call: each response is right or the documented 503, and the breaker stays closed',
  async (t) => {
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
  },
)

t.test('an outage that three accounts notice spares all the others the wait, until one probe succeeds', async (t) => {
  const { become, devicesOf, log, calls, metrics } = await faulty(t)
  const accounts = Array.from({ length: 6 }, (_, n) => `${someHash.slice(0, -1)}${n}`)
  for (const account of accounts) await until(async () => (await devicesOf(account)).status === 200)
  become(() => {})
  await Promise.all(accounts.slice(0, 3).flatMap((account) => [devicesOf(account, 7), devicesOf(account, 8)]))
  t.match(log(), /"state":"open"/)
  const sent = calls.length
  for (const account of accounts.slice(3)) isUnavailable(t, await devicesOf(account), 'an account without a failure')
  t.equal(calls.length, sent)
  t.match(await metrics(), /gateway_breaker_state\{realm="platform",state="open"\} 1/)
  become(well)
  await until(async () => (await devicesOf(accounts[5] as string)).status === 200)
  t.match(await metrics(), /gateway_breaker_state\{realm="platform",state="closed"\} 1/)
  t.equal((await devicesOf(accounts[4] as string)).status, 200)
})

t.test('one account whose history always fails leaves the others alone', async (t) => {
  const { url } = await platform(t, (request, response) => {
    if (request.url?.includes('get_history')) response.writeHead(500).end()
    else well(request, response)
  })
  const clock = new Clock()
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url, POSITION_TTL_MS: '1' } })
  for (let n = 0; n < 30; n += 1) {
    clock.advance(2)
    isUnavailable(t, await get('/v1/history/7?from=2026-05-01&to=2026-05-02', someHash), 'history')
    t.equal((await get('/v1/devices', `${someHash.slice(0, -1)}Z`)).status, 200)
  }
})

t.test('a certificate that cannot be trusted: the hash is never sent', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'cert-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', [...request, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  const seen: string[] = []
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (incoming, response) => {
    seen.push(incoming.url ?? '')
    response.end('{}')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/api`
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url } })
  for (let n = 0; n < 7; n += 1) isUnavailable(t, await get('/v1/devices', someHash), `call ${n}`)
  t.same(seen, [])
  t.match(log(), /SELF_SIGNED/, 'the operator learns why')
  t.notOk(log().includes(someHash))
})

t.test('a host name that leads nowhere', async (t) => {
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: 'https://tracker.invalid/api' } })
  for (let n = 0; n < 7; n += 1) isUnavailable(t, await get('/v1/devices', someHash), `call ${n}`)
  t.match(log(), /ENOTFOUND|EAI_AGAIN/)
  t.notOk(log().includes(someHash))
})

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
  await many(isLong ? 4_000 : 1_000)
  collect()
  const before = process.memoryUsage().heapUsed
  await many(isLong ? 40_000 : 4_000)
  collect()
  const grownMb = (process.memoryUsage().heapUsed - before) / 1024 / 1024
  t.ok(grownMb < 15, `${grownMb.toFixed(1)} MB`)
})
