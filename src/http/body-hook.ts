/** The hook of every response body: entity tag, 304, `Vary`, default `Cache-Control`, and compression. */
import { hash } from 'node:crypto'
import { compress, encodingFor, isCompressible } from './compression.js'
import type { App } from './types.js'

/** The weak tag of an uncompressed body: the same for all its encodings. @param hash its SHA-256, as base64url. */
export const tagOfHash = (hash: string): string => `W/"${hash.slice(0, 22)}"`

/** SHA-256 takes 0.5 µs for a location, 0.2 ms for 300 kB. */
const entityTag = (body: string | Buffer): string => tagOfHash(hash('sha256', body, 'base64url'))

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/** Whether `If-None-Match` names the tag, by weak comparison (RFC 9110 13.1.2). */
function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ['*', tag].includes(ifNoneMatch.trim()) || ifNoneMatch.split(',').some((one) => opaque(one) === opaque(tag))
}

const bytesOf = (body: string | Buffer): Buffer => (typeof body === 'string' ? Buffer.from(body) : body)

/** To be installed before any route, and before the write budget, which counts the bytes that are sent. */
export function installBodyHook(app: App): void {
  app.addHook('onSend', (request, reply, payload, next) => {
    // Without it shared caches choose a time by themselves: Varnish keeps the state of the service for two minutes.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-cache')
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return next()
    const { headers, method, caller } = request
    // Bytes are tagged, compressed and sent without another copy.
    const large = isCompressible(payload) ? bytesOf(payload) : undefined
    const body = large ?? payload
    // A response that must not be stored may hold a secret: compressed, its length would depend on it (BREACH).
    const varies = large !== undefined && reply.getHeader('cache-control') !== 'no-store'
    const encodings = varies ? ['Accept-Encoding'] : []
    if (varies) reply.header('vary', 'Accept-Encoding')
    if (caller !== undefined && reply.statusCode === 200 && (method === 'GET' || method === 'HEAD')) {
      // A private cache may belong to several credentials: the map and the console of the reference share one.
      // A rehearsed error is a response to the same request but for `Prefer` (RFC 7240 2).
      const preferences = caller.credential === 'demo' ? ['Prefer'] : []
      reply.header('vary', ['Authorization', ...preferences, ...encodings].join(', '))
      const known = reply.getHeader('etag')
      const tag = typeof known === 'string' ? known : entityTag(body)
      if (tag !== known) reply.header('etag', tag)
      if (matchesTag(headers['if-none-match'], tag)) {
        reply.code(304).removeHeader('content-type')
        // Fastify takes the Content-Length of a HEAD response from the body that it does not send: it must be that of the 200.
        if (method === 'GET') return next(null, null)
      }
    }
    const encoding = varies ? encodingFor(headers['accept-encoding']) : undefined
    if (large === undefined || encoding === undefined) return next(null, body)
    reply.header('content-encoding', encoding)
    compress(large, encoding).then((bytes) => next(null, bytes), next)
  })
}
