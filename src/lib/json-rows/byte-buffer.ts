/** Bytes that are appended one after another. */

/** Below this many bytes a loop copies faster than a call. */
const short = 64

export class ByteBuffer {
  bytes = Buffer.allocUnsafe(1 << 10)
  length = 0

  append(from: Uint8Array, start: number, end: number): void {
    const size = end - start
    this.reserve(size)
    const { bytes, length } = this
    if (size > short) bytes.set(from.subarray(start, end), length)
    else for (let at = 0; at < size; at++) bytes[length + at] = from[start + at] as number
    this.length = length + size
  }

  /** Makes room for further bytes. */
  reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + size))
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
  }
}
