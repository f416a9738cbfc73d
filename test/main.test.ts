/** The process: rolling restarts behind a load balancer, draining, its start and its end. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { Agent, get as httpGet, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { sandboxAccounts } from '../src/sandbox/sandbox.js'
import { isLong, nowhere } from './faults.js'
import { platform, someHash } from './helper.js'
import { dial, untilClosed } from './http/raw.js'
import { GatewayProcess, gatewayProcess, Program } from './process.js'
import { program, withEnv } from './program.js'
import { freePort, portOf, until } from './redis.js'

// Some wait for five seconds, which a process drains.
t.jobs = 3

const statusOf = (url: string): Promise<number> => fetch(url).then(({ status }) => status)
const statusOrNone = (url: string): Promise<number> => statusOf(url).catch(() => 0)

/** One GET over an agent, with its body read. */
async function get(agent: Agent | undefined, url: string, credential: string): Promise<IncomingMessage> {
  const sent = httpGet(url, { ...(agent && { agent }), headers: { authorization: `Bearer ${credential}` } })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  await once(response.resume(), 'end')
  return response
}

/** A TCP load balancer that polls `/ready`: a new connection goes to the next ready instance, and stays there. */
async function balancer(t: Test, instances: readonly GatewayProcess[]) {
  let ready = [...instances]
  let turn = 0
  const look = async (): Promise<void> => {
    const statuses = await Promise.all(instances.map(({ opsUrl }) => statusOrNone(`${opsUrl}/ready`)))
    ready = instances.filter((_, at) => statuses[at] === 200)
  }
  const polling = setInterval(() => void look(), 250)
  const server = createServer((near) => {
    const far = connect(ready[turn++ % ready.length]?.port ?? 0, '127.0.0.1')
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    clearInterval(polling)
    server.close()
  })
  return { url: `http://127.0.0.1:${portOf(server)}/api`, isReady: (one: GatewayProcess) => ready.includes(one) }
}

t.test('a rolling restart of three instances behind a TCP load balancer loses no request', async (t) => {
  const started = async (): Promise<GatewayProcess> => {
    const one = await gatewayProcess(t)
    // The first responses, while modules are compiled, may exceed a deadline.
    await until(async () => (await one.get('/v1/devices')).status === 200)
    return one
  }
  const instances = await Promise.all([started(), started(), started()])
  const { url, isReady } = await balancer(t, instances)
  const lost: string[] = []
  let served = 0
  let isRunning = true
  const lane = async (agent?: Agent): Promise<void> => {
    for (; isRunning; await pause(50)) {
      try {
        const { statusCode } = await get(agent, `${url}/v1/devices?limit=5`, 'demo')
        if (statusCode === 200) served += 1
        else lost.push(`status ${statusCode}`)
      } catch (error) {
        lost.push(String(error))
      }
    }
    agent?.destroy()
  }
  const kept = Array.from({ length: 6 }, () => lane(new Agent({ keepAlive: true, maxSockets: 1 })))
  const lanes = [...kept, lane(), lane()]
  // One restart is enough; the long form restarts all three.
  for (const at of isLong ? [0, 1, 2] : [0]) {
    const old = instances[at] as GatewayProcess
    await until(() => served > lanes.length)
    const before = served
    old.signal('SIGTERM')
    t.equal(await old.exited, 0)
    t.ok(served - before > lanes.length, `${served - before} served while a process ended`)
    const next = await started()
    instances[at] = next
    await until(() => isReady(next))
  }
  isRunning = false
  await Promise.all(lanes)
  t.same(lost, [])
})

/** A gateway process, and a request in flight that gets its response with `finish`. */
async function processAtWork(t: Test) {
  const held: ServerResponse[] = []
  const bodies = { get_devices: [], get_geofences: (_: unknown, response: ServerResponse) => void held.push(response) }
  const child = await gatewayProcess(t, { PLATFORM_URL: (await platform(t, bodies)).url })
  const inFlight = get(undefined, `${child.url}/v1/geofences`, someHash)
  await until(() => held.length > 0)
  return { child, inFlight, finish: () => held[0]?.end('{"status":1,"items":{"geofences":[]}}') }
}

