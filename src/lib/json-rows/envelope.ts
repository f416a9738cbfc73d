/** The document around its rows: each row is replaced by a placeholder, and the rest is parsed at once. */
import { randomBytes } from 'node:crypto'
import { ByteBuffer } from './byte-buffer.js'
import { decoded } from './utf8.js'

const QUOTE = 0x22
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
/** Digits of a row's number and the quote behind it. */
const MAX_SUFFIX = 16
/** The end of an envelope whose next value is the member `items`; with more whitespace, or escaped, the name is not found. */
const ITEMS = /[{,\s]"items"\s*:\s*$/
const MAX_NAME_BYTES = 256

/** The envelope or a row exceeds its limit. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

export class Envelope {
  /** Random, so that no document can contain a placeholder of its own. */
  readonly #nonce = randomBytes(9).toString('base64url')
  readonly #prefix = Buffer.from(`"${this.#nonce}`)
  readonly #text = new ByteBuffer()
  readonly #maxBytes: number

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get length(): number {
    return this.#text.length
  }

  /** Whether what follows is the value of a member `items`. */
  get namesItems(): boolean {
    const { bytes, length } = this.#text
    return ITEMS.test(bytes.toString('latin1', Math.max(0, length - MAX_NAME_BYTES), length))
  }

  append(from: Uint8Array, start: number, end: number): void {
    this.#text.append(from, start, end)
    this.#check()
  }

  /** Adds a string that consists of the nonce and the row's number. */
  addPlaceholder(row: number): void {
    const text = this.#text
    text.append(this.#prefix, 0, this.#prefix.length)
    text.reserve(MAX_SUFFIX)
    let digits = 1
    for (let unit = 10; row >= unit; unit *= 10) digits++
    let at = text.length + digits
    text.length = at + 1
    text.bytes[at] = QUOTE
    for (let rest = row; digits > 0; digits--, rest = Math.floor(rest / 10)) text.bytes[--at] = 0x30 + (rest % 10)
    this.#check()
  }

  /** The number of the row whose placeholder this is, or `undefined`. */
  rowAt(value: unknown): number | undefined {
    if (typeof value !== 'string' || !value.startsWith(this.#nonce)) return undefined
    return Number(value.slice(this.#nonce.length))
  }

  parse(): unknown {
    const { bytes, length } = this.#text
    const hasMark = length >= 3 && BYTE_ORDER_MARK.equals(bytes.subarray(0, 3))
    return JSON.parse(decoded(bytes, hasMark ? 3 : 0, length))
  }

  #check(): void {
    if (this.#text.length > this.#maxBytes) throw new TooLarge(`more than ${this.#maxBytes} bytes beside rows`)
  }
}
