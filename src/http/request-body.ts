/** Request bodies, read as they arrive. Ours, because Node and Fastify keep each chunk: 16 KiB in chunks of one byte take 3 MB. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, RequestListener } from 'node:http'
import { ApiError } from '../errors.js'
import type { App } from './types.js'

const maxBodyBytes = 16 * 1024

/** A request listener that reads the body of a `POST`, and drops all others. */
export const readBodies =
  (handle: RequestListener): RequestListener =>
  (request, response) => {
    if (request.method === 'POST') request.body = readBody(request)
    else request.resume()
    handle(request, response)
  }

function readBody(request: IncomingMessage): Promise<string> {
  const body = new Promise<string>((resolve, reject) => {
    const bytes = Buffer.alloc(maxBodyBytes)
    let length = 0
    const tooLarge = (): void => reject(new ApiError('payload_too_large'))
    if (Number(request.headers['content-length']) > maxBodyBytes) tooLarge()
    request.on('data', (chunk: Buffer) => {
      const copied = chunk.copy(bytes, length)
      if (copied < chunk.length) tooLarge()
      length += copied
    })
    request.once('end', () => {
      const received = bytes.subarray(0, length)
      // Decoded all the same, a label would be kept with replacement characters (RFC 8259 8.1).
      if (isUtf8(received)) resolve(received.toString())
      else reject(new ApiError('invalid_request', { message: 'The body must be UTF-8.' }))
    })
  })
  // It may be too large for a route that does not read it.
  body.catch(() => {})
  return body
}

/** Parses the bodies that `readBodies` reads. A route gets an ApiError, or an error of Fastify where a body is not JSON. */
export function installBodyParser(app: App): void {
  // A poisoned field is dropped, as any other that is not known.
  const parse = app.getDefaultJsonParser('remove', 'remove')
  app.addContentTypeParser('application/json', (request, raw: IncomingMessage, done) => {
    const encoding = raw.headers['content-encoding'] || 'identity'
    if (encoding.toLowerCase() !== 'identity')
      return done(new ApiError('unsupported_media_type', { message: 'Send the body without Content-Encoding.' }))
    raw.body?.then((text) => parse(request, text, done), done)
    raw.body = undefined
  })
}