t.test('on SIGTERM a process becomes unready, serves on, finishes what is in flight and exits with 0', async (t) => {
  const { child, inFlight, finish } = await processAtWork(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const before = await get(agent, `${child.url}/v1/me`, someHash)
  t.equal(before.headers.connection, 'keep-alive')

  child.signal('SIGTERM')
  await until(async () => (await statusOf(`${child.opsUrl}/ready`)) === 503)
  const after = await get(agent, `${child.url}/v1/me`, someHash)
  t.equal(after.statusCode, 200, 'an open connection is still served')
  t.equal(after.headers.connection, 'close', 'and told to close')
  t.equal(await statusOf(`${child.url}/health`), 200, 'a new connection is served, too')
  // Until the listener is gone: only the request under way keeps the process.
  await until(async () => (await statusOrNone(`${child.url}/health`)) === 0)
  finish()
  const { statusCode, headers } = await inFlight
  t.same([statusCode, headers.connection, await child.exited], [200, 'close', 0])
})

t.test('a request that is arriving at the end gets its response, unless that takes seconds', async (t) => {
  const { child, inFlight, finish } = await processAtWork(t)
  const authorization = `Authorization: Bearer ${sandboxAccounts()[0]?.hash}\r\n`
  const content = 'Content-Type: application/json\r\nContent-Length: 9\r\n'
  const head = `POST /api/v1/keys HTTP/1.1\r\nHost: x\r\n${authorization}${content}\r\n`
  for (const sent of ['', head.slice(0, 60), `${head}{`]) {
    await once(dial(t, child.url, sent), 'connect')
  }
  const arriving = [4, 999].map((length) => dial(t, child.url, head.replace('Length: 9', `Length: ${length}`)))
  const [response, late] = arriving.map(untilClosed)
  const started = dial(t, child.url, 'GET /api/health HTTP/1.1\r\nHost: x\r\n')
  // Connections are accepted in their order.
  await child.get('/health')
  child.signal('SIGINT')
  await child.printed(/"closing"/)
  const timer = setInterval(() => {
    for (const socket of arriving) if (socket.writable) socket.write(' ')
  }, 100)
  started.write('\r\n')
  t.match(await untilClosed(started), /^HTTP\/1\.1 200 /)
  t.match(await response, /^HTTP\/1\.1 400 /)
  t.notMatch(await late, /./)
  finish()
  t.equal((await inFlight).statusCode, 200, 'one that has arrived has more time')
  t.equal(await child.exited, 0, 'by itself, before the last requests would be cut off')
  clearInterval(timer)
  t.match(child.log, '"closed"')
})

t.test('a used port, an unusable data folder and a damaged key file are one sentence and exit code 1', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const port = portOf(server)
  const dataDir = t.testdir({ torn: { 'keys.mdb': 'x'.repeat(5_000) } })
  const ended = async (env: Record<string, string>, ...args: string[]) => {
    const child = new GatewayProcess(t, args, env)
    return { code: await child.exited, log: child.log }
  }
  const [used, ops, free, unknown, asked, host, folder, torn] = await Promise.all([
    ended({ PORT: String(port), DATA_DIR: `${dataDir}/data` }),
    ended({ OPS_PORT: String(port), DATA_DIR: `${dataDir}/data` }),
    ended({ HOST: nowhere, PORT: '0', DATA_DIR: `${dataDir}/data` }),
    ended({}, 'nonsense', `gps_live_${'0'.repeat(48)}`, '\x1b[31m'),
    ended({ PLATFORM_URL: 'nothing' }, 'check', '--help'),
    ended({ HOST: nowhere, PORT: '1', DATA_DIR: `${dataDir}/data` }),
    ended({ DATA_DIR: '/proc/nope' }),
    ended({ DATA_DIR: `${dataDir}/torn` }),
  ])
  t.same(used, { code: 1, log: `Cannot listen on 127.0.0.1:${port} (HOST and PORT): address already in use.\n` })
  t.equal(ops.code, 1)
  t.match(ops.log, `Cannot listen on 127.0.0.1:${port} (OPS_HOST and OPS_PORT): address already in use.\n`)
  t.match(host, { code: 1, log: /^Cannot listen on x{64}\.invalid \(HOST and PORT\): unknown node or service\.\n$/ })
  t.match(free, { code: 1, log: /^Cannot listen on x{64}\.invalid \(HOST\): unknown node or service\.\n$/ })
  t.match(torn, { code: 1, log: /^\S+keys\.mdb is damaged, [^\n]+\n$/ })
  t.match(folder, { code: 1, log: /^Cannot use \/proc\/nope \(DATA_DIR\): [^\n]+\n$/ })
  t.match(unknown, { code: 2, log: /^Unknown command: nonsense … \ufffd\[31m\n[\s\S]*gps-fleet-gateway check/ })
  t.match(asked, { code: 0, log: /gps-fleet-gateway check/ }, 'nothing is checked')
})

/** The output of the command that a started gateway names, once its reference has been read. */
async function tried(t: Test, log: string): Promise<string> {
  const [, reference = '', command = ''] = /reference: (\S+) - try: (curl [^"\r\n]+)/.exec(log) ?? []
  t.match(await (await fetch(reference)).text(), /^<!doctype html>/i)
  return (await promisify(execFile)('sh', ['-c', command])).stdout
}

t.test('on any free port a gateway names its reference and a curl that works, and its links lead there', async (t) => {
  const child = await gatewayProcess(t, { DEMO_TOKEN: 'not-to-be-printed' })
  await child.printed(/try: /)
  t.match(await tried(t, child.log), /"status":"ok"/)
  t.notMatch(child.log, 'not-to-be-printed')
  for (const line of child.log.trim().split('\n')) t.ok(JSON.parse(line), 'JSON where the output is no terminal')
  const { docs } = JSON.parse((await child.get('/v1/devices', '')).text)
  const { servers } = JSON.parse((await child.get('/openapi.json')).text)
  const own = `http://localhost:${child.port}/api`
  t.same([docs, servers[0].url], [`${own}/docs#error-unauthorized`, own])
})

t.test('on a terminal the log is readable, and a gateway whose terminal is closed ends', async (t) => {
  const { env } = withEnv({ HOST: '127.0.0.1', PORT: '0', OPS_PORT: 'off', DATA_DIR: `${t.testdir({})}/data` })
  const command = `echo "pid $$" && exec ${process.execPath} ${program('main.js')}`
  const terminal = new Program(t, 'script', ['--quiet', '--command', command, '/dev/null'], { env })
  const pid = await terminal.printed(/pid (\d+)/)
  await terminal.printed(/try: /)
  const line = /^\d\d:\d\d:\d\d info {2}reference: http:\S+\/docs - try: curl -H 'Authorization: Bearer demo' \S+\s*$/m
  t.match(terminal.log, line)
  t.match(await tried(t, terminal.log), /"object":"list"/)
  terminal.signal('SIGKILL')
  await until(() => !existsSync(`/proc/${pid}`))
})

t.test('on a full disk it serves, and ends when told; with a stuck reader of its log, when told twice', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  for (const stdout of [full, 'pipe' as const]) {
    const port = await freePort()
    const settings = { HOST: '127.0.0.1', PORT: `${port}`, OPS_PORT: 'off', DATA_DIR: `${t.testdir({})}/data` }
    const options = { env: withEnv(settings).env, stdio: ['ignore' as const, stdout, 'ignore' as const] }
    const child = spawn(process.execPath, [program('main.js')], options)
    const exit = once(child, 'exit')
    t.teardown(() => child.kill('SIGKILL'))
    const health = `http://127.0.0.1:${port}/api/health`
    await until(async () => (await statusOrNone(health)) === 200)
    // More lines than the pipe holds.
    if (stdout === 'pipe') for (let n = 0; n < 3_000; n += 1) await statusOrNone(health)
    child.kill('SIGTERM')
    await until(async () => (await statusOrNone(health)) === 0)
    if (stdout === 'pipe') child.kill('SIGTERM')
    const late = pause(20_000, ['still there'], { ref: false })
    t.same(await Promise.race([exit, late]), [stdout === 'pipe' ? 1 : 0, null])
  }
})
