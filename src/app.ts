/** The wiring, in the order of a request. */
import { getHeapStatistics } from 'node:v8'
import { AccountCache } from './auth/account-cache.js'
import { Authenticator } from './auth/authenticator.js'
import { Secret } from './auth/credential.js'
import { authentication, rehearsal } from './auth/hook.js'
import { KnownCallers } from './auth/known-callers.js'
import type { Config } from './config.js'
import { DeviceCache } from './devices/device-cache.js'
import { createApp } from './http/create-app.js'
import { methodNotAllowed } from './http/method-not-allowed.js'
import { shedOverload } from './http/overload.js'
import type { App, HttpOptions } from './http/types.js'
import { ByteBudget } from './lib/byte-budget.js'
import { Pace } from './lib/pace.js'
import type { Realm } from './ops/metrics.js'
import { type Outages, outagesIn } from './ops/outages.js'
import { unknownValues } from './ops/unknown-values.js'
import type { Account } from './platform/account.js'
import { Addresses, type LookupOutcome } from './platform/addresses.js'
import { type CallReport, Platform } from './platform/client.js'
import { platformHealth } from './platform/health.js'
import type { WorkerClient } from './platform/worker-client.js'
import { FailoverCounters } from './rate-limit/counters.js'
import { countAddress, Limits, showLimits } from './rate-limit/limiter.js'
import { gatherRoutes, reference } from './reference/routes.js'
import { alerts } from './routes/alerts.js'
import { devices } from './routes/devices.js'
import { drivers } from './routes/drivers.js'
import { events } from './routes/events.js'
import { geofences } from './routes/geofences.js'
import { health } from './routes/health.js'
import { history } from './routes/history.js'
import { keyCreation } from './routes/key-creation.js'
import { keys } from './routes/keys.js'
import { me } from './routes/me.js'
import { translator } from './routes/query.js'
import { services } from './routes/services.js'
import { instrumented } from './store/instrumented.js'
import type { Store } from './store/store.js'

/** The version of the interface (spec.md, Versioning). */
const version = '1.0.0'

/** Lookups in the sandbox cost nothing. */
const sandboxAddressLookups = 600

const skippedLogMs = 60_000

interface Deps extends Pick<HttpOptions, 'log' | 'metrics' | 'ticks' | 'isDraining'> {
  /** Epoch milliseconds. */
  clock: () => number
  /** Stays open when the app closes. */
  store: Store
  /** A sandbox that listens: its API base, and the hash of the account behind the demo token. */
  sandbox: { url: string; demoHash: string } | undefined
  /** Sends device list and history requests; stays open when the app closes. */
  worker: WorkerClient
}

/** The gateway as a value. @throws if there is neither a platform nor a sandbox. */
export async function buildApp(config: Config, deps: Deps): Promise<App> {
  const parts = openParts(config, deps)
  const app = createApp({
    ...deps,
    ...parts,
    docsUrl: `${config.publicUrl}/docs`,
    trustProxy: config.trustProxy,
    demoRealm: config.platformUrl === undefined ? 'platform' : 'sandbox',
  })
  app.addHook('onClose', () => parts.close())
  const addMethodNotAllowed = methodNotAllowed(app)
  await gatherRoutes(app)
  app.get('/', { onRequest: countAddress(parts.limits, 'docs:') }, (_request, reply) => reply.redirect('api/docs'))
  await app.register((api) => serve(api, config, deps, parts), { prefix: '/api' })
  addMethodNotAllowed()
  return app
}

type Parts = ReturnType<typeof openParts>

/** The objects that hooks and routes share. */
function openParts(config: Config, deps: Deps) {
  const { log, clock, ticks, metrics } = deps
  const outages = outagesIn(log, ticks)
  const store = instrumented(deps.store, (report) => {
    metrics.observeStoreCall(report)
    if (report.outcome === 'unavailable') outages.failed('key store', report.error)
    else outages.succeeded('key store')
  })
  // The objects that a response is made of take several times its bytes.
  const budget = new ByteBudget(getHeapStatistics().heap_size_limit / 4)
  const counters = new FailoverCounters({ shared: store.counters, ticks })
  const limits = new Limits(counters, config.rateLimitMax, config.rateLimitWindowMs)
  // So that the log says at once that Redis is away.
  void limits.read('')
  const pace = new Pace(ticks)
  const platforms = openPlatforms(config, deps, { budget, pace, outages })
  const { accounts, demo, deviceCache, byRealm } = platforms
  const authenticator = new Authenticator({ accounts, demo, keys: store.keys, limits, clock })
  const up = (): boolean => {
    const isUp = store.up()
    // Where nothing but its metrics is read, no other call would show that Redis is back, or accepts writes again.
    if (!isUp) void limits.read('')
    return isUp
  }
  metrics.watch({ platforms: byRealm, deviceCache, worker: deps.worker, accounts, counters, store: { up }, budget })
  return { ...platforms, outages, store, budget, limits, authenticator, pace, callers: new KnownCallers(demo?.token) }
}

