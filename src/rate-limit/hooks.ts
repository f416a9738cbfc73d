/** The Fastify hooks of routes without a credential. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressName, admit, type Limits, limitHeaders } from './limiter.js'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Counts the request on its address. The hook throws ApiError `rate_limit_exceeded`. @param prefix makes it a budget of its own. */
export const countAddress =
  (limits: Limits, prefix = ''): Hook =>
  async ({ ip }, reply) =>
    admit(reply, await limits.count(prefix + addressName(ip)))

/** Shows the usage of the address without counting. */
export const showLimits =
  (limits: Limits): Hook =>
  async ({ ip }, reply) =>
    void reply.headers(limitHeaders(await limits.read(addressName(ip))))
