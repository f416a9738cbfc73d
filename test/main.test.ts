/** The process: rolling restarts behind a load balancer, draining, signals. */
import { once } from 'node:events'
import { Agent, get as httpGet, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isLong } from './faults.js'
import { answers, platform, someHash } from './helper.js'
import { type GatewayProcess, gatewayProcess } from './process.js'
import { until } from './redis.js'

const demo = { authorization: 'Bearer demo' }
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status
const portOf = (url: string): number => Number(new URL(url).port)

/** A balancer that knows nothing but TCP and `/ready`: each new connection goes to the next instance that is ready. */
async function balancer(t: Test, instances: GatewayProcess[]) {
  const ready = new Set<GatewayProcess>()
  let turn = 0
  const server = createServer((near) => {
    const targets = instances.filter((instance) => ready.has(instance))
    const target = targets[turn++ % targets.length]
    if (!target) return void near.destroy()
    const far = connect(portOf(target.url), '127.0.0.1')
    near.pipe(far).pipe(near)
    for (const [one, other] of [[near, far] as const, [far, near] as const]) one.on('error', () => other.destroy())
  })
  const look = async (): Promise<void> => {
    for (const instance of instances) {
      const status = await fetch(`${instance.opsUrl}/ready`).then(
        (answer) => answer.status,
        () => 0,
      )
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
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, ready }
}

t.test('a rolling restart of three instances under load loses no request', async (t) => {
  const instances = await Promise.all([gatewayProcess(t), gatewayProcess(t), gatewayProcess(t)])
  const { url, ready } = await balancer(t, instances)
  const agent = new Agent({ keepAlive: true, maxSockets: 6 })
  t.teardown(() => agent.destroy())
  const counts = { answered: 0, lost: [] as string[] }
  let isRunning = true
  const one = async (options: { agent?: Agent }): Promise<void> => {
    try {
      const asked = httpGet(`${url}/v1/devices?limit=5`, { ...options, headers: demo })
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      await once(response.resume(), 'end')
      if (response.statusCode === 200) counts.answered += 1
      else counts.lost.push(`status ${response.statusCode}`)
    } catch (error) {
      counts.lost.push(String(error))
    }
  }
  const load = async (options: { agent?: Agent }): Promise<void> => {
    while (isRunning) {
      await one(options)
      await pause(5)
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
  t.ok(counts.answered > 500, `${counts.answered} answered`)
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
    const underWay = fetch(`${child.url}/v1/geofences`, { headers: { authorization } })
    while (!held) await pause(20)

    child.signal('SIGTERM')
    while ((await statusOf(`${child.opsUrl}/ready`)) !== 503) await pause(20)
    const after = await get(agent, `${child.url}/v1/me`, authorization)
    t.equal(after.statusCode, 200, 'a connection that is open goes on being answered')
    t.equal(after.headers.connection, 'close', 'and is asked to leave')
    t.equal(await statusOf(`${child.url}/health`), 200, 'a new connection is answered, too')
    // Until the listener is gone: only the request under way keeps the process.
    while (await statusOf(`${child.url}/health`).catch(() => undefined)) await pause(100)
    held()
    const answer = await underWay
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('connection'), 'close')
    t.equal(await child.exited, 0)
  },
)

t.test('a second signal ends a process at once', async (t) => {
  const { url: platformUrl, calls } = await platform(t, () => {})
  const child = await gatewayProcess(t, { PLATFORM_URL: platformUrl })
  fetch(`${child.url}/v1/me`, { headers: { authorization: `Bearer ${someHash}` } }).catch(() => {})
  while (calls.length === 0) await pause(20)
  child.signal('SIGTERM')
  while ((await statusOf(`${child.opsUrl}/ready`)) !== 503) await pause(20)
  const asked = performance.now()
  child.signal('SIGTERM')
  t.equal(await child.exited, 1)
  t.ok(performance.now() - asked < 2_000, 'without waiting for anybody')
})
