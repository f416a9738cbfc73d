/** An API key as documented: created, listed, revoked. */
import { type Static, Type } from 'typebox'
import type { KeyRecord } from '../store/store.js'
import { field, ObjectName, Resource, Word } from './schema.js'

export const keyIdExample = '0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3'

const object = ObjectName('api_key')
const id = field.text('Identifier of the key; not a secret', keyIdExample, { format: 'uuid' })
const label = field.text('Descriptive name; empty without one', 'Dispatch board')
const created_at = field.count('When it was created, in epoch milliseconds', 1778501007000)
const expires_at = field.count('When it expires, in epoch milliseconds', 1786277007000)
const message = (text: string) => field.text('Human-readable text', text)
const createdMessage = 'Store this key now: it is not shown again. A lost key can only be revoked and replaced.'
const revokedMessage = 'The key is revoked. Requests with it are rejected from now on.'

export const CreateKey = Type.Object(
  {
    platform_hash: Type.String({ minLength: 1, maxLength: 512, description: "The account's platform credential" }),
    label: Type.Optional(
      // No `pattern`: engines differ in their escapes, and generators copy one into code, where U+2028 ends a line.
      Type.String({
        maxLength: 100,
        description:
          'Descriptive name in any script, without control characters; leading and trailing spaces are removed',
      }),
    ),
    expires_in_days: Type.Optional(
      // No `default`: openapi-typescript would make the field required.
      Type.Integer({ minimum: 1, maximum: 3650, description: 'Days until the key expires; 365 if omitted' }),
    ),
    renew: Type.Optional(
      Type.Array(Type.String({ format: 'uuid' }), {
        minItems: 1,
        maxItems: 100,
        description:
          'Ids of active keys of the account that work again with this platform hash, after a password change. No key is created: send neither `label` nor `expires_in_days`',
      }),
    ),
  },
  {
    title: 'CreateKey',
    description: 'Body of the request for a new API key',
    examples: [{ platform_hash: '<PLATFORM_HASH>', label: 'Dispatch board', expires_in_days: 90 }],
  },
)
export type CreateKey = Static<typeof CreateKey>

const shown = ({ id, label, createdAt, expiresAt }: KeyRecord, key: string) => {
  return { object: 'api_key' as const, id, key, label, created_at: createdAt, expires_at: expiresAt }
}

/** The only response with the complete key. */
export const toCreatedKey = (stored: KeyRecord, key: string, email: string | null) => {
  return { ...shown(stored, key), platform_email: email, message: createdMessage }
}

export const CreatedKey = Resource('CreatedKey', 'A new API key, with its complete value', {
  object,
  id,
  key: field.text('The complete key; not shown again', 'gps_live_5d0b6c3e91f2a87450cb3de6f1a29784b05c6d3e8f7a1b92', {
    pattern: '^gps_live_[0-9a-f]{48}$',
  }),
  label,
  created_at,
  expires_at,
  platform_email: field.textOrNull('E-mail of the owning account; null if unknown', 'owner@example.com'),
  message: message(createdMessage),
})
export type CreatedKey = Static<typeof CreatedKey>

/** @param usable whether it holds the current platform hash; null if unknown. */
export const toKey = (stored: KeyRecord, usable: boolean | null) => {
  return { ...shown(stored, stored.hint), last_used_at: stored.lastUsedAt, status: 'active' as const, usable }
}

export const Key = Resource('Key', 'An active API key, with its value truncated', {
  object,
  id,
  key: field.text(
    'The key, truncated to its prefix and the first and last four characters after it',
    'gps_live_5d0b…1b92',
  ),
  label,
  created_at,
  expires_at,
  last_used_at: field.countOrNull('When it was last used, in epoch milliseconds, exact to one minute; null if never'),
  status: Word(['active'], { description: 'Only active keys are listed', example: 'active' }),
  usable: field.flagOrNull(
    'Whether the key holds the platform hash of this request. If false, renew it, or replace it if another user of the platform created it; null if it was created by an earlier release and not used since',
    true,
  ),
})

/** @param revokedAt epoch milliseconds. */
export const toRevokedKey = (id: string, revokedAt: number) => ({
  object: 'api_key' as const,
  id,
  deleted: true as const,
  revoked_at: revokedAt,
  message: revokedMessage,
})

export const RevokedKey = Resource('RevokedKey', 'A revoked API key', {
  object,
  id,
  deleted: Type.Literal(true, { type: 'boolean', description: 'Always true' }),
  revoked_at: field.count('When it was revoked, in epoch milliseconds', 1778587407000),
  message: message(revokedMessage),
})
