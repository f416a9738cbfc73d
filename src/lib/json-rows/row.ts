/** Reads the records of a long list straight from their bytes, through `row.wasm` (`assembly/row.ts`); leaves whatever is unusual to others. Knows no action and no list around them. */
import { readFileSync } from 'node:fs'
import { type Scalar, type Shape, shapeOfItems } from '../../platform/shape.js'
import { isNested, itemShape, recordMaker, slotNames, type RowShape as TextShape } from './row-text.js'
import { decoded } from './utf8.js'

type RowShape = { readonly [field: string]: Shape }
const fieldsOf = (shape: RowShape): string[] => slotNames(shape as TextShape)

/** The compact text of a normalized object. */
export const textOfRecord = (shape: TextShape, record: object): string => JSON.stringify(slotValues(shape, record))

function slotValues(shape: TextShape, record: object): unknown[] {
  return Object.entries(shape).flatMap(([name, field]) => {
    const value = record[name as keyof typeof record] as unknown
    const item = itemShape(field)
    if (item !== undefined) return [(value as object[]).map((each) => slotValues(item, each))]
    return isNested(field) ? slotValues(field, value as object) : [value]
  })
}

/** Nothing can be made of the bytes here: they are unusual, wrong, or end too soon. */
export const UNREAD = -1
/** Bytes of input that a reader has room for, and the zero behind them. */
export const mostInput = (1 << 17) + 1

// As in `assembly/row.ts`.
const LONGEST_NAME = 31
const MOST_FIELDS = 48
const MOST_SHAPES = 64
const MOST_SLOTS = 1_024
const kinds = { scalar: 0, record: 1, list: 2 } as const

/** All we use of it; the types of the oldest Node that is supported leave it out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

interface Exports {
  memory: { buffer: ArrayBuffer }
  input: { value: number }
  output: { value: number }
  slots: { value: number }
  addField(shape: number, length: number, kind: number, slot: number, inner: number, first: number, count: number): void
  readRow(shape: number, first: number, count: number, at: number): number
  written(): number
}

const module = new WebAssembly.Module(readFileSync(new URL('./row.wasm', import.meta.url)))

/** What reads the records of some shapes, and where their bytes have to be. */
export class RowReaders {
  /** Bytes to be read, with a zero behind the last. */
  readonly input: Buffer
  readonly #exports: Exports
  readonly #rows = new Map<RowShape, Row>()
  #shapes = 0
  #slots = 0

  constructor(shapes: readonly RowShape[]) {
    this.#exports = new WebAssembly.Instance(module).exports as Exports
    const { memory, input } = this.#exports
    this.input = Buffer.from(memory.buffer, input.value, mostInput)
    for (const shape of new Set(shapes)) this.#rows.set(shape, this.#row(shape))
  }

  of(shape: RowShape): Row {
    const row = this.#rows.get(shape)
    if (row === undefined) throw new Error('not a shape of these readers')
    return row
  }

  #row(shape: RowShape): Row {
    const { first, count } = this.#slotsOf(shape)
    const number = this.#define(shape, first)
    return new Row(shape, this.#exports, (at) => this.#exports.readRow(number, first, count, at), first)
  }

  #slotsOf(shape: RowShape): { first: number; count: number } {
    const first = this.#slots
    const count = fieldsOf(shape).length
    this.#slots += count
    if (this.#slots > MOST_SLOTS) throw new Error(`rows have at most ${MOST_SLOTS} fields`)
    return { first, count }
  }

