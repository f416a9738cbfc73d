/** Many texts as bytes in a few blocks: cheap to keep, and transferable between threads without a string each. */
import { decoded } from './json-rows/utf8.js'

/** Text `i` is in block `spans[3 * i]`, from byte `spans[3 * i + 1]` on, `spans[3 * i + 2]` bytes long. */
export interface TextArena {
  blocks: Uint8Array[]
  spans: Uint32Array
}

const minBlock = 1 << 16
const maxBlock = 1 << 20

/** Collects texts; blocks grow with their number. */
export class TextArenaBuilder {
  readonly #blocks: Buffer[] = []
  readonly #spans: number[] = []
  #free = 0

  /** Adds a text of `length` bytes, which `copy` writes. */
  add(length: number, copy: (to: Buffer, from: number) => void): void {
    if (this.#blocks.length === 0 || length > this.#free) {
      this.#free = Math.max(length, Math.min(maxBlock, minBlock * 2 ** this.#blocks.length))
      this.#blocks.push(Buffer.allocUnsafeSlow(this.#free))
    }
    const last = this.#blocks.length - 1
    const block = this.#blocks[last] as Buffer
    const from = block.length - this.#free
    copy(block, from)
    this.#free -= length
    this.#spans.push(last, from, length)
  }

  /** The texts added as these numbers, in this order. Nothing can be added afterwards. */
  build(numbers: ArrayLike<number>): TextArena {
    const last = this.#blocks.length - 1
    const block = this.#blocks[last]
    // The arena is kept for long, so the last block should not be half empty.
    if (block) this.#blocks[last] = Buffer.from(new Uint8Array(block.subarray(0, block.length - this.#free)).buffer)
    const spans = new Uint32Array(3 * numbers.length)
    for (let at = 0, i = 0; at < spans.length; i++) {
      const from = 3 * (numbers[i] as number)
      for (let part = 0; part < 3; part++) spans[at++] = this.#spans[from + part] as number
    }
    return { blocks: this.#blocks, spans }
  }
}

export function textAt({ blocks, spans }: TextArena, at: number): string {
  const { buffer, byteOffset } = blocks[spans[3 * at] as number] as Uint8Array
  const from = byteOffset + (spans[3 * at + 1] as number)
  return decoded(Buffer.from(buffer), from, from + (spans[3 * at + 2] as number))
}

/** Bytes of memory, approximately. */
export const arenaBytes = ({ blocks, spans }: TextArena): number =>
  blocks.reduce((sum, { byteLength }) => sum + byteLength, spans.byteLength)
