/** Shapes made ready for matching raw keys: which members and items of a value can ever be read. Knows no state of reading. */

import type { Shape } from '../../platform/shape.js'
import { type Row, RowReaders } from './row.js'

type RowShape = { readonly [field: string]: Shape }

/** What to keep of a value: what a shape names, or all of it. */
export type Wanted = Shape | 'all' | readonly [Wanted] | { readonly [field: string]: Wanted }

/** A member that is kept, and what of it. */
export interface Member {
  name: string
  plan: Plan
}

/** A member known by name; `next` is another one with the same digest. */
interface Field extends Member {
  key: Uint8Array
  next: Field | undefined
}

type RecordShape = { readonly [field: string]: Wanted }

const BUCKETS = 128
const digest = (length: number, first: number, last: number) => (length + first * 5 + last * 17) & (BUCKETS - 1)

const readersOf = (rows: readonly RowShape[]): RowReaders | undefined =>
  rows.length > 0 ? new RowReaders(rows) : undefined

const isNumeric = (name: string) => /^\d+$/.test(name)

/** The shapes a list of this shape reads its items by; an id may be a record's (`'ids'`). */
function itemShapes(shape: Wanted): Wanted[] {
  if (shape === 'ids') return [{ id: 'scalar' }]
  return Array.isArray(shape) ? [...shape] : []
}

const isRecord = (shape: Wanted): shape is RecordShape => typeof shape === 'object' && !Array.isArray(shape)

/** What to keep of one value so that `read` finds the same in the rest as in the whole, by any of the shapes. */
export class Plan {
  /** The plan of each item where a list is kept: of an array, and of a record's members with numeric names. */
  readonly items: Plan | undefined
  /** Whether a record is kept as one, if only for being one. */
  readonly keepsRecords: boolean
  /** What reads the records planned here, where their one shape is one of the rows. */
  readonly row: Row | undefined
  /** Where the bytes of rows have to be; none where there are none. */
  readonly input: Buffer | undefined
  readonly #fields = new Map<string, Field>()
  readonly #buckets: (Field | undefined)[] = Array.from({ length: BUCKETS })
  readonly #keepsAll: boolean

  /** @param rows shapes, among those given or within them, of records that are short and come in long lists. */
  constructor(shapes: readonly Wanted[], rows: readonly RowShape[] = [], readers = readersOf(rows)) {
    const row = shapes.length === 1 ? rows.find((row) => row === shapes[0]) : undefined
    this.row = row && readers?.of(row)
    this.input = readers?.input
    const items = shapes.flatMap(itemShapes)
    const records = shapes.filter(isRecord)
    this.#keepsAll = shapes.includes('all')
    this.items = this.#keepsAll ? this : items.length > 0 ? new Plan(items, rows, readers) : undefined
    for (const name of new Set(records.flatMap((record) => Object.keys(record)))) {
      const own = records.flatMap((record) => (Object.hasOwn(record, name) ? [record[name] as Wanted] : []))
      this.#add(name, new Plan(isNumeric(name) ? [...own, ...items] : own, rows, readers))
    }
    this.keepsRecords = this.items !== undefined || records.length > 0
  }

  #add(name: string, plan: Plan): void {
    const key = Buffer.from(name)
    const bucket = digest(key.length, key[0] ?? 0, key.at(-1) ?? 0)
    const field = { name, plan, key, next: this.#buckets[bucket] }
    this.#buckets[bucket] = field
    this.#fields.set(name, field)
  }

  /** The kept member of this name, if it is one. */
  named(name: string): Member | undefined {
    if (this.#keepsAll) return { name, plan: this }
    const field = this.#fields.get(name)
    if (field !== undefined || this.items === undefined || !isNumeric(name)) return field
    return { name, plan: this.items }
  }

  /** The same for a name without escapes, as the bytes `from` to `to` of `text`. */
  find(text: Uint8Array, from: number, to: number): Member | undefined {
    const length = to - from
    if (length === 0 || this.#keepsAll) return this.named(decoded(text, from, to))
    const first = text[from] as number
    let field = this.#buckets[digest(length, first, text[to - 1] as number)]
    while (field !== undefined && !matches(field.key, text, from, length)) field = field.next
    if (field !== undefined || this.items === undefined || first < 0x30 || first > 0x39) return field
    return this.named(decoded(text, from, to))
  }
}

const decoded = (text: Uint8Array, from: number, to: number) => Buffer.from(text.subarray(from, to)).toString()

function matches(key: Uint8Array, text: Uint8Array, from: number, length: number): boolean {
  if (key.length !== length) return false
  for (let at = 0; at < length; at++) if (key[at] !== text[from + at]) return false
  return true
}
