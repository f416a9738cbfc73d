/** Renewal of API keys after a password change: `POST /v1/keys` with `renew`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../auth/authenticator.js'
import { hashPrintOf, type Secret } from '../auth/credential.js'
import { sealFor } from '../auth/seal.js'
import { ApiError } from '../errors.js'
import { admit, isExceeded, type Limits } from '../rate-limit/limiter.js'
import { type CreateKey, Key, toKey } from '../resources/key.js'
import { ListOf, page } from '../resources/list.js'
import type { Change, KeyRecord } from '../store/store.js'
import { activeKeys, audit } from './keys.js'
import { invalid, type Needs } from './query.js'

/** Documented in words: as a second shape of the response, it would break the types of generated clients. */
const RenewedKeys: Record<string, unknown> = { ...ListOf(Key) }

export interface KeyRenewalOptions extends Pick<Needs, 'keys' | 'clock'> {
  limits: Limits
  authenticator: Pick<Authenticator, 'revalidate'>
}

/**
 * @returns a function that has the keys with the ids in `renew` hold the hash of `request.account`, and returns the JSON of the response.
 * It throws ApiError unless all of them can be renewed, and what the platform or the store threw.
 */
export function keyRenewal({ keys, clock, limits, authenticator }: KeyRenewalOptions) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    hash: Secret,
    { label, expires_in_days, renew: ids = [] }: CreateKey,
  ): Promise<string> => {
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
      audit(request, 'API key renewed', { key: record.id, label: record.label })
      return [record]
    }
    const items = (await Promise.all(chosen.map(renew))).flat().map((record) => toKey(record, true))
    return String(reply.compileSerializationSchema(RenewedKeys)(page(items, {})))
  }
}

/** The record of a key of this user with another hash. An e-mail may pass to another user, so the owner of a key does not suffice. */
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
