/** Reads the fields of one object that its shape names, and writes them as a flat JSON list. Returns 0 for unusual or invalid objects. */
import { compactedEnd, compactObject, TOO_DEEP } from './compact'
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, DECLINED, endOfEmpty, endOfValue } from './json'
import { NULL, OPEN_LIST, OPEN_OBJECT, QUOTE, QUOTE_COLON, setExponents, special } from './json'
import { FIELD, firstLink, learn, LENGTH, makeRoom, MASK, MAX_SHAPES } from './members'
import { membersEnd, NEXT, predicted, startsWith } from './members'

/** What a field holds; 2 is a list of objects. */
const SCALAR: u32 = 0
const OBJECT: u32 = 1

// A shape is an array of fields that ends with an empty one; the next members are predicted, so few names are searched in it.
const SHAPE_FIELDS: usize = 64
// A field: like a member, but with its name alone, whose length is stored plus 1, and 0 for an empty field; then these numbers.
const KIND: usize = 68
const SLOT: usize = 72
const SHAPE: usize = 76 // of the object, or of the list's items
const FIRST: usize = 80 // first slot of the object or of an item
const COUNT: usize = 84
const FIELD_BYTES: usize = 128

const MAX_SLOTS: usize = 1024
const MAX_TEXT: usize = 1 << 17
const PADDING: usize = 64

const shapes: usize = membersEnd
/** Start and end of the value of each slot; two words each. */
export const slots: usize = shapes + MAX_SHAPES * SHAPE_FIELDS * FIELD_BYTES
const nullText: usize = slots + MAX_SLOTS * 8
const lists: usize = nullText + PADDING
/** The text of the row. */
export const output: usize = lists + MAX_TEXT + PADDING
/** Bytes to read, which end with a zero. */
export const input: usize = output + MAX_TEXT + PADDING
export const inputLength: usize = (1 << 20) + (1 << 16) + 1
/** A copy of an object without whitespace. */
export const compacted: usize = input + inputLength + PADDING

/** Where the texts of lists end. */
let listsEnd: usize = lists
let outputEnd: usize = output

/** Bytes of the text written last. */
export function written(): usize {
  return outputEnd - output
}

/** Copies the object at `at` to `compacted`; returns where it ends, 0 if it is incomplete at `end`, or -1 if it is nested too deeply. */
export function compact(at: usize, end: usize): usize {
  const to = compactObject(input + at, input + end, compacted)
  return to == DECLINED || to == TOO_DEEP ? to : to - input
}

/** Bytes of the copy made last. */
export function compactedLength(): usize {
  return compactedEnd - compacted
}

@inline
function firstField(shape: usize): usize {
  return shapes + shape * SHAPE_FIELDS * FIELD_BYTES
}

