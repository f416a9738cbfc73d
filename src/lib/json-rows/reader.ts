/** Reads a long JSON document as its bytes arrive: the rows of its lists one by one, and everything else at the end. */
import { ByteBuffer } from './byte-buffer.js'
import { Envelope, TooLarge } from './envelope.js'
import type { RowShape } from './row-text.js'
import { type Row, WasmRow } from './wasm-row.js'

const quote = 0x22
const openList = 0x5b
const backslash = 0x5c
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const nullBytes = Buffer.from('null')

/** Longer chunks are cut. */
const pieceBytes = 1 << 16
/** A larger row is refused: the WebAssembly reader has room for one of this size. */
const maxRowBytes = 1 << 20
/** Nesting of the envelope, and of a row within it. */
const maxDepth = 512
/** Lists around a row. */
const rowLevel = 2

/** What is open; `rows` is a list whose objects are rows. */
type Open = 'object' | 'list' | 'rows'

export interface RowReaderOptions {
  /** The fields of a row to keep. */
  shape: RowShape
  /** Normalizes a row that WebAssembly declines: returns an object that it accepts, all of whose values are as the shape describes them, null or absent. */
  normalize: (record: Record<string, unknown>) => Record<string, unknown>
  /** Called for each row in the order of the document, and for each object passed to `add`, unless it is left out. */
  onRow: (row: Row) => void
  /** Maximum bytes of the envelope, placeholders included. */
  maxEnvelopeBytes: number
}

/** Instances take 0.1 ms to create and are used by one `write` at a time, so all readers of a shape share one. */
const instances = new WeakMap<RowShape, WasmRow>()

/**
 * `JSON.parse` for documents that are much larger than what is kept of them. Accepts and refuses the documents that
 * `JSON.parse` accepts and refuses, within its limits. After an error the reader is unusable.
 */
export class RowReader {
  readonly #options: RowReaderOptions
  readonly #wasm: WasmRow
  readonly #envelope: Envelope
  /** The open objects and lists of the envelope, outermost first. */
  readonly #open: Open[] = []
  /** Of these, the lists: to count them for each new one would take long in a document that is nested deeply. */
  #openLists = 0
  #opened = 0
  #rows = 0
  #inString = false
  /** The last byte was a backslash. */
  #escaped = false
  /** The start of a row that is still incomplete, and the bytes it takes to try again. */
  readonly #rest = new ByteBuffer()
  #retryAt = 0

  constructor(options: RowReaderOptions) {
    this.#options = options
    this.#wasm = instances.get(options.shape) ?? new WasmRow(options.shape)
    instances.set(options.shape, this.#wasm)
    this.#envelope = new Envelope(options.maxEnvelopeBytes)
  }

  /** @throws SyntaxError for invalid JSON, TooLarge, and whatever `onRow` and `normalize` throw. */
  write(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; from += pieceBytes)
      this.#writePiece(chunk.subarray(from, from + pieceBytes))
  }

