/** One account does its worst; the responses of another account stay right. */
import type { RequestListener } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isLong } from '../faults.js'
import { answers, platform, someHash } from '../helper.js'
import { gatewayProcess } from '../process.js'

const calmHash = `${someHash}calm`

const hang: RequestListener = () => {}
const reset: RequestListener = (request) => void request.socket.resetAndDestroy()
const trickle: RequestListener = (_, response) => {
  const chunk = Buffer.alloc(64 * 1024, 0x20)
  const timer = setInterval(() => response.write(chunk), 20)
  response.on('close', () => clearInterval(timer))
}
/** Everything that makes a call fail: after it has kept a socket for long, or at once. Those of a group share a gateway, in turn. */
const worst: Record<string, RequestListener>[] = [
  { hangs: hang },
  { 'sends a long body slowly': trickle },
  {
    resets: reset,
    'fails with 502': (_, response) => void response.writeHead(502).end('bad gateway'),
    'shows HTML': (_, response) => void response.end('<!doctype html><h1>Back soon</h1>'),
  },
]

const device = (id: number) => ({ id, name: `Van ${id}`, online: 'ack', time: '2026-05-12 09:00:00', lat: 1, lng: 2 })
const page = { total: 1, per_page: 30, current_page: 1, last_page: 1 }
const bodies = {
  get_devices: [{ title: 'All', items: [device(7), device(8)] }],
  edit_setup_data: { item: { timezone_id: 1 }, timezones: [{ id: 1, value: 'UTC +00:00' }] },
  get_geofences: { items: { geofences: [{ id: 3, name: 'Depot', type: 'polygon' }] } },
  get_events: { items: { ...page, data: [{ id: 5, device_id: 7, message: 'SOS', time: '2026-05-12 09:00:00' }] } },
  get_history: { items: [], distance_sum: '1 km' },
  get_alerts: { items: { alerts: [{ id: 4, name: 'Fast', type: 'overspeed', active: 1 }] } },
  services: { data: [{ id: 6, device_id: 7, name: 'Oil', expiration_by: 'days' }], pagination: page },
  get_user_drivers: { items: { drivers: { ...page, data: [{ id: 9, name: 'Ana' }] } } },
}

const day = (n: number): string => `2026-0${1 + (Math.floor(n / 28) % 5)}-${String(1 + (n % 28)).padStart(2, '0')}`
const history = (n: number): string => `/v1/history/${7 + (n % 2)}?from=${day(n)}&to=${day(n)}`
const allPaths = ['devices', 'devices/7', 'devices/8/location', 'geofences', 'events', 'alerts', 'services', 'drivers']
  .map((path) => `/v1/${path}`)
  .concat(history(0))
const pathsWithoutHistory = allPaths.slice(0, -1)
/** Every action in turn, and no request twice at the same time where the interface allows it. */
const anyPath = (n: number): string => {
  const varied = [history(n), `/v1/devices/${1_000 + n}`, `/v1/events?offset=${n}`]
  return [...allPaths, ...varied, ...varied][n % 15] as string
}

type Affected = (action: string) => boolean
const all: Affected = () => true
const allButValidation: Affected = (action) => action !== 'get_user_data'
const onlyHistory: Affected = (action) => action === 'get_history'

interface Stage {
  get: (path: string, credential: string) => Promise<{ status: number; count: number | undefined }>
  /** How the platform treats all accounts but the calm one from now on. */
  become: (behaviour: RequestListener | undefined, affected?: Affected) => void
}

