/** `GET /v1/me`: the account of the credential. */
import type { App } from '../http/types.js'
import { Me } from '../resources/me.js'
import { utcOffset } from '../resources/zone.js'
import type { Needs } from './query.js'

export function me(app: App, { clock }: Needs): void {
  const getMeSchema = {
    operationId: 'getMe',
    summary: 'Get the account of the credential',
    description: 'The account and kind of the credential, at low cost: use it to check a credential.',
    tags: ['Account'],
    response: { 200: Me },
  }
  app.get('/me', { schema: getMeSchema }, async ({ account, caller: { credential, key } }, reply) => {
    reply.header('cache-control', 'no-store')
    return {
      object: 'account' as const,
      credential,
      email: account.email,
      utc_offset: utcOffset(clock(), await account.knownSetup()) ?? null,
      key: key && { id: key.id, label: key.label, expires_at: key.expiresAt },
    }
  })
}
