/** Lifetimes of the real parts that tests are made of: a gateway, a sandbox, a platform that misbehaves. Every part ends with its test. */
import { createServer, type RequestListener, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { buildApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { ByteBudget } from '../src/lib/byte-budget.js'
import { createLogger } from '../src/ops/log.js'
import { Metrics } from '../src/ops/metrics.js'
import { Platform, type PlatformOptions } from '../src/platform/client.js'
import { WorkerClient } from '../src/platform/worker-client.js'
import { buildSandbox, sandboxAccounts } from '../src/sandbox/sandbox.js'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'
import { temporaryFolder } from './folder.js'
import { program } from './program.js'

/** The only actions that the gateway may send to a platform: they read (spec.md, What the service does, 3). */
const readActions = new Set([
  ...['get_user_data', 'edit_setup_data', 'get_devices', 'get_geofences', 'get_events', 'get_history'],
  ...['get_alerts', 'services', 'get_services', 'get_user_drivers', 'call_actions/event_types'],
  ...['address', 'geo_address'],
])

interface Call {
  method: string | undefined
  url: string
}

/** For the requests that a stand-in of the platform has received. @throws when one of them may change data. */
function onlyReads(calls: readonly Call[]): void {
  for (const { method, url } of calls) {
    const action = new URL(url, 'http://localhost').pathname.replace(/^\/api\//, '')
    if (method !== 'GET' || !readActions.has(action)) throw new Error(`the platform was asked ${method} ${action}`)
  }
}

/** A hash or an API key, as it is or percent-encoded: the log of no test may have one, at any level. */
const credential = /(\$|%24)2y(\$|%24)10(\$|%24)|gps_live_[0-9a-f]{48}|user_api_hash=/i

const isGateway = (agent: string | undefined): boolean => agent === 'gps-fleet-gateway'

/** What of tap's test object the helpers need. */
export interface Test {
  teardown(end: () => unknown): void
}

/** A clock that only the test advances. Epoch milliseconds. */
export class Clock {
  #now: number
  constructor(now = Date.UTC(2026, 4, 12, 9, 30)) {
    this.#now = now
  }
  readonly now = (): number => this.#now
  advance(ms: number): void {
    this.#now += ms
  }
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape
  body: any
}

export type Gateway = Awaited<ReturnType<typeof gateway>>

interface GatewayOptions {
  env?: Record<string, string>
  clock?: () => number
  ticks?: () => number
  /** Without it the gateway has an embedded store of its own. */
  store?: Store
  isDraining?: boolean
}

/** One for all gateways of a test file: compiling its modules takes longer than most tests. */
const worker = new WorkerClient(pathToFileURL(program('devices/worker.js')))
let started: Promise<void> | undefined

/** The worker of this test file. */
export async function startedWorker(): Promise<WorkerClient> {
  started ??= worker.start()
  await started
  return worker
}

/** What a test may set otherwise. On a busy machine, the first call to a platform may take longer than the ten seconds of the default. */
const patient = { RATE_LIMIT_MAX: '1000000', LOG_LEVEL: 'trace', PLATFORM_TIMEOUT_MS: '60000' }

/** A gateway on a free port. Without `PLATFORM_URL`, or with a demo, it has a sandbox of its own on the same clock. */
export async function gateway(t: Test, options: GatewayOptions = {}) {
  const { env = {}, clock = Date.now, ticks = () => performance.now(), store, isDraining = false } = options
  const config = readConfig({ ...patient, ...env })
  const lines: string[] = []
  const logger = createLogger(config.logLevel, { destination: { write: (line: string) => void lines.push(line) } })
  const own = store ?? (await embeddedStore(t, clock))
  const fleet = config.demoToken === undefined ? undefined : await sandbox(t, { clock, seed: config.sandboxSeed })
  const metrics = new Metrics()
  const parts = {
    log: logger,
    clock,
    ticks,
    store: own,
    sandbox: fleet && { url: fleet.url, demoHash: fleet.hashes[0] as string },
    metrics,
    worker,
    isDraining: () => isDraining,
  }
  const [app] = await Promise.all([buildApp(config, parts), startedWorker()])
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    if (credential.test(lines.join(''))) throw new Error('a credential is in the log')
  })
  return {
    /** `http://127.0.0.1:<port>/api` */
    url: `${origin}/api`,
    httpServer: app.server,
    /** Resolves 200 turns of the event loop after so many requests have come since the call: none of them waits for its first turn any more. */
    arrivals: async (count: number) => {
      let arrived = 0
      const arrive = () => arrived++
      app.server.on('request', arrive)
      while (arrived < count) await endOfTurn()
      app.server.off('request', arrive)
      for (let turns = 0; turns < 200; turns += 1) await endOfTurn()
    },
    store: own,
    /** All lines logged so far. */
    log: () => lines.join(''),
    /** The logged lines with one of these messages, parsed. */
    // biome-ignore lint/suspicious/noExplicitAny: a line has any fields
    lines: (...messages: string[]): Record<string, any>[] =>
      lines.map((line) => JSON.parse(line)).filter(({ msg }) => messages.includes(msg)),
    /** What `/metrics` would say. */
    metrics: async () => (await metrics.text()).body,
    /** What `/callers` would say. */
    callers: () => metrics.callers.top(),
    /** GETs a path below `/api` (or what `init` says) with a credential, or none. */
    get: (path: string, credential?: string, init?: RequestInit) => ask(`${origin}/api`, path, credential, init),
  }
}

/** The response of a gateway to a request for a path below its base. */
export async function ask(base: string, path: string, credential?: string, init: RequestInit = {}): Promise<Answer> {
  const headers = new Headers(init.headers)
  if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`)
  const response = await fetch(`${base}${path}`, { ...init, headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

/** An embedded store in a folder of its own. */
export async function embeddedStore(t: Test, clock: () => number = Date.now): Promise<Store> {
  const config = { redisUrl: undefined, dataDir: temporaryFolder(t) }
  const store = await openStore(config, { clock, onDamaged: () => {} })
  t.teardown(() => store.close())
  return store
}

/** A sandbox on a free port, and the hashes of its accounts. */
export async function sandbox(t: Test, options: Parameters<typeof buildSandbox>[0] = {}) {
  const app = buildSandbox(options)
  const calls: string[] = []
  const ofGateway: Call[] = []
  app.addHook('onRequest', async ({ method, url, headers }) => {
    calls.push(url.replace(/user_api_hash=[^&]*/, 'user_api_hash='))
    if (isGateway(headers['user-agent'])) ofGateway.push({ method, url })
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    onlyReads(ofGateway)
  })
  const accounts = sandboxAccounts(options.seed, options.devices)
  return { url: `${origin}/api`, hashes: accounts.map(({ hash }) => hash), accounts, calls }
}

/** What a platform client needs beside its address; shared by a test file. */
export const clientParts = { worker, budget: new ByteBudget(2 ** 30) }

/** A client of the platform at `url`, closed with the test. */
export function platformClient(t: Test, url: string, options: Partial<PlatformOptions> = {}): Platform {
  const client = new Platform({ url, timeoutMs: 60_000, ...clientParts, ...options })
  t.teardown(() => client.close())
  return client
}

/**
 * What a platform responds to each action, `*` to all others: a JSON value, a text as it is, a number as a status, or a listener. Read at each
 * request, so a test may change it. `get_user_data` gives each hash an account of its own unless told otherwise; other actions are 404.
 */
export type Bodies = Record<string, unknown>
type Answering = RequestListener | Bodies

const isListener = (answer: unknown): answer is RequestListener => typeof answer === 'function'

/** A platform of a few lines. Its API base and the paths it was asked. */
export async function platform(t: Test, answer: Answering) {
  const calls: string[] = []
  const ofGateway: Call[] = []
  const respond = isListener(answer) ? answer : answers(answer)
  const server = createServer((request, response) => {
    const { method, url = '' } = request
    calls.push(url)
    if (isGateway(request.headers['user-agent'])) ofGateway.push({ method, url })
    respond(request, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    onlyReads(ofGateway)
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`, calls, server }
}

/** A gateway on a platform of a few lines: what `gateway` returns, and the paths that the platform was asked. */
export async function gatewayOn(t: Test, ...args: [Answering] | [GatewayOptions, Answering]) {
  const [{ env, ...options }, answer] = args.length === 2 ? args : [{}, ...args]
  const { url, calls, server } = await platform(t, answer)
  return { ...(await gateway(t, { ...options, env: { PLATFORM_URL: url, ...env } })), calls, server }
}

/** A platform with these bodies, as a listener. */
export function answers(bodies: Bodies): RequestListener {
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const hash = searchParams.get('user_api_hash') ?? ''
    const name = hash === someHash ? 'owner' : `${hash.slice(7, 9)}${hash.slice(-4)}`
    const all: Bodies = { get_user_data: bodies['*'] ?? { email: `${name}@example.com` }, ...bodies }
    const answer = all[pathname.replace('/api/', '')] ?? all['*'] ?? 404
    if (isListener(answer)) return answer(request, response)
    const [status, body] = typeof answer === 'number' ? [answer, { message: STATUS_CODES[answer] }] : [200, answer]
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** A hash as the platform makes them, with every character that an address must escape. */
export const someHash = `$2y$10$${'ab/cd.EF'.repeat(7).slice(0, 53)}`
