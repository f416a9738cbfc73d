/** The pino logger and what an error looks like in it. No credential, no URL and no query string ever gets here. */
import { type DestinationStream, type Logger, pino } from 'pino'

/** What the log keeps of an error: an allow-list, because errors of clients carry commands, headers and addresses. */
interface LoggedError {
  type: string
  message: string
  code?: string
  stack?: string
  cause?: LoggedError
}

function logged(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(error.stack === undefined || depth > 0 ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth > 3 ? {} : { cause: logged(error.cause, depth + 1) }),
  }
}

/** `,"time":"<ISO 8601, UTC>"` as pino wants it; all but the milliseconds is written once a second. */
function stamp(): () => string {
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

interface Flushable {
  flushSync(): void
  flush(written: () => void): void
}

/** Lines wait for each other until they are this long together, in bytes, or the first has waited this long, in milliseconds. */
const enough = 65_536
const longestWaitMs = 10

/** Bytes that may wait for the standard output, whose reader may be slow or stuck; further lines are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024

/** The standard output, which gets many lines as one text: each write costs as much as several answers from memory. */
function gathered(onDropped: (bytes: number) => void): DestinationStream & Flushable {
  // With a `minLength` of 0 its `flush` waits for nothing.
  const out = pino.destination({
    dest: 1,
    sync: false,
    minLength: 1,
    maxLength: maxWaitingBytes,
    contentMode: 'buffer',
  })
  out.on('drop', (bytes: string | Buffer) => onDropped(bytes.length))
  // A full disk must not end the process; what cannot be written waits, and is tried again with the next line.
  out.on('error', () => {})
  const lines = Buffer.allocUnsafeSlow(enough)
  let length = 0
  let timer: NodeJS.Timeout | undefined
  const pass = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (length === 0) return
    write(Buffer.from(lines.subarray(0, length))) // a copy: what is handed over is read later
    length = 0
  }
  const write = (bytes: Buffer): void => void out.write(bytes as unknown as string) // typed for the other mode only
  const flushSync = (): void => {
    pass()
    out.flushSync()
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      const most = 3 * line.length // UTF-8 of one UTF-16 unit
      if (length + most > enough) pass()
      if (most > enough) return write(Buffer.from(line))
      length += lines.write(line, length)
      timer ??= setTimeout(pass, longestWaitMs)
    },
    flushSync,
    flush(written) {
      pass()
      out.flush(written)
    },
  }
}

/** How one request ended, as its line tells it; what is undefined is left out. */
export interface AnsweredLine {
  reqId: string
  method: string
  /** The pattern; null where there is none. */
  route: string | null
  status: number
  ms: number
  account: string | undefined
  credential: string | undefined
  ip: string
}

const plain = /^[ !#-[\]-~]*$/

/** A JSON string. */
const quoted = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text))

const optional = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `,"${name}":${quoted(text)}`

export interface Log extends Logger {
  /** The line of a request that was answered, at `info`; put together here, since it is most of the log and its fields are known. */
  answered(line: AnsweredLine): void
}

export interface LoggerOptions {
  destination?: DestinationStream
  /** Called with the bytes of lines that were dropped because the standard output takes no more. */
  onDropped?: (bytes: number) => void
}

/**
 * Without a destination it writes to the standard output. Nothing is lost when the process exits, and all is written once `flush` says so.
 * It makes no children: with every request one would cost as much as its line.
 */
export function createLogger(level: string, options: LoggerOptions = {}): Log {
  const out = options.destination ?? gathered(options.onDropped ?? (() => {}))
  const timestamp = stamp()
  const settings = {
    level,
    base: null,
    timestamp,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => logged(error) },
  }
  const logger: Logger = pino(settings, out)
  logger.child = () => logger as never
  const isTold = logger.isLevelEnabled('info')
  const answered = ({ reqId, method, route, status, ms, account, credential, ip }: AnsweredLine): void => {
    if (!isTold) return
    const who = `${optional('account', account)}${optional('credential', credential)},"ip":${quoted(ip)}`
    const asked = `"reqId":${quoted(reqId)},"method":"${method}","route":${route === null ? null : quoted(route)}`
    out.write(`{"level":"info"${timestamp()},${asked},"status":${status},"ms":${ms}${who},"msg":"request"}\n`)
  }
  return Object.assign(logger, { answered })
}
