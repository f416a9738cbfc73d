/** The standard output for logs: it gathers lines, because one write costs as much as several cached responses. */
import { type DestinationStream, pino } from 'pino'

/** Lines are gathered up to this many bytes, or for this many milliseconds. */
const maxGatheredBytes = 65_536
const maxGatheredMs = 10
/** Bytes that may wait for a slow or stuck reader of the standard output; further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024

export interface Stdout extends DestinationStream {
  flushSync(): void
  /** Calls back when everything is written. */
  flush(onWritten: () => void): void
}

/** @param onDropped called with the bytes of dropped lines. */
export function openStdout(onDropped: (bytes: number) => void): Stdout {
  // With a `minLength` of 0 its `flush` waits for nothing.
  const options = { dest: 1, sync: false, minLength: 1, maxLength: maxWaitingBytes, contentMode: 'buffer' } as const
  const out = pino.destination(options)
  out.on('drop', (bytes: string | Buffer) => onDropped(bytes.length))
  // A full disk must not end the process: what cannot be written is tried again with the next line.
  out.on('error', () => {})
  const lines = Buffer.allocUnsafeSlow(maxGatheredBytes)
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const write = (bytes: Buffer): void => void out.write(bytes as unknown as string) // typed for strings only
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
