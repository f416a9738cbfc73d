/** The kept part of a JSON text, made into values a batch at a time; trusts its caller that the text is valid. */
import { CLOSE_LIST_BYTE, COMMA_BYTE, OPEN_LIST_BYTE, OPEN_RECORD_BYTE } from './projector-table.js'
import { decoded } from './utf8.js'

type Container = unknown[] | Record<string, unknown>

const SPACES = [0x20, 0x0a, 0x0d, 0x09]

/** Below this many bytes a loop copies faster than a call. */
const SHORT = 64

/** A record or list that is open in the text. `name` is the member of the record that is being read. */
export interface Frame {
  closer: number
  name: string
}

/**
 * Text that belongs into the innermost of the values built so far. It starts with that value's own bracket, so that with
 * closing brackets it is JSON; the first value is a list that holds nothing but the document.
 */
export class KeptText {
  readonly #built: Container[] = [[]]
  #bytes = Buffer.alloc(1 << 10)
  length = 0
  #folded = 0

  constructor() {
    this.push(OPEN_LIST_BYTE)
  }

  /** How many of the open records and lists exist as values already. */
  get built(): number {
    return this.#built.length
  }

  /** Bytes appended so far, those included of which values were built. */
  get total(): number {
    return this.#folded + this.length
  }

  push(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = byte
  }

  append(from: Buffer, start: number, end: number): void {
    const size = end - start
    this.#reserve(size)
    if (size > SHORT) from.copy(this.#bytes, this.length, start, end)
    else for (let at = 0; at < size; at++) this.#bytes[this.length + at] = from[start + at] as number
    this.length += size
  }

  /** The JSON string that was appended since `mark`. */
  stringSince(mark: number): string {
    return JSON.parse(this.#bytes.toString('utf8', mark, this.length))
  }

  /** Builds what the text says so far; `frames` are all that is open, outermost first, the list of the document included. */
  fold(frames: readonly Frame[], depth: number): void {
    const known = this.#built.length - 1
    this.#folded += this.length
    if (this.#bytes[1] === COMMA_BYTE) this.#bytes[1] = 0x20
    for (let at = depth; at >= known; at--) this.push((frames[at] as Frame).closer)
    const target = this.#built[known] as Container
    merge(target, JSON.parse(decoded(this.#bytes, 0, this.length)))
    for (let at = known; at < depth; at++) this.#built.push(openIn(this.#built[at] as Container, frames[at] as Frame))
    this.#restart((frames[depth] as Frame).closer)
  }

  /** The list at `depth`, the innermost of what is open, with all of its items so far. `size` is what its next item keeps. */
  list(frames: readonly Frame[], depth: number, size: number): unknown[] {
    this.#dropComma()
    if (this.length > 1 || this.#built.length <= depth) this.fold(frames, depth)
    this.#folded += size
    return this.#built[depth] as unknown[]
  }

  /** What separates the last item from the next. */
  #dropComma(): void {
    while (this.length > 1 && SPACES.includes(this.#bytes[this.length - 1] as number)) this.length--
    if (this.length > 1 && this.#bytes[this.length - 1] === COMMA_BYTE) this.length--
  }

  /** Builds the innermost value to its end. */
  close(frames: readonly Frame[], depth: number): void {
    this.fold(frames, depth)
    this.#built.pop()
    this.#restart((frames[depth - 1] as Frame).closer)
  }

  /** The document; only after a fold with nothing open. */
  document(): unknown {
    return (this.#built[0] as unknown[])[0]
  }

  #restart(closer: number): void {
    this.length = 0
    this.push(closer === CLOSE_LIST_BYTE ? OPEN_LIST_BYTE : OPEN_RECORD_BYTE)
  }

  #reserve(size: number): void {
    if (this.length + size <= this.#bytes.length) return
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.length + size))
    this.#bytes.copy(larger, 0, 0, this.length)
    this.#bytes = larger
  }
}

/** Adds members as `JSON.parse` does: one named `__proto__` is a member and no prototype. */
function merge(target: Container, more: Container): void {
  if (Array.isArray(target)) for (const item of more as unknown[]) target.push(item)
  else
    for (const [name, value] of Object.entries(more))
      Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
}

function openIn(container: Container, frame: Frame): Container {
  return (Array.isArray(container) ? container.at(-1) : container[frame.name]) as Container
}
