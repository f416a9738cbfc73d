/** JSON strings as texts; the short ones that come again and again are made once. Trusts its caller that the bytes are valid. */
import { isAscii } from 'node:buffer'

const KEPT = 1 << 10
/** Longer ones hardly come again. */
const LONGEST_KEPT = 20

/** A string as it was written, and what it says. */
interface Kept {
  written: string
  text: string
}

export class Texts {
  /** Characters of all that was asked for. */
  total = 0
  readonly #kept: Kept[] = Array.from({ length: KEPT }, () => ({ written: '', text: '' }))

  /** What the bytes between two quotes say. */
  of(bytes: Buffer, from: number, to: number): string {
    const length = to - from
    this.total += length
    if (length === 0) return ''
    if (length > LONGEST_KEPT)
      return isPlain(bytes, from, to) ? bytes.toString('latin1', from, to) : decoded(bytes, from, to)
    const middle = bytes[from + (length >> 1)] as number
    const place =
      (length * 61 + (bytes[from] as number) * 7 + (bytes[to - 1] as number) * 13 + middle * 29) & (KEPT - 1)
    const kept = this.#kept[place] as Kept
    if (isWritten(kept.written, bytes, from, length)) return kept.text
    kept.written = bytes.toString('latin1', from, to)
    kept.text = isPlain(bytes, from, to) ? kept.written : decoded(bytes, from, to)
    return kept.text
  }
}

function isWritten(written: string, bytes: Buffer, from: number, length: number): boolean {
  if (written.length !== length) return false
  for (let at = 0; at < length; at++) if (written.charCodeAt(at) !== bytes[from + at]) return false
  return true
}

/** Whether the characters are the bytes. */
function isPlain(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number
    if (byte === 0x5c || byte > 0x7f) return false
  }
  return true
}

/** Invalid UTF-8 reads as U+FFFD. */
function decoded(bytes: Buffer, from: number, to: number): string {
  const part = bytes.subarray(from - 1, to + 1)
  return JSON.parse(part.toString(isAscii(part) ? 'latin1' : 'utf8'))
}
