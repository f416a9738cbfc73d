/** Sealing: encrypts a platform hash so that only the API key decrypts it. Renewal seals with a public key that the key itself determines. */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { Secret } from './credential.js'

const saltBytes = 16
const publicBytes = 32
const ivBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM under HKDF-SHA-256 (RFC 5869) of the key, salted per record. Form: `v1.` and base64url of salt, nonce, tag, ciphertext.
 * New keys use it too, so that instances of the first release can open them.
 */
export function seal(platformHash: Secret, key: Secret): string {
  const salt = randomBytes(saltBytes)
  const iv = randomBytes(ivBytes)
  return `v1.${Buffer.concat([salt, iv, encrypted(platformHash, sealingKey(key, salt), iv)]).toString('base64url')}`
}

/**
 * Seals without the API key: AES-256-GCM under HKDF-SHA-256 of an X25519 agreement with an ephemeral key pair (RFC 7748).
 * Form: `v2.` and base64url of the ephemeral public key, tag, ciphertext. Undefined for a text that is no public key.
 */
export function sealFor(platformHash: Secret, publicKey: string): string | undefined {
  const ephemeral = generateKeyPairSync('x25519')
  const sender = rawPublicKey(ephemeral.publicKey)
  try {
    const recipient = toPublicKey(publicKey)
    const [secret, iv] = agreed(ephemeral.privateKey, recipient, sender, rawPublicKey(recipient))
    return `v2.${Buffer.concat([sender, encrypted(platformHash, secret, iv)]).toString('base64url')}`
  } catch {
    return undefined
  }
}

/** Decrypts the result of `seal` or `sealFor`; undefined for another key, an altered text or an unknown version. */
export function unseal(sealed: string, key: Secret): Secret | undefined {
  const [version, body = ''] = sealed.split('.', 2)
  const bytes = Buffer.from(body, 'base64url')
  try {
    if (version === 'v1') {
      const [salt, iv] = [bytes.subarray(0, saltBytes), bytes.subarray(saltBytes, saltBytes + ivBytes)]
      return decrypted(bytes.subarray(saltBytes + ivBytes), sealingKey(key, salt), iv)
    }
    if (version !== 'v2') return undefined
    const sender = bytes.subarray(0, publicBytes)
    const own = privateKeyOf(key)
    const recipient = rawPublicKey(createPublicKey(own))
    const [secret, iv] = agreed(own, toPublicKey(sender.toString('base64url')), sender, recipient)
    return decrypted(bytes.subarray(publicBytes), secret, iv)
  } catch {
    return undefined
  }
}

/** The public key that `sealFor` takes, base64url. It reveals nothing of the API key. */
export const publicKeyOf = (key: Secret): string =>
  rawPublicKey(createPublicKey(privateKeyOf(key))).toString('base64url')

function encrypted(text: Secret, key: Buffer, iv: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
  const bytes = Buffer.concat([cipher.update(text.reveal(), 'utf8'), cipher.final()])
  return Buffer.concat([cipher.getAuthTag(), bytes])
}

/** Undefined without a ciphertext. @throws unless all of it is as it was encrypted. */
function decrypted(bytes: Buffer, key: Buffer, iv: Buffer): Secret | undefined {
  if (bytes.length <= tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
  decipher.setAuthTag(bytes.subarray(0, tagBytes))
  return new Secret(decipher.update(bytes.subarray(tagBytes), undefined, 'utf8') + decipher.final('utf8'))
}

function sealingKey(key: Secret, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key.reveal(), salt, 'gps-gateway seal v1', 32))
}

/** Key and nonce of one sealed hash. Both public keys are part of it, so that no other pair leads to the same key. */
function agreed(own: KeyObject, other: KeyObject, sender: Buffer, recipient: Buffer): [key: Buffer, iv: Buffer] {
  const shared = diffieHellman({ privateKey: own, publicKey: other })
  const salt = Buffer.concat([sender, recipient])
  const bytes = Buffer.from(hkdfSync('sha256', shared, salt, 'gps-gateway seal v2', 32 + ivBytes))
  return [bytes.subarray(0, 32), bytes.subarray(32)]
}

/** PKCS #8 of an X25519 private key (RFC 8410 7) without the key itself, which Node cannot import raw. */
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex')

function privateKeyOf(key: Secret): KeyObject {
  const bytes = Buffer.from(hkdfSync('sha256', key.reveal(), '', 'gps-gateway key pair', 32))
  return createPrivateKey({ key: Buffer.concat([pkcs8, bytes]), format: 'der', type: 'pkcs8' })
}

const toPublicKey = (x: string): KeyObject => createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })

const rawPublicKey = (key: KeyObject): Buffer => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
