/** The id of a request: the caller's own if it is short, plain and no credential, else a new one. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const plainId = /^[A-Za-z0-9._:-]{1,64}$/
/** Long enough to be a secret; a UUID has 36 characters and the parts of a `traceparent` at most 32. */
const longHex = /[0-9a-f]{40}/i
const longBase64 = /[\w-]{40}/

/** Whether a text may be a credential: ids appear in responses and logs, so a credential must not become one. */
function looksLikeCredential(id: string, authorization: string | undefined): boolean {
  if (/gps_live_/i.test(id) || longHex.test(id)) return true
  if (longBase64.test(id) && /[a-z]/.test(id) && /[A-Z]/.test(id) && /\d/.test(id)) return true
  return authorization?.endsWith(` ${id}`) === true
}

export function requestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id']
  if (typeof sent !== 'string' || !plainId.test(sent)) return randomUUID()
  return looksLikeCredential(sent, headers.authorization) ? randomUUID() : sent
}
