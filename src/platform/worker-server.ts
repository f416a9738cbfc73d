/** The worker's side: runs the jobs that the main thread posts, several at once. */
import { getHeapStatistics } from 'node:v8'
import { type MessagePort, type Transferable, workerData } from 'node:worker_threads'
import { ByteBudget, type Reservation } from '../lib/byte-budget.js'
import { maxInFlight } from './bulkhead.js'
import { type Failure, PlatformError } from './errors.js'
import { HttpClient } from './http-client.js'
import type { FromWorker, Job, JobAction, JobResults, ToWorker } from './worker-messages.js'

/** Part of the heap that responses may take while they are read. */
const heapShare = 0.4

/** What a handler gets beside its job. */
export interface JobContext {
  readonly client: HttpClient
  readonly signal: AbortSignal
  readonly reservation: Reservation
}

/** A result and those of its buffers that are transferred instead of copied. */
export interface JobOutput<A extends JobAction> {
  result: JobResults[A]
  transfer: Transferable[]
}

type JobHandlers = { [A in JobAction]: (job: Job<A>, context: JobContext) => Promise<JobOutput<A>> }

/** Serves the jobs of one main thread until the port closes. */
export function serveJobs(port: MessagePort, handlers: JobHandlers): void {
  const running = new Map<number, AbortController>()
  const clients = new Map<string, HttpClient>()
  // The main thread reads the bytes in use there.
  const budget = new ByteBudget(heapShare * getHeapStatistics().heap_size_limit, workerData as Float64Array)
  const post = (message: FromWorker, transfer: Transferable[] = []): void => port.postMessage(message, transfer)
  const clientOf = (url: string): HttpClient => {
    const client = clients.get(url) ?? new HttpClient({ url, connections: maxInFlight })
    clients.set(url, client)
    return client
  }
  const run = async <A extends JobAction>(id: number, job: Job<A>): Promise<void> => {
    const controller = new AbortController()
    running.set(id, controller)
    const reservation = budget.open(job.owner)
    try {
      const handler: JobHandlers[A] = handlers[job.action]
      const context = { client: clientOf(job.url), signal: controller.signal, reservation }
      const { result, transfer } = await handler(job, context)
      post({ kind: 'result', id, result }, transfer)
    } catch (error) {
      post({ kind: 'failure', id, failure: failureOf(error) })
    } finally {
      running.delete(id)
      reservation.release()
    }
  }
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'cancel') running.get(message.id)?.abort()
    else void run(message.id, message.job)
  })
  post({ kind: 'ready' })
}

/** A bug in a handler fails its own job, not those of other accounts; its message may quote a response, so only its name is kept. */
function failureOf(error: unknown): Failure {
  if (error instanceof PlatformError) return { reason: error.reason, detail: error.detail }
  const name = error instanceof Error ? error.name : typeof error
  return { reason: 'overload', detail: `${name} in the worker` }
}
