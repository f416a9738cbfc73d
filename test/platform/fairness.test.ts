/** One account does its worst; the responses of another account stay right. */
import type { RequestListener } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readDeviceList } from '../../src/devices/device-list.js'
import { readHistory } from '../../src/devices/history-document.js'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { HttpClient } from '../../src/platform/http-client.js'
import { isLong } from '../faults.js'
import { answers, platform, someHash } from '../helper.js'
import { gatewayProcess } from '../process.js'
import { until } from '../redis.js'
import { watched } from '../watched.js'
import { hangs, historyOf, resets, sends, sound, trickles } from './faulty.js'

const calmHash = `${someHash}calm`

const day = (n: number): string => `2026-0${1 + (Math.floor(n / 28) % 5)}-${String(1 + (n % 28)).padStart(2, '0')}`
const history = (n: number): string => `/v1/history/${7 + (n % 2)}?from=${day(n)}&to=${day(n)}`
const allPaths = ['devices', 'devices/7', 'devices/8/location', 'geofences', 'events', 'alerts', 'services', 'drivers']
  .map((path) => `/v1/${path}`)
  .concat(history(0))
/** Every action in turn, and no request twice at the same time where the interface allows it. */
const anyPath = (n: number): string => {
  const varied = [history(n), `/v1/devices/${1_000 + n}`, `/v1/events?offset=${n}`]
  return [...allPaths, ...varied, ...varied][n % 15] as string
}

/** Long, so that a slow machine does not look like a call that waits for the deadline of another. */
const timeoutMs = 10_000
/** Requests at this rate that hang until the deadline would need more sockets than the 64 that there are. */
const [ratePerSecond, calmRequests] = isLong ? [35, 80] : [100, 20]
/** What fails at once shows its effect earlier. */
const fewer = calmRequests / 2
if (isLong) t.setTimeout(600_000)

/** A gateway whose platform treats all accounts but the calm one as the test says. */
async function stage(t: Test) {
  let behaviour: RequestListener | undefined
  let isAffected = (_action: string): boolean => true
  const good = answers(sound)
  const { url, server } = await platform(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const isCalm = searchParams.get('user_api_hash') === calmHash
    const answer = behaviour && !isCalm && isAffected(pathname.replace('/api/', '')) ? behaviour : good
    answer(request, response)
  })
  const env = { PLATFORM_TIMEOUT_MS: `${timeoutMs}`, POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '2000' }
  // A process of its own: the platform that sends long bodies would hold up a gateway that shares its event loop.
  const served = await gatewayProcess(t, { PLATFORM_URL: url, ...env })
  // The first responses, while modules are compiled, may exceed the deadline.
  await until(async () => (await served.get('/v1/devices', calmHash)).status === 200)
  const become = (listener: RequestListener | undefined, affected: typeof isAffected = () => true): void => {
    behaviour = listener
    isAffected = affected
  }
  /** Sends requests at the rate, without waiting for responses. @returns how to stop; resolves when all have their response. */
  const attack = (next: (n: number) => { path: string; credential: string }) => {
    const running: Promise<unknown>[] = []
    const timer = setInterval(() => {
      const { path, credential } = next(running.length)
      running.push(served.get(path, credential))
    }, 1_000 / ratePerSecond)
    return async (): Promise<void> => {
      clearInterval(timer)
      become(undefined)
      // Otherwise the last ones would have their response at the deadline.
      server.closeAllConnections()
      await Promise.all(running)
    }
  }
  /** Sends requests of the calm account: each must be served, and wait for no deadline of another account. */
  const servesCalm = async (t: Test, requests: number, paths = allPaths): Promise<void> => {
    for (let sent = 0; sent < requests; sent += 1) {
      const path = paths[sent % paths.length] as string
      const started = performance.now()
      const { status, text } = await served.get(path, calmHash)
      const ms = performance.now() - started
      if (status !== 200 || JSON.parse(text).count === 0 || ms > timeoutMs / 2) t.fail(`${status} ${path}: ${ms} ms`)
      await pause(isLong ? 250 : 100)
    }
  }
  /** The account is known, and has had data. */
  const wasWell = async (t: Test, credential: string, paths = allPaths): Promise<void> => {
    become(undefined)
    for (const path of paths) t.equal((await served.get(path, credential)).status, 200, path)
  }
  return { become, attack, servesCalm, wasWell }
}

type Scenario = [title: string, run: (t: Test, on: Awaited<ReturnType<typeof stage>>) => Promise<void>]

