/** The devices of a request: current ones, or the last known ones where the caller accepts them; and the headers that show their age. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fleet } from '../devices/fleet.js'
import { maxStaleMs } from '../http/stale-if-error.js'
import { PlatformUnavailable } from '../platform/errors.js'
import type { Device } from '../resources/device.js'
import { id } from '../resources/units.js'
import { type Needs, notFound } from './query.js'

interface Found {
  fleet: Fleet
  isStale: boolean
}

export class LastKnown {
  readonly #options: Needs
  readonly #maxAgeS: number
  readonly #cacheControl: string

  constructor(options: Needs) {
    this.#options = options
    this.#maxAgeS = Math.floor(options.ttlMs / 1_000)
    this.#cacheControl = `private, max-age=${this.#maxAgeS}`
  }

  /** All devices, or at least the one with the id if the account has it. Throws as `DeviceCache.fetch`. */
  fetch(request: FastifyRequest, deviceId?: number): Found | Promise<Found> {
    const fleet = this.#options.deviceCache.fetch(request.account, deviceId)
    return fleet instanceof Promise ? this.#orStale(fleet, request, deviceId) : { fleet, isStale: false }
  }

  /** The device with an id as sent. @throws ApiError `not_found` for unknown, foreign and malformed ids alike. */
  async fetchDevice(request: FastifyRequest, sent: string): Promise<{ device: Device; found: Found }> {
    const deviceId = id(sent)
    if (deviceId === undefined) throw notFound('device', sent)
    const found = await this.fetch(request, deviceId)
    const device = found.fleet.get(deviceId)
    if (!device) throw notFound('device', sent)
    return { device, found }
  }

  /** Sets the headers of a response that shows these devices (RFC 9111 5.1, RFC 9211). */
  showAge(reply: FastifyReply, { fleet, isStale }: Found): void {
    const ageS = Math.max(0, Math.floor((this.#options.clock() - fleet.requestedAt) / 1_000))
    reply.header('cache-control', this.#cacheControl)
    reply.header('age', ageS)
    if (isStale) reply.header('cache-status', `gps-fleet-gateway; hit; ttl=${this.#maxAgeS - ageS}`)
  }

  async #orStale(fetched: Promise<Fleet>, request: FastifyRequest, deviceId: number | undefined): Promise<Found> {
    try {
      return { fleet: await fetched, isStale: false }
    } catch (error) {
      const maxAgeMs = error instanceof PlatformUnavailable ? maxStaleMs(request) : 0
      const fleet = maxAgeMs > 0 ? this.#options.deviceCache.stale(request.account, deviceId, maxAgeMs) : undefined
      if (!fleet) throw error
      // A list that was read meanwhile is fresh.
      return { fleet, isStale: this.#options.clock() - fleet.requestedAt >= this.#options.ttlMs }
    }
  }
}
