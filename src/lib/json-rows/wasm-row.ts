/** The WebAssembly row reader: reads an object by a shape straight from its bytes. */
import { readFileSync } from 'node:fs'
import { isNested, itemShape, type RowShape, recordMaker, type Scalar, slotNames } from './row-text.js'
import { decoded } from './utf8.js'

/** One row. Valid only during the call that passes it. */
export type Row = Pick<WasmRow, 'slot' | 'scalar' | 'has' | 'isList' | 'length' | 'copy' | 'record'>

// Within the limits of `assembly/row.ts` and `assembly/members.ts`.
const maxName = 31
const maxFields = 48
const maxShapes = 64
const maxSlots = 1_024
const kinds = { scalar: 0, object: 1, list: 2 } as const

/** The part of the API used here; the types of Node 20 leave it out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

interface Exports extends Record<'input' | 'inputLength' | 'compacted' | 'output' | 'slots', { value: number }> {
  memory: { buffer: ArrayBuffer }
  addField(shape: number, length: number, kind: number, slot: number, inner: number, first: number, count: number): void
  readRow(shape: number, first: number, count: number, at: number, isNormalized: boolean): number
  written(): number
  compact(at: number, end: number): number
  compactedLength(): number
}

const module = new WebAssembly.Module(readFileSync(new URL('./row.wasm', import.meta.url)))

/** Reads rows of one shape; also the row read last. */
export class WasmRow {
  /** Bytes to read, which end with a zero. */
  readonly input: Buffer
  /** Where `compact` copies an object to, counted from the input. */
  readonly compactedAt: number
  readonly #names: readonly string[]
  readonly #exports: Exports
  readonly #memory: Buffer
  readonly #slots: Uint32Array
  readonly #output: number
  readonly #make: (text: string) => Record<string, unknown>
  #shapes = 0
  #slotCount: number
  /** Whether the row read last was declined. */
  #isNormalized = false

  constructor(shape: RowShape) {
    this.#exports = new WebAssembly.Instance(module).exports as Exports
    const { memory, input, inputLength, compacted, output, slots } = this.#exports
    this.#memory = Buffer.from(memory.buffer)
    this.#slots = new Uint32Array(memory.buffer, slots.value)
    this.#output = output.value
    this.input = this.#memory.subarray(input.value, input.value + inputLength.value)
    this.compactedAt = compacted.value - input.value
    this.#names = slotNames(shape)
    this.#make = recordMaker(shape)
    this.#slotCount = this.#names.length
    this.#define(shape, 0)
    if (this.#slotCount > maxSlots) throw new Error(`rows have at most ${maxSlots} fields`)
  }

  /** Reads the object at `at`, counted from the input; returns where it ends, or 0 if it declines the object. */
  read(at: number, isNormalized = false): number {
    this.#isNormalized = isNormalized
    return this.#exports.readRow(0, 0, this.#names.length, at, isNormalized)
  }

  /** Copies the object at `at` without whitespace; returns where it ends, 0 if it is incomplete at `end`, or -1 if it is nested too deeply. */
  compact(at: number, end: number): number {
    return this.#exports.compact(at, end)
  }

  compactedText(): string {
    const from = this.#exports.compacted.value
    return decoded(this.#memory, from, from + this.#exports.compactedLength())
  }

  /** Reads a normalized object; returns whether it accepts the object. */
  readNormalized(record: Record<string, unknown>): boolean {
    const text = Buffer.from(`${JSON.stringify(record)}\0`)
    if (text.length > this.input.length) return false
    text.copy(this.#memory, this.#exports.compacted.value)
    return this.read(this.compactedAt, true) > 0
  }

  /** The number of a field, such as `device_data.id`. It is the same for all rows of a shape. */
  slot(name: string): number {
    const slot = this.#names.indexOf(name)
    if (slot < 0) throw new Error(`a row has no field ${name}`)
    return slot
  }

  /** A scalar field, as in `record()`. */
  scalar(slot: number): Scalar {
    const from = this.#slots[2 * slot] as number
    const to = this.#slots[2 * slot + 1] as number
    const first = this.#memory[from] as number
    if (first === 0x22) return this.#text(from, to)
    if (first <= 0x39) return this.#number(from, to)
    return first === 0x6e ? undefined : first === 0x74
  }

  /** Whether a list field has items. */
  has(slot: number): boolean {
    const from = this.#slots[2 * slot] as number
    return this.#memory[from] === 0x5b && this.#memory[from + 1] !== 0x5d
  }

  /** Whether a list field is a list. False for an empty list of a declined row: its normalized object has `[]` for an absent list, too. */
  isList(slot: number): boolean {
    return this.#isNormalized ? this.has(slot) : this.#memory[this.#slots[2 * slot] as number] === 0x5b
  }

  /** Bytes of its compact text. */
  get length(): number {
    return this.#exports.written()
  }

  /** Copies its compact text, for `recordMaker` to decode. */
  copy(to: Buffer, start: number): void {
    this.#memory.copy(to, start, this.#output, this.#output + this.length)
  }

  /** The normalized object. */
  record(): Record<string, unknown> {
    return this.#make(decoded(this.#memory, this.#output, this.#output + this.length))
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
      if (digit < 0 || digit > 9 || to - from > 15) return Number(this.#memory.toString('latin1', from, to))
      value = 10 * value + digit
    }
    return value
  }

  /** Defines a shape whose fields have the slots from `from` on; returns its number. */
  #define(shape: RowShape, from: number): number {
    const number = this.#shapes++
    if (number === maxShapes) throw new Error(`rows have at most ${maxShapes} shapes`)
    const fields = Object.entries(shape)
    if (fields.length > maxFields) throw new Error(`a shape has at most ${maxFields} fields`)
    let slot = from
    for (const [name, field] of fields) {
      if (Buffer.byteLength(name) > maxName) throw new Error(`${name}: a name has at most ${maxName} bytes`)
      const item = itemShape(field)
      const inner = item ?? (isNested(field) ? field : undefined)
      const kind = item ? kinds.list : inner ? kinds.object : kinds.scalar
      const count = inner ? slotNames(inner).length : 0
      const first = item ? this.#slotCount : slot
      // Behind those of the row itself.
      if (item) this.#slotCount += count
      const innerNumber = inner ? this.#define(inner, first) : 0
      const length = this.input.write(name)
      this.#exports.addField(number, length, kind, slot, innerNumber, first, count)
      slot += kind === kinds.object ? count : 1
    }
    return number
  }
}
