/** `GET /v1/me`: the account of the credential. */
import type { App } from '../http/types.js'
import { Me } from '../resources/me.js'

export function me(app: App): void {
  app.get(
    '/me',
    {
      schema: {
        operationId: 'getMe',
        summary: 'Get the account of the credential',
        description: 'The account and kind of the credential, at low cost: use it to check a credential.',
        tags: ['Account'],
        response: { 200: Me },
      },
    },
    async ({ account, caller: { credential, key } }, reply) => {
      reply.header('Cache-Control', 'no-store')
      return {
        object: 'account' as const,
        credential,
        email: account.email,
        key: key && { id: key.id, label: key.label, expires_at: key.expiresAt },
      }
    },
  )
}
