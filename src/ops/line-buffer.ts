/** Gathers log lines before they are written, because one write costs as much as several cached responses. */

/** Lines are gathered up to this many bytes, or for this many milliseconds. */
const maxGatheredBytes = 65_536
const maxGatheredMs = 10

export interface LineBuffer {
  write(line: string): unknown
  flushSync(): void
  /** Calls back when everything is written. */
  flush(onWritten: () => void): void
}

/** Whatever is gathered is written when the process exits. @param out takes bytes, although it is typed for strings only. */
export function lineBuffer(out: LineBuffer): LineBuffer {
  const lines = Buffer.allocUnsafeSlow(maxGatheredBytes)
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const write = (bytes: Buffer): void => void out.write(bytes as unknown as string)
  const pass = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (length === 0) return
    write(Buffer.from(lines.subarray(0, length))) // a copy, because it is written later
    length = 0
  }
  const flushSync = (): void => {
    pass()
    out.flushSync()
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      const maxBytes = 3 * line.length // UTF-8 of one UTF-16 unit
      if (length + maxBytes > maxGatheredBytes) pass()
      if (maxBytes > maxGatheredBytes) return write(Buffer.from(line))
      length += lines.write(line, length)
      timer ??= setTimeout(pass, maxGatheredMs)
    },
    flushSync,
    flush(onWritten) {
      pass()
      out.flush(onWritten)
    },
  }
}
