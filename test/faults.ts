/** What the tests of hostile conditions share: what a caller must be told, and waiting for a recovery nobody announces. */
import type { Test } from 'tap'
import type { Answer } from './helper.js'

/** Minutes instead of seconds: real time limits run out, and everything happens more often. */
export const isLong = process.env.FAULTS === 'long'

/** The 503 of the interface, complete. */
export function isUnavailable(t: Test, { status, headers, body }: Answer, name: string): void {
  t.equal(status, 503, `${name}: status`)
  t.equal(body?.error, 'gateway_error', `${name}: code`)
  t.match(body?.message, /\S/, `${name}: message`)
  t.match(body?.docs, /#error-gateway_error$/, `${name}: link`)
  t.match(headers.get('retry-after'), /^[1-9]\d*$/, `${name}: Retry-After`)
  for (const header of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
    t.match(headers.get(header), /^\d+$/, `${name}: ${header}`)
  }
}
