/** The thread's side of asking for and reading large answers, and what is said between the threads. Knows no field of any action. */
import type { MessagePort, Transferable } from 'node:worker_threads'
import { Projector } from '../lib/json-rows/projector.js'
import type { Action } from './actions.js'
import { Digest } from './digest.js'
import { type Failure, PlatformUnavailable, toFailure } from './errors.js'
import { Exchange } from './http-client.js'
import { plans } from './plans.js'
import { type Begin, mostKept, type Work } from './work.js'

/** Bytes that travel at once: a millisecond's work. */
export const halfBytes = 256 * 1024
/** Sockets of the thread to one platform; more at once would only share its one core. */
const connections = 4

/** A question to be asked by the thread. */
export interface Question {
  action: Action
  /** Beginning with its `?`; holds the hash. */
  search: string
  /** The platform's API base. */
  url: string
  connectTimeoutMs: number
}

export type ToThread =
  | { kind: 'ask'; job: number; question: Question; context: unknown }
  | { kind: 'begin'; job: number; action: Action; context: unknown; shared: SharedArrayBuffer }
  | { kind: 'bytes'; job: number; half: number; length: number }
  | { kind: 'end' | 'drop'; job: number }

export type FromThread = { job: number } & (
  | { kind: 'read'; half: number }
  | { kind: 'digest'; value: unknown; skipped: number }
  | { kind: 'data'; data: unknown }
  | { kind: 'failed'; failure: Failure }
)

/** An answer whose bytes come from the main thread. */
interface Passed {
  action: Action
  work: Work
  projector: Projector
  shared: SharedArrayBuffer
}

/** Works on all that comes through the port, several at once. */
export function serveReading(port: MessagePort, begin: Begin): void {
  const passed = new Map<number, Passed>()
  const asked = new Map<number, AbortController>()
  const exchanges = new Map<string, Exchange>()
  const say = (message: FromThread, transfer: Transferable[] = []): void => port.postMessage(message, transfer)
  const tell = (job: number, found: unknown): void => {
    if (found instanceof Digest)
      say({ kind: 'digest', job, value: found.value, skipped: found.skipped }, found.transfer)
    else say({ kind: 'data', job, data: found })
  }
  const ask = async (job: number, { action, search, url, connectTimeoutMs }: Question, context: unknown) => {
    const { signal } = asked.set(job, new AbortController()).get(job) as AbortController
    const exchange = exchanges.get(url) ?? new Exchange({ url, connections, connectTimeoutMs })
    exchanges.set(url, exchange)
    try {
      tell(job, await exchange.ask(action, search, { signal, begin: () => begin(action, context) }))
    } catch (error) {
      say({ kind: 'failed', job, failure: toFailure(error) })
    } finally {
      asked.delete(job)
    }
  }
  port.on('message', (message: ToThread) => {
    const { kind, job } = message
    if (kind === 'ask') return void ask(job, message.question, message.context)
    if (kind === 'begin') return void passed.set(job, opened(message, begin))
    if (kind === 'drop') asked.get(job)?.abort()
    const open = passed.get(job)
    if (open === undefined) return
    if (kind !== 'bytes') passed.delete(job)
    try {
      if (kind === 'bytes') {
        read(open, message)
        say({ kind: 'read', job, half: message.half })
      } else if (kind === 'end') {
        const found = open.work.finish(open.projector.end())
        tell(job, found instanceof Digest ? found : found.projected)
      }
    } catch (error) {
      passed.delete(job)
      say({ kind: 'failed', job, failure: toFailure(asFailure(open.action, error)) })
    }
  })
}

function opened({ action, context, shared }: ToThread & { kind: 'begin' }, begin: Begin): Passed {
  const plan = plans[action]
  if (plan === undefined) throw new Error(`${action} has no plan`)
  const work = begin(action, context)
  return { action, work, shared, projector: new Projector(plan, work.onRow) }
}

/** @throws PlatformUnavailable or what the projector throws. */
function read({ action, projector, shared }: Passed, { half, length }: ToThread & { kind: 'bytes' }): void {
  projector.write(new Uint8Array(shared, half * halfBytes, length))
  if (projector.kept > mostKept)
    throw new PlatformUnavailable(action, 'too_large', { detail: `${projector.kept} bytes kept` })
}

const asFailure = (action: Action, error: unknown): unknown =>
  error instanceof SyntaxError ? new PlatformUnavailable(action, 'bad_json', { detail: error.message }) : error
