/** The process: rolling restarts behind a load balancer, draining, its start and its end. */
import { execFile, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { Agent, get as httpGet, type IncomingMessage } from 'node:http'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { sandboxAccounts } from '../src/sandbox/sandbox.js'
import { isLong } from './faults.js'
import { answers, platform, someHash } from './helper.js'
import { GatewayProcess, gatewayProcess } from './process.js'
import { program, withEnv } from './program.js'
import { freePort, portOf, until } from './redis.js'

const demo = { authorization: 'Bearer demo' }
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status

/** A TCP load balancer that polls `/ready`: each new connection goes to the next ready instance. */
async function balancer(t: Test, instances: GatewayProcess[]) {
  const ready = new Set<GatewayProcess>()
  let turn = 0
  const server = createServer((near) => {
    const targets = instances.filter((instance) => ready.has(instance))
    const target = targets[turn++ % targets.length]
    if (!target) return void near.destroy()
    const far = connect(target.port, '127.0.0.1')
    near.pipe(far).pipe(near)
    for (const [one, other] of [[near, far] as const, [far, near] as const]) one.on('error', () => other.destroy())
  })
  const look = async (): Promise<void> => {
    for (const instance of instances) {
      const status = await statusOf(`${instance.opsUrl}/ready`).catch(() => 0)
      if (status === 200) ready.add(instance)
      else ready.delete(instance)
    }
  }
  await look()
  const timer = setInterval(() => void look(), 250)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => {
    clearInterval(timer)
    server.close()
  })
  return { url: `http://127.0.0.1:${portOf(server)}/api`, ready }
}

t.test('a rolling restart of three instances under load loses no request', async (t) => {
  const instances = await Promise.all([gatewayProcess(t), gatewayProcess(t), gatewayProcess(t)])
  const { url, ready } = await balancer(t, instances)
  const agent = new Agent({ keepAlive: true, maxSockets: 6 })
  t.teardown(() => agent.destroy())
  const counts = { served: 0, lost: [] as string[] }
  let isRunning = true
  const one = async (options: { agent?: Agent }): Promise<void> => {
    try {
      const sent = httpGet(`${url}/v1/devices?limit=5`, { ...options, headers: demo })
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      await once(response.resume(), 'end')
      if (response.statusCode === 200) counts.served += 1
      else counts.lost.push(`status ${response.statusCode}`)
    } catch (error) {
      counts.lost.push(String(error))
    }
  }
  const load = async (options: { agent?: Agent }): Promise<void> => {
    while (isRunning) {
      await one(options)
      await pause(20)
    }
  }
  const callers = [...Array.from({ length: 6 }, () => load({ agent })), load({}), load({})]
  // One restart shows the way; the long form goes round.
  for (const at of isLong ? [0, 1, 2] : [0]) {
    const old = instances[at] as GatewayProcess
    old.signal('SIGTERM')
    t.equal(await old.exited, 0)
    const next = await gatewayProcess(t)
    instances[at] = next
    await until(() => ready.has(next))
  }
  isRunning = false
  await Promise.all(callers)
  t.same(counts.lost, [])
  t.ok(counts.served > 500, `${counts.served} served`)
})

/** One GET over an agent, with its body read. */
async function get(agent: Agent, url: string, authorization: string): Promise<IncomingMessage> {
  const [response] = (await once(httpGet(url, { agent, headers: { authorization } }), 'response')) as [IncomingMessage]
  await once(response.resume(), 'end')
  return response
}

t.test(
  'on SIGTERM a process becomes unready, serves on, finishes the requests in flight and exits with 0',
  async (t) => {
    const slow = answers({ get_devices: [] })
    let held: (() => void) | undefined
    const { url: platformUrl } = await platform(t, (request, response) => {
      if (request.url?.includes('get_geofences')) held = () => response.end('{"status":1,"items":{"geofences":[]}}')
      else slow(request, response)
    })
    const child = await gatewayProcess(t, { PLATFORM_URL: platformUrl })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    const authorization = `Bearer ${someHash}`
    const before = await get(agent, `${child.url}/v1/me`, authorization)
    t.equal(before.headers.connection, 'keep-alive')
    const inFlight = fetch(`${child.url}/v1/geofences`, { headers: { authorization } })
    while (!held) await pause(20)

    child.signal('SIGTERM')
    while ((await statusOf(`${child.opsUrl}/ready`)) !== 503) await pause(20)
    const after = await get(agent, `${child.url}/v1/me`, authorization)
    t.equal(after.statusCode, 200, 'an open connection is still served')
    t.equal(after.headers.connection, 'close', 'and told to close')
    t.equal(await statusOf(`${child.url}/health`), 200, 'a new connection is served, too')
    // Until the listener is gone: only the request under way keeps the process.
    while (await statusOf(`${child.url}/health`).catch(() => undefined)) await pause(100)
    held()
    const response = await inFlight
    t.equal(response.status, 200)
    t.equal(response.headers.get('connection'), 'close')
    t.equal(await child.exited, 0)
  },
)

