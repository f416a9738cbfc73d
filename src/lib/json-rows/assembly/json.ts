/** Where a JSON value ends, sixteen bytes at a time; the bytes end with a zero, which is nothing of JSON. Knows no shape and keeps no state. */

export const QUOTE: u8 = 0x22
export const COMMA: u8 = 0x2c
export const OPEN_LIST: u8 = 0x5b
export const CLOSE_LIST: u8 = 0x5d
export const OPEN_RECORD: u8 = 0x7b
export const CLOSE_RECORD: u8 = 0x7d
/** Four letters as one word, and a quote with the colon behind it. */
export const NULL: u32 = 0x6c6c756e
export const QUOTE_COLON: u16 = 0x3a22

const BACKSLASH: u8 = 0x5c
const TRUE: u32 = 0x65757274
const ALSE: u32 = 0x65736c61

/** In place of an end: the bytes are unusual, wrong, or end too soon. */
export const UNREAD: usize = 0

/** Nesting of what is skipped; deeper is for others. */
const MOST_LEVELS: i32 = 40
/** A number this long may be beyond all numbers. */
const LONGEST_NUMBER: usize = 300

/** A bit for each of sixteen bytes that does not stand for itself in a string. */
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

/** Behind an escape that starts at `at`. */
function endOfEscape(at: usize): usize {
  const byte = load<u8>(at, 1)
  if (byte == 0x75) {
    for (let digit: usize = 2; digit < 6; digit++) if (!isHex(load<u8>(at + digit))) return UNREAD
    return at + 6
  }
  const isOne =
    byte == QUOTE || byte == BACKSLASH || byte == 0x2f // "\/
  const isLetter = byte == 0x62 || byte == 0x66 || byte == 0x6e || byte == 0x72 || byte == 0x74 // bfnrt
  return isOne || isLetter ? at + 2 : UNREAD
}

@inline
function endOfString(at: usize): usize {
  let to = at + 1
  for (;;) {
    const bits = special(to)
    if (bits == 0) {
      to += 16
      continue
    }
    to += <usize>ctz(bits)
    const byte = load<u8>(to)
    if (byte == QUOTE) return to + 1
    if (byte != BACKSLASH) return UNREAD
    to = endOfEscape(to)
    if (to == UNREAD) return UNREAD
  }
  return UNREAD
}

/** Behind a name that nobody keeps and its colon. */
@inline
function endOfName(at: usize): usize {
  if (load<u8>(at) != QUOTE) return UNREAD
  const end = endOfString(at)
  return end != UNREAD && load<u16>(end - 1) == QUOTE_COLON ? end + 1 : UNREAD
}

@inline
function endOfDigits(at: usize): usize {
  let to = at
  while (isDigit(load<u8>(to))) to++
  return to
}

/** Behind a number without an exponent; one with it may be beyond all numbers. */
@inline
function endOfNumber(at: usize): usize {
  let to = at
  let byte = load<u8>(to)
  if (byte == 0x2d) byte = load<u8>(++to)
  if (!isDigit(byte)) return UNREAD
  to++
  if (byte != 0x30) to = endOfDigits(to)
  byte = load<u8>(to)
  if (byte == 0x2e) {
    if (!isDigit(load<u8>(to, 1))) return UNREAD
    to = endOfDigits(to + 2)
    byte = load<u8>(to)
  }
  return (byte | 0x20) == 0x65 || to - at > LONGEST_NUMBER ? UNREAD : to
}

@inline
function endOfScalar(at: usize): usize {
  const byte = load<u8>(at)
  if (byte == QUOTE) return endOfString(at)
  if (byte <= 0x39) return endOfNumber(at)
  const word = load<u32>(at)
  if (word == NULL || word == TRUE) return at + 4
  return byte == 0x66 && load<u32>(at, 1) == ALSE ? at + 5 : UNREAD
}

function endOfNested(from: usize): usize {
  let at = from
  /** A bit for each open level, the innermost lowest: whether it is a list. */
  let lists: u64 = 0
  let depth: i32 = 0
  for (;;) {
    const byte = load<u8>(at)
    if (byte == OPEN_RECORD || byte == OPEN_LIST) {
      if (++depth > MOST_LEVELS) return UNREAD
      const isList = byte == OPEN_LIST
      lists = (lists << 1) | u64(isList)
      at++
      if (load<u8>(at) != byte + 2) {
        if (isList) continue
        at = endOfName(at)
        if (at == UNREAD) return UNREAD
        continue
      }
    } else {
      at = endOfScalar(at)
      if (at == UNREAD) return UNREAD
    }
    while (load<u8>(at) == ((lists & 1) != 0 ? CLOSE_LIST : CLOSE_RECORD)) {
      at++
      if (--depth == 0) return at
      lists >>= 1
    }
    if (load<u8>(at) != COMMA) return UNREAD
    at++
    if ((lists & 1) != 0) continue
    at = endOfName(at)
    if (at == UNREAD) return UNREAD
  }
  return UNREAD
}

/** Behind the value that starts at `at` and holds no blanks between its parts. */
@inline
export function endOfValue(at: usize): usize {
  const byte = load<u8>(at)
  return byte == OPEN_RECORD || byte == OPEN_LIST ? endOfNested(at) : endOfScalar(at)
}

/** Behind what reads as a list or record without content, whichever was expected. */
export function endOfNothing(at: usize): usize {
  if (load<u32>(at) == NULL) return at + 4
  const byte = load<u8>(at)
  return (byte == OPEN_LIST || byte == OPEN_RECORD) && load<u8>(at, 1) == byte + 2 ? at + 2 : UNREAD
}

/** Behind a name of more than thirty-one bytes, which is none that is kept, and its colon; one with an escape may be shorter than it looks. */
export function endOfLongName(from: usize): usize {
  let at = from
  while (special(at) == 0) at += 16
  at += <usize>ctz(special(at))
  return load<u16>(at) == QUOTE_COLON ? at + 2 : UNREAD
}
