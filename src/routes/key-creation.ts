/** `POST /v1/keys`: creates an API key. */
import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Authenticator } from '../auth/authenticator.js'
import { hashPrintOf, newKey, type Secret, withoutCredentials } from '../auth/credential.js'
import { publicKeyOf, seal } from '../auth/seal.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { admit, isExceeded } from '../rate-limit/limiter.js'
import { CreatedKey, CreateKey, toCreatedKey } from '../resources/key.js'
import type { KeyRecord } from '../store/store.js'
import { type KeyRenewalOptions, keyRenewal } from './key-renewal.js'
import { activeKeys, audit, auditRefusal, ownerOfKeys } from './keys.js'
import { invalid, sendJson } from './query.js'

const dayMs = 24 * 60 * 60 * 1000

interface KeyCreationOptions extends KeyRenewalOptions {
  /** Active keys per account. */
  maxKeys: number
  authenticator: Pick<Authenticator, 'authenticateHash' | 'revalidate'>
}

/** The route without a header; its caller counts it per address. */
export function keyCreation(app: App, options: KeyCreationOptions): void {
  const { keys, clock, maxKeys, limits, authenticator } = options
  const renewKeys = keyRenewal(options)
  const createKeySchema = {
    operationId: 'createKey',
    summary: 'Create an API key, or renew keys',
    description:
      'The response holds the complete key, which is not shown again. Send the platform hash in the body. In each window an account ' +
      'creates at most a fifth as many keys as it may send requests.\n\nA password change replaces the platform hash, and keys stop ' +
      'working. With `renew` and the new hash, exactly those keys work again, and the response is a list of ' +
      'them, as `GET /v1/keys` returns it. If one of them cannot be renewed, none is.',
    tags: ['API keys'],
    security: [],
    body: CreateKey,
    response: { 200: CreatedKey },
  }
  /**
   * Counts key creations per account: every key has a budget of its own, so that a loop of create, spend and revoke would otherwise have
   * no limit. It now gets at most (`limits.max` / 5) × `limits.max` responses per window.
   */
  const countCreation = async (account: Account, now: number, reply: FastifyReply): Promise<void> => {
    const usage = await limits.count(`create:${account.id}`, Math.max(1, Math.floor(limits.max / 5)))
    if (!isExceeded(usage)) return
    // Waiting would not help.
    if ((await activeKeys(keys, account, now)).length >= maxKeys) throw new ApiError('too_many_keys')
    admit(reply, usage)
  }
  app.post(
    '/keys',
    {
      schema: createKeySchema,
      preValidation: async ({ body }) => checkLabel(body),
      onError: auditRefusal('API key not created'),
    },
    async (request, reply) => {
      const { body, ip } = request
      const { account, hash } = await authenticator.authenticateHash(body.platform_hash, ip)
      request.account = account
      request.caller = { credential: 'platform_hash', key: null }
      if (body.renew) return sendJson<CreatedKey>(reply, await renewKeys(request, reply, hash, body))
      const now = clock()
      await countCreation(account, now, reply)
      const { record, key } = await newRecord(account, hash, body, now)
      const ofOtherOwner = (await activeKeys(keys, account, now)).filter(({ owner }) => owner !== record.owner)
      if ((await keys.create(record, maxKeys - ofOtherOwner.length, now)) === 'too_many')
        throw new ApiError('too_many_keys')
      audit(request, 'API key created', { key: record.id, label: record.label })
      return toCreatedKey(record, key.reveal(), account.email)
    },
  )
}

async function newRecord(
  account: Account,
  hash: Secret,
  { label = '', expires_in_days = 365 }: CreateKey,
  now: number,
) {
  const { key, hint } = newKey()
  const id = randomUUID()
  // Without it, the first use of the key completes the record.
  const userId = (await account.knownSetup()) && (await account.userId())
  const record: KeyRecord = {
    version: 1,
    id,
    digest: key.digest,
    owner: ownerOfKeys(account),
    email: account.email ?? '',
    hint,
    sealed: seal(hash, key),
    label,
    createdAt: now,
    expiresAt: now + expires_in_days * dayMs,
    lastUsedAt: null,
    limit: null,
    ...(userId && { renewal: { publicKey: publicKeyOf(key), userId, holds: hashPrintOf(hash, id) } }),
  }
  return { record, key }
}

/**
 * Spaces around a label do not count against its maximum length.
 * @throws ApiError for a control character, line separator or lone surrogate, and for a credential, such as that of a swapped field.
 */
function checkLabel(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('label' in body)) return
  if (typeof body.label !== 'string') return
  const label = body.label.trim()
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(label))
    throw invalid('label', '`label` must be text of at most 100 characters, without control characters.')
  const isHash = 'platform_hash' in body && body.platform_hash === label
  if (isHash || withoutCredentials(label) !== label) throw invalid('label', '`label` must not hold a credential.')
  body.label = label
}
