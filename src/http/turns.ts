/** Turns of the event loop: how many requests begin in one, and how its responses are sent. */
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { App } from './types.js'

/** Some 40 µs each. With 8, sending together gains less: a location costs 5 to 14 % more. */
const maxPerTurn = 16

/**
 * Bounds the requests that begin in one turn. Node accepts one connection a turn (since libuv 1.45), so turns must be short while clients
 * keep the process busy: when 256 connections began at once, the slowest response took up to 1.9 s, and now up to 0.4 s.
 */
export class Turns {
  readonly #ticks: () => number
  #waiting: { request: Parameters<RequestListener>; since: number }[] = []
  #begun = 0

  /** @param ticks monotonic milliseconds. */
  constructor(ticks: () => number) {
    this.#ticks = ticks
  }

  /** A request listener that begins at most `maxPerTurn` requests in one turn; the others wait for the next turns, in order. */
  limit(handle: RequestListener): RequestListener {
    const begin = (...request: Parameters<RequestListener>): void => {
      if (this.#begun === maxPerTurn) return void this.#waiting.push({ request, since: this.#ticks() })
      this.#begun += 1
      if (this.#begun === 1) setImmediate(beginWaiting)
      handle(...request)
    }
    const beginWaiting = (): void => {
      this.#begun = 0
      const now = this.#ticks()
      for (const { request, since } of this.#waiting.splice(0, maxPerTurn)) {
        request[0].waitedMs = now - since
        begin(...request)
      }
    }
    return begin
  }

  /** How long the first waiting request has waited; in an overload there always is one. */
  get waitMs(): number {
    const [first] = this.#waiting
    return first ? this.#ticks() - first.since : 0
  }
}

/**
 * Delays each response until the sockets that are readable now have been read; an idle event loop delays it by some 10 µs. A response that
 * finds its client asleep pays for waking it: with 64 connections on two cores, a server that works 10 µs a request costs 34.9 µs a response
 * if each is sent at once, and 24.0 µs if those of a turn are sent together.
 */
export function sendTogether(app: App): void {
  let waiting: { reply: FastifyReply; send: () => void }[] = []
  const sendAll = (): void => {
    const responses = waiting
    waiting = []
    for (const { reply, send } of responses) {
      try {
        send()
      } catch (err) {
        // Nothing else catches it here: an invalid header, for example, would end the process.
        reply.log.error({ err }, 'response not sent')
        reply.raw.destroy()
      }
    }
  }
  app.decorateReply('isSending', false)
  app.decorateReply('isRefused', false)
  app.addHook('onSend', (_request, reply, _payload, send) => {
    if (reply.isSending) return
    reply.isSending = true
    // Its handler may respond in this turn, and would change the headers.
    if (reply.isRefused) return send()
    if (waiting.push({ reply, send }) === 1) setImmediate(sendAll)
  })
}

/**
 * Writes head and body of a short response as the one text that they are. Node adds an empty chunk to it, and writes both as several
 * buffers, which costs a cached location 1 to 2 µs of some 30.
 */
export function writeAtOnce(socket: Socket): void {
  const writeAll = socket._writev!.bind(socket)
  socket._writev = (chunks, done) => {
    const [text, end] = chunks
    if (chunks.length === 2 && text && end?.chunk === '') socket._write(text.chunk, text.encoding, done)
    else writeAll(chunks, done)
  }
}
