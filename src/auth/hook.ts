/** The hook of every route behind a credential: reads the header, sets `request.account`, counts, and says so. Knows no route. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { admit } from '../rate-limit/limiter.js'
import { reject } from './auth-failure.js'
import type { Authenticator, Identity } from './authenticator.js'
import { type Credential, parseCredential } from './credential.js'

/** Answers to a key with less time left than this say when it expires. */
const soonMs = 30 * 24 * 60 * 60 * 1000
/** Headers in the cache, and the length of the longest: 13 MB at most. */
const maxHeaders = 10_000
const maxHeaderLength = 640

export interface AuthOptions {
  authenticator: Authenticator
  demoToken: string | undefined
  clock: () => number
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** @returns a hook that throws ApiError, or what the platform or the store threw. */
export function authentication({ authenticator, demoToken, clock }: AuthOptions): Hook {
  /** Headers whose credential was good, as they were read: to take one apart and to hash it costs as much as a look-up. */
  const good = new LRUCache<string, Credential>({ max: maxHeaders })

  const accept = ({ account, caller, usage }: Identity, request: FastifyRequest, reply: FastifyReply): void => {
    admit(reply, usage)
    request.account = account
    request.caller = caller
    const { key } = caller
    if (key && key.expiresAt - clock() < soonMs) {
      reply.header('X-Api-Key-Expires', new Date(key.expiresAt).toUTCString())
    }
  }

  return async (request, reply) => {
    const header = request.headers.authorization ?? ''
    const known = good.get(header)
    const credential = known ?? parseCredential(header, demoToken)
    const identity = await authenticator.authenticate(credential, request.ip).catch((error) => reject(error, reply))
    accept(identity, request, reply)
    if (known === undefined && header.length <= maxHeaderLength) good.set(header, credential)
  }
}
