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

/** Failed credentials of an IPv6 /56, which holds 256 /64s and is what providers give a household, as a multiple of an address's budget. */
const networkBudgets = 4

/** Validations in flight whose failures will be counted under this name. */
export type Pending = (name: string) => number

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

  /** Counts a request of this name. */
  count(name: string, limit = this.max): Promise<Usage> {
    return this.#usage(name, true, limit)
  }

  /** The usage of this name, without counting. */
  look(name: string, limit = this.max): Promise<Usage> {
    return this.#usage(name, false, limit)
  }

  /** Counts a failed credential of this address and, for IPv6, of its /56. @param ofAddress how the address itself is counted. */
  countFailure(ip: string, ofAddress: 'count' | 'look' = 'count', pending: Pending = () => 0): Promise<Usage> {
    return this.#failures(ip, ofAddress, 'count', pending)
  }

  /** How far this address, or for IPv6 its /56, has used up its budget of failed credentials. */
  lookFailures(ip: string, pending: Pending): Promise<Usage> {
    return this.#failures(ip, 'look', 'look', pending)
  }

  /** The usage of the address; where its /56 has fewer failures left, the usage shows that. */
  async #failures(ip: string, ofAddress: 'count' | 'look', ofNetwork: 'count' | 'look', pending: Pending) {
    const [address, network] = [addressName(ip), networkName(ip)]
    const [own, shared] = await Promise.all([
      this[ofAddress](address),
      network === undefined ? undefined : this[ofNetwork](network, this.max * networkBudgets),
    ])
    const used = own.used + pending(address)
    if (!shared || network === undefined) return { ...own, used }
    const usedOfShared = this.max - (shared.limit - shared.used - pending(network))
    return usedOfShared > used ? { ...shared, limit: this.max, used: usedOfShared } : { ...own, used }
  }

  #of({ current, ttlMs }: Count): Usage {
    return { limit: this.max, used: current, resetS: Math.ceil(ttlMs / 1000) }
  }

  async #usage(name: string, increment: boolean, limit: number): Promise<Usage> {
    const result = await this.#counting({ name, routeOptions: {} } as Named as unknown as FastifyRequest, { increment })
    if (result.isAllowed) throw new Error('the limiter has no allow list')
    return { limit, used: result.max - result.remaining, resetS: result.ttlInSeconds }
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

/** The name an address is counted under: an IPv4 address itself, an IPv6 address as its /64, which one household owns. */
export function addressName(ip: string): string {
  const ipv4 = ipv4In(ip)
  return `ip:${ipv4 ?? (isIPv6(ip) ? prefixOf(ip, 64) : ip)}`
}

/** The name under which failed credentials are counted beside the address: the /56 of an IPv6 address, else none. */
export function networkName(ip: string): string | undefined {
  return ipv4In(ip) === undefined && isIPv6(ip) ? `net:${prefixOf(ip, 56)}` : undefined
}

/** The address itself if it is no IPv6, or the IPv4 address mapped into one. */
function ipv4In(ip: string): string | undefined {
  return ip.includes(':') ? /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1] : ip
}

/** The first bits of an IPv6 address, written out as four groups. */
function prefixOf(ip: string, bits: 56 | 64): string {
  const [head = '', tail] = ip.replace(/%.*$/, '').split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16))
  if (bits === 56) groups[3] = (groups[3] ?? 0) & 0xff00
  return `${groups.map((group) => group.toString(16)).join(':')}::/${bits}`
}
