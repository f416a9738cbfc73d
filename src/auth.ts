/** The hook of every route behind a credential: reads the header, sets `request.account`, counts, and says so. Knows no route. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type Credential, parseCredential } from './credential.js'
import type { ApiError } from './errors.js'
import { Counted, type Identities, type Identity } from './identities.js'
import { addressName, admit, type Limits, limitHeaders } from './limits.js'

/** Answers to a key with less time left than this say when it expires. */
const soonMs = 30 * 24 * 60 * 60 * 1000
/** Headers remembered at once. */
const mostRead = 10_000

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
  const good = new LRUCache<string, Credential>({ max: mostRead })

  const admitAs = (request: FastifyRequest, { account, caller }: Identity): void => {
    request.account = account
    request.caller = caller
  }

  const ask = async (credential: Credential, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const address = addressName(request.ip)
    try {
      const identity = await identities.of(credential, address)
      const { key } = identity.caller
      admitAs(request, identity)
      reply.headers(limitHeaders(identity.usage))
      if (key && key.expiresAt - clock() < soonMs) {
        reply.header('X-Api-Key-Expires', new Date(key.expiresAt).toUTCString())
      }
    } catch (error) {
      const { usage, cause } = error instanceof Counted ? error : { usage: await limits.count(address), cause: error }
      admit(reply, usage)
      throw cause
    }
  }

  return (request, reply, next) => {
    const header = request.headers.authorization ?? ''
    const read = good.get(header)
    const credential = read ?? parseCredential(header, demoToken)
    const known = identities.known(credential, request.ip)
    const passed = (): void => {
      if (read === undefined) good.set(header, credential)
      next()
    }
    if (known === undefined) {
      ask(credential, request, reply).then(passed, next)
      return
    }
    try {
      admit(reply, known.usage)
    } catch (error) {
      next(error as ApiError)
      return
    }
    admitAs(request, known)
    passed()
  }
}
