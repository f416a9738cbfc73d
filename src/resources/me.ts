/** The response of `GET /v1/me`: the account and credential of the caller. */
import { type Static, Type } from 'typebox'
import { field, Nullable, ObjectName, Part, Resource, Word } from './schema.js'

export const Me = Resource(
  'Me',
  'The account that the credential belongs to',
  {
    object: ObjectName('account'),
    credential: Word(['platform_hash', 'api_key', 'demo'], { description: 'The kind of credential in the request' }),
    email: field.textOrNull('E-mail of the account; null if the platform sends none'),
    utc_offset: Nullable(
      Type.String({
        pattern: '^[+-]\\d{2}:\\d{2}$',
        description: "How far the account's clock is ahead of UTC at the moment; null if unknown",
      }),
    ),
    key: Type.Union(
      [
        Part('OwnKey', {
          id: Type.String({ format: 'uuid', description: 'Identifier of the key' }),
          label: field.text('Descriptive name; empty if none'),
          expires_at: field.count('When it expires, in epoch milliseconds'),
        }),
        Type.Null(),
      ],
      { description: 'The API key in the request; null for other credentials' },
    ),
  },
  {
    object: 'account',
    credential: 'api_key',
    email: 'owner@example.com',
    utc_offset: '+02:00',
    key: { id: '0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3', label: 'Dispatch board', expires_at: 1786277007000 },
  },
)
export type Me = Static<typeof Me>