async function stage(t: Test): Promise<Stage> {
  let behaviour: RequestListener | undefined
  let isAffected = all
  const { url } = await platform(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const hash = searchParams.get('user_api_hash') ?? ''
    if (behaviour && hash !== calmHash && isAffected(pathname.replace('/api/', ''))) behaviour(request, response)
    else answers(bodies)(request, response)
  })
  const env = { PLATFORM_TIMEOUT_MS: String(timeoutMs), POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '2000' }
  // A process of its own: the platform that sends long bodies would hold up a gateway that shares its event loop.
  const served = await gatewayProcess(t, { PLATFORM_URL: url, ...env })
  const get: Stage['get'] = async (path, credential) => {
    const { status, text } = await served.get(path, credential)
    return { status, count: JSON.parse(text).count }
  }
  const become = (listener: RequestListener | undefined, affected = all): void => {
    behaviour = listener
    isAffected = affected
  }
  return { get, become }
}

/** Sends 35 requests a second, without waiting for responses. @returns how to stop; resolves when all have their response. */
function attack({ get }: Stage, next: (n: number) => { path: string; credential: string }) {
  const running = new Set<Promise<unknown>>()
  let sent = 0
  const timer = setInterval(() => {
    const { path, credential } = next(sent++)
    const request = get(path, credential).finally(() => running.delete(request))
    running.add(request)
  }, 1_000 / 35)
  return async (): Promise<void> => {
    clearInterval(timer)
    await Promise.all(running)
  }
}

/** Sends a request of the calm account every quarter of a second: each must be served. */
async function servesCalm(t: Test, { get }: Stage, forMs: number, name: string, paths = allPaths): Promise<void> {
  const wrong: string[] = []
  const until = performance.now() + forMs
  for (let sent = 0; performance.now() < until; sent += 1) {
    const path = paths[sent % paths.length] as string
    const { status, count } = await get(path, calmHash)
    if (status !== 200 || count === 0) wrong.push(`${status} ${path}`)
    await pause(250)
  }
  t.same(wrong, [], name)
}

/** With the shorter deadline, 35 hanging requests a second still need more sockets than there are. */
const timeoutMs = isLong ? 10_000 : 2_500
const forMs = isLong ? 20_000 : 3_000
t.setTimeout(600_000)
// The long form takes the whole machine, so its parts run one after another.
t.jobs = isLong ? 1 : 4
const parallel = { buffered: true }

for (const group of worst) {
  const names = Object.keys(group).join(' or ')
  t.test(`an account for which the platform ${names}, in every action, costs others nothing`, parallel, async (t) => {
    const on = await stage(t)
    const phaseMs = forMs / Object.keys(group).length
    for (const [at, [name, behave]] of Object.entries(group).entries()) {
      const credential = `${someHash}bad${at}`
      on.become(undefined)
      for (const path of allPaths) t.equal((await on.get(path, credential)).status, 200, path)
      const stop = attack(on, (n) => ({ path: anyPath(n), credential }))
      on.become(behave, allButValidation)
      await servesCalm(t, on, phaseMs, name)
      on.become(behave)
      await servesCalm(t, on, phaseMs / 2, `${name}, in every action`)
      await stop()
    }
  })
}

t.test('histories of 1 or 12 accounts that hang leave sockets to all others', parallel, async (t) => {
  const on = await stage(t)
  for (const count of [1, 12]) {
    const hashes = Array.from({ length: count }, (_, n) => `${someHash}${100 * count + n}`)
    on.become(undefined)
    for (const credential of hashes) t.equal((await on.get(history(0), credential)).status, 200)
    on.become(hang, onlyHistory)
    const stop = attack(on, (n) => ({ path: history(n), credential: hashes[n % count] as string }))
    // Many accounts with failing histories are an outage of that action, for which the circuit breaker may open.
    await servesCalm(t, on, forMs, `${count}`, count === 1 ? allPaths : pathsWithoutHistory)
    await stop()
  }
})

t.test('invented credentials, even those on which the platform fails, shut out nobody', parallel, async (t) => {
  const on = await stage(t)
  on.become(reset)
  const stop = attack(on, (n) => ({ path: '/v1/devices', credential: `invented-${n}` }))
  await servesCalm(t, on, forMs, 'all')
  await stop()
})
