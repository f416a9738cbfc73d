/** The bytes of an answer's body, unpacked and counted: small ones become text, large ones what is read of them. Knows no status. */
import { pipeline, type Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { Projector } from '../lib/json-rows/projector.js'
import type { Plan } from '../lib/json-rows/projector-plan.js'
import type { Action } from './actions.js'
import { Digest } from './digest.js'
import { PlatformUnavailable } from './errors.js'
import { plans } from './plans.js'
import { type Body, jsonIn } from './response.js'
import type { PassingJob, ReadingThread } from './thread.js'
import { mostKept, type Work } from './work.js'

/** Past this an answer that has a plan is projected: some 70 devices, from which on that is cheaper than `JSON.parse` and `read`. */
const border = 256 * 1024
/** Past this an answer without a plan is given up. */
const mostHeld = 64 * 1024 * 1024
/** Past this an answer with a plan is given up: about 140,000 devices of 3.7 kB. */
const mostProjected = 512 * 1024 * 1024
/** Bytes looked at in one turn of the event loop: a few milliseconds, however fast they arrive. */
const bytesPerTurn = 256 * 1024

const isGzip = (encoding: unknown): boolean => typeof encoding === 'string' && /^(x-)?gzip$/i.test(encoding)

/** How a body is read. */
export interface Reading {
  /** Ends it. */
  signal: AbortSignal
  /** Reads what is large. */
  thread?: ReadingThread
  /** What is to be made of what is large, where it is read here. */
  begin?: (action: Action) => Work
}

/**
 * Reads a body to its end, or gives it up: leaving early destroys the stream, and with it the socket.
 * All limits count unpacked bytes. A gzip that is none fails with zlib's own error, whose code starts with `Z_`.
 * @throws PlatformUnavailable, or what the stream fails with.
 */
export function readBody(action: Action, body: Readable, encoding: unknown, reading: Reading): Promise<Body> {
  if (!isGzip(encoding)) return bodyOf(action, body, reading)
  const unpacked = createGunzip({ chunkSize: 64 * 1024 })
  pipeline(body, unpacked, () => {}) // a failure of either ends both, and is thrown where the unpacked bytes are read
  return bodyOf(action, unpacked, reading)
}

async function bodyOf(action: Action, bytes: AsyncIterable<Uint8Array>, reading: Reading): Promise<Body> {
  const plan = plans[action]
  const held: Uint8Array[] = []
  let received = 0
  let large: PassingJob | Projection | undefined
  try {
    for await (const chunk of bytes) {
      received += chunk.byteLength
      if (received > (plan ? mostProjected : mostHeld)) throw tooLarge(action, `${received} bytes`)
      if (large) await large.write(chunk)
      else held.push(chunk)
      if (!plan || large || received <= border) continue
      const parts = begun(action, held.splice(0))
      large = reading.thread?.begin(action, reading.signal) ?? new Projection(action, plan, reading.begin?.(action))
      for (const part of parts) await large.write(part)
    }
    if (large === undefined) return Buffer.concat(held).toString()
    const found = await large.end()
    return found instanceof Digest ? { digest: found } : found
  } finally {
    large?.drop()
  }
}

/** The first bytes of an answer without what may stand before JSON; one that is still blank by now is none. */
function begun(action: Action, held: Uint8Array[]): Uint8Array[] {
  const head = Buffer.concat(held)
  const text = head.toString()
  const json = jsonIn(action, text)
  if (json === '') throw new PlatformUnavailable(action, 'bad_json', { detail: `${head.length} blank bytes` })
  const start = Buffer.byteLength(text.slice(0, text.length - json.length))
  const parts: Uint8Array[] = []
  for (let from = start; from < head.length; from += bytesPerTurn) parts.push(head.subarray(from, from + bytesPerTurn))
  return parts
}

const tooLarge = (action: Action, detail: string): PlatformUnavailable =>
  new PlatformUnavailable(action, 'too_large', { detail })

/** A projector that fails as an answer does and lets others have a turn. */
class Projection {
  readonly #action: Action
  readonly #projector: Projector
  readonly #work: Work | undefined
  #sinceTurn = 0

  constructor(action: Action, plan: Plan, work: Work | undefined) {
    this.#action = action
    this.#projector = new Projector(plan, work?.onRow)
    this.#work = work
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#json(() => this.#projector.write(chunk))
    if (this.#projector.kept > mostKept) throw tooLarge(this.#action, `${this.#projector.kept} bytes kept`)
    this.#sinceTurn += chunk.byteLength
    if (this.#sinceTurn < bytesPerTurn) return
    this.#sinceTurn = 0
    await setImmediate()
  }

  end(): Digest | { projected: unknown } {
    const projected = this.#json(() => this.#projector.end())
    return this.#work?.finish(projected) ?? { projected }
  }

  drop(): void {}

  #json<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw new PlatformUnavailable(this.#action, 'bad_json', { cause: error })
    }
  }
}
