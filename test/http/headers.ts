/** The headers of every response. */
import type { Test } from 'tap'

export function hasCommonHeaders(t: Test, headers: Headers, name: string): void {
  for (const header of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
    t.match(headers.get(header), /^\d+$/, `${header} on ${name}`)
  }
  t.match(headers.get('x-request-id'), /^[\w.:-]{1,64}$/, `x-request-id on ${name}`)
  t.match(headers.get('date'), / GMT$/, `date on ${name}`)
  t.match(headers.get('content-type'), /^application\/json/, `content-type on ${name}`)
  t.equal(headers.get('x-content-type-options'), 'nosniff', `x-content-type-options on ${name}`)
}
