/** `POST /v1/keys`: creates an API key, or renews existing ones after a password change. */
import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { reject } from '../auth/auth-failure.js'
import type { Authenticator } from '../auth/authenticator.js'
import { hashPrintOf, newKey, type Secret, withoutCredentials } from '../auth/credential.js'
import { publicKeyOf, seal, sealFor } from '../auth/seal.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { admit, isExceeded, type Limits } from '../rate-limit/limiter.js'
import { CreatedKey, CreateKey, Key, toCreatedKey, toKey } from '../resources/key.js'
import { ListOf, page } from '../resources/list.js'
import type { Change, KeyRecord } from '../store/store.js'
import { audit, auditRefusal, ownerOfKeys } from './keys.js'
import { invalid, type Needs, sendJson } from './query.js'

/** Documented in words: as a second shape of the response, it would break the types of generated clients. */
const RenewedKeys: Record<string, unknown> = { ...ListOf(Key) }

const dayMs = 24 * 60 * 60 * 1000

interface KeyCreationOptions extends Pick<Needs, 'keys' | 'clock'> {
  /** Active keys per account. */
  maxKeys: number
  limits: Limits
  authenticator: Pick<Authenticator, 'authenticateHash' | 'revalidate'>
}

/** The route without a header; its caller counts it per address. */
export function keyCreation(app: App, { keys, clock, maxKeys, limits, authenticator }: KeyCreationOptions): void {
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
    if ((await keys.list(ownerOfKeys(account), now)).length >= maxKeys) throw new ApiError('too_many_keys')
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
      const { account, hash } = await authenticator
        .authenticateHash(body.platform_hash, ip)
        .catch((error) => reject(error, reply))
      request.account = account
      request.caller = { credential: 'platform_hash', key: null }
      const now = clock()
      if (body.renew) {
        if (body.label !== undefined || body.expires_in_days !== undefined) {
          throw invalid('renew', '`renew` creates no key: send it without `label` and `expires_in_days`.')
        }
        const usage = await limits.count(`renew:${account.id}`)
        if (isExceeded(usage)) admit(reply, usage)
        const renewal = await renewalOf(await authenticator.revalidate(hash), hash)
        const chosen = chosenFrom(await keys.list(renewal.owner, now), body.renew, renewal)
        const renew = async ({ digest }: KeyRecord): Promise<KeyRecord[]> => {
          const record = await keys.update(digest, renewal.change, now)
          // A key that was revoked meanwhile stays revoked.
          if (record === undefined) return []
          audit(request, 'API key renewed', record)
          return [record]
        }
        const items = (await Promise.all(chosen.map(renew))).flat().map((record) => toKey(record, true))
        return sendJson<CreatedKey>(reply, String(reply.compileSerializationSchema(RenewedKeys)(page(items, {}))))
      }
      await countCreation(account, now, reply)
      const { record, key } = await newRecord(account, hash, body, now)
      if ((await keys.create(record, maxKeys, now)) === 'too_many') throw new ApiError('too_many_keys')
      audit(request, 'API key created', record)
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

interface Renewal {
  owner: string
  /** The renewed record; undefined unless it belongs to the account's user. */
  change: Change
}

/** An e-mail may pass to another user, so the owner of a key does not suffice. */
async function renewalOf(account: Account, hash: Secret): Promise<Renewal> {
  const userId = await account.userId()
  return {
    owner: ownerOfKeys(account),
    change: ({ renewal, ...record }) => {
      if (renewal === undefined || renewal.userId !== userId) return undefined
      const holds = hashPrintOf(hash, record.id)
      return { ...record, sealed: sealFor(hash, renewal.publicKey), renewal: { ...renewal, holds } }
    },
  }
}

/** The active keys with these ids. @throws ApiError unless all of them can be renewed. */
function chosenFrom(active: readonly KeyRecord[], ids: readonly string[], { change }: Renewal): KeyRecord[] {
  return [...new Set(ids)].map((id) => {
    const record = active.find((key) => key.id === id)
    if (!record) throw new ApiError('not_found', { message: `There is no API key with id ${id}.` })
    if (!change(record)) throw invalid('renew', `API key ${id} cannot be renewed. Revoke it and create a new one.`)
    return record
  })
}

/**
 * Spaces around a label do not count against its maximum length.
 * @throws ApiError for a lone surrogate, which no schema can exclude, and for a credential, such as that of a swapped field.
 */
function checkLabel(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('label' in body)) return
  const { label } = body
  if (typeof label !== 'string') return
  if (/\p{Cs}/u.test(label))
    throw invalid('label', '`label` must be text of 1 to 100 characters, without lone surrogates.')
  const isHash = 'platform_hash' in body && body.platform_hash === label
  if (isHash || withoutCredentials(label) !== label) throw invalid('label', '`label` must not hold a credential.')
  body.label = label.trim()
}
