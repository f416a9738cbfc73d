/** The wiring, in the order a request meets it; the only file that knows every other. */
import { getHeapStatistics } from 'node:v8'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController, type onRequestHookHandler } from 'fastify'
import { AccountCache } from './auth/account-cache.js'
import { Authenticator, type AuthenticatorOptions } from './auth/authenticator.js'
import { Secret } from './auth/credential.js'
import { authentication } from './auth/hook.js'
import type { Config } from './config.js'
import { DeviceCache } from './devices/device-cache.js'
import { Connections } from './http/connections.js'
import { type EdgesNeeds, edgeOptions, installEdges, methodGuard } from './http/error-handler.js'
import { installGuards } from './http/server-limits.js'
import type { App } from './http/types.js'
import { installWriteBudget } from './http/write-budget.js'
import { ByteBudget, type ByteBudgetOptions } from './lib/byte-budget.js'
import type { Log } from './ops/log.js'
import type { Metrics, Realm } from './ops/metrics.js'
import { UnknownValues } from './ops/unknown-values.js'
import { Platform } from './platform/client.js'
import { meanings } from './platform/errors.js'
import type { WorkerClient } from './platform/worker-client.js'
import { FailoverCounters } from './rate-limit/counters.js'
import { countAddress, showLimits } from './rate-limit/hooks.js'
import { Limits } from './rate-limit/limiter.js'
import { gatherRoutes, reference } from './reference/routes.js'
import { alerts } from './routes/alerts.js'
import { devices } from './routes/devices.js'
import { drivers } from './routes/drivers.js'
import { events } from './routes/events.js'
import { geofences } from './routes/geofences.js'
import { health } from './routes/health.js'
import { history } from './routes/history.js'
import { keyCreation, keys } from './routes/keys.js'
import { me } from './routes/me.js'
import { type Translate, translator } from './routes/query.js'
import { services } from './routes/services.js'
import { observed } from './store/observed.js'
import type { Store } from './store/store.js'

/** The API's version (spec.md, Versioning). */
const version = '1.0.0'

export interface Deps {
  logger: Log
  /** Epoch milliseconds. */
  clock: () => number
  /** Milliseconds that only ever grow. */
  ticks: () => number
  /** Stays open when the app closes. */
  store: Store
  /** A sandbox that listens: its API base, and the hash of the account behind the demo token. */
  sandbox: { url: string; demoHash: string } | undefined
  metrics: Metrics
  /** Sends device list and history requests; stays open when the app closes. */
  worker: WorkerClient
  /** Once true, every answer asks its caller to connect anew, elsewhere. */
  isDraining: () => boolean
}

/** The gateway as a value. @throws when neither a platform nor a sandbox is given. */
export async function buildApp(config: Config, deps: Deps): Promise<App> {
  const { logger, clock, ticks, metrics, isDraining } = deps
  const store = observed(deps.store, metrics.stored)
  const budget = new ByteBudget(bytesInFlight(getHeapStatistics().heap_size_limit))
  const parts = openParts(config, deps, budget)
  const connections = new Connections(metrics.cut)
  const needs: EdgesNeeds = {
    limits: () => limits,
    docsUrl: `${config.publicUrl}/docs`,
    log: logger,
    connections,
    onRefused: (account) => {
      parts.deviceCache.delete(account)
      parts.accounts.delete(account)
    },
    onAnswered: metrics.answered,
    isDraining,
  }
  const app: App = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    ...edgeOptions(needs),
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.removeContentTypeParser('text/plain')
  app.addHook('onClose', () => parts.close())
  app.decorateRequest('account')
  app.decorateRequest('caller')
  const limits = openLimits(config, { ...deps, store })
  const authenticator = new Authenticator({
    accounts: parts.accounts,
    demo: parts.demo,
    keys: store.keys,
    limits,
    clock,
  })
  metrics.watch(parts.deviceCache, () => store.up(), budget)

  installEdges(app, needs)
  installWriteBudget(app, { budget, connections, ticks })
  const shed = installGuards(app, { onShed: metrics.shed, ticks })
  const guardMethods = methodGuard(app, limits)
  await gatherRoutes(app)
  await app.register((api) => serve(api, { config, store, clock, parts, limits, authenticator, shed }), {
    prefix: '/api',
  })
  guardMethods()
  return app
}

/**
 * Responses may take a quarter of the heap: while one is made, its objects take several times its own size. No account takes more than
 * half of that, so two are needed to fill it.
 */
function bytesInFlight(heapBytes: number): ByteBudgetOptions {
  const maxBytes = Math.floor(heapBytes / 4)
  return { maxBytes, maxBytesPerOwner: Math.floor(maxBytes / 2) }
}

/** What the routes are handed: the accounts of the platform and of the sandbox, positions, and who watches the platform. */
interface Parts {
  accounts: AccountCache
  demo: AuthenticatorOptions['demo']
  deviceCache: DeviceCache
  translate: Translate
  platformState: () => PlatformState
  close: () => Promise<unknown>
}

