/** A platform client whose calls and circuit breaker are reported to metrics, outages and health. */
import { Platform, type PlatformOptions } from '../platform/client.js'
import type { PlatformHealth } from '../platform/health.js'
import type { Metrics, Realm } from './metrics.js'
import type { Outages } from './outages.js'

interface Observers {
  metrics: Metrics
  outages: Outages
  health: PlatformHealth
}

/** @param realm only the real platform counts for health. */
export function observedPlatform(realm: Realm, options: PlatformOptions, observers: Observers): Platform {
  const { metrics, outages, health } = observers
  metrics.setBreakerState(realm, 'closed')
  return new Platform({
    ...options,
    onCall: (report) => {
      metrics.observeCall(realm, report)
      if (realm === 'platform') health.record(report)
      if (report.outcome === 'ok') outages.succeeded(`${realm} ${report.action}`)
    },
    onBreaker: (worst) => metrics.setBreakerState(realm, worst),
  })
}