t.test('a request that stops arriving, or arrives byte by byte, does not delay the end', async (t) => {
  const child = await gatewayProcess(t)
  const authorization = `Authorization: Bearer ${sandboxAccounts()[0]?.hash}\r\n`
  const content = 'Content-Type: application/json\r\nContent-Length: 9\r\n'
  const head = `POST /api/v1/keys HTTP/1.1\r\nHost: x\r\n${authorization}${content}\r\n`
  for (const sent of ['', head.slice(0, 60), `${head}{`]) {
    const socket = connect(child.port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    socket.write(sent)
  }
  const slow = connect(child.port, '127.0.0.1', () => slow.write(head.replace('Length: 9', 'Length: 999')))
  const timer = setInterval(() => slow.write(' '), 100)
  slow.on('close', () => clearInterval(timer)).on('error', () => {})
  t.teardown(() => slow.destroy())
  // Connections are accepted in their order.
  await child.get('/health')
  child.signal('SIGINT')
  t.equal(await child.exited, 0, 'by itself, before the last requests would be cut off')
  t.match(child.log, '"closed"')
})

/** Runs the gateway until it ends. */
async function ended(env: Record<string, string>, ...args: string[]) {
  const child = new GatewayProcess(args, env)
  return { code: await child.exited, log: child.log }
}

t.test('a used port and an unusable data folder are one sentence and exit code 1', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const port = portOf(server)
  const dataDir = t.testdir({ torn: { 'keys.mdb': 'x'.repeat(5_000) } })
  const [used, unknown, asked, host, folder, torn] = await Promise.all([
    ended({ PORT: String(port), DATA_DIR: `${dataDir}/data` }),
    ended({}, 'nonsense'),
    ended({ PLATFORM_URL: 'nothing' }, 'check', '--help'),
    ended({ HOST: 'nowhere.invalid', DATA_DIR: `${t.testdirName}/data` }),
    ended({ DATA_DIR: '/proc/nope' }),
    ended({ DATA_DIR: `${dataDir}/torn` }),
  ])
  t.same(used, { code: 1, log: `Cannot listen on 127.0.0.1:${port}: the port is in use.\n` })
  t.match(host, { code: 1, log: /^Cannot listen on nowhere\.invalid: \w+\.\n$/ })
  t.match(torn, { code: 1, log: /^\S+keys\.mdb is damaged, [^\n]+\n$/ })
  t.match(folder, { code: 1, log: /^Cannot use \S+ for API keys: [^\n]+\n$/ })
  t.match(unknown, { code: 2, log: /^Unknown command: nonsense\n[\s\S]*gps-fleet-gateway check/ })
  t.match(asked, { code: 0, log: /gps-fleet-gateway check/ }, 'nothing is checked')
})

t.test('a started gateway says where the reference is, and the curl that it names works', async (t) => {
  const demoToken = 'not-to-be-printed'
  const [open, closed] = await Promise.all([gatewayProcess(t), gatewayProcess(t, { DEMO_TOKEN: demoToken })])
  const pattern = /reference: (\S+) - try: (curl [^"\n]+)/
  for (const [child, status] of [
    [open, /"object":"list"/],
    [closed, /"status":"ok"/],
  ] as const) {
    await until(() => pattern.test(child.log))
    const [, reference = '', command = ''] = pattern.exec(child.log) ?? []
    t.match(await (await fetch(reference)).text(), /^<!doctype html>/i)
    t.match((await promisify(execFile)('sh', ['-c', command])).stdout, status)
    t.notMatch(child.log, demoToken)
    for (const line of child.log.trim().split('\n')) t.ok(JSON.parse(line), 'JSON where the output is no terminal')
  }
})

t.test('on a terminal the log is readable, and a gateway whose terminal is closed ends', async (t) => {
  // A pseudoterminal for one program; SIGTERM closes it, and waits for the end of the program.
  const script = `
import os, pty, signal, sys, time
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
def close(*_):
  os.close(terminal)
  for _ in range(200):
    if os.waitpid(pid, os.WNOHANG)[0]: os._exit(0)
    time.sleep(0.1)
  os.kill(pid, signal.SIGKILL)
  os._exit(1)
signal.signal(signal.SIGTERM, close)
while True:
  try: os.write(1, os.read(terminal, 65536))
  except OSError: break
`
  const main = program('main.js')
  const { env } = withEnv({ HOST: '127.0.0.1', PORT: '0', OPS_PORT: 'off', DATA_DIR: `${t.testdir({})}/data` })
  const child = spawn('python3', ['-c', script, process.execPath, main], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  t.teardown(() => child.kill('SIGTERM'))
  let log = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  await until(() => log.includes('try: '))
  t.match(log, /^\d\d:\d\d:\d\d info {2}reference: http:\S+\/docs - try: curl -H 'Authorization: Bearer demo' \S+\s*$/m)
  child.kill('SIGTERM')
  t.equal((await exit)[0], 0, 'it has ended')
})

t.test('on a full disk it serves, and ends when it is told to', async (t) => {
  const port = await freePort()
  const settings = { HOST: '127.0.0.1', PORT: `${port}`, OPS_PORT: 'off', DATA_DIR: `${t.testdir({})}/data` }
  const full = openSync('/dev/full', 'w')
  const stdio: StdioOptions = ['ignore', full, 'ignore']
  const child = spawn(process.execPath, [program('main.js')], { env: withEnv(settings).env, stdio })
  const exit = once(child, 'exit')
  t.teardown(() => {
    closeSync(full)
    child.kill('SIGKILL')
  })
  const health = `http://127.0.0.1:${port}/api/health`
  await until(async () => (await statusOf(health).catch(() => 0)) === 200)
  child.kill('SIGTERM')
  const late = pause(20_000, ['still there'], { ref: false })
  t.same(await Promise.race([exit, late]), [0, null])
})
