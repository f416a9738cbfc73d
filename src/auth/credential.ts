/** Credentials as text: which kind a header carries, what stands for one in logs and stores, how keys are made and hashes sealed. Knows no store, no platform, no clock. */
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

const SCHEME = 'bearer '
const KEY_PREFIX = 'gps_live_'
const KEY_FORM = /^gps_live_[0-9a-f]{48}$/
const MAX_LENGTH = 512

/** A text that cannot be printed by accident: every conversion gives `[secret]`; only `reveal()` gives the text. */
export class Secret {
  readonly #value: string
  #digest: string | undefined

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  /** SHA-256 of the text, in hex; worked out once. */
  get digest(): string {
    this.#digest ??= hash('sha256', this.#value, 'hex')
    return this.#digest
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}

/** `none`: nothing was presented. `malformed`: something was, and it is invalid without asking anybody. */
export type Credential = { kind: 'none' } | { kind: 'malformed' } | { kind: 'hash' | 'key' | 'demo'; secret: Secret }

/**
 * Parses an `Authorization` header (RFC 9110 11.4, RFC 6750 2.1): the scheme in any case, one or more spaces, the credential.
 * Another scheme, or a scheme without a credential, is none. Takes linear time: a pattern such as `/ +$/` takes quadratic time.
 */
export function parseCredential(header: string | undefined, demoToken: string | undefined): Credential {
  if (header === undefined || header.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return { kind: 'none' }
  let start = SCHEME.length
  let end = header.length
  while (start < end && header[start] === ' ') start += 1
  while (end > start && header[end - 1] === ' ') end -= 1
  return toCredential(header.slice(start, end), demoToken)
}

/** Tells the kind of a credential that stands alone, as in the body of `POST /v1/keys`. The empty text is none. */
export function toCredential(token: string, demoToken: string | undefined): Credential {
  if (token === '') return { kind: 'none' }
  if (token.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(token)) return { kind: 'malformed' }
  const secret = new Secret(token)
  if (demoToken !== undefined && sameText(token, demoToken)) return { kind: 'demo', secret }
  if (!token.startsWith(KEY_PREFIX)) return { kind: 'hash', secret }
  return KEY_FORM.test(token) ? { kind: 'key', secret } : { kind: 'malformed' }
}

/** Compares digests, so that neither the length nor the first difference shows in the time taken. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

/**
 * A name for a text that is safe to log and cannot be turned back: 128 bits of SHA-256 as 22 base64url characters.
 * The same text has unrelated names in different domains.
 */
export function fingerprint(domain: string, text: string): string {
  return hash('sha256', `gps:${domain}:${text}`, 'buffer').toString('base64url', 0, 16)
}

/** The account that owns API keys, by its platform e-mail: stays the same when the password, and with it the hash, changes. */
export function ownerOf(email: string): string {
  return fingerprint('owner', email.trim().toLowerCase())
}

/** What a store knows an API key by: SHA-256 of the whole key, in hex. */
export function digestOf(key: Secret): string {
  return key.digest
}

/** A new API key of 192 random bits, the digest it is stored under, and the truncated form that listings show. */
export function newKey(): { key: Secret; digest: string; hint: string } {
  const random = randomBytes(24).toString('hex')
  const key = new Secret(KEY_PREFIX + random)
  return { key, digest: digestOf(key), hint: `${KEY_PREFIX}${random.slice(0, 4)}…${random.slice(-4)}` }
}

const SEAL_VERSION = 'v1'
const SALT_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a platform hash so that only the API key opens it: AES-256-GCM under HKDF-SHA-256 (RFC 5869) of the key, salted per record.
 * Form: `v1.` and base64url of salt, nonce, tag, ciphertext.
 */
export function seal(platformHash: Secret, key: Secret): string {
  const salt = randomBytes(SALT_BYTES)
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key, salt), iv, { authTagLength: TAG_BYTES })
  const text = Buffer.concat([cipher.update(platformHash.reveal(), 'utf8'), cipher.final()])
  return `${SEAL_VERSION}.${Buffer.concat([salt, iv, cipher.getAuthTag(), text]).toString('base64url')}`
}

/** Opens what `seal` made; undefined when the key is another one, or the text was altered or is of an unknown version. */
export function unseal(sealed: string, key: Secret): Secret | undefined {
  const [version, body = ''] = sealed.split('.', 2)
  const bytes = Buffer.from(body, 'base64url')
  const tagStart = SALT_BYTES + IV_BYTES
  const textStart = tagStart + TAG_BYTES
  if (version !== SEAL_VERSION || bytes.length <= textStart) return undefined
  try {
    const opening = sealingKey(key, bytes.subarray(0, SALT_BYTES))
    const iv = bytes.subarray(SALT_BYTES, tagStart)
    const decipher = createDecipheriv('aes-256-gcm', opening, iv, { authTagLength: TAG_BYTES })
    decipher.setAuthTag(bytes.subarray(tagStart, textStart))
    return new Secret(decipher.update(bytes.subarray(textStart), undefined, 'utf8') + decipher.final('utf8'))
  } catch {
    return undefined
  }
}

function sealingKey(key: Secret, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key.reveal(), salt, `gps-gateway seal ${SEAL_VERSION}`, 32))
}
