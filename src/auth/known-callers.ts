/** The credential of a request, and whose turn it is before that is authenticated. */
import type { IncomingMessage } from 'node:http'
import { BoundedMap } from '../lib/bounded-map.js'
import { addressName } from '../rate-limit/limiter.js'
import { type Credential, parseCredential } from './credential.js'

/** Credentials to remember; beyond this, the oldest is forgotten. */
const maxCredentials = 20_000
/** Longer headers are not kept with their connection: there may be 10,000 of 16 KiB each. */
const maxKeptLength = 128

declare module 'node:net' {
  interface Socket {
    /** What came last over the connection, in a header of at most `maxKeptLength`. */
    lastCredential?: { authorization: string; credential: Credential }
  }
}

/** The account whose credential was accepted before, else the address as it is counted: one IPv6 subscriber has any number of them. */
export class KnownCallers {
  /** `Account.id` by `Secret.digest`: the text of a header may be long, each spelling another one, and is a secret. */
  readonly #accounts = new BoundedMap<string, string>(maxCredentials)
  readonly #demoToken: string | undefined

  constructor(demoToken: string | undefined) {
    this.#demoToken = demoToken
  }

  /** To be called with each credential that is accepted. @param account `Account.id`. */
  add(digest: string, account: string): void {
    if (this.#accounts.get(digest) !== account) this.#accounts.set(digest, account)
  }

  callerOf(request: IncomingMessage): string {
    const credential = this.credentialOf(request)
    const account = 'secret' in credential ? this.#accounts.get(credential.secret.digest) : undefined
    return account ?? addressName(request.socket.remoteAddress)
  }

  /** Parsed once for all requests of a connection that send the same: with its digest, that takes 2 µs. */
  credentialOf({ headers: { authorization }, socket }: IncomingMessage): Credential {
    const last = socket.lastCredential
    if (last && last.authorization === authorization) return last.credential
    const credential = parseCredential(authorization, this.#demoToken)
    if (authorization && authorization.length <= maxKeptLength) socket.lastCredential = { authorization, credential }
    return credential
  }
}
