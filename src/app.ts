/** The wiring, in the order a request meets it; the only file that knows every other. */
import rateLimit from '@fastify/rate-limit'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController, type onRequestHookHandler } from 'fastify'
import { Accounts } from './auth/account-cache.js'
import { Identities, type IdentitiesOptions } from './auth/authenticator.js'
import { Secret } from './auth/credential.js'
import { authentication } from './auth/hook.js'
import type { Config } from './config.js'
import { Positions } from './devices/device-cache.js'
import {
  countAddress,
  type EdgesNeeds,
  edgeOptions,
  installEdges,
  methodGuard,
  showLimits,
} from './http/error-handler.js'
import { headerLimits, installGuards, timeLimits } from './http/server-limits.js'
import type { App } from './http/types.js'
import type { Log } from './ops/log.js'
import type { Metrics, Realm } from './ops/metrics.js'
import { Words } from './ops/unknown-values.js'
import { type CallReport, Platform } from './platform/client.js'
import { ReadingThread } from './platform/thread.js'
import { FailoverStore, type LimiterStore } from './rate-limit/counters.js'
import { Limits, nameOf, uncapped } from './rate-limit/limiter.js'
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
import { instrumented } from './store/instrumented.js'
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
  /** Once true, every answer asks its caller to connect anew, elsewhere. */
  isDraining: () => boolean
}

/** The gateway as a value. @throws when neither a platform nor a sandbox is given. */
export async function buildApp(config: Config, deps: Deps): Promise<App> {
  const { logger, clock, ticks, metrics, isDraining } = deps
  const store = instrumented(deps.store, metrics.stored)
  const parts = openParts(config, deps)
  const needs: EdgesNeeds = {
    limits: () => limits,
    docsUrl: `${config.publicUrl}/docs`,
    log: logger,
    onRefused: (account) => {
      parts.positions.drop(account)
      parts.accounts.forget(account)
    },
    onAnswered: metrics.answered,
    isDraining,
  }
  const edges = edgeOptions(needs)
  const app: App = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    ...edges,
    ...timeLimits,
    http: { ...edges.http, ...headerLimits },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.removeContentTypeParser('text/plain')
  app.addHook('onClose', () => parts.close())
  app.decorateRequest('account')
  app.decorateRequest('caller')
  const limits = await countRequests(app, config, { ...deps, store })
  const identities = new Identities({ accounts: parts.accounts, demo: parts.demo, keys: store.keys, limits, clock })
  metrics.watch(parts.positions, () => store.up())

  installEdges(app, needs)
  const shed = installGuards(app, { onShed: metrics.shed, ticks })
  const guardMethods = methodGuard(app, limits)
  await gatherRoutes(app)
  await app.register((api) => serve(api, { config, store, clock, parts, limits, identities, shed }), { prefix: '/api' })
  guardMethods()
  return app
}

/** What the routes are handed: the accounts of the platform and of the sandbox, positions, and who watches the platform. */
interface Parts {
  accounts: Accounts
  demo: IdentitiesOptions['demo']
  positions: Positions
  translate: Translate
  platformState: () => PlatformState
  close: () => Promise<unknown>
}

