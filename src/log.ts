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

/**
 * Without a destination it writes to the standard output, and waits for no disk: what is logged while a write is under way goes out
 * together with the next. Nothing is lost when the process exits; `flush` tells when all is written.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: stamp(),
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => logged(error) },
  }
  return pino(options, destination ?? pino.destination({ dest: 1, sync: false }))
}
