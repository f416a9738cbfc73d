/** The devices of a request: current ones, or the last known ones where the caller accepts them; and the headers that show their age. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fleet } from '../devices/fleet.js'
import { maxStaleMs } from '../http/stale-if-error.js'
import { PlatformUnavailable } from '../platform/errors.js'
import type { Needs } from './query.js'

interface Found {
  fleet: Fleet
  isStale: boolean
}

const fresh = (fleet: Fleet): Found => ({ fleet, isStale: false })

export function lastKnown({ deviceCache, clock, ttlMs }: Needs) {
  const maxAgeS = Math.floor(ttlMs / 1_000)
  const cacheControl = `private, max-age=${maxAgeS}`
  return {
    /** All devices, or at least the one with the id if the account has it. Throws as `DeviceCache.fetch`. */
    fetch(request: FastifyRequest, deviceId?: number): Found | Promise<Found> {
      const fetched = deviceCache.fetch(request.account, deviceId)
      if (!(fetched instanceof Promise)) return fresh(fetched)
      return fetched.then(fresh, (error: unknown) => {
        const maxAgeMs = error instanceof PlatformUnavailable ? maxStaleMs(request) : 0
        const fleet = maxAgeMs > 0 ? deviceCache.stale(request.account, deviceId, maxAgeMs) : undefined
        if (!fleet) throw error
        // A list that was read meanwhile is fresh.
        return { fleet, isStale: clock() - fleet.requestedAt >= ttlMs }
      })
    },

    /** Sets the headers of a response that shows these devices (RFC 9111 5.1, RFC 9211). */
    showAge(reply: FastifyReply, { fleet, isStale }: Found): void {
      const ageS = Math.max(0, Math.floor((clock() - fleet.requestedAt) / 1_000))
      reply.header('cache-control', cacheControl)
      reply.header('age', ageS)
      if (isStale) reply.header('cache-status', `gps-fleet-gateway; hit; ttl=${Math.min(-1, maxAgeS - ageS)}`)
    },
  }
}
