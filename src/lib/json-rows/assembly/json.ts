/** Finds where a JSON value ends, sixteen bytes at a time. The input ends with a zero byte, which is not valid JSON. */

export const QUOTE: u8 = 0x22
export const COMMA: u8 = 0x2c
export const COLON: u8 = 0x3a
export const BACKSLASH: u8 = 0x5c
export const OPEN_LIST: u8 = 0x5b
export const CLOSE_LIST: u8 = 0x5d
export const OPEN_OBJECT: u8 = 0x7b
export const CLOSE_OBJECT: u8 = 0x7d
/** Four letters as one word, and a quote followed by a colon. */
export const NULL: u32 = 0x6c6c756e
export const QUOTE_COLON: u16 = 0x3a22

const TRUE: u32 = 0x65757274
const ALSE: u32 = 0x65736c61

/** Returned instead of an end: the bytes are unusual, invalid or incomplete. */
export const DECLINED: usize = 0

/** Nesting of a skipped value; deeper rows are declined. */
const MAX_DEPTH: i32 = 40
/** A longer number may exceed the range of doubles. */
const MAX_NUMBER: usize = 300

/** A bit for each of sixteen bytes that is a quote, a backslash or a control character. */
@inline
export function special(at: usize): i32 {
  const bytes = v128.load(at)
  const quoteOrBackslash = v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.eq(bytes, i8x16.splat(BACKSLASH)))
  const control = i8x16.eq(i8x16.min_u(bytes, i8x16.splat(0x1f)), bytes)
  return i8x16.bitmask(v128.or(quoteOrBackslash, control))
}

@inline
function isDigit(byte: u8): bool {
  return byte - 0x30 < <u8>10
}

function isHex(byte: u8): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 < <u8>6
}

function endOfEscape(at: usize): usize {
  const byte = load<u8>(at, 1)
  if (byte == 0x75) {
    for (let digit: usize = 2; digit < 6; digit++) if (!isHex(load<u8>(at + digit))) return DECLINED
    return at + 6
  }
  const isOne = byte == QUOTE || byte == BACKSLASH || byte == 0x2f // "\/
  const isLetter = byte == 0x62 || byte == 0x66 || byte == 0x6e || byte == 0x72 || byte == 0x74 // bfnrt
  return isOne || isLetter ? at + 2 : DECLINED
}

@inline
function endOfString(at: usize): usize {
  let to = at + 1
  while (true) {
    const bits = special(to)
    if (bits == 0) {
      to += 16
      continue
    }
    to += <usize>ctz(bits)
    const byte = load<u8>(to)
    if (byte == QUOTE) return to + 1
    if (byte != BACKSLASH) return DECLINED
    to = endOfEscape(to)
    if (to == DECLINED) return DECLINED
  }
}

/** The end of a name within a skipped value, colon included. */
@inline
function endOfName(at: usize): usize {
  if (load<u8>(at) != QUOTE) return DECLINED
  const end = endOfString(at)
  return end != DECLINED && load<u16>(end - 1) == QUOTE_COLON ? end + 1 : DECLINED
}

@inline
function endOfDigits(at: usize): usize {
  let to = at
  while (isDigit(load<u8>(to))) to++
  return to
}

/** Whether a number may have an exponent, with which it may exceed the range of doubles. */
let hasExponents: bool = false

export function setExponents(accepted: bool): void {
  hasExponents = accepted
}

@inline
function endOfNumber(at: usize): usize {
  let to = at
  let byte = load<u8>(to)
  if (byte == 0x2d) byte = load<u8>(++to)
  if (!isDigit(byte)) return DECLINED
  to++
  if (byte != 0x30) to = endOfDigits(to)
  byte = load<u8>(to)
  if (byte == 0x2e) {
    if (!isDigit(load<u8>(to, 1))) return DECLINED
    to = endOfDigits(to + 2)
    byte = load<u8>(to)
  }
  // With a sign, as JavaScript writes it.
  if ((byte | 0x20) == 0x65) return hasExponents ? endOfDigits(to + 2) : DECLINED
  return to - at > MAX_NUMBER ? DECLINED : to
}

@inline
function endOfScalar(at: usize): usize {
  const byte = load<u8>(at)
  if (byte == QUOTE) return endOfString(at)
  if (byte <= 0x39) return endOfNumber(at)
  const word = load<u32>(at)
  if (word == NULL || word == TRUE) return at + 4
  return byte == 0x66 && load<u32>(at, 1) == ALSE ? at + 5 : DECLINED
}

function endOfNested(from: usize): usize {
  let at = from
  /** A bit for each level, the innermost lowest: whether it is a list, or outside the value. */
  let lists: u64 = 1
  let depth: i32 = 0
  while (true) {
    if ((lists & 1) == 0) {
      at = endOfName(at)
      if (at == DECLINED) return DECLINED
    }
    const byte = load<u8>(at)
    if (byte == OPEN_OBJECT || byte == OPEN_LIST) {
      if (++depth > MAX_DEPTH) return DECLINED
      lists = (lists << 1) | u64(byte == OPEN_LIST)
      at++
      if (load<u8>(at) != byte + 2) continue
    } else {
      at = endOfScalar(at)
      if (at == DECLINED) return DECLINED
    }
    while (load<u8>(at) == ((lists & 1) != 0 ? CLOSE_LIST : CLOSE_OBJECT)) {
      at++
      if (--depth == 0) return at
      lists >>= 1
    }
    if (load<u8>(at) != COMMA) return DECLINED
    at++
  }
}

/** The end of the value at `at`, which is declined if it contains whitespace between its tokens. */
@inline
export function endOfValue(at: usize): usize {
  const byte = load<u8>(at)
  return byte == OPEN_OBJECT || byte == OPEN_LIST ? endOfNested(at) : endOfScalar(at)
}

/** The end of `null`, `[]` or `{}`: an empty list or object, whichever the shape expects. */
export function endOfEmpty(at: usize): usize {
  if (load<u32>(at) == NULL) return at + 4
  const byte = load<u8>(at)
  return (byte == OPEN_LIST || byte == OPEN_OBJECT) && load<u8>(at, 1) == byte + 2 ? at + 2 : DECLINED
}
