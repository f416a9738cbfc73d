/** A failed authentication, which has been counted, and the response to it. */
import type { FastifyReply } from 'fastify'
import { admit, type Usage } from '../rate-limit/limiter.js'

export class AuthFailure extends Error {
  override readonly name = 'AuthFailure'
  /** The usage of the name that the failure was counted under. */
  readonly usage: Usage

  /** @param cause undefined if the exceeded limit is itself the failure. */
  constructor(usage: Usage, cause?: unknown) {
    super('authentication failed', { cause })
    this.usage = usage
  }
}

/** Sets the rate-limit headers. @throws ApiError `rate_limit_exceeded` where the limit is exceeded, else the cause of the failure. */
export function reject(error: unknown, reply: FastifyReply): never {
  if (!(error instanceof AuthFailure)) throw error
  admit(reply, error.usage)
  throw error.cause
}
