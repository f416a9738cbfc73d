/** Many texts as bytes in a few blocks, so that they travel between threads and are kept without a string each. */
import { decoded } from './json-rows/utf8.js'

/** Text `i` stands in block `places[3 * i]`, from byte `places[3 * i + 1]` on, `places[3 * i + 2]` bytes long. */
export interface Texts {
  blocks: Uint8Array[]
  places: Uint32Array
}

const shortestBlock = 1 << 16
const longestBlock = 1 << 20

/** Blocks that become more and larger as texts arrive. */
export class TextBlocks {
  readonly #blocks: Buffer[] = []
  readonly #places: number[] = []
  #free = 0

  /** Room for a text of so many bytes, to be filled by `copy`. */
  add(length: number, copy: (to: Buffer, from: number) => void): void {
    if (length > this.#free) this.#addBlock(length)
    const last = this.#blocks.length - 1
    const block = this.#blocks[last] as Buffer
    const from = block.length - this.#free
    copy(block, from)
    this.#free -= length
    this.#places.push(last, from, length)
  }

  /** The text that arrived as number `at`, from 0. */
  text(at: number): string {
    return textAt({ blocks: this.#blocks, places: this.#places }, at)
  }

  /** Ends it: the texts that arrived as these numbers, in this order. */
  texts(numbers: readonly number[]): Texts {
    const last = this.#blocks.length - 1
    const block = this.#blocks[last]
    // What is kept for long should not be half empty.
    if (block) this.#blocks[last] = Buffer.from(new Uint8Array(block.subarray(0, block.length - this.#free)).buffer)
    const places = new Uint32Array(3 * numbers.length)
    for (let i = 0; i < numbers.length; i++)
      for (let part = 0; part < 3; part++)
        places[3 * i + part] = this.#places[3 * (numbers[i] as number) + part] as number
    return { blocks: this.#blocks, places }
  }

  #addBlock(least: number): void {
    const size = Math.min(longestBlock, shortestBlock << this.#blocks.length)
    this.#free = Math.max(size, least)
    this.#blocks.push(Buffer.allocUnsafeSlow(this.#free))
  }
}

export function textAt({ blocks, places }: { blocks: Uint8Array[]; places: ArrayLike<number> }, at: number): string {
  const { buffer, byteOffset } = blocks[places[3 * at] as number] as Uint8Array
  const from = byteOffset + (places[3 * at + 1] as number)
  return decoded(Buffer.from(buffer), from, from + (places[3 * at + 2] as number))
}

/** About what texts weigh in memory, bytes. */
export const bytesOf = ({ blocks, places }: Texts): number =>
  blocks.reduce((sum, { byteLength }) => sum + byteLength, places.byteLength)
