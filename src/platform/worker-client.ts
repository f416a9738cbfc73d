/** The main thread's side of the worker that sends long requests and reads their responses. */
import { once } from 'node:events'
import { getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { failure } from './errors.js'
import type { FromWorker, Job, JobAction, JobEnd, JobResults, ToWorker } from './worker-messages.js'

const bytesPerMb = 1024 * 1024

/** As much as this process may use itself, at most 2 GB: with less, V8 collects several times per list, which doubles its cost. */
const maxHeapMb = Math.min(2_048, Math.floor(getHeapStatistics().heap_size_limit / bytesPerMb))
/** A worker that exceeds them ends alone. With a young generation of 8 MB, a list of 10,000 costs 7 % more, and four take 15 MB more. */
const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 4 }

/** One worker for all requests, started by the first; when it ends, its requests fail and the next one starts another. */
export class WorkerClient {
  readonly #module: URL
  /** Called when the job of an id ends. */
  readonly #pending = new Map<number, (end: JobEnd) => void>()
  #worker: Worker | undefined
  #lastId = 0
  /** Written by the worker. */
  #usedBytes: Float64Array<ArrayBufferLike> = new Float64Array(1)

  /** @param module the worker's entry point, which calls `serveJobs`. */
  constructor(module: URL) {
    this.#module = module
  }

  /** Starts the worker ahead of the first request. @returns when it can run jobs; rejects with the cause when it ends instead. */
  async start(): Promise<void> {
    const worker = this.#started()
    // Until it is ready, it may be all that keeps the process alive.
    worker.ref()
    const ended = once(worker, 'exit').then(([code]) => {
      throw new Error(`the worker ended at its start with code ${code}`)
    })
    await Promise.race([once(worker, 'message'), ended])
    worker.unref()
  }

  /** Estimated bytes of the responses that the worker is reading. */
  get usedBytes(): number {
    return this.#usedBytes[0] as number
  }

  /**
   * Runs a job; an aborted signal cancels it.
   * @throws PlatformRefused, PlatformForbidden or PlatformUnavailable: `timeout` when aborted, `overload` when the worker ended.
   */
  async run<A extends JobAction>(job: Job<A>, signal: AbortSignal): Promise<JobResults[A]> {
    const worker = this.#started()
    const id = ++this.#lastId
    const post = (message: ToWorker): void => worker.postMessage(message)
    const cancel = (): void => {
      post({ kind: 'cancel', id })
      this.#pending.get(id)?.({ kind: 'failure', failure: { reason: 'timeout', detail: undefined } })
    }
    const ended = new Promise<JobEnd>((resolve) => this.#pending.set(id, resolve))
    signal.addEventListener('abort', cancel, { once: true })
    post({ kind: 'start', id, job })
    if (signal.aborted) cancel()
    const end = await ended
    this.#pending.delete(id)
    signal.removeEventListener('abort', cancel)
    if (end.kind === 'failure') throw failure(job.action, end.failure.reason, end.failure.detail)
    return end.result as JobResults[A]
  }

  /** Ends the worker; its requests fail. */
  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #started(): Worker {
    if (this.#worker) return this.#worker
    this.#usedBytes = new Float64Array(new SharedArrayBuffer(8))
    // `execArgv`: without the options of the process, such as the loaders of a test.
    const worker = new Worker(this.#module, { execArgv: [], resourceLimits, workerData: this.#usedBytes })
    worker.on('message', (message: FromWorker) => {
      if (message.kind !== 'ready') this.#pending.get(message.id)?.(message)
    })
    worker.on('error', (error) => this.#ended(worker, error))
    worker.on('exit', () => this.#ended(worker, undefined))
    // Last, since adding a message listener undoes it: the worker keeps no process alive.
    worker.unref()
    this.#worker = worker
    return worker
  }

  /** The error's message may quote a response, so only its code is kept. */
  #ended(worker: Worker, error: Error | undefined): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#usedBytes = new Float64Array(1)
    const detail = `the worker ended${error && 'code' in error ? `: ${error.code}` : ''}`
    for (const end of this.#pending.values()) end({ kind: 'failure', failure: { reason: 'overload', detail } })
  }
}
