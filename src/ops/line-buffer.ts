/** Gathers log lines before they are written, because one write costs as much as several cached responses. */

/** Lines are gathered up to this many characters, or for this many milliseconds. */
const maxGathered = 65_536
const maxGatheredMs = 10

export interface LineBuffer {
  write(line: string): unknown
  flushSync(): void
  /** Calls back when everything is written. */
  flush(onWritten: () => void): void
}

/** Whatever is gathered is written when the process exits. @param out takes bytes, although it is typed for strings only. */
export function lineBuffer(out: LineBuffer): LineBuffer {
  let lines = ''
  let timer: NodeJS.Timeout | undefined
  const pass = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (lines !== '') out.write(Buffer.from(lines) as unknown as string)
    lines = ''
  }
  const flushSync = (): void => {
    pass()
    out.flushSync()
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      lines += line
      if (lines.length >= maxGathered) pass()
      else timer ??= setTimeout(pass, maxGatheredMs)
    },
    flushSync,
    flush(onWritten) {
      pass()
      out.flush(onWritten)
    },
  }
}
