/** Who is counted, how many requests they have, and what a 429 says. Knows no credential and no platform. */
import { isIPv6 } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.js'
import type { Count } from '../store/store.js'

/** What `createRateLimit` of @fastify/rate-limit makes. */
export type Counting = (
  request: FastifyRequest,
  options?: { increment?: boolean },
) => Promise<{ isAllowed: true } | { isAllowed: false; max: number; remaining: number; ttlInSeconds: number }>

/** The plugin is given no limit of its own: an API key's limit arrives together with its count. */
export const uncapped = Number.MAX_SAFE_INTEGER

/** Where one name stands in its window. */
export interface Usage {
  limit: number
  used: number
  /** Whole seconds until the window ends; 0 while none is open. */
  resetS: number
}

export interface LimitsOptions {
  counting: Counting
  /** Counts in the same windows as `counting` without a promise; undefined where others must be asked. */
  here: (name: string, windowMs: number) => Count | undefined
  max: number
  windowMs: number
  /** Told of every request that the shared store counted by itself. */
  onShared: () => void
}

/** Counts by name. The names: `ip:<address>`, `demo:<address>`, `hash:<fingerprint>`, `key:<fingerprint>`. */
export class Limits {
  readonly max: number
  readonly windowMs: number
  readonly #counting: Counting
  readonly #here: LimitsOptions['here']
  readonly #onShared: () => void
  constructor({ counting, here, max, windowMs, onShared }: LimitsOptions) {
    this.#counting = counting
    this.#here = here
    this.max = max
    this.windowMs = windowMs
    this.#onShared = onShared
  }

  /** Where a name stands that the shared store has counted by itself. */
  shared(count: Count): Usage {
    this.#onShared()
    return this.#of(count)
  }

  /** One more request of this name, where that takes no waiting; otherwise nothing is counted. */
  countHere(name: string): Usage | undefined {
    const count = this.#here(name, this.windowMs)
    return count && this.#of(count)
  }

  /** One more request of this name. */
  count(name: string): Promise<Usage> {
    return this.#usage(name, true)
  }

  /** Where the name stands, without counting. */
  look(name: string): Promise<Usage> {
    return this.#usage(name, false)
  }

  #of({ current, ttlMs }: Count): Usage {
    return { limit: this.max, used: current, resetS: Math.ceil(ttlMs / 1000) }
  }

  async #usage(name: string, increment: boolean): Promise<Usage> {
    const result = await this.#counting({ name, routeOptions: {} } as Named as unknown as FastifyRequest, { increment })
    if (result.isAllowed) throw new Error('the limiter has no allow list')
    return { limit: this.max, used: result.max - result.remaining, resetS: result.ttlInSeconds }
  }
}

/** All the limiter reads of a request; so a refusal of the HTTP parser, which never becomes a request, is counted too. */
interface Named {
  name: string
  routeOptions: Record<string, never>
}

/** The key generator of the limiter: the name that `Limits` passes in place of a request. */
export const nameOf = (request: FastifyRequest): string => (request as unknown as Named).name

export const isSpent = (usage: Usage): boolean => usage.used > usage.limit

/** The three headers of every response (spec.md, Limits). */
export function limitHeaders({ limit, used, resetS }: Usage): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - used)),
    'RateLimit-Reset': String(resetS),
  }
}

/** @throws ApiError `rate_limit_exceeded` when the usage is over its limit. Sets the headers either way. */
export function admit(reply: FastifyReply, usage: Usage): void {
  reply.headers(limitHeaders(usage))
  if (isSpent(usage)) throw new ApiError('rate_limit_exceeded', { retryAfterS: Math.max(1, usage.resetS) })
}

/** Who an address counts as: an IPv4 address itself, an IPv6 address its /64, since a household owns all of that. */
export function addressName(ip: string): string {
  if (!ip.includes(':')) return `ip:${ip}`
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  if (mapped) return `ip:${mapped[1]}`
  return `ip:${isIPv6(ip) ? prefix64(ip) : ip}`
}

/** The first four groups of an IPv6 address, written out. */
function prefix64(ip: string): string {
  const [address = ''] = ip.toLowerCase().split('%')
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${groups.join(':')}::/64`
}
