/** Reads one record of a long list straight from its bytes and writes what is kept of it as the text of a flat list. Leaves whatever is unusual to others; knows no action and no list around it. */
import {
  CLOSE_LIST,
  CLOSE_RECORD,
  COMMA,
  endOfLongName,
  endOfNothing,
  endOfValue,
  NULL,
  OPEN_LIST,
  OPEN_RECORD,
  QUOTE,
  QUOTE_COLON,
  special,
  UNREAD,
} from './json'
import { expected, fieldOfMember, firstLink, generation, learn, lengthOf, MOST_SHAPES, membersEnd, NEXT } from './members'

/** What a field holds. */
const SCALAR: u32 = 0
const RECORD: u32 = 1

// A shape is a table of fields by the hash of their names.
const FIELDS: usize = 64
// A field: its name and a mask of the same length, 32 bytes each with zeros behind them, and these numbers.
const MASK: usize = 32
const LENGTH: usize = 64 // of the name, and 1; 0 where the place is free
const KIND: usize = 68
const SLOT: usize = 72
const SHAPE: usize = 76 // of the record, or of the list's items
const FIRST: usize = 80 // slot of the record or of an item
const COUNT: usize = 84
const FIELD_BYTES: usize = 128

const MOST_SLOTS: usize = 1024
const LONGEST_TEXT: usize = 1 << 17

const shapes: usize = membersEnd
/** Where the values of a record are, from and to; two words each. */
export const slots: usize = shapes + MOST_SHAPES * FIELDS * FIELD_BYTES
const nothing: usize = slots + MOST_SLOTS * 8
/** Where a record stands that is to be read, with a zero behind the last byte. */
export const input: usize = nothing + 64
const lists: usize = input + (1 << 17) + 64
/** Where its text is written. */
export const output: usize = lists + LONGEST_TEXT + 64

/** Up to where texts of lists were written. */
let listsEnd: usize = lists
let outputEnd: usize = output
let found: usize = 0

/** Bytes of the text that was written last. */
export function written(): usize {
  return outputEnd - output
}

@inline
function place(shape: usize, name: usize, length: usize): usize {
  let first = load<u64>(name)
  let last: u64 = 0
  if (length < 8) first &= ((<u64>1) << ((<u64>length) << 3)) - 1
  else last = load<u64>(name + length - 8)
  const hash = <usize>(((first ^ (last * 0xc2b2ae3d27d4eb4f)) * 0x9e3779b97f4a7c15) >> 58)
  return shapes + (shape * FIELDS + hash) * FIELD_BYTES
}

@inline
function next(field: usize): usize {
  const at = field + FIELD_BYTES
  return (at - shapes) % (FIELDS * FIELD_BYTES) == 0 ? at - FIELDS * FIELD_BYTES : at
}

/** Adds a field to a shape, which has less than 64 of them; its name, of at most 31 bytes, stands in the input. */
export function addField(shape: usize, length: usize, kind: u32, slot: u32, inner: u32, first: u32, count: u32): void {
  let field = place(shape, input, length)
  while (load<u32>(field, LENGTH) != 0) field = next(field)
  memory.copy(field, input, length)
  memory.fill(field + MASK, 0xff, length)
  store<u32>(field, <u32>length + 1, LENGTH)
  store<u32>(field, kind, KIND)
  store<u32>(field, slot, SLOT)
  store<u32>(field, inner, SHAPE)
  store<u32>(field, first, FIRST)
  store<u32>(field, count, COUNT)
}

/** The field of this name, or 0. */
@inline
function fieldOf(shape: usize, name: usize, length: usize): usize {
  let field = place(shape, name, length)
  for (;;) {
    const own = <usize>load<u32>(field, LENGTH)
    if (own == 0) return 0
    if (own == length + 1) {
      const low = v128.xor(v128.and(v128.load(name), v128.load(field, MASK)), v128.load(field))
      const high = v128.xor(v128.and(v128.load(name, 16), v128.load(field, MASK + 16)), v128.load(field, 16))
      if (!v128.any_true(v128.or(low, high))) return field
    }
    field = next(field)
  }
  return 0
}

@inline
function keep(slot: u32, from: usize, to: usize): void {
  store<u32>(slots + ((<usize>slot) << 3), <u32>from)
  store<u32>(slots + ((<usize>slot) << 3), <u32>to, 4)
}

@inline
function keepNothing(first: u32, count: u32): void {
  for (let slot = first; slot < first + count; slot++) keep(slot, nothing, nothing + 4)
}

