/** Client connections: the requests of each are handled one at a time, in the order in which they arrive (RFC 9112 9.3.2). */
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, overloaded } from '../errors.js'
import type { Reservation } from '../lib/byte-budget.js'
import { stopParsing } from '../lib/stop-parsing.js'
import type { Metrics } from '../ops/metrics.js'
import { addressName } from '../rate-limit/limiter.js'

/** Pipelined requests of one connection, the one in progress included; one more closes it. */
const maxWaiting = 64
/** Requests that may wait on all connections: 40 MB with headers of 16 KiB. Connections that are cut may have as many, 1.5 kB each. */
const maxWaitingInTotal = 1_000

/** At the connection limit: the part of all connections that one account may keep, and how many of its requests above that get a 503 at once. */
const [maxShare, maxRefused] = [1 / 64, 16]

/** The time that a client may go on sending after its response. */
const maxLingerMs = 5_000

/** Why the gateway closes a connection early. */
type CutReason = 'idle' | 'pipelining' | 'slow_reader'

export interface Connection {
  readonly socket: Socket
  /** Responses that are not written yet, oldest first; only the first one is in progress. */
  readonly pending: ServerResponse[]
  /** The reply to the request in progress. */
  current?: { reply: FastifyReply; since: number } | undefined
  /** The last request, if it had its response before it had arrived completely. */
  unfinished?: IncomingMessage | undefined
  /** `socket.bytesRead` at the end of the last response; -1 before the first one. */
  receivedBytes: number
  /** The bytes of the response that the client is reading, for the write budget. */
  unread?: { reservation: Reservation; since: number } | undefined
}

/** Whose share of places and memory a request takes. Many callers share the demo account, so there each address has its own. */
export const shareKeyOf = ({ account, accountId, caller, ip }: FastifyRequest): string =>
  (caller?.credential === 'demo' ? undefined : (account?.id ?? accountId)) ?? addressName(ip)

/** Whether no complete request waits for its response. An incomplete one is not waited for: its body may never arrive. */
export const isIdle = ({ socket, pending: [first] }: Connection): boolean =>
  first === undefined || !first.req.complete || socket.destroyed

/** Whether the client has yet to read what is written. */
export const isUnread = (socket: Socket): boolean => socket.writableLength > 0

const sinceOf = ({ current: reply }: Connection): number => reply?.since ?? Number.POSITIVE_INFINITY

/** Closes the connection of a client that is still sending. Unread bytes would reset it, and the response be lost (RFC 9112 9.6). */
export function linger(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), maxLingerMs)
  socket.once('close', () => clearTimeout(timer)).end()
}

/** The reply to the request in progress, unless it has a response or an error already. */
export function pendingReply({ current }: Connection): Connection['current'] {
  return current?.reply.isSending || current?.reply.request.errorCode ? undefined : current
}

/** Responds with a 503 in place of the handler. */
export function refuse(reply: FastifyReply, message: string, retryAfterS?: number): void {
  reply.isRefused = true
  reply.send(new ApiError('gateway_error', { message, retryAfterS }))
}

export class Connections {
  readonly #metrics: Pick<Metrics, 'cuts' | 'shed'>
  readonly #onAborted: (reply: FastifyReply) => void
  readonly #bySocket = new WeakMap<Socket, Connection>()
  /** Least recently used first: a response that ends moves its connection to the back. */
  readonly #open = new Set<Connection>()
  #waiting = 0
  /** Requests that waited on connections that are cut, until these are closed. */
  #closing = 0

  /** @param onAborted called when a connection ends before the response in progress is sent. */
  constructor(metrics: Pick<Metrics, 'cuts' | 'shed'>, onAborted: (reply: FastifyReply) => void) {
    this.#metrics = metrics
    this.#onAborted = onAborted
  }

