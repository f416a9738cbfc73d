/** The document around its rows: each row is replaced by a placeholder, and the rest is parsed at once. */
import { randomBytes } from 'node:crypto'
import { ByteBuffer } from './byte-buffer.js'
import { hasTooManyNames } from './names.js'
import { decoded } from './utf8.js'

const quote = 0x22
/** Digits of a row's number and the quote behind it. */
const maxSuffix = 16
/** The end of an envelope whose next value is the member `items`; with more whitespace, or escaped, the name is not found. */
const items = /[{,\s]"items"\s*:\s*$/
const maxNameBytes = 256

/** The envelope or a row exceeds its limit. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

export class Envelope extends ByteBuffer {
  /** Random, so that no document can contain a placeholder of its own. */
  readonly #nonce = randomBytes(9).toString('base64url')
  readonly #prefix = Buffer.from(`"${this.#nonce}`)
  readonly #maxBytes: number

  constructor(maxBytes: number) {
    super()
    this.#maxBytes = maxBytes
  }

  /** Whether what follows is the value of a member `items`. */
  get namesItems(): boolean {
    const { bytes, length } = this
    return items.test(bytes.toString('latin1', Math.max(0, length - maxNameBytes), length))
  }

  override append(from: Uint8Array, start: number, end: number): void {
    super.append(from, start, end)
    if (this.length > this.#maxBytes) throw new TooLarge(`more than ${this.#maxBytes} bytes beside rows`)
  }

  /** Adds a string that consists of the nonce and the row's number, digit by digit: made as a text, it takes 8 % of reading a list. */
  addPlaceholder(row: number): void {
    this.append(this.#prefix, 0, this.#prefix.length)
    this.reserve(maxSuffix)
    let digits = 1
    for (let unit = 10; row >= unit; unit *= 10) digits++
    let at = this.length + digits
    this.length = at + 1
    this.bytes[at] = quote
    for (let rest = row; digits > 0; digits--, rest = Math.floor(rest / 10)) this.bytes[--at] = 0x30 + (rest % 10)
  }

  /** The number of the row whose placeholder this is, or `undefined`. */
  rowAt(value: unknown): number | undefined {
    if (typeof value !== 'string' || !value.startsWith(this.#nonce)) return undefined
    return Number(value.slice(this.#nonce.length))
  }

  parse(): unknown {
    if (hasTooManyNames(this.bytes.subarray(0, this.length))) throw new TooLarge('too many names beside rows')
    // Trimmed of byte order marks, too: PHP sends that of each file that it includes.
    return JSON.parse(decoded(this.bytes, 0, this.length).trimStart())
  }
}
