/** Reads response bodies: unpacked, bounded, counted against a byte budget. */
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Reservation } from '../lib/byte-budget.js'
import { hasTooManyNames } from '../lib/json-rows/index.js'
import type { Action, PlatformQuery } from './actions.js'
import { failure } from './errors.js'
import { dataOf, isAccountAction } from './response.js'

/** Maximum size of a body that is parsed as a whole: `JSON.parse` of more would hold the event loop for over 100 ms. */
const maxDocumentBytes = 16 * 1024 * 1024
/** Maximum size of a body that is kept with the account. */
const maxSmallBytes = 1024 * 1024
/** Heap that a parsed document takes, in multiples of its bytes: its text, the values, and the response made of them. */
const heapFactor = 4
/** Heap that a record or list takes at least, however short it is: itself, and what it is read as and translated into. */
const heapPerOpening = 400
/** Heap that any other value takes at least: its place in two lists. */
const heapPerComma = 24
/** Values in one document. Reading more of them, however short, would hold the event loop for seconds. */
const maxValues = 2_000_000

/** Estimated heap of a document: of its bytes, its records and lists, and its other values. */
export const heapOf = (bytes: number, openings: number, commas = 0): number =>
  heapFactor * bytes + heapPerOpening * openings + heapPerComma * commas

/** The body without its content encoding. A corrupt gzip throws zlib's error, whose code starts with `Z_`. */
export function unpacked(body: Readable, encoding: unknown): Readable {
  if (typeof encoding !== 'string' || !/^(x-)?gzip$/i.test(encoding)) return body
  const gunzip = createGunzip({ chunkSize: 64 * 1024 })
  // A failure of either stream destroys both and is thrown to the reader of the unpacked bytes, if there is one.
  pipeline(body, gunzip, () => {})
  // The pipeline stops listening when the last byte is written. The end of a gzip that was cut off comes after that, and an error without a
  // listener ends the process.
  gunzip.on('error', () => {})
  return gunzip
}

/** The text of a whole body; undefined beyond `maxBytes`. */
export async function textIn(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let received = 0
  for await (const chunk of body) {
    received += chunk.byteLength
    if (received > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * Reads a whole body and parses it.
 * @param reservation holds the memory of the body and of what is parsed from it; the caller releases it.
 * @throws PlatformRefused or PlatformUnavailable (`too_large`, `overload`, `html`, `bad_json`, …), or the stream's error.
 */
export async function readDocument(
  request: PlatformQuery,
  body: AsyncIterable<Uint8Array>,
  reservation: Reservation,
): Promise<unknown> {
  const { action } = request
  const chunks: Uint8Array[] = []
  const maxBytes = isAccountAction(action) ? maxSmallBytes : maxDocumentBytes
  let [received, values, reserved] = [0, 0, 0]
  try {
    for await (const chunk of body) {
      received += chunk.byteLength
      if (received > maxBytes) throw failure(action, 'too_large', `${received} bytes`)
      const { openings, commas } = valuesIn(chunk)
      values += openings + commas
      if (values > maxValues) throw failure(action, 'too_large', `${values} values`)
      const bytes = heapOf(chunk.byteLength, openings, commas)
      reserve(action, reservation, bytes)
      reserved += bytes
      chunks.push(chunk)
    }
  } catch (error) {
    // A second attempt reads the whole body again.
    reservation.grow(-reserved)
    throw error
  }
  const bytes = Buffer.concat(chunks)
  if (hasTooManyNames(bytes)) throw failure(action, 'too_large', 'too many names')
  return dataOf(request, bytes.toString())
}

/** Brackets and braces that open something, and commas; those within texts count as well: they may be JSON texts. */
function valuesIn(chunk: Uint8Array): { openings: number; commas: number } {
  let [openings, commas] = [0, 0]
  for (let at = 0; at < chunk.length; at += 1) {
    const byte = chunk[at] as number
    // `[` is 0x5b, and `{` differs from it in one bit.
    if ((byte & 0xdf) === 0x5b) openings += 1
    else if (byte === 0x2c) commas += 1
  }
  return { openings, commas }
}

/** @throws PlatformUnavailable `overload` where the reservation has no room for `bytes` more. */
export function reserve(action: Action, reservation: Reservation, bytes: number): void {
  if (!reservation.grow(bytes)) throw failure(action, 'overload', 'no memory for the response')
}
