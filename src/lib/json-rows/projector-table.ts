/** JSON's grammar (RFC 8259) as one table of states by byte, so that a text may be cut anywhere; knows no shape and keeps no state. */

export const QUOTE = 0x22
export const COMMA_BYTE = 0x2c
export const COLON_BYTE = 0x3a
export const OPEN_LIST_BYTE = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_LIST_BYTE = 0x5d
export const OPEN_RECORD_BYTE = 0x7b
export const CLOSE_RECORD_BYTE = 0x7d

/** What a byte may ask for instead of a next state. `STOP`: nothing of JSON, or the zero byte after the input. */
export const STOP = 0
export const SKIP_LIST = 1
export const SKIP_RECORD = 2
export const SKIP_CLOSE = 3
export const OPEN_LIST = 4
export const OPEN_RECORD = 5
export const CLOSE = 6
export const COMMA = 7
export const KEYED = 8
export const KEYED_WITH_ESCAPES = 9
const MARKED = 10
/** States begin here. */
export const STATES = 16

const MOST_STATES = 128

/** `STEP[state << 8 | byte]` is the state after that byte, or an action. */
export const STEP = new Uint8Array(MOST_STATES << 8)

let states = STATES
const state = (): number => states++

const SPACE = ' \t\n\r'
const DIGITS = '0123456789'

function on(from: number, characters: string, to: number): void {
  for (const byte of Buffer.from(characters, 'latin1')) STEP[(from << 8) | byte] = to
}

/** `to` goes on as `from` does, after whatever is said of it later. */
const likewise = (from: number, to: number): void => void STEP.copyWithin(to << 8, from << 8, (from + 1) << 8)

/** Inside a string, behind its first quote: what stands for itself stays, `then` follows the last quote. */
function text(then: number, backslash: number): number {
  const plain = state()
  for (let byte = 0x20; byte < 256; byte++) STEP[(plain << 8) | byte] = plain
  on(plain, '"', then)
  on(plain, '\\', backslash)
  return plain
}

/** Inside a string, behind a backslash; `plain` follows. */
function escaped(begin: number, plain: number): void {
  const hex = [state(), state(), state(), state(), plain]
  on(begin, '"\\/bfnrt', plain)
  on(begin, 'u', hex[0]!)
  for (let digit = 0; digit < 4; digit++) on(hex[digit]!, `${DIGITS}abcdefABCDEF`, hex[digit + 1]!)
}

function string(from: number, then: number): void {
  const begin = state()
  const plain = text(then, begin)
  escaped(begin, plain)
  on(from, '"', plain)
}

/** The states in which a number may end. */
function number(from: number): number[] {
  const [minus, zero, integer, point, fraction, e, sign, exponent] = Array.from({ length: 8 }, state) as number[] &
    Record<0 | 1 | 2 | 3 | 4 | 5 | 6 | 7, number>
  on(from, '-', minus)
  for (const start of [from, minus]) {
    on(start, '123456789', integer)
    on(start, '0', zero)
  }
  on(integer, DIGITS, integer)
  for (const whole of [zero, integer]) on(whole, '.', point)
  for (const before of [point, fraction]) on(before, DIGITS, fraction)
  for (const mantissa of [zero, integer, fraction]) on(mantissa, 'eE', e)
  on(e, '+-', sign)
  for (const before of [e, sign, exponent]) on(before, DIGITS, exponent)
  return [zero, integer, fraction, exponent]
}

function word(from: number, letters: string, then: number): void {
  let before = from
  for (const letter of letters.slice(0, -1)) {
    const next = state()
    on(before, letter, next)
    before = next
  }
  on(before, letters.slice(-1), then)
}

/** A value begins in `from`; when it has ended, in `after`, a comma leads to `next` and a byte of `closers` asks to `close`. */
function value(from: number, after: number, next: number, closers: string, close: number): void {
  string(from, after)
  for (const letters of ['true', 'false', 'null']) word(from, letters, after)
  for (const end of [after, ...number(from)]) {
    on(end, SPACE, after)
    on(end, ',', next)
    on(end, closers, close)
  }
  on(from, SPACE, from)
  on(from, '[', close === CLOSE ? OPEN_LIST : SKIP_LIST)
  on(from, '{', close === CLOSE ? OPEN_RECORD : SKIP_RECORD)
}

/** `orEnd` is `from` where the list or record may also end. */
function first(from: number, orEnd: number, closer: string, close: number): void {
  on(from, SPACE, from)
  likewise(from, orEnd)
  on(orEnd, SPACE, orEnd)
  on(orEnd, closer, close)
}

/** Where no shape looks: in a list, and in a record. */
const SKIPPED_ITEM = state()
export const SKIPPED_ITEM_OR_END = state()
export const AFTER_SKIPPED_ITEM = state()
value(SKIPPED_ITEM, AFTER_SKIPPED_ITEM, SKIPPED_ITEM, ']', SKIP_CLOSE)
first(SKIPPED_ITEM, SKIPPED_ITEM_OR_END, ']', SKIP_CLOSE)

const SKIPPED_KEY = state()
export const SKIPPED_KEY_OR_END = state()
const SKIPPED_COLON = state()
const SKIPPED_MEMBER = state()
export const AFTER_SKIPPED_MEMBER = state()
string(SKIPPED_KEY, SKIPPED_COLON)
on(SKIPPED_COLON, SPACE, SKIPPED_COLON)
on(SKIPPED_COLON, ':', SKIPPED_MEMBER)
value(SKIPPED_MEMBER, AFTER_SKIPPED_MEMBER, SKIPPED_KEY, '}', SKIP_CLOSE)
first(SKIPPED_KEY, SKIPPED_KEY_OR_END, '}', SKIP_CLOSE)

/** Where a shape looks; which closer fits after a value is not told apart. */
export const VALUE = state()
export const ITEM_OR_END = state()
export const COLON = state()
export const AFTER = state()
value(VALUE, AFTER, COMMA, ']}', CLOSE)
first(VALUE, ITEM_OR_END, ']', CLOSE)
on(COLON, SPACE, COLON)
on(COLON, ':', VALUE)

/** From `KEY` to `LAST_OF_KEY`: before and inside a key. */
export const KEY = state()
export const KEY_OR_END = state()
const KEY_ESCAPE = state()
on(KEY, '"', text(KEYED, KEY_ESCAPE))
escaped(KEY_ESCAPE, text(KEYED_WITH_ESCAPES, KEY_ESCAPE))
export const LAST_OF_KEY = states - 1
first(KEY, KEY_OR_END, '}', CLOSE)

/** Before everything: a value, or one byte order mark and a value. */
export const START = state()
likewise(VALUE, START)
const MARK = [START, state(), state()] as const
on(MARK[0], '\xef', MARK[1])
on(MARK[1], '\xbb', MARK[2])
on(MARK[2], '\xbf', MARKED)
