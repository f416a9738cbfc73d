/** For every error code when it occurs and what a client should do, as shown on the page. Pure. */
import { type ErrorCode, errorTable } from '../errors.js'
import { prose } from './html.js'

const errorGuide: Record<ErrorCode, { when: string; remedy: string }> = {
  invalid_request: {
    when: 'A parameter or body field is missing, malformed or out of range, or needs too many calls to the platform. `param` names it; without `param` the request as a whole is unreadable, or arrived too slowly.',
    remedy: 'Correct the request as the message says. Repeat only one that did not arrive in time.',
  },
  unauthorized: {
    when: 'The request has no `Authorization: Bearer …` header.',
    remedy:
      'Send the header with every request except `/health` and `POST /v1/keys`. Some HTTP clients drop it on redirects.',
  },
  invalid_token: {
    when: 'The credential is wrong, revoked or expired, its account is deactivated, or a credential of this kind is not allowed here: only the platform hash manages API keys.',
    remedy: 'Do not retry. Check the credential. Renew a key after a password change, replace a lost or expired one.',
  },
  forbidden: {
    when: 'The credential is valid, but its account lacks the permission to read this on the tracking platform.',
    remedy: "Ask the account's administrator on the platform for the permission that the message names.",
  },
  not_found: {
    when: 'The path does not exist, or this account has no such resource. Resources of other accounts look the same.',
    remedy: 'Check the id against the list it came from. The message repeats it.',
  },
  no_location: {
    when: 'The device exists and has never reported a position.',
    remedy: 'Try again later. In the device list, `lat` and `lng` of this device are null.',
  },
  method_not_allowed: {
    when: 'The path exists and does not support this method.',
    remedy:
      'Use one of the methods in the `Allow` header. Only API keys are written; everything else is read with `GET`.',
  },
  too_many_keys: {
    when: 'The account has the maximum number of active API keys.',
    remedy: 'List the keys, revoke one that is no longer in use, then create the new one.',
  },
  payload_too_large: { when: 'The request body is larger than 16 KiB.', remedy: 'Send only the documented fields.' },
  uri_too_long: {
    when: 'Path and query together are longer than 8192 bytes.',
    remedy: 'Send fewer or shorter parameters.',
  },
  unsupported_media_type: {
    when: 'The request has a body whose `Content-Type` is not JSON, or that is compressed.',
    remedy: 'Send `Content-Type: application/json`, and no `Content-Encoding`.',
  },
  rate_limit_exceeded: {
    when: 'The rate limit of the credential is exceeded, or that of the IP address for requests without a valid credential in their header.',
    remedy: 'Wait the number of seconds in `Retry-After`, then send fewer requests. This body has no `docs` link.',
  },
  headers_too_large: {
    when: 'The request line and the headers together are larger than 16 KiB, colons and line ends not counted, or there are more than 127 headers.',
    remedy: 'Send fewer headers, or a shorter URL. The service uses no cookies.',
  },
  internal_error: {
    when: 'The service failed.',
    remedy: 'Retry once. If the error persists, report the `X-Request-Id` of the response.',
  },
  gateway_error: {
    when: 'The tracking platform is temporarily unavailable, the credential cannot be validated, or the service is overloaded.',
    remedy:
      'Wait the number of seconds in `Retry-After` and retry, with a longer wait each time. The request itself is correct, unless the message says to send a `limit`.',
  },
}

function errorEntry(code: ErrorCode, hasDemo: boolean): string {
  const { when, remedy } = errorGuide[code]
  const rehearse = hasDemo ? ` <a href="#rehearsal">Rehearse</a> it with <code>Prefer: error=${code}</code>.` : ''
  return `<article id="error-${code}" tabindex="-1"><h3><code>${code}</code> <span class="status">${errorTable[code][0]}</span></h3>
<p>${prose(when)}</p><p class="remedy"><strong>What to do:</strong> ${prose(remedy)}${rehearse}</p></article>`
}

export const errorEntries = (hasDemo: boolean): string =>
  (Object.keys(errorTable) as ErrorCode[]).map((code) => errorEntry(code, hasDemo)).join('\n')
