/** Many texts as bytes in a few blocks, so that they travel between threads and are kept without a string each. */
import { decoded } from '../platform/utf8.js'

/** Text `i` stands in block `places[3 * i]`, from byte `places[3 * i + 1]` on, `places[3 * i + 2]` bytes long. */
export interface Texts {
  blocks: Uint8Array[]
  places: Uint32Array
}

/** Where a text stands. */
export interface Place {
  block: number
  from: number
  length: number
}

const shortestBlock = 1 << 16
const longestBlock = 1 << 20

/** Blocks that become more and larger as texts arrive. */
export class TextBlocks {
  readonly #blocks: Buffer[] = []
  #free = 0

  /** Room for a text of so many bytes, to be filled by `copy`. */
  add(length: number, copy: (to: Buffer, from: number) => void): Place {
    if (length > this.#free) this.#addBlock(length)
    const last = this.#blocks.length - 1
    const block = this.#blocks[last] as Buffer
    const from = block.length - this.#free
    copy(block, from)
    this.#free -= length
    return { block: last, from, length }
  }

  text({ block, from, length }: Place): string {
    return decoded(this.#blocks[block] as Buffer, from, from + length)
  }

  /** Ends it: the texts at these places, in this order. */
  texts(places: readonly Place[]): Texts {
    const last = this.#blocks.length - 1
    const block = this.#blocks[last]
    // What is kept for long should not be half empty.
    if (block) this.#blocks[last] = Buffer.from(new Uint8Array(block.subarray(0, block.length - this.#free)).buffer)
    const numbers = new Uint32Array(3 * places.length)
    for (const [i, { block, from, length }] of places.entries()) {
      numbers[3 * i] = block
      numbers[3 * i + 1] = from
      numbers[3 * i + 2] = length
    }
    return { blocks: this.#blocks, places: numbers }
  }

  #addBlock(least: number): void {
    const size = Math.min(longestBlock, shortestBlock << this.#blocks.length)
    this.#free = Math.max(size, least)
    this.#blocks.push(Buffer.allocUnsafeSlow(this.#free))
  }
}

export const textAt = ({ blocks, places }: Texts, at: number): string => {
  const { buffer, byteOffset } = blocks[places[3 * at] as number] as Uint8Array
  const from = byteOffset + (places[3 * at + 1] as number)
  return decoded(Buffer.from(buffer), from, from + (places[3 * at + 2] as number))
}

/** About what texts weigh in memory, bytes. */
export const bytesOf = ({ blocks, places }: Texts): number =>
  blocks.reduce((sum, { byteLength }) => sum + byteLength, places.byteLength)
