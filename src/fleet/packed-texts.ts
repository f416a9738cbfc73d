/** Many texts as bytes one behind the other, so that they travel between threads and are kept as one piece of memory. */

/** Text `i` goes from `starts[i]` to `starts[i + 1]`. */
export interface Texts {
  bytes: Uint8Array
  starts: Uint32Array
}

/** Where a text is among bytes. */
export interface Place {
  at: number
  length: number
}

/** Bytes that grow; no text is kept as a string. */
export class Bytes {
  #bytes = Buffer.allocUnsafeSlow(1 << 16)
  #length = 0

  add(text: string): Place {
    const most = 3 * text.length // UTF-8 of one UTF-16 unit
    if (this.#length + most > this.#bytes.length) this.#grow(most)
    const place = { at: this.#length, length: this.#bytes.write(text, this.#length) }
    this.#length += place.length
    return place
  }

  text({ at, length }: Place): string {
    return this.#bytes.toString('utf8', at, at + length)
  }

  copy({ at, length }: Place, to: Buffer, start: number): void {
    this.#bytes.copy(to, start, at, at + length)
  }

  #grow(more: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * this.#bytes.length + more)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** Texts of one or more parts each. */
export function joined(from: Bytes, texts: readonly (readonly Place[])[]): Texts {
  const starts = new Uint32Array(texts.length + 1)
  for (const [i, parts] of texts.entries())
    starts[i + 1] = parts.reduce((sum, { length }) => sum + length, starts[i] as number)
  const bytes = Buffer.allocUnsafeSlow(starts.at(-1) as number)
  for (const [i, parts] of texts.entries()) {
    let at = starts[i] as number
    for (const part of parts) {
      from.copy(part, bytes, at)
      at += part.length
    }
  }
  return { bytes, starts }
}

export const textAt = ({ bytes, starts }: Texts, at: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset).toString('utf8', starts[at], starts[at + 1])
