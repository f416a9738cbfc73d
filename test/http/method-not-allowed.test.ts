/** Methods that a path does not have. */
import { METHODS } from 'node:http'
import t from 'tap'
import { gateway } from '../helper.js'
import { hasCommonHeaders } from './headers.js'
import { raw } from './raw.js'

t.test('every method that HTTP knows is a 405 with what the path allows; what is no method is a 400', async (t) => {
  const { url } = await gateway(t)
  const allowed: Record<string, string> = {
    '/api/v1/devices': 'GET, HEAD',
    '/api/v1/keys': 'GET, HEAD, POST',
    '/api/v1/keys/x': 'DELETE',
    '/api/health': 'GET, HEAD',
    '/api/docs': 'GET, HEAD',
  }
  for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
    for (const [path, allow] of Object.entries(allowed)) {
      if (allow.split(', ').includes(method)) continue
      const response = await raw(url, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      const name = `${method} ${path}`
      t.same([response.status, response.headers.get('allow')], [405, allow], name)
      hasCommonHeaders(t, response.headers, name)
    }
    const unknown = await raw(url, `${method} /api/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    t.equal(unknown.status, 404, `${method} of an unknown path`)
  }
  for (const method of ['BREW', 'get', 'G', 'GETS']) {
    const response = await raw(url, `${method} /api/health HTTP/1.1\r\nHost: x\r\n\r\n`)
    t.equal(response.status, 400, method)
    hasCommonHeaders(t, response.headers, method)
  }
})
