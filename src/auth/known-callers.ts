/** Whose turn a request is, found before it is authenticated. */
import type { IncomingMessage } from 'node:http'
import { BoundedMap } from '../lib/bounded-map.js'

/** Credentials to remember; beyond this, the oldest is forgotten. */
const maxCredentials = 20_000

/** Tells credentials apart, in all spellings of a header, and is no secret: a digest of each waiting request would cost 1.5 µs. */
const endOf = (authorization: string): string => authorization.slice(-12)

/** The account whose credential was accepted before, else the address. */
export class KnownCallers {
  /** `Account.id` by the end of its credential. */
  readonly #accounts = new BoundedMap<string, string>(maxCredentials)

  /** To be called with each `Authorization` that is accepted. @param account `Account.id`. */
  add(authorization: string, account: string): void {
    const end = endOf(authorization)
    if (this.#accounts.get(end) !== account) this.#accounts.set(end, account)
  }

  of({ headers: { authorization = '' }, socket }: IncomingMessage): string {
    return this.#accounts.get(endOf(authorization)) ?? socket.remoteAddress ?? ''
  }
}
