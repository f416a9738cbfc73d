/** `POST /v1/keys`: creates an API key, or renews keys after a password change. */
import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../auth/authenticator.js'
import { hashPrintOf, newKey, type Secret, withoutCredentials } from '../auth/credential.js'
import { publicKeyOf, seal, sealFor } from '../auth/seal.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { admit, isExceeded, type Limits } from '../rate-limit/limiter.js'
import { CreatedKey, CreateKey, Key, toCreatedKey, toKey } from '../resources/key.js'
import { ListOf, page } from '../resources/list.js'
import { type Change, type KeyRecord, newestFirst } from '../store/store.js'
import { activeKeys, audit, auditRefusal, ownerOfKeys } from './keys.js'
import { invalid, type Needs, sendJson } from './query.js'

const dayMs = 24 * 60 * 60 * 1000

/** Documented in words: as a second shape of the response, it would break the types of generated clients. */
const RenewedKeys: Record<string, unknown> = { ...ListOf(Key) }

const createKeySchema = {
  operationId: 'createKey',
  summary: 'Create an API key, or renew keys',
  description:
    'The response holds the complete key, which is not shown again. Send the platform hash in the body. In each window an account ' +
    'creates at most a fifth as many keys as it may send requests.\n\nA password change replaces the platform hash, and keys stop ' +
    'working. With `renew` and the new hash, exactly those keys work again, and the response is a list of ' +
    'them, a `KeyList`, as `GET /v1/keys` returns it. If one of them cannot be renewed, none is. After a 503, ' +
    'some may be renewed: send the request again.',
  tags: ['API keys'],
  security: [],
  body: CreateKey,
  response: { 200: CreatedKey },
}

interface KeyCreationOptions extends Pick<Needs, 'keys' | 'clock'> {
  /** Active keys per account. */
  maxKeys: number
  limits: Limits
  authenticator: Authenticator
}

/** The route that needs no `Authorization`; its caller counts it per address. */
export function keyCreation(app: App, options: KeyCreationOptions): void {
  const { keys, clock, maxKeys, authenticator } = options
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
      if (body.renew) {
        const list = page(await renewKeys(options, request, reply, hash, body), {})
        return sendJson<CreatedKey>(reply, String(reply.compileSerializationSchema(RenewedKeys)(list)))
      }
      const now = clock()
      await countCreation(options, account, reply, now)
      const { record, key } = await newRecord(account, hash, body, now)
      const ofOtherOwner = (await activeKeys(keys, account, now)).filter(({ owner }) => owner !== record.owner)
      if ((await keys.create(record, maxKeys - ofOtherOwner.length, now)) === 'too_many')
        throw new ApiError('too_many_keys')
      audit(request, 'API key created', { key: record.id, label: record.label })
      return toCreatedKey(record, key.reveal(), account.email)
    },
  )
}

/** Every key has a budget of its own: without a limit on creations, a loop of create, spend and revoke would have none. */
async function countCreation(options: KeyCreationOptions, account: Account, reply: FastifyReply, now: number) {
  const { keys, limits, maxKeys } = options
  const usage = await limits.count(`create:${account.id}`, Math.max(1, Math.floor(limits.max / 5)))
  if (!isExceeded(usage)) return
  // Waiting would not help.
  if ((await activeKeys(keys, account, now)).length >= maxKeys) throw new ApiError('too_many_keys')
  admit(reply, usage)
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
  const hash = 'platform_hash' in body && body.platform_hash
  const hasHash = typeof hash === 'string' && hash.length >= 8 && label.includes(hash)
  if (hasHash || withoutCredentials(label) !== label) throw invalid('label', '`label` must not hold a credential.')
  body.label = label
}

/**
 * Stores the hash in the keys with the ids in `renew`, after the platform has validated it once more.
 * @throws ApiError unless all of them can be renewed, and what the platform or the store threw.
 */
async function renewKeys(
  { keys, clock, limits, authenticator }: KeyCreationOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  hash: Secret,
  { label, expires_in_days, renew: ids = [] }: CreateKey,
) {
  if (label !== undefined || expires_in_days !== undefined) {
    throw invalid('renew', '`renew` creates no key: send it without `label` and `expires_in_days`.')
  }
  const usage = await limits.count(`renew:${request.account.id}`)
  if (isExceeded(usage)) admit(reply, usage)
  const now = clock()
  const account = await authenticator.revalidate(hash)
  const change = changeTo(hash, await account.userId())
  const chosen = chosenFrom(await activeKeys(keys, account, now), ids, change)
  const renew = async ({ digest }: KeyRecord): Promise<KeyRecord[]> => {
    const record = await keys.update(digest, change, now)
    // A key that was revoked meanwhile stays revoked.
    if (record === undefined) return []
    audit(request, 'API key renewed', { key: record.id, label: withoutCredentials(record.label) })
    return [record]
  }
  const renewed = (await Promise.all(chosen.map(renew))).flat().sort(newestFirst)
  return renewed.map((record) => toKey(record, true))
}

/** Puts the hash into a key of this user; undefined for any other key. Its owner is no proof: an e-mail may pass to another user. */
const changeTo =
  (hash: Secret, userId: string | undefined): Change =>
  ({ renewal, ...record }) => {
    if (renewal === undefined || renewal.userId !== userId) return undefined
    const sealed = sealFor(hash, renewal.publicKey)
    if (sealed === undefined) return undefined
    return { ...record, sealed, renewal: { ...renewal, holds: hashPrintOf(hash, record.id) } }
  }

/** The active keys with these ids. @throws ApiError unless all of them can be renewed. */
function chosenFrom(active: readonly KeyRecord[], ids: readonly string[], change: Change): KeyRecord[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))].map((id) => {
    const record = active.find((key) => key.id === id)
    if (!record) throw new ApiError('not_found', { message: `There is no API key with id ${id}.` })
    if (!change(record)) throw invalid('renew', `API key ${id} cannot be renewed. Revoke it and create a new one.`)
    return record
  })
}
