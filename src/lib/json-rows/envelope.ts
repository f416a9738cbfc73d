/** The document around its rows: each row is replaced by a placeholder, and the rest is parsed at once. */
import { randomBytes } from 'node:crypto'
import { ByteBuffer } from './byte-buffer.js'
import { decoded } from './utf8.js'

const QUOTE = 0x22
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
/** A quote, and the number of a row with the quote behind it. */
const MAX_NUMBER = 16

/** The envelope exceeds its limit. */
export class EnvelopeTooLarge extends Error {
  override readonly name = 'EnvelopeTooLarge'
}

export class Envelope {
  /** Random, so that no document can contain a placeholder of its own. */
  readonly #nonce = randomBytes(12).toString('base64url')
  readonly #prefix = Buffer.from(`"${this.#nonce}`)
  readonly #text = new ByteBuffer()
  readonly #maxBytes: number
  #rows = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Placeholders so far. */
  get rows(): number {
    return this.#rows
  }

  append(from: Uint8Array, start: number, end: number): void {
    this.#text.append(from, start, end)
    this.#check()
  }

  /** Adds a string that consists of the nonce and the row's number. */
  addPlaceholder(): void {
    const text = this.#text
    text.append(this.#prefix, 0, this.#prefix.length)
    text.reserve(MAX_NUMBER)
    let unit = 1
    while (this.#rows >= unit * 10) unit *= 10
    for (; unit >= 1; unit /= 10) text.bytes[text.length++] = 0x30 + (Math.floor(this.#rows / unit) % 10)
    text.bytes[text.length++] = QUOTE
    this.#rows++
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
    if (this.#text.length > this.#maxBytes) throw new EnvelopeTooLarge(`more than ${this.#maxBytes} bytes beside rows`)
  }
}
