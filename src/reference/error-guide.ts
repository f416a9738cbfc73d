/** Every error code in a caller's words: when it comes, and what to do. The page shows it; no answer is made from it. */
import type { ErrorCode } from '../errors.js'

export const explanations: Record<ErrorCode, { when: string; remedy: string }> = {
  invalid_request: {
    when: 'A parameter or body field is missing, malformed or out of bounds. `param` names it; without `param` the request as a whole could not be read.',
    remedy: 'Correct that parameter. Sending the same request again gives the same answer.',
  },
  unauthorized: {
    when: 'There is no `Authorization: Bearer …` header.',
    remedy:
      'Send the header with every request but `/health` and `POST /v1/keys`. Some HTTP clients drop it on redirects.',
  },
  invalid_token: {
    when: 'The credential is wrong, revoked or expired, its account is deactivated, or it is of a kind that may not do this: API keys are managed with the platform hash alone.',
    remedy: 'Stop and check the credential; do not retry. A lost or expired key is replaced by a new one.',
  },
  forbidden: {
    when: 'The credential is good, but its account has no permission to read this on the tracking platform.',
    remedy: "Ask the account's administrator on the platform for the permission that the message names.",
  },
  not_found: {
    when: 'There is no such path, or no such resource in this account. Whatever belongs to another account looks the same.',
    remedy: 'Check the id against the list it came from. The message repeats what was asked for.',
  },
  no_location: {
    when: 'The device exists and has never reported a position.',
    remedy: 'Treat it as a device without a place; ask again later. In the device list its `lat` and `lng` are null.',
  },
  method_not_allowed: {
    when: 'The path exists and does not answer this method.',
    remedy: 'Use one of the methods in the `Allow` header. Everything but API keys is read with `GET`.',
  },
  too_many_keys: {
    when: 'The account holds as many active API keys as it may.',
    remedy: 'List the keys, revoke one that is no longer used, then make the new one.',
  },
  payload_too_large: {
    when: 'The request body is larger than 16 KiB.',
    remedy: 'Send only the documented fields; they are far smaller.',
  },
  uri_too_long: {
    when: 'Path and query together are longer than 4096 bytes.',
    remedy: 'Send fewer or shorter parameters.',
  },
  unsupported_media_type: {
    when: 'The request has a body that is not announced as JSON.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  rate_limit_exceeded: {
    when: 'The credential, or the address of requests without a good one, has used up its requests for this window.',
    remedy: 'Wait as many seconds as `Retry-After` says, then go on more slowly. This body has no `docs` link.',
  },
  headers_too_large: {
    when: 'The request headers are larger than 16 KiB.',
    remedy: 'Send fewer headers; cookies are not needed.',
  },
  internal_error: {
    when: 'Something went wrong inside the service.',
    remedy: 'Try again once. If it stays, report the `X-Request-Id` of the answer.',
  },
  gateway_error: {
    when: 'The tracking platform does not answer properly at the moment, or the credential cannot be checked.',
    remedy:
      'Wait as many seconds as `Retry-After` says and try again, waiting longer each time. Nothing is wrong with the request.',
  },
}
