/** The hook of every route behind a credential: reads the header, sets `request.account`, counts, and says so. Knows no route. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { ApiError } from '../errors.js'
import { addressName, admit, type Limits } from '../rate-limit/limiter.js'
import { Counted } from './auth-failure.js'
import type { Identities, Identity } from './authenticator.js'
import { type Credential, parseCredential } from './credential.js'

/** Answers to a key with less time left than this say when it expires. */
const soonMs = 30 * 24 * 60 * 60 * 1000
/** Headers in the cache, and the length of the longest: 13 MB at most. */
const maxHeaders = 10_000
const maxHeaderLength = 640

export interface AuthOptions {
  identities: Identities
  demoToken: string | undefined
  limits: Limits
  clock: () => number
}

type Hook = (request: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void) => void

/** @returns a hook that fails with ApiError or with what the platform or the store did. */
export function authentication({ identities, demoToken, limits, clock }: AuthOptions): Hook {
  /** Headers whose credential was good, as they were read: to take one apart and to hash it costs as much as a look-up. */
  const good = new LRUCache<string, Credential>({ max: maxHeaders })

  /** @throws ApiError when the usage is spent. */
  const letIn = ({ account, caller, usage }: Identity, request: FastifyRequest, reply: FastifyReply): void => {
    admit(reply, usage)
    request.account = account
    request.caller = caller
    const { key } = caller
    if (key && key.expiresAt - clock() < soonMs) {
      reply.header('X-Api-Key-Expires', new Date(key.expiresAt).toUTCString())
    }
  }

  /** @returns what a failure is answered with, once it has been counted. */
  const turnAway = async (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<ApiError> => {
    const { usage, cause } =
      error instanceof Counted ? error : { usage: await limits.count(addressName(request.ip)), cause: error }
    admit(reply, usage)
    return cause as ApiError
  }

  return (request, reply, next) => {
    const header = request.headers.authorization ?? ''
    const read = good.get(header)
    const credential = read ?? parseCredential(header, demoToken)
    const passed = (identity: Identity): void => {
      try {
        letIn(identity, request, reply)
      } catch (error) {
        next(error as ApiError)
        return
      }
      if (read === undefined && header.length <= maxHeaderLength) good.set(header, credential)
      next()
    }
    const failed = (error: unknown): void => void turnAway(error, request, reply).then(next, next)
    let identity: Identity | Promise<Identity>
    try {
      identity = identities.of(credential, request.ip)
    } catch (error) {
      failed(error)
      return
    }
    if (identity instanceof Promise) identity.then(passed, failed)
    else passed(identity)
  }
}
