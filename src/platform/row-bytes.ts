/** Where a JSON value ends, and what number it is, byte by byte; the bytes end with a zero. Knows no shape. */
import * as json from './projector-table.js'

// Imported names are looked up each time.
const {
  QUOTE,
  COMMA_BYTE,
  COLON_BYTE,
  OPEN_LIST_BYTE,
  BACKSLASH,
  CLOSE_LIST_BYTE,
  OPEN_RECORD_BYTE,
  CLOSE_RECORD_BYTE,
} = json

const UNREAD = -1
/** Nesting that fits into the bits of one number; deeper is for others. */
const MOST_LEVELS = 30

const PLAIN = new Uint8Array(256).fill(1, 0x20)
PLAIN[QUOTE] = 0
PLAIN[BACKSLASH] = 0

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

const ESCAPED = new Uint8Array(256)
for (const byte of Buffer.from('"\\/bfnrt')) ESCAPED[byte] = 1

const HEX = new Uint8Array(256)
for (const byte of Buffer.from('0123456789abcdefABCDEF')) HEX[byte] = 1

/** Behind the string that starts at `at`. */
export function endOfString(bytes: Uint8Array, at: number): number {
  let to = at + 1
  for (;;) {
    while (PLAIN[bytes[to] as number] === 1) to++
    if (bytes[to] === QUOTE) return to + 1
    if (bytes[to] !== BACKSLASH) return UNREAD
    to = endOfEscape(bytes, to + 1)
    if (to === UNREAD) return UNREAD
  }
}

function endOfEscape(bytes: Uint8Array, at: number): number {
  if (ESCAPED[bytes[at] as number] === 1) return at + 1
  if (bytes[at] !== 0x75) return UNREAD
  for (let digit = 1; digit <= 4; digit++) if (HEX[bytes[at + digit] as number] !== 1) return UNREAD
  return at + 5
}

/** Behind the number that starts at `at`. */
function endOfNumber(bytes: Uint8Array, at: number): number {
  let to = bytes[at] === 0x2d ? at + 1 : at
  if (!isDigit(bytes[to])) return UNREAD
  to = bytes[to] === 0x30 ? to + 1 : endOfDigits(bytes, to)
  if (bytes[to] === 0x2e) {
    if (!isDigit(bytes[to + 1])) return UNREAD
    to = endOfDigits(bytes, to + 1)
  }
  if (((bytes[to] as number) | 0x20) !== 0x65) return to
  to++
  if (bytes[to] === 0x2b || bytes[to] === 0x2d) to++
  return isDigit(bytes[to]) ? endOfDigits(bytes, to) : UNREAD
}

function endOfDigits(bytes: Uint8Array, at: number): number {
  let to = at
  while (((bytes[to] as number) ^ 0x30) < 10) to++
  return to
}

const POWERS = Array.from({ length: 16 }, (_, power) => 10 ** power)

/** The number that `JSON.parse` reads there. Up to 15 digits are a whole number and a power of ten, whose quotient is exact. */
export function numberOf(bytes: Buffer, from: number, to: number): number {
  const isNegative = bytes[from] === 0x2d
  let whole = 0
  let point = to
  let at = isNegative ? from + 1 : from
  if (to - at > 16) return Number(bytes.toString('latin1', from, to))
  for (; at < to; at++) {
    const byte = bytes[at] as number
    if (byte === 0x2e) point = at + 1
    else if (byte > 0x39 || byte < 0x30) return Number(bytes.toString('latin1', from, to))
    else whole = whole * 10 + (byte - 0x30)
  }
  if (point === to && to - from > 15) return Number(bytes.toString('latin1', from, to))
  const value = whole / (POWERS[to - point] as number)
  return isNegative ? -value : value
}

export function isWord(bytes: Uint8Array, at: number, word: 'true' | 'false' | 'null'): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return false
  return true
}

function endOfScalar(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] as number
  if (byte === QUOTE) return endOfString(bytes, at)
  if (byte <= 0x39) return endOfNumber(bytes, at)
  if (byte === 0x6e) return isWord(bytes, at, 'null') ? at + 4 : UNREAD
  if (byte === 0x74) return isWord(bytes, at, 'true') ? at + 4 : UNREAD
  return isWord(bytes, at, 'false') ? at + 5 : UNREAD
}

/** Behind a name and its colon. */
function endOfName(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return UNREAD
  const end = endOfString(bytes, at)
  return end !== UNREAD && bytes[end] === COLON_BYTE ? end + 1 : UNREAD
}

/** Behind the value that starts at `from` and holds no blanks between its parts. */
export function endOfValue(bytes: Uint8Array, from: number): number {
  const first = bytes[from]
  if (first !== OPEN_RECORD_BYTE && first !== OPEN_LIST_BYTE) return endOfScalar(bytes, from)
  let at = from
  /** A bit for each open level, the innermost lowest: whether it is a list. */
  let lists = 0
  let depth = 0
  for (;;) {
    const byte = bytes[at]
    if (byte === OPEN_RECORD_BYTE || byte === OPEN_LIST_BYTE) {
      if (++depth > MOST_LEVELS) return UNREAD
      const isList = byte === OPEN_LIST_BYTE
      lists = (lists << 1) | (isList ? 1 : 0)
      at++
      if (bytes[at] !== byte + 2) {
        if (isList) continue
        at = endOfName(bytes, at)
        if (at === UNREAD) return UNREAD
        continue
      }
    } else {
      at = endOfScalar(bytes, at)
      if (at === UNREAD) return UNREAD
    }
    while (bytes[at] === ((lists & 1) === 1 ? CLOSE_LIST_BYTE : CLOSE_RECORD_BYTE)) {
      at++
      if (--depth === 0) return at
      lists >>= 1
    }
    if (bytes[at] !== COMMA_BYTE) return UNREAD
    at++
    if ((lists & 1) === 1) continue
    at = endOfName(bytes, at)
    if (at === UNREAD) return UNREAD
  }
}
