/** Request limits. Not by @fastify/rate-limit: a client error has no Fastify request, and the lookup of an API key counts it. */
import { isIPv6, SocketAddress } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, toApiError } from '../errors.js'
import type { Count } from '../store/store.js'
import type { FailoverCounters } from './counters.js'

/** Failed credentials of one IPv6 /56, as a multiple of those of one address: a subscriber may rotate through its 256 /64s. */
const networkBudgets = 4

/** How much of its limit a name has used in the current window. */
export interface Usage {
  limit: number
  used: number
  /** Whole seconds until the window ends; 0 while none is open. */
  resetS: number
}

/** The usage of a budget that failed credentials are counted on. */
export type FailureBudget = Usage & { name: string }

/** Usage by name: `ip:<address>`, `docs:ip:<address>`, `assets:ip:<address>`, `net:<IPv6 /56>`, `demo:ip:<address>`, `hash:<account>`, `key:<digest>`, `lookup:key:<digest>`, `create:<account>`, `renew:<account>`. */
export class Limits {
  readonly max: number
  readonly windowMs: number
  readonly #counters: FailoverCounters

  /** @param max requests per name and window. */
  constructor(counters: FailoverCounters, max: number, windowMs: number) {
    this.max = max
    this.windowMs = windowMs
    this.#counters = counters
  }

  count(name: string, limit = this.max): Usage | Promise<Usage> {
    const count = this.#counters.increment(name, this.windowMs)
    return count instanceof Promise ? count.then((shared) => toUsage(shared, limit)) : toUsage(count, limit)
  }

  /** The usage of a request that the store has counted by itself. */
  counted(name: string, count: Count, limit: number): Usage {
    return toUsage(this.#counters.counted(name, count), limit)
  }

  /** The usage without counting; 0 for a window that ends too late (the store's clock was set back), as the next count restarts it. */
  async read(name: string, limit = this.max): Promise<Usage> {
    const count = await this.#counters.read(name)
    return toUsage(count.ttlMs > this.windowMs ? { current: 0, ttlMs: 0 } : count, limit)
  }

  /** Counts a failed credential on all its budgets. @returns the usage of the tightest, as requests of the address. */
  async countFailure(ip: string): Promise<Usage> {
    const usages = await Promise.all(this.#failureBudgets(ip).map(({ name, limit }) => this.count(name, limit)))
    const inRequests = usages.map((usage) => ({ ...usage, limit: this.max, used: this.max - usage.limit + usage.used }))
    return inRequests.reduce((a, b) => (b.used > a.used ? b : a))
  }

  /** Counts a failed credential whose request has been counted on its address already. */
  async countFailureOfNetwork(ip: string): Promise<void> {
    const [, network] = this.#failureBudgets(ip)
    if (network) await this.count(network.name, network.limit)
  }

  /** The usage of every budget that a failed credential is counted on. */
  readFailures(ip: string): Promise<FailureBudget[]> {
    const budgets = this.#failureBudgets(ip)
    return Promise.all(budgets.map(async ({ name, limit }) => ({ name, ...(await this.read(name, limit)) })))
  }

  #failureBudgets(ip: string): { name: string; limit: number }[] {
    const network = networkName(ip)
    const own = { name: addressName(ip), limit: this.max }
    return network === undefined ? [own] : [own, { name: network, limit: this.max * networkBudgets }]
  }
}

const toUsage = ({ current, ttlMs }: Count, limit: number): Usage => ({
  limit,
  used: current,
  resetS: Math.ceil(ttlMs / 1000),
})

/** The three headers of every response (spec.md, Limits). */
export function limitHeaders({ limit, used, resetS }: Usage): Record<string, string> {
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(Math.max(0, limit - used)),
    'ratelimit-reset': String(resetS),
  }
}

export const isExceeded = ({ used, limit }: Usage): boolean => used > limit

/** The 429 of a usage over its limit. */
export function limitError(usage: Usage): ApiError | undefined {
  return isExceeded(usage) ? new ApiError('rate_limit_exceeded', { retryAfterS: Math.max(1, usage.resetS) }) : undefined
}

/** A failed authentication, which has been counted under the name of `usage`; beyond its limit, `rate_limit_exceeded`. */
export class AuthFailure extends ApiError {
  readonly usage: Usage

  /** @param failure undefined if the exceeded limit is itself the failure. */
  constructor(usage: Usage, failure?: unknown) {
    const error = limitError(usage) ?? toApiError(failure)
    super(error.code, error)
    this.usage = usage
  }
}

/** Sets the rate-limit headers. @throws ApiError `rate_limit_exceeded`. */
export function admit(reply: FastifyReply, usage: Usage): void {
  reply.headers(limitHeaders(usage))
  const error = limitError(usage)
  if (error) throw error
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Counts a request on its address, and throws as `admit`. @param prefix of a budget of its own, `times` as large as the usual one. */
export const countAddress =
  (limits: Limits, prefix = '', times = 1): Hook =>
  async ({ ip }, reply) =>
    admit(reply, await limits.count(prefix + addressName(ip), limits.max * times))

/** Shows the usage of the address without counting. */
export const showLimits =
  (limits: Limits): Hook =>
  async ({ ip }, reply) =>
    void reply.headers(limitHeaders(await limits.read(addressName(ip))))

/** Longest address that is kept or logged, of IPv6 with a zone: a proxy may forward any text as one. */
export const maxAddressLength = 64

const mappedIpv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The address as it is counted: without zone, IPv6 in one spelling, and IPv4 mapped to IPv6 as IPv4. */
function canonical(sent: string): string {
  if (!sent.includes(':')) return sent
  const [ip = ''] = sent.split('%', 1)
  const address = isIPv6(ip) && !mappedIpv4.test(ip) ? new SocketAddress({ address: ip, family: 'ipv6' }).address : ip
  return mappedIpv4.exec(address)?.[1] ?? address
}

/** The name an address is counted under: an IPv6 address as its /64, which one subscriber owns. A connection that was reset has none. */
export function addressName(sent = ''): string {
  const ip = canonical(sent)
  return `ip:${ipv6Prefix(ip, 64) ?? ip.slice(0, maxAddressLength)}`
}

/** The name under which failed credentials are counted as well; undefined for IPv4. */
export function networkName(ip: string): string | undefined {
  const prefix = ipv6Prefix(canonical(ip), 56)
  return prefix === undefined ? undefined : `net:${prefix}`
}

/** The first bits of a canonical IPv6 address; undefined for any other text. */
function ipv6Prefix(ip: string, bits: 56 | 64): string | undefined {
  if (!ip.includes(':') || !isIPv6(ip)) return undefined
  const [before = [], after = []] = ip.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16))
  if (bits === 56) groups[3] = (groups[3] ?? 0) & 0xff00
  return `${groups.map((group) => group.toString(16)).join(':')}::/${bits}`
}
