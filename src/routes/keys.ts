/** `POST`, `GET` and `DELETE /v1/keys`: making, listing and revoking API keys. Knows no store but its verbs. */
import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { newKey, ownerOf, type Secret, seal } from '../auth/credential.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { admit, isSpent, type Limits } from '../rate-limit/limiter.js'
import { CreatedKey, CreateKey, Key, RevokedKey, toKey, toLabel } from '../resources/key.js'
import { ListOf, ListQuery, page } from '../resources/list.js'
import type { KeyStore } from '../store/store.js'
import { notFound, queryOf } from './query.js'

const dayMs = 24 * 60 * 60 * 1000

export interface CreationNeeds {
  keys: KeyStore
  clock: () => number
  /** Active keys per account. */
  maxKeys: number
  limits: Limits
  /** The account of a platform hash sent in a body. @throws ApiError `invalid_token` or what the platform did. */
  accountOf: (hash: string, ip: string) => Promise<{ account: Account; secret: Secret }>
}

/** The route that needs no header; whoever registers it counts it per address. */
export function keyCreation(app: App, { keys, clock, maxKeys, limits, accountOf }: CreationNeeds): void {
  const maxCreations = Math.max(1, Math.floor(limits.max / 5))
  /** A loop of create, spend and revoke gets at most maxCreations × limits.max responses per window: every key has a budget of its own. */
  const countCreation = async (account: Account, reply: FastifyReply): Promise<void> => {
    const usage = await limits.count(`create:${account.id}`, maxCreations)
    if (isSpent(usage)) admit(reply, usage)
  }
  app.post(
    '/keys',
    {
      schema: {
        operationId: 'createKey',
        summary: 'Make an API key',
        description: 'The complete key is in this answer and never shown again. The platform hash goes in the body.',
        tags: ['API keys'],
        security: [],
        body: CreateKey,
        response: { 200: CreatedKey },
      },
      preValidation: async ({ body }) => trimLabel(body),
    },
    async ({ body, ip }, reply) => {
      const { account, secret } = await accountOf(body.platform_hash, ip)
      await countCreation(account, reply)
      const { key, digest, hint } = newKey()
      const createdAt = clock()
      const expiresAt = createdAt + (body.expires_in_days ?? 365) * dayMs
      const [id, label] = [randomUUID(), toLabel(body.label)]
      const email = account.email ?? ''
      const sealed = seal(secret, key)
      const record = {
        version: 1,
        id,
        digest,
        owner: owner(account),
        email,
        hint,
        sealed,
        label,
        createdAt,
        expiresAt,
      } as const
      const outcome = await keys.create({ ...record, lastUsedAt: null, limit: null }, maxKeys, createdAt)
      if (outcome === 'too_many') throw new ApiError('too_many_keys')
      return {
        object: 'api_key' as const,
        id,
        key: key.reveal(),
        label,
        created_at: createdAt,
        expires_at: expiresAt,
        platform_email: account.email,
        message: 'Store this key now: it is not shown again. A lost key can only be revoked and replaced.',
      }
    },
  )
}

/** Listing and revoking, behind the platform hash. */
export function keys(app: App, { keys, clock }: Pick<CreationNeeds, 'keys' | 'clock'>): void {
  app.get(
    '/keys',
    {
      schema: {
        operationId: 'listKeys',
        summary: 'List active API keys',
        description: 'Newest first, with truncated values. Only the platform hash may ask.',
        tags: ['API keys'],
        security: [{ platformHash: [] }],
        querystring: ListQuery,
        response: { 200: ListOf(Key) },
      },
    },
    async (request) => {
      demandHash(request)
      const wanted = queryOf(ListQuery, request)
      const records = await keys.list(owner(request.account), clock())
      return page(records.map(toKey), wanted)
    },
  )

  app.delete(
    '/keys/:id',
    {
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke an API key',
        description: 'At once and for good. Only the platform hash may ask.',
        tags: ['API keys'],
        security: [{ platformHash: [] }],
        params: Type.Object({
          id: Type.String({ format: 'uuid', description: 'Id of the key', examples: [randomExample] }),
        }),
        response: { 200: RevokedKey },
      },
    },
    async (request) => {
      demandHash(request)
      const { id } = request.params
      const revokedAt = clock()
      if (!(await keys.revoke(owner(request.account), id, revokedAt))) throw notFound('API key', id)
      return {
        object: 'api_key' as const,
        id,
        deleted: true as const,
        revoked_at: revokedAt,
        message: 'The key is revoked. Whatever still uses it is refused from now on.',
      }
    },
  )
}

const randomExample = '0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3'

/** Keys belong to the account, whatever hash it has today; an account without an e-mail is known by its hash alone. */
const owner = (account: Account): string => ownerOf(account.email ?? account.id)

function demandHash({ caller }: FastifyRequest): void {
  if (caller.credential === 'platform_hash') return
  const message = 'API keys are managed with the platform hash; this credential cannot do that.'
  throw new ApiError('invalid_token', { message })
}

/** Spaces around a label do not count against its length. */
function trimLabel(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('label' in body)) return
  if (typeof body.label === 'string') body.label = body.label.trim()
}
