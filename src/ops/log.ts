/** The pino logger, the standard output below it, and what it writes of an error. No credential, request URL or query string reaches the log. */
import { isatty } from 'node:tty'
import { type DestinationStream, type LogFn, type Logger, pino } from 'pino'
import { readableLine } from './readable-line.js'
import { type RequestLogEntry, requestLogLine } from './request-log.js'

/** The members of an error that are logged. An allow-list, because errors of clients carry commands, headers and addresses. */
function logged(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' }
  return {
    type: error.name,
    message: error.message,
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    stack: depth > 0 ? undefined : error.stack,
    cause: error.cause === undefined || depth > 3 ? undefined : logged(error.cause, depth + 1),
  }
}

/** `,"time":"<ISO 8601, UTC>"` as pino expects it; formats everything but the milliseconds once per second. */
function timestamp(): () => string {
  let second = -1
  let text = ''
  return () => {
    const now = Date.now()
    const ms = now % 1_000
    if (now - ms !== second) {
      second = now - ms
      text = `,"time":"${new Date(second).toISOString().slice(0, 20)}`
    }
    return `${text}${String(ms).padStart(3, '0')}Z"`
  }
}

/** Lines are gathered up to this many characters, or for this many milliseconds: one write costs as much as several cached responses. */
const maxGathered = 65_536
const maxGatheredMs = 10

/** Bytes that may wait for a slow or stuck reader of the standard output; further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024

/** The time that the exit of the process waits for a stuck reader of the standard output. */
const maxExitMs = 1_000

/** The standard output. Whatever is gathered is written when the process exits. */
function openStdout(onDropped: (bytes: number) => void) {
  const out = openOutput(onDropped)
  const isTerminal = isatty(1)
  let lines = ''
  let timer: NodeJS.Timeout | undefined
  const pass = (): void => {
    clearTimeout(timer)
    timer = undefined
    // It takes bytes, although it is typed for strings only.
    if (lines !== '') out.write(Buffer.from(lines) as unknown as string)
    lines = ''
  }
  const flushSync = (): void => {
    pass()
    out.flushSync()
  }
  process.on('exit', flushSync)
  return {
    write(line: string): void {
      lines += isTerminal ? readableLine(line) : line
      if (lines.length >= maxGathered) pass()
      else timer ??= setTimeout(pass, maxGatheredMs)
    },
    flushSync,
    /** Calls back when everything is written. */
    flush(onWritten: () => void): void {
      pass()
      out.flush(onWritten)
    },
  }
}

function openOutput(onDropped: (bytes: number) => void) {
  let giveUpAt = Number.POSITIVE_INFINITY
  const retryEAGAIN = (): boolean => Date.now() < giveUpAt
  // With a `minLength` of 0 its `flush` waits for nothing.
  const size = { minLength: 1, maxLength: maxWaitingBytes } as const
  const out = pino.destination({ dest: 1, sync: false, contentMode: 'buffer', retryEAGAIN, ...size })
  out.on('drop', (bytes: string | Buffer) => onDropped(bytes.length))
  // A full disk must not end the process: what cannot be written is tried again with the next line.
  let canWrite = true
  out.on('error', () => {
    canWrite = false
  })
  out.on('write', () => {
    canWrite = true
  })
  // Its own `flushSync` tries until it succeeds: on a full disk, or with a closed terminal, the process would never end.
  const flushSync = out.flushSync.bind(out)
  out.flushSync = () => {
    if (!canWrite) return
    giveUpAt = Date.now() + maxExitMs
    try {
      flushSync()
    } catch {
      canWrite = false
    }
  }
  return out
}

/** Whether Fastify logs that a handler responded after the gateway had done so in its place: the line names the whole URL, or is an error. */
function isOfLateResponse([first, text]: unknown[]): boolean {
  if (typeof text === 'string') return text.startsWith('Promise errored, but reply.sent')
  const message = typeof first === 'string' ? first : (first as { err?: Error } | undefined)?.err?.message
  return message?.startsWith('Reply was already sent') ?? false
}

export interface Log extends Logger {
  /** Logs the outcome of a request, at `info`. */
  request(entry: RequestLogEntry): void
}

interface LogOptions {
  /** The standard output by default. */
  destination?: DestinationStream
  /** Called with the bytes of lines that were dropped because the standard output is stuck. */
  onDropped?: (bytes: number) => void
}

/**
 * Lines that wait are written when the process exits, unless the standard output is stuck or full; `flush` calls back when all are written.
 * A child logger is the logger itself: creating one for every request would cost as much as its line.
 */
export function createLogger(level: string, { destination, onDropped = () => {} }: LogOptions = {}): Log {
  const out = destination ?? openStdout(onDropped)
  const time = timestamp()
  const options = {
    level,
    base: null,
    timestamp: time,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => logged(error) },
    hooks: {
      logMethod(this: Logger, args: Parameters<LogFn>, log: LogFn) {
        if (!isOfLateResponse(args)) log.apply(this, args)
      },
    },
  }
  const logger: Logger = pino(options, out)
  logger.child = () => logger as never
  const isEnabled = logger.isLevelEnabled('info')
  const request = (entry: RequestLogEntry): void => {
    if (isEnabled) out.write(requestLogLine(entry, time()))
  }
  return Object.assign(logger, { request })
}