/** Writes slots as a list from `at` on; returns where that ends, or `UNREAD` where it would be past `most`. */
function write(first: u32, count: u32, at: usize, most: usize): usize {
  let to = at
  store<u8>(to++, OPEN_LIST)
  for (let slot = first; slot < first + count; slot++) {
    const from = <usize>load<u32>(slots + ((<usize>slot) << 3))
    const length = <usize>load<u32>(slots + ((<usize>slot) << 3), 4) - from
    if (to + length > most) return UNREAD
    // Most values are short: what is written beyond them is written over.
    v128.store(to, v128.load(from))
    if (length > 16) memory.copy(to + 16, from + 16, length - 16)
    to += length
    store<u8>(to++, COMMA)
  }
  if (count > 0) to--
  store<u8>(to++, CLOSE_LIST)
  return to
}

/** A list of records written as a list; any other spelling is unusual. */
function readList(field: usize, from: usize): usize {
  const slot = load<u32>(field, SLOT)
  const first = load<u32>(field, FIRST)
  const count = load<u32>(field, COUNT)
  if (load<u8>(from) != OPEN_LIST || load<u8>(from, 1) == CLOSE_LIST) {
    keepNothing(slot, 1)
    return endOfNothing(from)
  }
  const most = lists + LONGEST_TEXT - 64
  const begin = listsEnd
  let to = begin
  let at = from
  do {
    if (to > most) return UNREAD
    store<u8>(to, to == begin ? OPEN_LIST : COMMA)
    listsEnd = ++to
    keepNothing(first, count)
    at = load<u8>(at, 1) == OPEN_RECORD ? readRecord(load<u32>(field, SHAPE), at + 1) : UNREAD
    if (at == UNREAD) return UNREAD
    // Behind the lists within the item, and then over them.
    const end = write(first, count, listsEnd, most)
    if (end == UNREAD) return UNREAD
    if (listsEnd > to) memory.copy(to, listsEnd, end - listsEnd)
    to += end - listsEnd
  } while (load<u8>(at) == COMMA)
  store<u8>(to++, CLOSE_LIST)
  listsEnd = to
  keep(slot, begin, to)
  return load<u8>(at) == CLOSE_LIST ? at + 1 : UNREAD
}

@inline
function readField(field: usize, at: usize): usize {
  const kind = load<u32>(field, KIND)
  if (kind == SCALAR) {
    const end = endOfValue(at)
    const byte = load<u8>(at)
    if (byte == OPEN_RECORD || byte == OPEN_LIST) keepNothing(load<u32>(field, SLOT), 1)
    else keep(load<u32>(field, SLOT), at, end)
    return end
  }
  if (kind != RECORD) return readList(field, at)
  keepNothing(load<u32>(field, FIRST), load<u32>(field, COUNT))
  return load<u8>(at) == OPEN_RECORD ? readRecord(load<u32>(field, SHAPE), at) : endOfNothing(at)
}

/** Behind the name and colon at `at` of a member that was not expected, with its field in `found`. */
function readName(shape: usize, at: usize): usize {
  found = 0
  if (load<u8>(at) != QUOTE) return UNREAD
  const name = at + 1
  let bits = special(name)
  let length: usize = 0
  if (bits == 0) {
    length = 16
    bits = special(name + 16)
    if (bits == 0) return endOfLongName(name + 32)
  }
  length += <usize>ctz(bits)
  if (load<u16>(name + length) != QUOTE_COLON) return UNREAD
  found = fieldOf(shape, name, length)
  return name + length + 2
}

/** A record without blanks between its members; the last member of a name counts. */
function readRecord(shape: usize, from: usize): usize {
  let at = from + 1
  if (load<u8>(at) == CLOSE_RECORD) return at + 1
  let link = firstLink(shape)
  for (;;) {
    const member = expected(link, at)
    let field: usize
    if (member != 0) {
      field = fieldOfMember(member)
      at += lengthOf(member)
      link = member + NEXT
    } else {
      const name = at
      at = readName(shape, name)
      if (at == UNREAD) return UNREAD
      field = found
      link = learn(link, name, at - name, field)
    }
    const before = generation
    at = field == 0 ? endOfValue(at) : readField(field, at)
    if (at == UNREAD) return UNREAD
    if (generation != before) link = 0
    const byte = load<u8>(at)
    if (byte != COMMA) return byte == CLOSE_RECORD ? at + 1 : UNREAD
    at++
  }
  return UNREAD
}

/** Reads the record at `at` of the input by a shape whose slots are `count` from `first` on; returns where it ends, or 0. */
export function readRow(shape: usize, first: u32, count: u32, at: usize): usize {
  store<u32>(nothing, NULL)
  listsEnd = lists
  keepNothing(first, count)
  const end = readRecord(shape, input + at)
  if (end == UNREAD) return UNREAD
  outputEnd = write(first, count, output, output + LONGEST_TEXT - 64)
  if (outputEnd == UNREAD) outputEnd = output
  return outputEnd == output ? UNREAD : end - input
}