  /** The document with a placeholder for each row. Throws as `write` does. */
  end(): unknown {
    this.#retryAt = 0
    if (this.#rest.length > 0) this.#writePiece(new Uint8Array())
    if (this.#rest.length > 0) throw new SyntaxError('the document ends within a row')
    return parsed('the envelope', () => this.#envelope.parse())
  }

  /** The number of the row, in order of arrival from 0, whose placeholder a value of the envelope is; `undefined` for any other value. */
  rowAt(value: unknown): number | undefined {
    return this.#envelope.rowAt(value)
  }

  /** Passes an object of the envelope to `onRow` as if it had been a row; returns its number, or `undefined` if its fields are too large. */
  add(object: Record<string, unknown>): number | undefined {
    if (!this.#readNormalized(object)) return undefined
    this.#options.onRow(this.#wasm)
    return this.#rows++
  }

  /** Bytes of the envelope so far, and its objects and lists, also those of JSON in its texts: what it will take in memory. */
  get envelopeSize(): { bytes: number; opened: number } {
    return { bytes: this.#envelope.length, opened: this.#opened }
  }

  /** Reads all but an incomplete row at the end, which it keeps for later. */
  #writePiece(piece: Uint8Array): void {
    const { bytes, length } = this.#rest
    const end = length + piece.length
    if (length > 0 && end < this.#retryAt) return void this.#rest.append(piece, 0, piece.length)
    this.#rest.length = 0
    const { input } = this.#wasm
    input.set(bytes.subarray(0, length))
    input.set(piece, length)
    input[end] = 0
    const row = this.#scan(input, end)
    if (row === end) return
    this.#rest.append(input, row, end)
    // Doubled, so that a row in many small chunks is not read once for each.
    this.#retryAt = Math.min(2 * this.#rest.length, maxRowBytes + 1)
  }

  /** Copies all but rows to the envelope; returns where an incomplete row starts, or `end`. */
  #scan(input: Uint8Array, end: number): number {
    let [copied, at] = [0, 0]
    while (at < end) {
      if (this.#inString) {
        at = this.#scanString(input, at, end)
        continue
      }
      const byte = input[at] as number
      if (byte === openObject && this.#open.at(-1) === 'rows') {
        this.#envelope.append(input, copied, at)
        const rowEnd = this.#readRow(at, end)
        if (rowEnd === 0) return at
        copied = rowEnd
        at = rowEnd
        continue
      }
      if (byte === quote) this.#inString = true
      else if (byte === openObject) this.#push('object')
      else if (byte === openList) {
        this.#envelope.append(input, copied, at)
        copied = at
        this.#push(this.#isRowList() ? 'rows' : 'list')
      } else if (byte === closeObject || byte === closeList) this.#pop()
      at++
    }
    this.#envelope.append(input, copied, end)
    return end
  }

  /** Returns the index after the string, or `end`. */
  #scanString(input: Uint8Array, from: number, end: number): number {
    let at = from
    if (this.#escaped) at++
    this.#escaped = false
    for (; at < end; at++) {
      const byte = input[at]
      if (byte === backslash) at++
      else if (byte === quote) {
        this.#inString = false
        break
      } else if (byte === openList || byte === openObject) this.#opened++
    }
    this.#escaped = at > end
    return this.#inString ? end : at + 1
  }

  /** Whether the list that starts here is the member `items` of an item of the outermost list. */
  #isRowList(): boolean {
    return this.#openLists === rowLevel - 1 && this.#open.at(-2) === 'list' && this.#envelope.namesItems
  }

  #push(open: Open): void {
    if (this.#open.push(open) > maxDepth) throw tooDeep()
    if (open !== 'object') this.#openLists++
    this.#opened++
  }

  #pop(): void {
    const closed = this.#open.pop()
    if (closed !== undefined && closed !== 'object') this.#openLists--
  }

  /** Passes on the row at `at`; returns where it ends, or 0 if it is incomplete. */
  #readRow(at: number, end: number): number {
    let rowEnd = this.#wasm.read(at)
    const isRead = rowEnd > 0
    if (!isRead) rowEnd = this.#wasm.compact(at, end)
    if (rowEnd < 0) throw tooDeep()
    if ((rowEnd || end) - at > maxRowBytes) throw new TooLarge(`a row has more than ${maxRowBytes} bytes`)
    if (rowEnd === 0) return 0
    if (isRead || this.#wasm.read(this.#wasm.compactedAt) > 0 || this.#readDeclined()) {
      this.#options.onRow(this.#wasm)
      this.#envelope.addPlaceholder(this.#rows++)
    } else this.#envelope.append(nullBytes, 0, nullBytes.length)
    return rowEnd
  }

  #readDeclined(): boolean {
    return this.#readNormalized(parsed(`row ${this.#rows}`, () => JSON.parse(this.#wasm.compactedText())))
  }

  /** False if its fields exceed 128 KiB, or are not as its shape describes them. */
  #readNormalized(object: Record<string, unknown>): boolean {
    return this.#wasm.readNormalized(this.#options.normalize(object))
  }
}

const tooDeep = (): SyntaxError => new SyntaxError(`more than ${maxDepth} levels`)

/** The message of `JSON.parse` quotes the document, which may be confidential. */
function parsed<T>(what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof SyntaxError ? new SyntaxError(`${what} is invalid JSON`) : error
  }
}
