/** `GET` and `DELETE /v1/keys`: lists and revokes API keys. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { accountIdOf, hashPrintOf, keyOwnerOf, parseCredential, withoutCredentials } from '../auth/credential.js'
import { ApiError, toApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { Key, keyIdExample, RevokedKey, toKey, toRevokedKey } from '../resources/key.js'
import { ListOf, ListQuery, page } from '../resources/list.js'
import { isKeyId, type KeyRecord, type KeyStore, newestFirst } from '../store/store.js'
import { type Needs, notFound } from './query.js'

const listKeysSchema = {
  operationId: 'listKeys',
  summary: 'List active API keys',
  description:
    'Newest first, with truncated values. Requires the platform hash. After a password change, `usable` shows which keys to renew.',
  tags: ['API keys'],
  security: [{ platformHash: [] }],
  querystring: ListQuery,
  response: { 200: ListOf(Key) },
}

const revokeKeySchema = {
  operationId: 'revokeKey',
  summary: 'Revoke an API key',
  description: 'Immediate and irreversible. Requires the platform hash.',
  tags: ['API keys'],
  security: [{ platformHash: [] }],
  params: Type.Object({
    id: Type.String({ format: 'uuid', description: 'Id of the key', examples: [keyIdExample] }),
  }),
  response: { 200: RevokedKey },
}

/** The routes behind the platform hash. */
export function keys(app: App, { keys, clock }: Needs): void {
  app.get('/keys', { schema: listKeysSchema, preValidation: requireHash }, async (request) => {
    const records = await activeKeys(keys, request.account, clock())
    const items = records.map((record) => toKey(record, isUsable(record, request)))
    return page(items, request.query)
  })
  app.delete(
    '/keys/:id',
    { schema: revokeKeySchema, preValidation: requireHash, onError: auditRefusal('API key not revoked') },
    async (request) => {
      const { id: sent } = request.params
      const id = sent.toLowerCase()
      const revokedAt = clock()
      const { label = '' } = (await keys.findById(id, revokedAt)) ?? {}
      for (const owner of ownersOf(request.account)) {
        if (!(await keys.revoke(owner, id, revokedAt))) continue
        // The first release accepted a credential as a label.
        audit(request, 'API key revoked', { key: id, label: withoutCredentials(label) })
        return toRevokedKey(id, revokedAt)
      }
      throw notFound('API key', sent)
    },
  )
}

/** Keys belong to the account whatever its current hash; an account without an e-mail is identified by its hash. */
export const ownerOfKeys = (account: Account): string => keyOwnerOf(account.email ?? account.id)

/** The owner of the account's keys, and that of those it created while it had no e-mail: the first release read none from its settings. */
const ownersOf = (account: Account): Set<string> =>
  new Set([ownerOfKeys(account), keyOwnerOf(accountIdOf('platform', account.hashName))])

/** The account's active keys of all owners, newest first. */
export async function activeKeys(keys: KeyStore, account: Account, now: number): Promise<KeyRecord[]> {
  const lists = await Promise.all([...ownersOf(account)].map((owner) => keys.list(owner, now)))
  return lists.flat().sort(newestFirst)
}

/** Whether a key holds the platform hash of the request; null where the record does not show it. */
function isUsable({ id, renewal }: KeyRecord, { headers }: FastifyRequest): boolean | null {
  const credential = parseCredential(headers.authorization, undefined)
  if (renewal === undefined || credential.kind !== 'hash') return null
  return renewal.holds === hashPrintOf(credential.secret, id)
}

/** Logs what happened to a key: who did it can be found by account, request id and address. */
export function audit(request: FastifyRequest, event: string, what: object): void {
  const { id: reqId, ip } = request
  request.log.info({ ...what, account: request.account?.id ?? request.accountId, reqId, ip }, event)
}

/** An `onError` hook that logs a refused change of a key. A malformed id or body may hold a credential and is left out. */
export const auditRefusal =
  (event: string) =>
  async (request: FastifyRequest, _reply: FastifyReply, thrown: unknown): Promise<void> => {
    if (request.isRehearsed) return
    const error = toApiError(thrown).code
    const id = (request.params as { id?: string }).id?.toLowerCase()
    const body = (request.body ?? {}) as Record<string, unknown>
    // Before the account is known, this code means that the body is invalid.
    const { label, renew } = request.account === undefined && error === 'invalid_request' ? {} : body
    const key = id !== undefined && isKeyId(id) ? id : undefined
    audit(request, body.renew === undefined ? event : 'API key not renewed', { error, key, label, renew })
  }

async function requireHash({ caller }: FastifyRequest): Promise<void> {
  if (caller.credential === 'platform_hash') return
  throw new ApiError('invalid_token', {
    message: 'Only the platform hash manages API keys. Send it instead of this credential.',
  })
}