  /** A shape whose own fields have the slots from `from` on; returns its number. */
  #define(shape: RowShape, from: number): number {
    const number = this.#shapes++
    if (number === MOST_SHAPES) throw new Error(`rows have at most ${MOST_SHAPES} shapes`)
    const fields = Object.entries(shape)
    if (fields.length > MOST_FIELDS) throw new Error(`a row has at most ${MOST_FIELDS} fields of its own`)
    let slot = from
    for (const [name, of] of fields) slot += this.#defineField(number, name, of, slot)
    return number
  }

  /** @returns how many slots it takes. */
  #defineField(number: number, name: string, of: Shape, slot: number): number {
    const length = Buffer.byteLength(name)
    if (length > LONGEST_NAME) throw new Error(`${name} is too long for a row`)
    const add = (kind: number, inner: number, first: number, count: number): void => {
      this.input.fill(0, 0, LONGEST_NAME + 1).write(name)
      this.#exports.addField(number, length, kind, slot, inner, first, count)
    }
    const item = shapeOfItems(of)
    if (item !== undefined) {
      const { first, count } = this.#slotsOf(item as RowShape)
      add(kinds.list, this.#define(item as RowShape, first), first, count)
      return 1
    }
    if (typeof of !== 'object') {
      add(kinds.scalar, 0, 0, 0)
      return 1
    }
    const { length: count } = fieldsOf(of as RowShape)
    add(kinds.record, this.#define(of as RowShape, slot), slot, count)
    return count
  }
}

/** The record that was read last by one shape: without blanks between its members, and lists and records spelled as such. */
export class Row {
  readonly shape: RowShape
  readonly #exports: Exports
  readonly #read: (at: number) => number
  readonly #memory: Buffer
  readonly #slots: Uint32Array
  readonly #output: number
  readonly #make: (text: string) => Record<string, unknown>
  readonly #places: readonly string[]

  constructor(shape: RowShape, exports: Exports, read: (at: number) => number, first: number) {
    this.shape = shape
    this.#exports = exports
    this.#read = read
    this.#memory = Buffer.from(exports.memory.buffer)
    this.#slots = new Uint32Array(exports.memory.buffer, exports.slots.value + 8 * first)
    this.#output = exports.output.value
    this.#make = recordMaker(shape as TextShape)
    this.#places = fieldsOf(shape)
  }

  /** Reads the record that starts at `at` of the input; returns where it ends, or `UNREAD`. */
  read(at: number): number {
    return this.#read(at) || UNREAD
  }

  /** Bytes of its text (`row-text.ts`). */
  get length(): number {
    return this.#exports.written()
  }

  copy(to: Buffer, start: number): void {
    this.#memory.copy(to, start, this.#output, this.#output + this.length)
  }

  /** All of it, exactly as `read` of `shape.ts` would make it. */
  record(): Record<string, unknown> {
    return this.#make(decoded(this.#memory, this.#output, this.#output + this.length))
  }

  /** Where a field is found, such as `device_data.id`. */
  place(name: string): number {
    const place = this.#places.indexOf(name)
    if (place < 0) throw new Error(`a row has no ${name}`)
    return place
  }

  /** The scalar at a place, as in `record`. */
  scalar(place: number): Scalar {
    const from = this.#slots[2 * place] as number
    const to = this.#slots[2 * place + 1] as number
    const first = this.#memory[from] as number
    if (first === 0x22) return this.#text(from, to)
    if (first <= 0x39) return this.#number(from, to)
    return first === 0x6e ? undefined : first === 0x74
  }

  /** Whether the list at a place has items. */
  has(place: number): boolean {
    return this.#memory[this.#slots[2 * place] as number] === 0x5b
  }

  #text(from: number, to: number): string {
    for (let at = from + 1; at < to - 1; at++) {
      const byte = this.#memory[at] as number
      if (byte === 0x5c || byte > 0x7f) return JSON.parse(decoded(this.#memory, from, to))
    }
    return this.#memory.toString('latin1', from + 1, to - 1)
  }

  #number(from: number, to: number): number {
    let value = 0
    for (let at = from; at < to; at++) {
      const digit = (this.#memory[at] as number) - 0x30
      if (digit < 0 || to - from > 15) return Number(this.#memory.toString('latin1', from, to))
      value = 10 * value + digit
    }
    return value
  }
}
