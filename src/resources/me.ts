/** What a caller may know of its own credential; must not know how credentials are checked. */
import { type Static, Type } from 'typebox'
import { Nullable, Word } from './schema.js'

export const Me = Type.Object(
  {
    object: Type.Literal('account', { type: 'string', description: 'Always `account`' }),
    credential: Word(['platform_hash', 'api_key', 'demo'], { description: 'The kind of credential that was sent' }),
    email: Nullable(Type.String({ description: 'E-mail of the account; null if the platform does not say' })),
    key: Type.Union(
      [
        Type.Object(
          {
            id: Type.String({ format: 'uuid', description: 'Identifier of the key' }),
            label: Type.String({ description: 'Descriptive name; empty without one' }),
            expires_at: Type.Integer({ minimum: 0, description: 'When it expires, in epoch milliseconds' }),
          },
          { additionalProperties: false, title: 'OwnKey' },
        ),
        Type.Null(),
      ],
      { description: 'The API key that was sent; null for other credentials' },
    ),
  },
  {
    additionalProperties: false,
    title: 'Me',
    description: 'The account behind the credential',
    examples: [
      {
        object: 'account',
        credential: 'api_key',
        email: 'owner@example.com',
        key: { id: '0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3', label: 'Dispatch board', expires_at: 1786277007000 },
      },
    ],
  },
)
export type Me = Static<typeof Me>
