/** A platform client whose calls and circuit breaker are reported to metrics, log and health. */
import { Platform, type PlatformOptions } from '../platform/client.js'
import type { PlatformHealth } from '../platform/health.js'
import type { Log } from './log.js'
import type { Metrics, Realm } from './metrics.js'
import type { Outages } from './outages.js'

interface Observers {
  logger: Log
  metrics: Metrics
  outages: Outages
  health: PlatformHealth
}

/** @param realm only the real platform counts for health. */
export function observedPlatform(realm: Realm, options: PlatformOptions, observers: Observers): Platform {
  const { logger, metrics, outages, health } = observers
  const opened = new Set<string>()
  metrics.setBreakerState(realm, 'closed')
  return new Platform({
    ...options,
    onCall: (report) => {
      metrics.observeCall(realm, report)
      if (realm === 'platform') health.record(report)
      if (report.outcome === 'ok') outages.succeeded(`${realm} ${report.action}`)
    },
    onBreaker: ({ action, state, worst }) => {
      // During an outage it alternates between open and half open.
      if (state !== 'half_open' && opened.has(action) !== (state === 'open')) {
        if (!opened.delete(action)) opened.add(action)
        logger.warn({ realm, action, state }, 'circuit breaker')
      }
      metrics.setBreakerState(realm, worst)
    },
  })
}