/** Counts and logs skipped rows. */
function skippedRows({ log, ticks, metrics }: Deps) {
  const loggedAt = new Map<string, number>()
  return (action: string, rows: number): void => {
    metrics.skipped.inc({ action }, rows)
    // Once a minute for each action, because every response of a changed platform has such rows.
    if (ticks() - (loggedAt.get(action) ?? Number.NEGATIVE_INFINITY) < skippedLogMs) return
    loggedAt.set(action, ticks())
    log.warn({ action, rows }, 'rows skipped')
  }
}

type Reports = { onSkipped: ReturnType<typeof skippedRows>; unknown: ReturnType<typeof unknownValues> }

function openDeviceCache(config: Config, { log, clock, metrics }: Deps, { onSkipped, unknown }: Reports): DeviceCache {
  return new DeviceCache({
    ttlMs: config.positionTtlMs,
    // The rest is for the process itself and the responses.
    maxBytes: Math.min(config.cacheMaxBytes, getHeapStatistics().heap_size_limit / 2),
    clock,
    onSkipped: (rows) => onSkipped('get_devices', rows),
    onUnknownState: (word, rows) => unknown.report('get_devices', 'online', word, rows),
    onWallClock: (account, offsetMinutes) =>
      log.warn({ account, offsetMinutes }, 'the platform writes its wall clock as Unix time: corrected'),
    onCorrected: () => metrics.corrected.inc(),
    onEvicted: () => metrics.evictions.inc(),
  })
}

/** The platforms, the caches in front of them, and what they report. */
function openPlatforms(
  config: Config,
  deps: Deps,
  { budget, pace, outages }: { budget: ByteBudget; pace: Pace; outages: Outages },
) {
  const { clock, ticks, sandbox, metrics, worker } = deps
  const { platformUrl, platformTimeoutMs: timeoutMs, accountTtlMs, demoToken } = config
  const onSkipped = skippedRows(deps)
  const unknown = unknownValues(metrics.unknownValues, deps.log)
  const deviceCache = openDeviceCache(config, deps, { onSkipped, unknown })
  const onRefused = (account: Account): void => deviceCache.delete(account)
  const health = platformHealth(ticks)
  const byRealm = new Map<Realm, Platform>()
  const openAccounts = (url: string, realm: Realm): AccountCache => {
    const perMinute = url === sandbox?.url ? sandboxAddressLookups : config.addressLookupsPerMinute
    const onLookup = (outcome: LookupOutcome): void => metrics.addresses.inc({ outcome })
    const addresses = perMinute > 0 ? new Addresses({ url, perMinute, now: ticks, onLookup }) : undefined
    const onCall = (report: CallReport): void => {
      metrics.observeCall(realm, report)
      // The sandbox is no part of the health of a gateway with a platform.
      if (realm === 'platform') health.record(report)
      if (report.outcome === 'ok') outages.succeeded(`${realm} ${report.action}`)
    }
    const platform = new Platform({ url, addresses, timeoutMs, worker, budget, pace, now: ticks, onCall })
    byRealm.set(realm, platform)
    return new AccountCache({ platform, realm, ttlMs: accountTtlMs, clock, onSkipped, onRefused })
  }
  const url = platformUrl ?? sandbox?.url
  if (url === undefined) throw new Error('neither PLATFORM_URL nor a sandbox')
  const accounts = openAccounts(url, 'platform')
  const demoAccounts = sandbox && platformUrl !== undefined ? openAccounts(sandbox.url, 'sandbox') : accounts
  const hasDemo = sandbox && demoToken !== undefined
  return {
    accounts,
    demo: hasDemo ? { token: demoToken, accounts: demoAccounts, hash: new Secret(sandbox.demoHash) } : undefined,
    deviceCache,
    translate: translator(onSkipped, unknown.check),
    platformState: () => health.state,
    byRealm,
    close: () => Promise.all([...byRealm.values()].map((platform) => platform.close())),
  }
}

/** The routes below `/api`, each behind the hook that counts its requests; `/health` only shows the limits. */
async function serve(api: App, config: Config, { clock, ticks, metrics }: Deps, parts: Parts): Promise<void> {
  const { store, limits, authenticator, pace, callers, deviceCache, translate, platformState } = parts
  await api.register(async (open: App) => {
    open.addHook('onRequest', showLimits(limits))
    health(open, { version, ticks, platform: platformState, store: () => (store.up() ? 'up' : 'down') })
  })
  await api.register(async (open: App) => {
    reference(open, config, version, (budget, times) => countAddress(limits, budget, times))
  })
  const v1 = async (v1: App): Promise<void> => {
    shedOverload(v1, pace, () => metrics.shed.inc())
    await v1.register(async (behindCredential: App) => {
      behindCredential.addHook('onRequest', authentication(authenticator, callers, clock, store.counters && pace))
      const { positionTtlMs: ttlMs, historyMaxDays: maxDays } = config
      const needs = { deviceCache, translate, keys: store.keys, clock, ttlMs, maxDays }
      for (const route of [devices, geofences, events, history, alerts, services, drivers, me, keys])
        route(behindCredential, needs)
    })
    await v1.register(async (open: App) => {
      open.addHook('onRequest', countAddress(limits))
      open.addHook('onRequest', rehearsal(callers, limits))
      keyCreation(open, { keys: store.keys, clock, maxKeys: config.maxKeysPerAccount, limits, authenticator })
    })
  }
  await api.register(v1, { prefix: '/v1' })
}
