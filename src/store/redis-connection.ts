/** The state of a connection to Redis, and the time limit on every reply. */
import type { EventEmitter } from 'node:events'
import { StoreUnavailable } from './store.js'

/** A request waits this long for Redis and then fails. */
export const replyMs = 250
/** A connection with a reply pending for this long is closed and reopened. */
export const silenceMs = 1000

/** Why a command is not sent. */
export const notReady = 'The client is not ready'
/** Messages without a connection; the last one when the connection is lost before the reply. */
const disconnected = /^(The client is not ready|Stream isn't writeable|Connection is closed|Reached the max retries)/

/** How Redis refuses a write, also from within a script. */
const refusal = /\b(READONLY|OOM|MISCONF|NOREPLICAS)\b/

/** How long a denied right counts: long enough for an alert, and short enough for that to end by itself once the right is granted. */
const deniedMs = 15 * 60_000

/** How Redis denies a right, also within a script. */
export const denial = /NOPERM|ACL failure|The user executing the script/
/** How it denies all scripts, and so almost every command: whichever succeeds shows that this is over. */
const deniesScripts = /'eval(sha)?' command/

class LateReply extends Error {}

type Client = EventEmitter & { status: string; gpsPerform(keys: 0): Promise<unknown> }

export class Connection {
  #replies = false
  /** Reads succeed and writes fail: a replica, or a server that is full or cannot save. Only a write shows that this is over. */
  #refuses = false
  /** The last command that the ACL denied, '' for any, and when that expires: it may be too rare to show that it is over. */
  #denied = { name: '', until: 0 }
  /** Why there is no connection. */
  #failure: Error | undefined
  #probe: NodeJS.Timeout | undefined
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
    client.on('ready', () => {
      this.#replies = true
      this.#denied.until = 0
      this.#failure = undefined
    })
    client.on('close', () => {
      this.#replies = false
    })
    for (const event of ['error', 'node error'])
      client.on(event, (error: Error) => {
        this.#failure = this.causeOf(error)
      })
  }

  get up(): boolean {
    return this.#replies && !this.#refuses && performance.now() >= this.#denied.until
  }

  /**
   * The reply to a command. Rejects with `StoreUnavailable` on an error, or without a reply within `replyMs`.
   * @param name of the command.
   * @param hasWritten whether the reply shows that something was written.
   */
  async send<T>(name: string, command: () => Promise<T>, hasWritten: (reply: T) => boolean): Promise<T> {
    try {
      const result = await withinLimit(this.#whenReady(command))
      this.#replies = true
      if (['', name].includes(this.#denied.name)) this.#denied.until = 0
      if (this.#refuses && hasWritten(result)) this.#refuses = false
      return result
    } catch (error) {
      this.#replies = false
      if (refusal.test(String(error))) this.#refuses = true
      if (error instanceof LateReply) this.#probeLater()
      if (!denial.test(String(error))) throw this.unavailable(error)
      const denied = deniesScripts.test(String(error)) ? '' : name
      this.#denied = { name: denied, until: performance.now() + deniedMs }
      // Within a script Redis does not name the command.
      throw this.unavailable(new Error(`${this.causeOf(error).message}; gps-fleet-gateway check names the right`))
    }
  }

  /** The client would keep commands until a cluster is ready. */
  #whenReady<T>(command: () => Promise<T>): Promise<T> {
    return this.#client.status === 'ready' ? command() : Promise.reject(new Error(notReady))
  }

  /** For hours no other command may be sent, and one late reply would pass for an outage. */
  #probeLater(): void {
    this.#probe ??= setTimeout(() => {
      this.#probe = undefined
      const replied = (): void => {
        this.#replies = true
      }
      // An ACL may deny `PING`.
      const ping = this.#whenReady(() => this.#client.gpsPerform(0))
      withinLimit(ping).then(replied, () => this.#probeLater())
    }, silenceMs).unref()
  }

  /** With the cause of a failed command. */
  unavailable(error: unknown): StoreUnavailable {
    return new StoreUnavailable('Redis is unavailable', { cause: this.causeOf(error) })
  }

  /** The cause of `error`; the reason for the lost connection if `error` says only that there is none. */
  causeOf(error: unknown): Error {
    const failure = withoutCommand(error)
    if (!disconnected.test(failure.message)) return failure
    return this.#failure ?? new Error('Not connected, or Redis is still loading its data')
  }
}

function withinLimit<T>(reply: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    const late = () => reject(new LateReply(`No reply within ${replyMs} ms`))
    // After a pause of this process the reply may lie unread in the socket; one turn of the loop reads it.
    timer = setTimeout(() => setImmediate(late), replyMs)
  })
  return Promise.race([reply, limit]).finally(() => clearTimeout(timer))
}

/**
 * An error of ioredis carries the failed command, whose arguments may be a password or a record; the message of a server without that
 * command repeats them. A cluster error wraps its reason. The slot is removed, so that a node that is down is one reason for all keys.
 */
function withoutCommand(error: unknown): Error {
  const { message, code, lastNodeError } = error as NodeJS.ErrnoException & { lastNodeError?: Error }
  return lastNodeError
    ? withoutCommand(lastNodeError)
    : new Error(message.replace(/(MOVED|ASK) \d+|, with args .*/, '$1') || code || 'unknown')
}
