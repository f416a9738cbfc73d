/** Reads one record of a long list straight from its bytes; leaves whatever is unusual to others. Knows no action and no list around it. */
import * as json from './projector-table.js'
import { endOfString, endOfValue, isWord, numberOf } from './row-bytes.js'
import type { Texts } from './row-texts.js'
import type { Shape } from './shape.js'

// Imported names are looked up each time.
const { QUOTE, COMMA_BYTE, COLON_BYTE, OPEN_LIST_BYTE, CLOSE_LIST_BYTE, OPEN_RECORD_BYTE, CLOSE_RECORD_BYTE } = json

/** Nothing can be made of the bytes here: they are unusual, wrong, or end too soon. */
export const UNREAD = -1
/** Names of one kind of record that are remembered; a platform that sends more of them is read the long way. */
const MOST_NAMES = 512

type RecordShape = { readonly [field: string]: Shape }
type Values = Record<string, unknown>

/** A member by its name, as far as it was seen: `next` is the one that followed it last, and most often follows it again. */
interface Member {
  /** `"name":` in words of four bytes, the last of which may overlap the one before. */
  words: Int32Array
  length: number
  field: Field | undefined
  next: Member | undefined
}

/** A field of the shape: its place among the values, and what reads its lists or records. */
interface Field {
  place: number
  inner: ListReader | RecordReader | undefined
}

/** A list of records written as a list; any other spelling is unusual. */
class ListReader {
  value: unknown[] = []
  readonly #item: RecordReader

  constructor(item: RecordReader) {
    this.#item = item
  }

  /** What stands for a list that is missing. */
  missing(): unknown[] {
    return []
  }

  read(input: Input, at: number): number {
    const { bytes } = input
    this.value = []
    if (bytes[at] !== OPEN_LIST_BYTE) return endOfNothing(bytes, at)
    if (bytes[at + 1] === CLOSE_LIST_BYTE) return at + 2
    const items: unknown[] = []
    let to = at
    do {
      if (bytes[to + 1] !== OPEN_RECORD_BYTE) return UNREAD
      to = this.#item.read(input, to + 1)
      if (to === UNREAD) return UNREAD
      items.push(this.#item.value)
    } while (bytes[to] === COMMA_BYTE)
    this.value = items
    return bytes[to] === CLOSE_LIST_BYTE ? to + 1 : UNREAD
  }
}

/** Makes a record of its fields' values. Written out and compiled, as no loop makes objects as fast; the names are our own. */
const makerOf = (names: readonly string[]): ((values: readonly unknown[]) => Values) =>
  new Function('v', `return{${names.map((name, i) => `${JSON.stringify(name)}:v[${i}]`).join()}}`) as never

/** Bytes that end with a zero, and the same in words. */
export interface Input {
  bytes: Buffer
  words: DataView
}

/**
 * A record without blanks between its members, and names that are plain ASCII. Its value has every field of the shape, in the
 * order of the shape, exactly as `read` of `shape.ts` would make it.
 */
export class RecordReader {
  value: Values = {}
  readonly #fields = new Map<string, Field>()
  readonly #compound: { place: number; inner: ListReader | RecordReader }[] = []
  readonly #members = new Map<string, Member>()
  readonly #make: (values: readonly unknown[]) => Values
  readonly #texts: Texts
  /** The values of the record that is being read; none of its own kind can be within it. */
  readonly #values: unknown[]
  #first: Member | undefined

  constructor(shape: RecordShape, texts: Texts) {
    const names = Object.keys(shape)
    for (const [place, name] of names.entries()) {
      const inner = readerOf(shape[name] as Shape, texts)
      this.#fields.set(name, { place, inner })
      if (inner !== undefined) this.#compound.push({ place, inner })
    }
    this.#make = makerOf(names)
    this.#texts = texts
    this.#values = Array.from(names, () => undefined)
  }

  /** What stands for a record that is missing. */
  missing(): Values {
    this.#values.fill(undefined)
    return this.#made()
  }

  /** Reads a record from `at` on into `value`; returns where the bytes go on, or `UNREAD`. */
  read(input: Input, at: number): number {
    const { bytes } = input
    const values = this.#values
    for (let place = 0; place < values.length; place++) values[place] = undefined // a call costs more than this loop
    let end = at + 2
    if (bytes[at] !== OPEN_RECORD_BYTE) end = endOfNothing(bytes, at)
    else if (bytes[at + 1] !== CLOSE_RECORD_BYTE) end = this.#readMembers(input, at + 1)
    if (end !== UNREAD) this.value = this.#made()
    return end
  }

