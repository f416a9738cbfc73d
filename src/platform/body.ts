/** Reads response bodies: unpacked, bounded, counted against a byte budget; as one JSON document or row by row. */
import { pipeline, type Readable } from 'node:stream'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { Reservation } from '../lib/byte-budget.js'
import { EnvelopeTooLarge, RowTooLarge } from '../lib/json-rows/index.js'
import type { Action } from './actions.js'
import { PlatformUnavailable } from './errors.js'
import { checked, dataOf, isAccountAction, jsonIn } from './response.js'

/** Maximum size of a body that is parsed as a whole: `JSON.parse` of more would hold the event loop for over 100 ms. */
const maxDocumentBytes = 16 * 1024 * 1024
/** The same where a response is small, or kept with the account. */
const maxSmallBytes = 1024 * 1024
/** Maximum size of a body that is read row by row: about 140,000 devices of 3.7 kB. */
const maxRowsBytes = 512 * 1024 * 1024
/**
 * Bytes read row by row before other responses have their turn. Beside lists of 10,000, a list of 50 devices takes 11 ms instead of 38;
 * the long lists take up to 15 % longer.
 */
const turnBytes = 128 * 1024
/** Heap that a parsed document takes, in multiples of its bytes: its text, the values, and the response made of them. */
const heapFactor = 4
/** Heap that a record or list takes at least, however short it is: itself, and what it is read as and translated into. */
const heapPerOpening = 400

/** Estimated heap of so many bytes of a document, and its records and lists. */
export const heapOf = (bytes: number, openings: number): number => heapFactor * bytes + heapPerOpening * openings

const isGzip = (encoding: unknown): boolean => typeof encoding === 'string' && /^(x-)?gzip$/i.test(encoding)

/** The body without its content encoding. A corrupt gzip throws zlib's error, whose code starts with `Z_`. */
export function unpacked(body: Readable, encoding: unknown): Readable {
  if (!isGzip(encoding)) return body
  const gunzip = createGunzip({ chunkSize: 64 * 1024 })
  // A failure of either stream destroys both and is thrown to the reader of the unpacked bytes, if there is one.
  pipeline(body, gunzip, () => {})
  // The pipeline stops listening when the last byte is written. The end of a gzip that was cut off comes after that, and an error without a
  // listener ends the process.
  gunzip.on('error', () => {})
  return gunzip
}

/** The text of a whole body; undefined beyond so many bytes. */
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
 * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable (`too_large`, `overload`, `html`, `bad_json`, …), or the stream's error.
 */
export async function readDocument(
  action: Action,
  body: AsyncIterable<Uint8Array>,
  reservation: Reservation,
): Promise<unknown> {
  const chunks: Uint8Array[] = []
  const maxBytes = isAccountAction(action) ? maxSmallBytes : maxDocumentBytes
  let received = 0
  for await (const chunk of body) {
    received += chunk.byteLength
    if (received > maxBytes) throw tooLarge(action, received)
    reserve(action, reservation, heapOf(chunk.byteLength, openingsIn(chunk)))
    chunks.push(chunk)
  }
  return dataOf(action, Buffer.concat(chunks).toString())
}

/** Brackets and braces that open something; those within texts count as well. */
function openingsIn(chunk: Uint8Array): number {
  let openings = 0
  // `[` is 0x5b, and `{` differs from it in one bit.
  for (let at = 0; at < chunk.length; at += 1) if (((chunk[at] as number) & 0xdf) === 0x5b) openings += 1
  return openings
}

/** Reads the rows of a document as its bytes arrive; `end` returns the document without its rows. */
interface RowSink {
  write(chunk: Uint8Array): void
  end(): unknown
  /** Estimated memory of everything kept so far. */
  readonly bytes: number
}

/** As `readDocument`, for a body whose rows go to a sink. Returns what `end` returned, checked to be a response to the action. */
export async function readRows(
  action: Action,
  body: AsyncIterable<Uint8Array>,
  sink: RowSink,
  reservation: Reservation,
): Promise<unknown> {
  let [received, ofTurn] = [0, 0]
  for await (const chunk of withoutPreamble(action, body)) {
    received += chunk.byteLength
    ofTurn += chunk.byteLength
    if (received > maxRowsBytes) throw tooLarge(action, received)
    if (ofTurn > turnBytes) {
      await endOfTurn()
      ofTurn = 0
    }
    parsing(action, () => sink.write(chunk))
    reserve(action, reservation, Math.max(0, sink.bytes - reservation.bytes))
  }
  const envelope = parsing(action, () => sink.end())
  return checked(action, envelope)
}

/** Bytes that may precede the document: a byte order mark and blanks. */
const maxPreambleBytes = 64 * 1024
/** A byte order mark may be split between chunks. */
const minHeadBytes = 4

/** The chunks from the first byte of the document on. @throws PlatformUnavailable for HTML, or a body that starts with too many blanks. */
async function* withoutPreamble(action: Action, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array()
  for await (const chunk of body) {
    if (head === undefined) {
      yield chunk
      continue
    }
    head = head.byteLength === 0 ? chunk : Buffer.concat([head, chunk])
    if (head.byteLength < minHeadBytes) continue
    const document = documentIn(action, head)
    if (document) yield document
    else if (head.byteLength > maxPreambleBytes) throw badJson(action, `${head.byteLength} blank bytes`)
    if (document) head = undefined
  }
  const document = head && documentIn(action, head)
  if (document) yield document
}

/** What follows the byte order mark and blanks; undefined while there is nothing else. */
function documentIn(action: Action, head: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(head).toString()
  const json = jsonIn(action, text)
  return json === '' ? undefined : head.subarray(Buffer.byteLength(text.slice(0, text.length - json.length)))
}

const badJson = (action: Action, detail: string): PlatformUnavailable =>
  new PlatformUnavailable(action, 'bad_json', { detail })

function reserve(action: Action, reservation: Reservation, bytes: number): void {
  if (!reservation.grow(bytes))
    throw new PlatformUnavailable(action, 'overload', { detail: 'no memory for the response' })
}

const tooLarge = (action: Action, bytes: number): PlatformUnavailable =>
  new PlatformUnavailable(action, 'too_large', { detail: `${bytes} bytes` })

/** Errors of the row reader as platform failures; their messages hold no text of the document. */
export function parsing<T>(action: Action, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw badJson(action, error.message)
    if (error instanceof EnvelopeTooLarge || error instanceof RowTooLarge)
      throw new PlatformUnavailable(action, 'too_large', { detail: error.message })
    throw error
  }
}
