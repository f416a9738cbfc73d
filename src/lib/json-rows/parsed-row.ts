/** A row that the WebAssembly reader declines: parsed by `JSON.parse` and normalized by the caller. */
import { type RowShape, type Scalar, slotValues } from './row-text.js'
import { type Row, slotOf } from './wasm-row.js'

export class ParsedRow implements Row {
  readonly #names: readonly string[]
  readonly #record: Record<string, unknown>
  readonly #values: unknown[]
  readonly #text: Buffer

  constructor(shape: RowShape, names: readonly string[], record: Record<string, unknown>) {
    this.#names = names
    this.#record = record
    this.#values = slotValues(shape, record)
    this.#text = Buffer.from(JSON.stringify(this.#values))
  }

  slot(name: string): number {
    return slotOf(this.#names, name)
  }

  scalar(slot: number): Scalar {
    return this.#values[slot] as Scalar
  }

  has(slot: number): boolean {
    return (this.#values[slot] as unknown[]).length > 0
  }

  get length(): number {
    return this.#text.length
  }

  copy(to: Buffer, start: number): void {
    this.#text.copy(to, start)
  }

  record(): Record<string, unknown> {
    return this.#record
  }
}