const failing = (name: string, behave: RequestListener, requests = calmRequests): Scenario => [
  `an account for which the platform ${name}, in every action, costs others nothing`,
  async (t, { become, attack, servesCalm, wasWell }) => {
    const credential = `${someHash}${name.length}`
    await wasWell(t, credential)
    const stop = attack((n) => ({ path: anyPath(n), credential }))
    become(behave, (action) => action !== 'get_user_data')
    await servesCalm(t, requests)
    become(behave)
    await servesCalm(t, requests / 2)
    await stop()
  },
]

const histories = (count: number): Scenario => [
  `histories of ${count} accounts that hang leave sockets to all others`,
  async (t, { become, attack, servesCalm, wasWell }) => {
    const hashes = Array.from({ length: count }, (_, n) => `${someHash}h${n}`)
    for (const credential of hashes) await wasWell(t, credential, [history(0)])
    become(hangs, (action) => action === 'get_history')
    const stop = attack((n) => ({ path: history(n), credential: hashes[n % count] as string }))
    // Many accounts with failing histories are an outage of that action, for which the circuit breaker may open.
    await servesCalm(t, calmRequests, count === 1 ? allPaths : allPaths.slice(0, -1))
    await stop()
  },
]

const invented: Scenario = [
  'invented credentials, even those on which the platform fails, shut out nobody',
  async (t, { become, attack, servesCalm }) => {
    become(resets)
    const stop = attack((n) => ({ path: '/v1/devices', credential: `invented-${n}` }))
    await servesCalm(t, fewer)
    await stop()
  },
]

/** Reads of a history and a device list of so many rows. @returns what each has read. */
async function longReads(t: Test, count: number): Promise<(() => Promise<() => number>)[]> {
  const get_history = historyOf(count)
  const { url } = await platform(t, { get_history, get_devices: [{ items: { ...get_history.items[0]?.items } }] })
  const client = new HttpClient({ url, connections: 1 })
  t.teardown(() => client.close())
  const days = { from: '2026-05-11', to: '2026-05-11' }
  const history = { deviceId: 1, ...days, positions: true, format: 'json', setup: undefined } as const
  const context = { client, signal: AbortSignal.timeout(60_000), reservation: new ByteBudget(1e9).open('a') }
  const job = { url, hash: someHash, owner: 'a' }
  return [
    async () => {
      const { result } = await readHistory({ ...job, action: 'get_history', params: history }, context)
      return () => JSON.parse(Buffer.from(result.json).toString()).positions.length
    },
    async () => {
      const params = { id: undefined, now: 0 }
      const { result } = await readDeviceList({ ...job, action: 'get_devices', params }, context)
      return () => result.ids.length
    },
  ]
}

t.test('a long history or list is translated in small steps, between which others have their turn', async (t) => {
  const count = 4_000
  const reads = await longReads(t, count)
  // The points of a history are put into their groups, become positions, and then JSON, a hundred at once.
  const steps = [2 * count + count / 100, count]
  // By this clock every step takes 10 ms, after which others have their turn.
  let now = 0
  t.intercept(performance, 'now', { value: () => (now += 10) })
  for (const [at, read] of reads.entries()) {
    const [counted, turns] = await watched(read())
    t.equal(counted(), count)
    t.ok(turns >= (steps[at] ?? 0), `${turns} turns`)
  }
})

t.test('no turn takes a large part of the processor time of a long history or list', async (t) => {
  for (const read of await longReads(t, 60_000)) {
    const parts: number[] = []
    // What the translation itself does at once is in each of them; the collection of garbage is not.
    for (let times = 0; times < 3; times += 1) {
      const started = process.cpuUsage()
      let [longest, before] = [0, started]
      const [counted] = await watched(read(), () => {
        longest = Math.max(longest, process.cpuUsage(before).user)
        before = process.cpuUsage()
      })
      parts.push(longest / process.cpuUsage(started).user)
      t.equal(counted(), 60_000)
    }
    t.ok(Math.min(...parts) < 1 / 4, `${parts}`)
  }
})

/** Those of a group share a gateway, one after the other; what may open a circuit for all comes last. */
const groups: Scenario[][] = [
  [failing('hangs', hangs), histories(1)],
  [failing('sends a long body slowly', trickles), histories(12)],
  [failing('resets', resets, fewer), failing('fails with 502', sends('bad gateway', 502), fewer), invented],
]
t.test('one account does its worst', async (t) => {
  // The long form takes the whole machine, so its parts run one after another.
  t.jobs = isLong ? 1 : groups.length
  for (const group of groups) {
    t.test('beside others', { buffered: true }, async (t) => {
      const on = await stage(t)
      for (const [title, run] of group) await t.test(title, (t) => run(t, on))
    })
  }
})