function openParts(config: Config, { logger, clock, sandbox, metrics, worker }: Deps, budget: ByteBudget): Parts {
  const onSkipped = (action: string, rows: number): void => {
    logger.warn({ action, rows }, 'rows skipped')
    metrics.skipped(action, rows)
  }
  const unknownValues = new UnknownValues({
    onUnknown: metrics.unknownWord,
    onFirst: (found) => logger.warn(found, 'unknown value in a platform response'),
  })
  let platformState: PlatformState = 'unknown'
  const platforms: Platform[] = []
  const accountsAt = (url: string, realm: Realm): AccountCache => {
    metrics.breaker(realm, 'closed')
    const platform = new Platform({
      url,
      timeoutMs: config.platformTimeoutMs,
      worker,
      budget,
      onCall: (report) => {
        platformState = meanings[report.outcome].platform ?? platformState
        metrics.called(realm, report)
      },
      onBreaker: ({ action, state, worst }) => {
        logger.warn({ realm, action, state }, 'circuit breaker')
        metrics.breaker(realm, worst)
      },
    })
    platforms.push(platform)
    return new AccountCache({ platform, realm, ttlMs: config.accountTtlMs, clock, onSkipped })
  }
  const url = config.platformUrl ?? sandbox?.url
  if (url === undefined) throw new Error('neither PLATFORM_URL nor a sandbox')
  const accounts = accountsAt(url, 'platform')
  const demoAccounts = sandbox && config.platformUrl !== undefined ? accountsAt(sandbox.url, 'sandbox') : accounts
  const deviceCache = new DeviceCache({
    ttlMs: config.positionTtlMs,
    maxBytes: config.cacheMaxBytes,
    clock,
    onSkipped: (rows) => onSkipped('get_devices', rows),
    onUnknownState: (word, rows) => unknownValues.report('get_devices', 'online', word, rows),
    onLookup: metrics.looked,
    onEvicted: metrics.evicted,
  })
  return {
    accounts,
    demo:
      sandbox && config.demoToken !== undefined
        ? { token: config.demoToken, accounts: demoAccounts, hash: new Secret(sandbox.demoHash) }
        : undefined,
    deviceCache,
    translate: translator(onSkipped, (action, rows) => unknownValues.check(action, rows)),
    platformState: () => platformState,
    close: () => Promise.all(platforms.map((platform) => platform.close())),
  }
}

/** The request limits, counted in the shared store where there is one. */
function openLimits(config: Config, { store, clock, logger, metrics }: Deps): Limits {
  const counters = new FailoverCounters({
    shared: store.counters,
    up: () => store.up(),
    clock,
    onCounted: metrics.counted,
    onShared: (available, err) =>
      available
        ? logger.info('counting requests in Redis again')
        : logger.warn({ err }, 'Redis away: counting requests in process'),
  })
  const { rateLimitMax: max, rateLimitWindowMs: windowMs } = config
  return new Limits({ counters, max, windowMs, onShared: () => metrics.counted('shared') })
}

interface Served {
  config: Config
  store: Store
  clock: () => number
  parts: Parts
  limits: Limits
  authenticator: Authenticator
  shed: onRequestHookHandler
}

/** The routes, each below the hook that says who is counted. */
async function serve(api: App, { config, store, clock, parts, limits, authenticator, shed }: Served): Promise<void> {
  const { deviceCache, translate, platformState } = parts
  await api.register(async (open: App) => {
    open.addHook('onRequest', showLimits(limits))
    health(open, { version, clock, platform: platformState, store: () => (store.up() ? 'up' : 'down') })
  })
  await api.register(async (open: App) => {
    open.addHook('onRequest', countAddress(limits))
    reference(open, config, version)
  })
  const v1 = { prefix: '/v1' }
  await api.register(async (behindCredential: App) => {
    behindCredential.addHook('onRequest', shed)
    behindCredential.addHook('onRequest', authentication({ authenticator, demoToken: parts.demo?.token, clock }))
    devices(behindCredential, { deviceCache })
    geofences(behindCredential, { translate })
    events(behindCredential, { deviceCache, translate })
    history(behindCredential, { deviceCache })
    alerts(behindCredential, { deviceCache, translate })
    services(behindCredential, { deviceCache, translate, clock })
    drivers(behindCredential, { deviceCache, translate })
    me(behindCredential)
    keys(behindCredential, { keys: store.keys, clock })
  }, v1)
  await api.register(async (open: App) => {
    open.addHook('onRequest', shed)
    open.addHook('onRequest', countAddress(limits))
    const { maxKeysPerAccount: maxKeys } = config
    keyCreation(open, { keys: store.keys, clock, maxKeys, limits, authenticator })
  }, v1)
}

type PlatformState = 'up' | 'down' | 'unknown'
