/** Reads one record of a long list straight from its bytes; leaves whatever is unusual to others. Knows no action and no list around it. */
import * as json from './projector-table.js'
import { endOfNumber, endOfString, endOfValue, isWord, numberOf } from './row-bytes.js'
import type { Texts } from './row-texts.js'
import type { Shape } from './shape.js'

/** Nothing can be made of the bytes here: they are unusual, wrong, or end too soon. */
export const UNREAD = -1
/** Names of one kind of record that are remembered; a platform that sends more of them is read the long way. */
const MOST_NAMES = 512

type RecordShape = { readonly [field: string]: Shape }
type Values = Record<string, unknown>

/** A member by its name, as far as it was seen: `next` is the one that followed it last, and most often follows it again. */
interface Member {
  /** `"name":` */
  start: Uint8Array
  name: string
  /** What to make of the value; none where nobody reads it. */
  reader: Reader | undefined
  next: Member | undefined
}

/** Reads a value from `at` on; `value` is what was read, and what it returns is where the bytes go on, or `UNREAD`. */
interface Reader {
  value: unknown
  read(bytes: Buffer, at: number): number
  /** What stands for a value that is missing, as `read` of `shape.ts` says it. */
  missing(): unknown
}

class ScalarReader implements Reader {
  value: unknown
  readonly #texts: Texts

  constructor(texts: Texts) {
    this.#texts = texts
  }

  missing(): undefined {
    return undefined
  }

  read(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number
    if (byte === json.QUOTE) return this.#text(bytes, at)
    if (byte <= 0x39) return this.#number(bytes, at)
    this.value = undefined
    if (byte === json.OPEN_LIST_BYTE || byte === json.OPEN_RECORD_BYTE) return endOfValue(bytes, at)
    if (isWord(bytes, at, 'null')) return at + 4
    this.value = byte === 0x74
    if (isWord(bytes, at, 'true')) return at + 4
    return isWord(bytes, at, 'false') ? at + 5 : UNREAD
  }

  #text(bytes: Buffer, at: number): number {
    const end = endOfString(bytes, at)
    if (end === UNREAD) return UNREAD
    this.value = this.#texts.of(bytes, at + 1, end - 1)
    return end
  }

  #number(bytes: Buffer, at: number): number {
    const end = endOfNumber(bytes, at)
    if (end === UNREAD) return UNREAD
    const value = numberOf(bytes, at, end)
    this.value = Number.isFinite(value) ? value : undefined
    return end
  }
}

/** A list of records written as a list; any other spelling is unusual. */
class ListReader implements Reader {
  value: unknown
  readonly #item: RecordReader

  constructor(item: RecordReader) {
    this.#item = item
  }

  missing(): unknown[] {
    return []
  }

  read(bytes: Buffer, at: number): number {
    const items: unknown[] = []
    this.value = items
    if (bytes[at] !== json.OPEN_LIST_BYTE) return endOfNothing(bytes, at)
    if (bytes[at + 1] === json.CLOSE_LIST_BYTE) return at + 2
    let to = at
    do {
      if (bytes[to + 1] !== json.OPEN_RECORD_BYTE) return UNREAD
      to = this.#item.read(bytes, to + 1)
      if (to === UNREAD) return UNREAD
      items.push(this.#item.value)
    } while (bytes[to] === json.COMMA_BYTE)
    this.value = items
    return bytes[to] === json.CLOSE_LIST_BYTE ? to + 1 : UNREAD
  }
}

/**
 * A record without blanks between its members, and names that are plain ASCII. Its value has every field of the shape, in the
 * order of the shape, exactly as `read` of `shape.ts` would make it.
 */
export class RecordReader implements Reader {
  value: Values
  readonly #readers = new Map<string, Reader>()
  readonly #members = new Map<string, Member>()
  readonly #blank: Values = {}
  /** Fields whose missing value is an object of its own each time. */
  readonly #compound: [string, Reader][] = []
  #first: Member | undefined

