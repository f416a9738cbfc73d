/** Errors: each has its code, its shape and its headers, whatever caused it. */
import t from 'tap'
import type { errorTable } from '../../src/errors.js'
import { gateway } from '../helper.js'
import { hasCommonHeaders } from './headers.js'

t.test('every error has its code, its shape and its headers', async (t) => {
  const { get } = await gateway(t)
  const json = { 'content-type': 'application/json' }
  const post = (body: string, headers: Record<string, string> = json): RequestInit => ({
    method: 'POST',
    body,
    headers,
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  type Code = keyof typeof errorTable
  const requests: [path: string, credential: string | undefined, init: RequestInit, status: number, code: Code][] = [
    ['/nowhere', undefined, {}, 404, 'not_found'],
    ['/v1', 'demo', {}, 404, 'not_found'],
    ['/v1/devices/1/2/3', 'demo', {}, 404, 'not_found'],
    ['/v1/%zz', 'demo', {}, 400, 'invalid_request'],
    ['/v1/devices/%e0%a4', 'demo', {}, 400, 'invalid_request'],
    ['/v1/devices', 'demo', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['/v1/devices', undefined, post('{}'), 405, 'method_not_allowed'],
    ['/v1/keys', undefined, { method: 'PUT' }, 405, 'method_not_allowed'],
    ['/v1/keys', undefined, post('{'), 400, 'invalid_request'],
    ['/v1/keys', undefined, post(''), 400, 'invalid_request'],
    ['/v1/keys', undefined, post('{"platform_hash":1}'), 400, 'invalid_request'],
    ['/v1/keys', undefined, post('[]'), 400, 'invalid_request'],
    ['/v1/keys', undefined, post('{"__proto__":{}}'), 400, 'invalid_request'],
    ['/v1/keys', undefined, post('a=b', form), 415, 'unsupported_media_type'],
    ['/v1/keys', undefined, post('x', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['/v1/keys', undefined, post(JSON.stringify({ platform_hash: 'x'.repeat(17_000) })), 413, 'payload_too_large'],
    [`/v1/devices?x=${'y'.repeat(9_000)}`, 'demo', {}, 414, 'uri_too_long'],
    [`/v1/devices/${'y'.repeat(9_000)}`, 'demo', {}, 414, 'uri_too_long'],
  ]
  for (const [path, credential, init, status, code] of requests) {
    const name = `${init.method ?? 'GET'} ${path.slice(0, 40)}`
    const answer = await get(path, credential, init)
    t.same([answer.status, answer.body.error], [status, code], name)
    t.match(answer.body, { message: /\w\.$/, docs: new RegExp(`/docs#error-${code}$`) }, name)
    hasCommonHeaders(t, answer.headers, name)
  }
})
