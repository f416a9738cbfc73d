/** Copies one object without the whitespace between its tokens, and finds where it ends. Validates nothing. */
import { BACKSLASH, CLOSE_OBJECT, COLON, COMMA, DECLINED, OPEN_OBJECT, QUOTE } from './json'

const SPACE: u8 = 0x20
const MAX_DEPTH: i32 = 512
export const TOO_DEEP: usize = usize.MAX_VALUE

/** The end of the copy made last. */
export let compactedEnd: usize = 0

@inline
function isWhitespace(byte: u8): bool {
  return byte == SPACE || byte == 0x0a || byte == 0x0d || byte == 0x09
}

/** One of `{}[],:`, which need no whitespace on either side. */
@inline
function isStructural(byte: u8): bool {
  const bracket = byte | 0x20
  return byte == COMMA || byte == COLON || bracket == OPEN_OBJECT || bracket == CLOSE_OBJECT
}

function endOfWhitespace(from: usize): usize {
  let at = from
  while (isWhitespace(load<u8>(at))) {
    const others = i8x16.bitmask(i8x16.ne(v128.load(at, 1), i8x16.splat(SPACE)))
    at += 1 + <usize>ctz(others | 0x10000)
  }
  return at
}

/** Copies the string at `from`; returns where it ends, which is `end` or later if the string is incomplete. */
@inline
function copyString(from: usize, end: usize, to: usize): usize {
  const distance = to - from
  let at = from + 1
  store<u8>(to, QUOTE)
  while (at < end) {
    const bytes = v128.load(at)
    v128.store(at + distance, bytes)
    const bits = i8x16.bitmask(v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.eq(bytes, i8x16.splat(BACKSLASH))))
    at += bits == 0 ? 16 : <usize>ctz(bits) + 1
    if (bits == 0) continue
    if (load<u8>(at - 1) == QUOTE) return at
    store<u8>(at + distance, load<u8>(at))
    at++
  }
  return end
}

/** Copies the object at `from`, which should end before `end`; returns where it ends, `DECLINED` if it is incomplete, or `TOO_DEEP`. */
@inline
export function compactObject(from: usize, end: usize, output: usize): usize {
  let at = from
  let to = output
  let depth: i32 = 0
  while (at < end) {
    const byte = load<u8>(at)
    if (byte == QUOTE) {
      const next = copyString(at, end, to)
      to += next - at
      at = next
      continue
    }
    if (isWhitespace(byte)) {
      at = endOfWhitespace(at)
      // Without it `1 2` would become `12`.
      if (!isStructural(load<u8>(to - 1)) && !isStructural(load<u8>(at))) store<u8>(to++, SPACE)
      continue
    }
    store<u8>(to++, byte)
    at++
    const bracket = byte | 0x20
    if (bracket == OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) return TOO_DEEP
    } else if (bracket == CLOSE_OBJECT && --depth == 0) {
      store<u8>(to, 0)
      compactedEnd = to
      return at
    }
  }
  return DECLINED
}
