/** Whose turn a request is, found before it is authenticated. */
import type { IncomingMessage } from 'node:http'
import { BoundedMap } from '../lib/bounded-map.js'
import { parseCredential } from './credential.js'

/** Credentials to remember; beyond this, the oldest is forgotten. */
const maxCredentials = 20_000

/** The account whose credential was accepted before, else the address. */
export class KnownCallers {
  /** `Account.id` by `Secret.digest`: the text of a header may be long, each spelling another one, and is a secret. */
  readonly #accounts = new BoundedMap<string, string>(maxCredentials)

  /** To be called with each credential that is accepted. @param account `Account.id`. */
  add(digest: string, account: string): void {
    if (this.#accounts.get(digest) !== account) this.#accounts.set(digest, account)
  }

  of({ headers: { authorization }, socket }: IncomingMessage): string {
    const credential = parseCredential(authorization, undefined)
    const account = 'secret' in credential ? this.#accounts.get(credential.secret.digest) : undefined
    return account ?? socket.remoteAddress ?? ''
  }
}
