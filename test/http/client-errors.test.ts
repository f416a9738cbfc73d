/** Client errors: what the HTTP parser rejects before there is a request. */
import t from 'tap'
import { gateway } from '../helper.js'
import { hasCommonHeaders } from './headers.js'
import { raw } from './raw.js'

t.test('what is no HTTP gets an error in the documented shape, with every header', async (t) => {
  const { url } = await gateway(t)
  const close = 'Connection: close\r\n'
  const requests: [name: string, bytes: string, status: number, code: string][] = [
    ['not HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', 400, 'invalid_request'],
    ['a broken header', `GET /api/health HTTP/1.1\r\nHost: x\r\nno colon\r\n${close}\r\n`, 400, 'invalid_request'],
    [
      'two lengths',
      `POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      400,
      'invalid_request',
    ],
    [
      'headers without end',
      `GET /api/health HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['an address without end', `GET /${'y'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, 'uri_too_long'],
    ['an HTTP version nobody speaks', `GET / HTTP/9.9\r\nHost: x\r\n${close}\r\n`, 400, 'invalid_request'],
    ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n`, 405, 'method_not_allowed'],
  ]
  for (const [name, bytes, status, code] of requests) {
    const answer = await raw(url, bytes)
    t.equal(answer.status, status, name)
    t.equal(JSON.parse(answer.body || '{}').error, code, name)
    hasCommonHeaders(t, answer.headers, name)
  }
})