/** Adds a field to a shape, which has fewer than 64; its name, of at most 31 bytes, is in the input. */
export function addField(shape: usize, length: usize, kind: u32, slot: u32, inner: u32, first: u32, count: u32): void {
  let field = firstField(shape)
  while (load<u32>(field, LENGTH) != 0) field += FIELD_BYTES
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
function fieldOf(shape: usize, name: usize, length: usize): usize {
  let field = firstField(shape)
  while (true) {
    const own = <usize>load<u32>(field, LENGTH)
    if (own == 0) return 0
    if (own == length + 1 && startsWith(name, field)) return field
    field += FIELD_BYTES
  }
}

@inline
function setSlot(slot: u32, from: usize, to: usize): void {
  store<u32>(slots + ((<usize>slot) << 3), <u32>from)
  store<u32>(slots + ((<usize>slot) << 3), <u32>to, 4)
}

@inline
function clearSlots(first: u32, count: u32): void {
  for (let slot = first; slot < first + count; slot++) setSlot(slot, nullText, nullText + 4)
}

/** Writes slots as a list; returns where it ends, or `DECLINED` if that is beyond `max`. */
function writeList(first: u32, count: u32, at: usize, max: usize): usize {
  let to = at
  store<u8>(to++, OPEN_LIST)
  for (let slot = first; slot < first + count; slot++) {
    const from = <usize>load<u32>(slots + ((<usize>slot) << 3))
    const length = <usize>load<u32>(slots + ((<usize>slot) << 3), 4) - from
    if (to + length > max) return DECLINED
    // Most values are short; the next value overwrites the excess.
    v128.store(to, v128.load(from))
    if (length > 16) memory.copy(to + 16, from + 16, length - 16)
    to += length
    store<u8>(to++, COMMA)
  }
  if (count > 0) to--
  store<u8>(to++, CLOSE_LIST)
  return to
}

/** Reads a list of objects; any other item is declined. */
function readList(field: usize, from: usize): usize {
  const slot = load<u32>(field, SLOT)
  const first = load<u32>(field, FIRST)
  const count = load<u32>(field, COUNT)
  if (load<u8>(from) != OPEN_LIST || load<u8>(from, 1) == CLOSE_LIST) {
    const end = endOfEmpty(from)
    if (load<u8>(from) == OPEN_LIST) setSlot(slot, from, end)
    else clearSlots(slot, 1)
    return end
  }
  const max = lists + MAX_TEXT - PADDING
  const begin = listsEnd
  let to = begin
  let at = from
  do {
    if (to > max) return DECLINED
    store<u8>(to, to == begin ? OPEN_LIST : COMMA)
    listsEnd = ++to
    clearSlots(first, count)
    at = load<u8>(at, 1) == OPEN_OBJECT ? readObject(load<u32>(field, SHAPE), at + 1) : DECLINED
    if (at == DECLINED) return DECLINED
    // Written behind the lists within the item, then moved over them.
    const end = writeList(first, count, listsEnd, max)
    if (end == DECLINED) return DECLINED
    if (listsEnd > to) memory.copy(to, listsEnd, end - listsEnd)
    to += end - listsEnd
  } while (load<u8>(at) == COMMA)
  store<u8>(to++, CLOSE_LIST)
  listsEnd = to
  setSlot(slot, begin, to)
  return load<u8>(at) == CLOSE_LIST ? at + 1 : DECLINED
}

@inline
function readField(field: usize, at: usize): usize {
  const kind = load<u32>(field, KIND)
  if (kind == SCALAR) {
    const end = endOfValue(at)
    const byte = load<u8>(at)
    if (byte == OPEN_OBJECT || byte == OPEN_LIST) clearSlots(load<u32>(field, SLOT), 1)
    else setSlot(load<u32>(field, SLOT), at, end)
    return end
  }
  if (kind != OBJECT) return readList(field, at)
  clearSlots(load<u32>(field, FIRST), load<u32>(field, COUNT))
  return load<u8>(at) == OPEN_OBJECT ? readObject(load<u32>(field, SHAPE), at) : endOfEmpty(at)
}

/** The end of the name and colon at `at`. */
function endOfFieldName(at: usize): usize {
  if (load<u8>(at) != QUOTE) return DECLINED
  let end = at + 1
  while (special(end) == 0) end += 16
  end += <usize>ctz(special(end))
  // A name with an escape is declined: it may be shorter than it looks.
  return load<u16>(end) == QUOTE_COLON ? end + 2 : DECLINED
}

/** Reads an object without whitespace between its tokens; the last of several members of one name wins. */
function readObject(shape: usize, from: usize): usize {
  let at = from + 1
  if (load<u8>(at) == CLOSE_OBJECT) return at + 1
  let link = firstLink(shape)
  while (true) {
    const member = predicted(link, at)
    let field: usize
    if (member != 0) {
      field = <usize>load<u32>(member, FIELD)
      at += <usize>load<u32>(member, LENGTH)
      link = member + NEXT
    } else {
      const name = at
      at = endOfFieldName(name)
      if (at == DECLINED) return DECLINED
      field = fieldOf(shape, name + 1, at - name - 3)
      link = learn(link, name, at - name, field)
    }
    at = field == 0 ? endOfValue(at) : readField(field, at)
    if (at == DECLINED) return DECLINED
    const byte = load<u8>(at)
    if (byte != COMMA) return byte == CLOSE_OBJECT ? at + 1 : DECLINED
    at++
  }
}

/** Reads the object at `at`, counted from the input, by a shape whose slots are `count` from `first` on; returns where it ends, or 0. */
export function readRow(shape: usize, first: u32, count: u32, at: usize, isNormalized: bool): usize {
  setExponents(isNormalized)
  makeRoom()
  store<u32>(nullText, NULL)
  listsEnd = lists
  clearSlots(first, count)
  const end = readObject(shape, input + at)
  if (end == DECLINED) return DECLINED
  outputEnd = writeList(first, count, output, output + MAX_TEXT - PADDING)
  if (outputEnd == DECLINED) outputEnd = output
  return outputEnd == output ? DECLINED : end - input
}