  /** Listener of a server's `connection` event. */
  readonly add = (socket: Socket): void => {
    // Node removes its own listener when it hands a socket over (`connect`, `clientError`); an error without a listener ends the process.
    socket.on('error', () => {})
    // Node caches the address once it is read; after a reset it can no longer be read.
    if (socket.remoteAddress === undefined) return void socket.destroy()
    const connection: Connection = { socket, pending: [], receivedBytes: -1 }
    this.#bySocket.set(socket, connection)
    this.#open.add(connection)
    socket.once('close', () => this.#open.delete(connection))
    // Node calls it after a response with `Connection: close`.
    const close = socket.destroySoon
    socket.destroySoon = () => {
      if (connection.pending[0]?.req.complete === false) linger(socket)
      else close.call(socket)
    }
  }

  get open(): Iterable<Connection> {
    return this.#open
  }

  /** The connection whose response in progress is this one; undefined after the client is gone. */
  connectionOf(response: ServerResponse): Connection | undefined {
    const connection = this.#bySocket.get(response.req.socket)
    return connection?.pending[0] === response ? connection : undefined
  }

  /** A request listener that passes on one request of a connection at a time. */
  inOrder(handle: RequestListener): RequestListener {
    const start = (connection: Connection, response: ServerResponse): void => {
      response.once('close', () => {
        // Node detaches the socket from a response that was sent. An unsent one emits no `finish`, so Fastify runs no hook for it.
        if (response.socket !== null && connection.current) this.#onAborted(connection.current.reply)
        connection.unfinished = response.req.complete ? undefined : response.req
        finish(connection)
      })
      handle(response.req, response as Parameters<RequestListener>[1])
    }
    const finish = (connection: Connection): void => {
      this.#shift(connection)
      if (this.#open.delete(connection)) this.#open.add(connection)
      const { socket, pending } = connection
      if (pending[0]) start(connection, pending[0])
      else if (socket.isPaused()) socket.resume()
      connection.receivedBytes = socket.bytesRead
    }
    return (request, response) => {
      const { socket } = request
      const connection = this.#bySocket.get(socket)
      // After the last response nothing can be sent, and Node would keep each further request.
      if (connection === undefined || !socket.writable) {
        stopParsing(socket)
        return void request.resume()
      }
      connection.pending.push(response)
      if (connection.pending.length === 1) return start(connection, response)
      this.#waiting += 1
      socket.pause()
      // Node keeps each chunk until it is read: 2 MB if a packet has chunks of one byte.
      const hasChunks = request.headers['transfer-encoding'] !== undefined
      if (hasChunks) request.resume()
      const isFull = connection.pending.length > maxWaiting || this.#closing > maxWaitingInTotal
      if (hasChunks || isFull) this.cut(connection, 'pipelining')
      if (this.#waiting > maxWaitingInTotal) this.#cutSlowest('pipelining', ({ pending }) => pending.length > 1)
    }
  }

  /** Resolves when every complete request of a connection has its response. Closes it if its incomplete request has one, too. */
  async idle(socket: Socket): Promise<void> {
    const connection = this.#bySocket.get(socket)
    if (!connection) return
    while (!isIdle(connection)) await once(connection.pending[0]!, 'close')
    // The caller responds to the incomplete request.
    connection.current = undefined
    if (connection.unfinished?.complete === false) socket.destroy()
  }

  /** Keeps room for the next connection, however many a client leaves idle, incomplete or unread. @param max that may be open. */
  cutIdlest(max: number): void {
    if (this.#open.size < max) return
    const open = [...this.#open]
    const idlest = open.find(isIdle)
    // If only the new connection is idle, an unread one is cut instead, or requests of an account above its share are refused.
    const isNew = idlest === open.at(-1)
    if (isNew && this.#cutSlowest('slow_reader', ({ socket }) => isUnread(socket))) return
    const share = Math.max(1, max * maxShare)
    const crowd = isNew ? this.#largestCrowd().slice(share).slice(-maxRefused) : []
    for (const reply of crowd) {
      this.#metrics.shed.inc()
      refuse(reply.header('connection', 'close'), overloaded, 2)
    }
    if (idlest && crowd.length === 0) this.cut(idlest, 'idle')
  }

  /** The requests in progress of the owner that has the most. */
  #largestCrowd(): FastifyReply[] {
    const crowds = new Map<string, FastifyReply[]>()
    for (const connection of this.#open) {
      const reply = pendingReply(connection)?.reply
      if (!reply) continue
      const owner = shareKeyOf(reply.request)
      const crowd = crowds.get(owner)
      if (crowd) crowd.push(reply)
      else crowds.set(owner, [reply])
    }
    return [...crowds.values()].reduce((a, b) => (b.length > a.length ? b : a), [])
  }

  /** Closes the connections that have had their responses; the function of Node also closes those whose clients are still reading. */
  closeIdle(): void {
    for (const { socket, pending, receivedBytes } of this.#open)
      if (pending.length === 0 && socket.writable && socket.bytesRead === receivedBytes) socket.destroy()
  }

  /** Of the connections that match, cuts the one whose response is in progress for longest. @returns false if none matches. */
  #cutSlowest(reason: CutReason, matches: (connection: Connection) => boolean): boolean {
    const slowest = [...this.#open]
      .filter((connection) => !connection.socket.destroyed && matches(connection))
      .reduce<Connection | undefined>((a, b) => (a && sinceOf(a) <= sinceOf(b) ? a : b), undefined)
    if (slowest) this.cut(slowest, reason)
    return slowest !== undefined
  }

  /** Closes a connection and releases the bytes and places it holds. */
  cut({ socket, unread, pending }: Connection, reason: CutReason): void {
    if (socket.destroyed) return
    this.#metrics.cuts.inc({ reason })
    unread?.reservation.release()
    socket.destroy()
    stopParsing(socket)
    const waiting = pending.splice(1)
    this.#drop(waiting)
    // Node frees them when it closes the connection, after all packets of this turn.
    this.#closing += waiting.length
    socket.once('close', () => {
      this.#closing -= waiting.length
    })
  }

  /** Empties requests that are not begun: Node keeps them until the one before them ends, which may wait for the platform. */
  #drop(waiting: ServerResponse[]): void {
    this.#waiting -= waiting.length
    for (const { req } of waiting) Object.assign(req, { url: '', headers: {}, rawHeaders: [] })
  }

  /** Removes the response that is written, and all others if the client is gone. */
  #shift(connection: Connection): void {
    const { socket, pending } = connection
    connection.unread?.reservation.release()
    connection.unread = undefined
    connection.current = undefined
    if (!socket.writable) this.#drop(pending.splice(1))
    pending.shift()
    if (pending.length > 0) this.#waiting -= 1
  }
}
