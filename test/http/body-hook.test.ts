/** Entity tags, 304 responses, `Cache-Control` and compression, over every path that is read. */
import t from 'tap'
import { compress, encodingFor } from '../../src/http/compression.js'
import { type Answer, Clock, gateway, sandbox, someHash } from '../helper.js'
import { createKey } from '../limits.js'
import { hasCommonHeaders } from './headers.js'

// A gateway with enough API keys for a list of more than 1 KiB, and every path that can be read.
const clock = new Clock()
const { url, hashes, accounts } = await sandbox(t, { clock: clock.now })
const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url, RATE_LIMIT_MAX: '10000' } })
const [hash = ''] = hashes
for (let i = 0; i < 8; i += 1) await createKey(get, { platform_hash: hash })
const id = accounts[0]?.firstDeviceId
const paths = Object.entries({
  'private, max-age=5': ['devices', 'devices?limit=500', `devices/${id}`, `devices/${id}/location`],
  'private, no-cache': `geofences events alerts services drivers history/${id}?from=2026-05-11&to=2026-05-11`.split(
    ' ',
  ),
  'no-store': ['me', 'keys'],
}).flatMap(([cacheControl, names]) => names.map((name) => [cacheControl, `/v1/${name}`] as const))
const read = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  get(path, hash, { method, headers: { 'accept-encoding': 'identity', ...headers } })

const tagOf = ({ headers }: Answer): string => headers.get('etag') ?? ''
const remaining = ({ headers }: Answer): number => Number(headers.get('ratelimit-remaining'))

t.test('the tag of a response brings an empty 304 in each of its forms, which counts as a request', async (t) => {
  const full = await read('/v1/devices')
  const tag = tagOf(full)
  t.match(tag, /^W\/"[\w-]{22}"$/)
  let left = remaining(full)
  for (const sent of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
    const response = await read('/v1/devices', { 'if-none-match': sent })
    left -= 1
    t.same([response.status, response.body, remaining(response), tagOf(response)], [304, undefined, left, tag], sent)
    t.equal(response.headers.get('content-type'), null)
    t.match(response.headers.get('x-request-id'), /./)
  }
  t.equal((await read('/v1/devices', { 'if-none-match': '"other", W/"another"' })).status, 200)
})

t.test('errors and changes have no tag, and no precondition turns them into a 304', async (t) => {
  const json = JSON.stringify({ platform_hash: hash })
  const post = { method: 'POST', body: json, headers: { 'content-type': 'application/json', 'if-none-match': '*' } }
  const requests: [path: string, status: number, credential: string | undefined, init: RequestInit][] = [
    ['/v1/devices/999999999', 404, hash, {}],
    [`/v1/devices/${id}/nothing`, 404, hash, {}],
    ['/v1/devices?limit=0', 400, hash, {}],
    ['/v1/devices', 401, undefined, {}],
    ['/v1/keys', 200, undefined, post],
  ]
  for (const [path, status, credential, init] of requests) {
    const response = await get(path, credential, { headers: { 'if-none-match': '*' }, ...init })
    t.same([response.status, response.headers.get('etag')], [status, null], path)
    t.notMatch(response.headers.get('cache-control'), /max-age/, path)
    t.equal(response.headers.get('vary'), null, path)
    hasCommonHeaders(t, response.headers, path)
  }
})

t.test('a shared cache keeps neither data nor the state of the service', async (t) => {
  for (const path of ['/health', ...paths.map(([, path]) => path)])
    t.match((await read(path)).headers.get('cache-control'), /^(private|no-store)/, path)
})

t.test('Age counts from the request to the platform, and from 0 after each of them', async (t) => {
  for (const path of ['/v1/devices', `/v1/devices/${id}`, `/v1/devices/${id}/location`]) {
    clock.advance(10_000)
    for (const age of ['0', '3', '4']) {
      const { headers } = await read(path)
      t.same([headers.get('age'), headers.get('cache-status')], [age, null], path)
      clock.advance(age === '0' ? 3_000 : 1_900)
    }
  }
})

t.test('bodies over 1 KiB are compressed as the client prefers, with the tag of the plain body', async (t) => {
  let large = 0
  for (const [cacheControl, path] of paths) {
    const plain = await read(path)
    t.equal(plain.headers.get('cache-control'), cacheControl, path)
    const text = JSON.stringify(plain.body)
    const bytes = Buffer.byteLength(text)
    const isLarge = bytes > 1_024 && cacheControl !== 'no-store'
    large += Number(isLarge)
    for (const encoding of ['br', 'gzip', 'identity']) {
      for (const method of ['GET', 'HEAD']) {
        const { headers, body } = await read(path, { 'accept-encoding': encoding }, method)
        const applied = isLarge && (encoding === 'br' || encoding === 'gzip') ? encoding : null
        const name = `${method} ${path} ${encoding}`
        t.same([headers.get('content-encoding'), headers.get('etag')], [applied, tagOf(plain)], name)
        const vary = isLarge ? 'Authorization, Accept-Encoding' : 'Authorization'
        t.equal(headers.get('vary'), vary, `${name}: a cache keeps credentials and encodings apart`)
        t.ok(applied === null || Number(headers.get('content-length')) < bytes / 1.5, name)
        if (method === 'GET') t.equal(JSON.stringify(body), text, name)
        const same = await read(path, { 'accept-encoding': encoding, 'if-none-match': tagOf(plain) }, method)
        t.same([same.status, same.body, tagOf(same)], [304, undefined, tagOf(plain)], `304 of ${name}`)
        t.same([same.headers.get('vary'), same.headers.get('cache-control')], [vary, cacheControl], `304 of ${name}`)
        if (method === 'GET') t.equal(same.headers.get('content-encoding'), null, `304 of ${name}`)
        // RFC 9110 8.6.
        t.ok([null, headers.get('content-length')].includes(same.headers.get('content-length')), `304 of ${name}`)
      }
    }
  }
  t.ok(large >= 5, `${large} large bodies`)
  const { body } = await read('/v1/keys')
  t.ok(JSON.stringify(body).length > 1_024, 'a list of keys is left plain, although it is large')
})

t.test('Accept-Encoding is read with its weights', async (t) => {
  const headers: Record<'br' | 'gzip' | 'none', (string | undefined)[]> = {
    br: ['gzip, deflate, br', '*'],
    gzip: ['GZIP', 'br;q=0.5, gzip', 'br;q=0, gzip;q=0.001', 'br;q=0, *', 'gzip ; q=0.8 , br ; q=0.2'],
    none: [
      ...[undefined, '', 'identity', 'deflate, zstd', 'br;q=0, gzip;q=0', '*;q=0', 'identity, br;q=0.5'],
      ...['br;q=high', ',;,=,q'],
    ],
  }
  for (const [encoding, all] of Object.entries(headers))
    for (const header of all) t.equal(encodingFor(header) ?? 'none', encoding, String(header))
})

t.test('a body in memory is compressed once for each coding, and keeps no more memory than its bytes', async (t) => {
  const body = Buffer.from(someHash.repeat(50))
  for (const coding of ['br', 'gzip'] as const) {
    const bytes = await compress(body, coding)
    t.equal(bytes.buffer.byteLength, bytes.length, coding)
  }
  t.equal(compress(body, 'br'), compress(body, 'br'))
  t.equal(compress(body, 'gzip'), compress(body, 'gzip'))
  t.not(await compress(body, 'gzip'), await compress(body, 'br'))
})
