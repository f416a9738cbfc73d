/** Credentials: parsing, fingerprints for logs and stores, creating API keys. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const scheme = 'bearer '
const keyPrefix = 'gps_live_'
const keyForm = /^gps_live_[0-9a-f]{48}$/
const maxLength = 512

/** A text that cannot be printed by accident: a private field is part of no conversion, only `reveal()` returns the text. */
export class Secret {
  readonly #value: string
  #digest: string | undefined

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  /** SHA-256 of the text, in hex; computed once. */
  get digest(): string {
    this.#digest ??= hash('sha256', this.#value, 'hex')
    return this.#digest
  }
}

/** `none`: no Bearer credential was sent. `malformed`: it is invalid by its form alone. */
export type Credential = { kind: 'none' } | { kind: 'malformed' } | { kind: 'hash' | 'key' | 'demo'; secret: Secret }

/** Parses an `Authorization` header (RFC 9110 11.4, RFC 6750 2.1). Another scheme, or one without a credential, is none. */
export function parseCredential(header: string | undefined, demoToken: string | undefined): Credential {
  if (header === undefined || header.slice(0, scheme.length).toLowerCase() !== scheme) return { kind: 'none' }
  return toCredential(withoutSpaces(header.slice(scheme.length)), demoToken)
}

/** Without the lookbehind, it would take quadratic time. */
const withoutSpaces = (text: string): string => (text.includes(' ') ? text.replace(/^ +|(?<! ) +$/g, '') : text)

/** A complete or truncated credential within a text: an API key, or a platform hash, also percent-encoded. */
const credentialLike = /gps_live_\w+|(?:\$|%24)2\w(?:\$|%24).+/gi

/** A text of a caller, safe to repeat and to log. */
export const withoutCredentials = (text: string): string => text.replace(credentialLike, '…')

/** The kind of a credential without a scheme, as in the body of `POST /v1/keys`. An empty text is none. */
export function toCredential(token: string, demoToken: string | undefined): Credential {
  if (token === '') return { kind: 'none' }
  if (token.length > maxLength || !/^[\x21-\x7e]+$/.test(token)) return { kind: 'malformed' }
  const secret = new Secret(token)
  if (demoToken !== undefined && isSame(token, demoToken)) return { kind: 'demo', secret }
  if (!token.startsWith(keyPrefix)) return { kind: 'hash', secret }
  return keyForm.test(token) ? { kind: 'key', secret } : { kind: 'malformed' }
}

/** Compares ASCII texts in a time that does not reveal the first difference. */
const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'))

/** A name for a text that is safe to log, unrelated in each domain: 128 bits of SHA-256 as 22 base64url characters. */
export function fingerprint(domain: string, text: string): string {
  return hash('sha256', `gps:${domain}:${text}`, 'buffer').toString('base64url', 0, 16)
}

/** One spelling of an e-mail. Letters become lower case only in pairs: with a Kelvin sign as `k`, two accounts would be one. */
export const foldedEmail = (email: string): string => withoutSpaces(email).replace(/\p{Lu}/gu, lowerOfPair)

function lowerOfPair(letter: string): string {
  const lower = letter.toLowerCase()
  return lower.toUpperCase() === letter ? lower : letter
}

/** `Account.id`, by the platform it is on and its e-mail. */
export const accountIdOf = (realm: string, email: string): string => fingerprint('account', `${realm}:${email}`)

/** The owner of API keys: the account's platform e-mail, which stays when the password, and with it the hash, changes. */
export function keyOwnerOf(email: string): string {
  return fingerprint('owner', foldedEmail(email))
}

/** A new API key of 192 random bits, and the truncated form for listings. */
export function newKey(): { key: Secret; hint: string } {
  const random = randomBytes(24).toString('hex')
  return { key: new Secret(keyPrefix + random), hint: `${keyPrefix}${random.slice(0, 4)}…${random.slice(-4)}` }
}

/** A digest of the platform hash, different in each record: shows whether the record holds a given hash. */
export const hashPrintOf = (platformHash: Secret, keyId: string): string =>
  fingerprint(`hash:${keyId}`, platformHash.reveal())
