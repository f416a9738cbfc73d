/** `POST`, `GET` and `DELETE /v1/keys`: creates, lists and revokes API keys. */
import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { reject } from '../auth/auth-failure.js'
import type { Authenticator } from '../auth/authenticator.js'
import { newKey, ownerOf, seal } from '../auth/credential.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { admit, isExceeded, type Limits } from '../rate-limit/limiter.js'
import { CreatedKey, CreateKey, KEY_ID_EXAMPLE, Key, RevokedKey, toCreatedKey, toKey } from '../resources/key.js'
import { ListOf, ListQuery, page } from '../resources/list.js'
import type { KeyRecord, KeyStore } from '../store/store.js'
import { invalid, notFound, queryOf } from './query.js'

const dayMs = 24 * 60 * 60 * 1000

export interface KeysOptions {
  keys: KeyStore
  clock: () => number
}

export interface KeyCreationOptions extends KeysOptions {
  /** Active keys per account. */
  maxKeys: number
  limits: Limits
  authenticator: Pick<Authenticator, 'authenticateHash'>
}

/** The route without a header; its caller counts it per address. */
export function keyCreation(app: App, { keys, clock, maxKeys, limits, authenticator }: KeyCreationOptions): void {
  const countCreation = creationCounter(limits)
  app.post(
    '/keys',
    {
      schema: {
        operationId: 'createKey',
        summary: 'Create an API key',
        description:
          'The response holds the complete key, which is not shown again. Send the platform hash in the body. In each window an account ' +
          'creates at most a fifth as many keys as it may send requests.',
        tags: ['API keys'],
        security: [],
        body: CreateKey,
        response: { 200: CreatedKey },
      },
      preValidation: async ({ body }) => trimLabel(body),
    },
    async ({ body, ip }, reply) => {
      const { account, hash } = await authenticator
        .authenticateHash(body.platform_hash, ip)
        .catch((error) => reject(error, reply))
      await countCreation(account, reply)
      const { key, digest, hint } = newKey()
      const createdAt = clock()
      const record: KeyRecord = {
        version: 1,
        id: randomUUID(),
        digest,
        owner: ownerOfKeys(account),
        email: account.email ?? '',
        hint,
        sealed: seal(hash, key),
        label: body.label ?? '',
        createdAt,
        expiresAt: createdAt + (body.expires_in_days ?? 365) * dayMs,
        lastUsedAt: null,
        limit: null,
      }
      if ((await keys.create(record, maxKeys, createdAt)) === 'too_many') throw new ApiError('too_many_keys')
      return toCreatedKey(record, key.reveal(), account.email)
    },
  )
}

/**
 * Counts key creations per account: every key has a budget of its own, so that a loop of create, spend and revoke would otherwise have
 * no limit. It now gets at most (`limits.max` / 5) × `limits.max` responses per window.
 */
function creationCounter(limits: Limits): (account: Account, reply: FastifyReply) => Promise<void> {
  const maxCreations = Math.max(1, Math.floor(limits.max / 5))
  return async ({ id }, reply) => {
    const usage = await limits.count(`create:${id}`, maxCreations)
    if (isExceeded(usage)) admit(reply, usage)
  }
}

/** The routes behind the platform hash. */
export function keys(app: App, { keys, clock }: KeysOptions): void {
  app.get(
    '/keys',
    {
      schema: {
        operationId: 'listKeys',
        summary: 'List active API keys',
        description: 'Newest first, with truncated values. Requires the platform hash.',
        tags: ['API keys'],
        security: [{ platformHash: [] }],
        querystring: ListQuery,
        response: { 200: ListOf(Key) },
      },
    },
    async (request) => {
      requireHash(request)
      const query = queryOf(ListQuery, request)
      const records = await keys.list(ownerOfKeys(request.account), clock())
      return page(records.map(toKey), query)
    },
  )

  app.delete(
    '/keys/:id',
    {
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke an API key',
        description: 'Immediate and irreversible. Requires the platform hash.',
        tags: ['API keys'],
        security: [{ platformHash: [] }],
        params: Type.Object({
          id: Type.String({ format: 'uuid', description: 'Id of the key', examples: [KEY_ID_EXAMPLE] }),
        }),
        response: { 200: RevokedKey },
      },
    },
    async (request) => {
      requireHash(request)
      const { id } = request.params
      const revokedAt = clock()
      if (!(await keys.revoke(ownerOfKeys(request.account), id, revokedAt))) throw notFound('API key', id)
      return {
        object: 'api_key' as const,
        id,
        deleted: true as const,
        revoked_at: revokedAt,
        message: 'The key is revoked. Requests with it are rejected from now on.',
      }
    },
  )
}

/** Keys belong to the account whatever its current hash; an account without an e-mail is identified by its hash. */
const ownerOfKeys = (account: Account): string => ownerOf(account.email ?? account.id)

function requireHash({ caller }: FastifyRequest): void {
  if (caller.credential === 'platform_hash') return
  throw new ApiError('invalid_token', {
    message: 'Only the platform hash manages API keys. Send it instead of this credential.',
  })
}

/** Spaces around a label do not count against its maximum length. @throws ApiError for a lone surrogate, which no schema can exclude. */
function trimLabel(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('label' in body)) return
  if (typeof body.label !== 'string') return
  if (/\p{Cs}/u.test(body.label)) throw invalid('label', 'label must be valid Unicode.')
  body.label = body.label.trim()
}
