/** `GET /v1/me`: whom the credential belongs to. */
import type { App } from '../http/types.js'
import { Me } from '../resources/me.js'

export function me(app: App): void {
  app.get(
    '/me',
    {
      schema: {
        operationId: 'getMe',
        summary: 'Get the account of the credential',
        description: 'Whom the credential belongs to and what kind it is: a cheap way to try one.',
        tags: ['Account'],
        response: { 200: Me },
      },
    },
    async ({ account, caller: { credential, key } }) => ({
      object: 'account' as const,
      credential,
      email: account.email,
      key: key && { id: key.id, label: key.label, expires_at: key.expiresAt },
    }),
  )
}
