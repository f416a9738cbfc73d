/** The thread's side of reading large answers, and what is said between the threads. Knows no transport and no field of any action. */
import type { MessagePort, Transferable } from 'node:worker_threads'
import type { Action } from './actions.js'
import { plans } from './plans.js'
import { type OnRow, Projector } from './projector.js'

/** Bytes that travel at once: a millisecond's work. */
export const halfBytes = 256 * 1024
/** Past this many bytes kept an answer is given up. */
export const mostKept = 64 * 1024 * 1024

export type ToThread =
  | { kind: 'begin'; job: number; action: Action; context: unknown; shared: SharedArrayBuffer }
  | { kind: 'bytes'; job: number; half: number; length: number }
  | { kind: 'end' | 'drop'; job: number }

export type FromThread = { job: number } & (
  | { kind: 'read'; half: number }
  | { kind: 'digest'; value: unknown; skipped: number }
  | { kind: 'projected'; projected: unknown }
  | { kind: 'failed'; reason: 'bad_json' | 'too_large'; detail: string }
)

/** What is made of one answer. */
export interface Work {
  onRow: OnRow
  /** What came of all of it, ready to be sent; none where the answer is better judged as it is. */
  finish(data: unknown): { value: unknown; skipped: number; transfer: Transferable[] } | { projected: unknown }
}

/** The work for one answer; `context` is what the main thread said with it. */
export type Begin = (action: Action, context: unknown) => Work

interface Job {
  work: Work
  projector: Projector
  shared: SharedArrayBuffer
}

/** Reads all answers that come through the port, several at once. */
export function serveReading(port: MessagePort, begin: Begin): void {
  const jobs = new Map<number, Job>()
  const say = (message: FromThread, transfer: Transferable[] = []): void => port.postMessage(message, transfer)
  const fail = (job: number, reason: 'bad_json' | 'too_large', detail: string): void => {
    jobs.delete(job)
    say({ kind: 'failed', job, reason, detail })
  }
  port.on('message', (message: ToThread) => {
    const { kind, job } = message
    if (kind === 'begin') return void jobs.set(job, opened(message, begin))
    const open = jobs.get(job)
    if (open === undefined) return
    if (kind !== 'bytes') jobs.delete(job)
    try {
      if (kind === 'bytes') {
        open.projector.write(new Uint8Array(open.shared, message.half * halfBytes, message.length))
        if (open.projector.kept > mostKept) fail(job, 'too_large', `${open.projector.kept} bytes kept`)
        else say({ kind: 'read', job, half: message.half })
      } else if (kind === 'end') finish(job, open, say)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      fail(job, 'bad_json', error.message)
    }
  })
}

function opened({ action, context, shared }: ToThread & { kind: 'begin' }, begin: Begin): Job {
  const plan = plans[action]
  if (plan === undefined) throw new Error(`${action} has no plan`)
  const work = begin(action, context)
  return { work, shared, projector: new Projector(plan, work.onRow) }
}

function finish(job: number, { work, projector }: Job, say: (message: FromThread, transfer?: Transferable[]) => void) {
  const found = work.finish(projector.end())
  if ('projected' in found) say({ kind: 'projected', job, projected: found.projected })
  else say({ kind: 'digest', job, value: found.value, skipped: found.skipped }, found.transfer)
}