  constructor(shape: RecordShape, texts: Texts) {
    for (const [name, of] of Object.entries(shape)) {
      const reader = readerOf(of, texts)
      this.#readers.set(name, reader)
      this.#blank[name] = undefined
      if (of !== 'scalar') this.#compound.push([name, reader])
    }
    this.value = this.#blank
  }

  missing(): Values {
    const value = { ...this.#blank }
    for (const [name, reader] of this.#compound) value[name] = reader.missing()
    return value
  }

  read(bytes: Buffer, from: number): number {
    if (bytes[from] !== json.OPEN_RECORD_BYTE) return this.#absent(bytes, from)
    const value = { ...this.#blank }
    let at = from + 1
    if (bytes[at] !== json.CLOSE_RECORD_BYTE) {
      at = this.#readMembers(bytes, at, value)
      if (at === UNREAD) return UNREAD
    }
    for (const [name, reader] of this.#compound) if (value[name] === undefined) value[name] = reader.missing()
    this.value = value
    return at + 1
  }

  #absent(bytes: Buffer, at: number): number {
    this.value = this.missing()
    return endOfNothing(bytes, at)
  }

  /** From the first name to the closing bracket. */
  #readMembers(bytes: Buffer, from: number, value: Values): number {
    let at = from
    let before: Member | undefined
    let member = this.#first
    for (;;) {
      if (member === undefined || !startsWith(bytes, at, member.start)) {
        member = this.#memberAt(bytes, at)
        if (member === undefined) return UNREAD
        if (before === undefined) this.#first = member
        else before.next = member
      }
      at += member.start.length
      const { reader } = member
      at = reader === undefined ? endOfValue(bytes, at) : reader.read(bytes, at)
      if (at === UNREAD) return UNREAD
      if (reader !== undefined) value[member.name] = reader.value
      if (bytes[at] !== json.COMMA_BYTE) return bytes[at] === json.CLOSE_RECORD_BYTE ? at : UNREAD
      at++
      before = member
      member = member.next
    }
  }

  #memberAt(bytes: Buffer, at: number): Member | undefined {
    if (bytes[at] !== json.QUOTE) return undefined
    const end = endOfString(bytes, at)
    if (end === UNREAD || bytes[end] !== json.COLON_BYTE) return undefined
    const name = bytes.toString('latin1', at + 1, end - 1)
    const known = this.#members.get(name)
    if (known !== undefined) return known
    if (this.#members.size === MOST_NAMES || !/^[\x20-\x5b\x5d-\x7e]*$/.test(name)) return undefined
    const start = Uint8Array.from(bytes.subarray(at, end + 1))
    const member = { start, name, reader: this.#readers.get(name), next: undefined }
    this.#members.set(name, member)
    return member
  }
}

/** Behind what reads as a list or record without content, whichever was expected. */
function endOfNothing(bytes: Uint8Array, at: number): number {
  if (isWord(bytes, at, 'null')) return at + 4
  const byte = bytes[at]
  const isEmpty = (byte === json.OPEN_LIST_BYTE || byte === json.OPEN_RECORD_BYTE) && bytes[at + 1] === byte + 2
  return isEmpty ? at + 2 : UNREAD
}

function startsWith(bytes: Uint8Array, at: number, start: Uint8Array): boolean {
  for (let i = 0; i < start.length; i++) if (bytes[at + i] !== start[i]) return false
  return true
}

const isRecord = (shape: Shape): shape is RecordShape => typeof shape === 'object' && !Array.isArray(shape)

function readerOf(shape: Shape, texts: Texts): Reader {
  if (shape === 'scalar') return new ScalarReader(texts)
  if (isRecord(shape)) return new RecordReader(shape, texts)
  const item = Array.isArray(shape) ? (shape[0] as Shape) : undefined
  if (item === undefined || !isRecord(item)) throw new Error('a row holds scalars, records and lists of records')
  return new ListReader(new RecordReader(item, texts))
}