  #made(): Values {
    for (const { place, inner } of this.#compound) this.#values[place] ??= inner.missing()
    return this.#make(this.#values)
  }

  /** From the first name to behind the closing bracket. */
  #readMembers(input: Input, from: number): number {
    const { bytes } = input
    let at = from
    let before: Member | undefined
    let member = this.#first
    for (;;) {
      if (member === undefined || !startsWith(input.words, at, member)) {
        member = this.#memberAt(bytes, at)
        if (member === undefined) return UNREAD
        if (before === undefined) this.#first = member
        else before.next = member
      }
      at += member.length
      at = member.field === undefined ? endOfValue(bytes, at) : this.#readField(input, at, member.field)
      if (at === UNREAD) return UNREAD
      if (bytes[at] !== COMMA_BYTE) return bytes[at] === CLOSE_RECORD_BYTE ? at + 1 : UNREAD
      at++
      before = member
      member = member.next
    }
  }

  #readField(input: Input, at: number, { place, inner }: Field): number {
    if (inner === undefined) return this.#readScalar(input.bytes, at, place)
    const end = inner.read(input, at)
    this.#values[place] = inner.value
    return end
  }

  #readScalar(bytes: Buffer, at: number, place: number): number {
    const byte = bytes[at] as number
    const end = endOfValue(bytes, at)
    if (end === UNREAD) return UNREAD
    if (byte === QUOTE) this.#values[place] = this.#texts.of(bytes, at + 1, end - 1)
    else if (byte <= 0x39) this.#values[place] = finite(numberOf(bytes, at, end))
    else this.#values[place] = byte === 0x74 ? true : byte === 0x66 ? false : undefined
    return end
  }

  #memberAt(bytes: Buffer, at: number): Member | undefined {
    if (bytes[at] !== QUOTE) return undefined
    const end = endOfString(bytes, at)
    if (end === UNREAD || bytes[end] !== COLON_BYTE) return undefined
    const name = bytes.toString('latin1', at + 1, end - 1)
    const known = this.#members.get(name)
    if (known !== undefined) return known
    if (this.#members.size === MOST_NAMES || !/^[\x20-\x5b\x5d-\x7e]+$/.test(name)) return undefined
    const member = { ...wordsOf(bytes.subarray(at, end + 1)), field: this.#fields.get(name), next: undefined }
    this.#members.set(name, member)
    return member
  }
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined)

/** At least four bytes, as a name with its quotes and colon is. */
function wordsOf(bytes: Buffer): { words: Int32Array; length: number } {
  const { length } = bytes
  const words = Int32Array.from({ length: Math.ceil(length / 4) }, (_, i) =>
    bytes.readInt32LE(Math.min(4 * i, length - 4)),
  )
  return { words, length }
}

function startsWith(view: DataView, at: number, { words, length }: Member): boolean {
  const last = words.length - 1
  // The bytes end before the view does, but what lies behind their zero is never equal to a name.
  if (at + length > view.byteLength) return false
  for (let i = 0; i < last; i++) if (view.getInt32(at + 4 * i, true) !== words[i]) return false
  return view.getInt32(at + length - 4, true) === words[last]
}

/** Behind what reads as a list or record without content, whichever was expected. */
function endOfNothing(bytes: Uint8Array, at: number): number {
  if (isWord(bytes, at, 'null')) return at + 4
  const byte = bytes[at]
  const isEmpty = (byte === OPEN_LIST_BYTE || byte === OPEN_RECORD_BYTE) && bytes[at + 1] === byte + 2
  return isEmpty ? at + 2 : UNREAD
}

const isRecord = (shape: Shape): shape is RecordShape => typeof shape === 'object' && !Array.isArray(shape)

/** What reads the lists or records of a shape; none for a scalar. */
function readerOf(shape: Shape, texts: Texts): ListReader | RecordReader | undefined {
  if (shape === 'scalar') return undefined
  if (isRecord(shape)) return new RecordReader(shape, texts)
  const item = Array.isArray(shape) ? (shape[0] as Shape) : undefined
  if (item === undefined || !isRecord(item)) throw new Error('a row holds scalars, records and lists of records')
  return new ListReader(new RecordReader(item, texts))
}
