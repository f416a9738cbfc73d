/** The hook of every route behind a credential: has the request authenticated, which counts it and sets its `account` and `caller`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rehearse } from '../http/rehearsal.js'
import type { Caller } from '../http/types.js'
import { type Pace, resumedWeight } from '../lib/pace.js'
import { addressName, admit, type Limits } from '../rate-limit/limiter.js'
import type { Authenticator } from './authenticator.js'
import type { KnownCallers } from './known-callers.js'

/** Responses to a key that expires within this time say when. */
const soonMs = 30 * 24 * 60 * 60 * 1000

/**
 * @param pace where the store is shared: see `Pace.turn`: the replies to many requests come in one packet.
 * @returns a hook that throws ApiError.
 */
export function authentication(
  authenticator: Authenticator,
  callers: KnownCallers,
  clock: () => number,
  pace: Pace | undefined,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    try {
      const usage = await authenticator.authenticate(callers.credentialOf(request.raw), request)
      admit(reply, usage)
      const { account, caller } = request
      // Many callers share the demo.
      if (caller.credential === 'demo') rehearse(request, reply, usage)
      else callers.add(caller.key?.digest ?? account.hashName, account.id)
    } finally {
      announceExpiry(reply, request.caller, clock())
      if (pace) await pace.turn(callers.callerOf(request.raw), resumedWeight)
    }
  }
}

/** The hook of a route that needs no credential: the demo token rehearses its errors as well. It throws ApiError. */
export const rehearsal =
  (callers: KnownCallers, limits: Limits) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (callers.credentialOf(request.raw).kind !== 'demo') return
    rehearse(request, reply, await limits.read(addressName(request.ip)))
  }

/** @param caller known of a failed request, too: a key that exceeds its limit, or whose account cannot be validated now. */
function announceExpiry(reply: FastifyReply, caller: Caller | undefined, now: number): void {
  const key = caller?.key
  if (key && key.expiresAt - now < soonMs) reply.header('x-api-key-expires', new Date(key.expiresAt).toUTCString())
}
