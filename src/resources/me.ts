/** The response of `GET /v1/me`: the account and credential of the caller. */
import { type Static, Type } from 'typebox'
import { keyIdExample } from './key.js'
import { field, ObjectName, Part, Resource, Word } from './schema.js'

const OwnKey = Part('OwnKey', {
  id: field.text('Identifier of the key', keyIdExample, { format: 'uuid' }),
  label: field.text('Descriptive name; empty if none', 'Dispatch board'),
  expires_at: field.count('When it expires, in epoch milliseconds', 1786277007000),
})

export const Me = Resource('Me', 'The account that the credential belongs to', {
  object: ObjectName('account'),
  credential: Word(['platform_hash', 'api_key', 'demo'], {
    description: 'The kind of credential in the request',
    example: 'api_key',
  }),
  email: field.textOrNull('E-mail of the account; null if the platform sends none', 'owner@example.com'),
  utc_offset: field.textOrNull("How far the account's clock is ahead of UTC at the moment; null if unknown", '+02:00', {
    pattern: '^[+-]\\d{2}:\\d{2}$',
  }),
  key: Type.Union([OwnKey, Type.Null()], { description: 'The API key in the request; null for other credentials' }),
})
export type Me = Static<typeof Me>