function openParts(config: Config, { logger, clock, sandbox, metrics }: Deps): Parts {
  const onSkipped = (action: string, rows: number): void => {
    logger.warn({ action, rows }, 'rows skipped')
    metrics.skipped(action, rows)
  }
  const words = new Words({
    onUnknown: metrics.unknownWord,
    onNew: (found) => logger.warn(found, 'the platform uses a word the gateway does not know'),
  })
  let platformState: PlatformState = 'unknown'
  const platforms: Platform[] = []
  const thread = new ReadingThread({ module: new URL('./devices/worker.js', import.meta.url), context: clock })
  const accountsAt = (url: string, realm: Realm): Accounts => {
    metrics.breaker(realm, 'closed')
    const platform = new Platform({
      url,
      timeoutMs: config.platformTimeoutMs,
      thread,
      onCall: (report) => {
        platformState = stateAfter(report)
        metrics.called(realm, report)
      },
      onBreaker: (state) => {
        logger.warn({ realm, state }, 'breaker')
        metrics.breaker(realm, state)
      },
    })
    platforms.push(platform)
    return new Accounts({ platform, realm, ttlMs: config.accountTtlMs, clock, onSkipped })
  }
  const url = config.platformUrl ?? sandbox?.url
  if (url === undefined) throw new Error('neither PLATFORM_URL nor a sandbox')
  const accounts = accountsAt(url, 'platform')
  const demoAccounts = sandbox && config.platformUrl !== undefined ? accountsAt(sandbox.url, 'sandbox') : accounts
  const positions = new Positions({
    ttlMs: config.positionTtlMs,
    maxBytes: config.cacheMaxBytes,
    clock,
    onSkipped: (rows) => onSkipped('get_devices', rows),
    onRows: (rows) => words.see('get_devices', rows),
    onLookup: metrics.looked,
    onEvicted: metrics.evicted,
  })
  return {
    accounts,
    demo:
      sandbox && config.demoToken !== undefined
        ? { token: config.demoToken, accounts: demoAccounts, hash: new Secret(sandbox.demoHash) }
        : undefined,
    positions,
    translate: translator(onSkipped, words.see),
    platformState: () => platformState,
    close: () => Promise.all([...platforms.map((platform) => platform.close()), thread.close()]),
  }
}

/** Counting by @fastify/rate-limit, in the shared store where there is one. */
async function countRequests(app: App, config: Config, { store, clock, logger, metrics }: Deps): Promise<Limits> {
  const counters = new FailoverStore({
    shared: store.counters,
    up: () => store.up(),
    clock,
    onCounted: metrics.counted,
    onShared: (available, err) =>
      available
        ? logger.info('counting requests in Redis again')
        : logger.warn({ err }, 'Redis away: counting requests in process'),
  })
  await app.register(rateLimit, {
    global: false,
    max: uncapped,
    timeWindow: config.rateLimitWindowMs,
    keyGenerator: nameOf,
    store: class implements LimiterStore {
      incr = counters.incr.bind(counters)
      read = counters.read.bind(counters)
      child = (): LimiterStore => counters
    },
  })
  return new Limits({
    counting: app.createRateLimit({}),
    here: (name, windowMs) => counters.incrHere(name, windowMs),
    max: config.rateLimitMax,
    windowMs: config.rateLimitWindowMs,
    onShared: () => metrics.counted('shared'),
  })
}

interface Served {
  config: Config
  store: Store
  clock: () => number
  parts: Parts
  limits: Limits
  identities: Identities
  shed: onRequestHookHandler
}

/** The routes, each below the hook that says who is counted. */
async function serve(api: App, { config, store, clock, parts, limits, identities, shed }: Served): Promise<void> {
  const { positions, translate, platformState } = parts
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
    behindCredential.addHook('onRequest', authentication({ identities, demoToken: parts.demo?.token, limits, clock }))
    devices(behindCredential, { positions })
    geofences(behindCredential, { translate })
    events(behindCredential, { positions, translate })
    history(behindCredential, { positions })
    alerts(behindCredential, { positions, translate })
    services(behindCredential, { positions, translate, clock })
    drivers(behindCredential, { positions, translate })
    me(behindCredential)
    keys(behindCredential, { keys: store.keys, clock })
  }, v1)
  await api.register(async (open: App) => {
    open.addHook('onRequest', shed)
    open.addHook('onRequest', countAddress(limits))
    const { maxKeysPerAccount: maxKeys } = config
    keyCreation(open, { keys: store.keys, clock, maxKeys, accountOf: identities.ofHash })
  }, v1)
}

type PlatformState = 'up' | 'down' | 'unknown'

/** What one call says of the platform, for the health page: whoever answers at all is up. */
const stateAfter = ({ outcome }: CallReport): PlatformState =>
  ['ok', 'refused', 'forbidden', 'missing_action', 'rejected', 'status_0'].includes(outcome) ? 'up' : 'down'
