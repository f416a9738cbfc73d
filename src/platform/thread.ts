/** A thread beside the main one that asks for and reads large answers; started by the first of them. Knows no field of any action. */
import { Worker } from 'node:worker_threads'
import type { Action } from './actions.js'
import { Digest } from './digest.js'
import { fromFailure, PlatformUnavailable } from './errors.js'
import { type FromThread, halfBytes, type Question, type ToThread } from './thread-work.js'

export interface ThreadOptions {
  /** The module that runs in the thread and calls `serveReading`. */
  module: URL
  /** What the thread is told with each answer, such as the time; has to be cloneable. */
  context: () => unknown
}

/**
 * Most memory of the thread for values, MB. It needs a small part of it: with less, V8 takes the bytes that pass through for a
 * reason to collect garbage several times per list, which doubles what a list costs.
 */
const mostHeapMb = 2_048

/** One thread for all answers; what it is in the middle of fails when it ends, and the next answer starts another. */
export class ReadingThread {
  readonly #options: ThreadOptions
  readonly #jobs = new Map<number, Job>()
  #worker: Worker | undefined
  #lastJob = 0

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Has the thread ask, over sockets of its own. @returns a digest where the answer was large, else its data. */
  async ask(question: Question, signal: AbortSignal): Promise<unknown> {
    const context = this.#options.context()
    const { action } = question
    const { over } = this.#job(action, signal, (job) => ({ kind: 'ask', job, question, context }))
    const found = await over.catch((error: unknown) => {
      throw signal.aborted ? new PlatformUnavailable(action, 'timeout') : error
    })
    return found instanceof Digest ? found : found.data
  }

  /** An answer whose bytes are passed on to the thread. @param signal ends the work when it aborts: whatever is awaited of it then fails. */
  begin(action: Action, signal: AbortSignal): PassingJob {
    const context = this.#options.context()
    const shared = new SharedArrayBuffer(2 * halfBytes)
    const job = this.#job(action, signal, (job) => ({ kind: 'begin', job, action, context, shared }))
    return new PassingJob(job, shared)
  }

  #job(action: Action, signal: AbortSignal, first: (job: number) => ToThread): Job {
    const worker = this.#started()
    const id = ++this.#lastJob
    const post = (message: ToThread): void => worker.postMessage(message)
    const job = new Job({ id, action, post, onOver: () => this.#jobs.delete(id) })
    this.#jobs.set(id, job)
    const end = (): void => job.drop()
    signal.addEventListener('abort', end, { once: true })
    job.over.finally(() => signal.removeEventListener('abort', end)).catch(() => {})
    post(first(id))
    return job
  }

  /** Ends the thread; what it is in the middle of fails. */
  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #started(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(this.#options.module, { resourceLimits: { maxOldGenerationSizeMb: mostHeapMb } })
    worker.unref()
    worker.on('message', (message: FromThread) => this.#jobs.get(message.job)?.hear(message))
    worker.on('error', (error) => this.#ended(worker, error))
    worker.on('exit', () => this.#ended(worker, undefined))
    this.#worker = worker
    return worker
  }

  /** Its error may quote an answer: only its code is told. */
  #ended(worker: Worker, error: Error | undefined): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const detail = `the reading thread ended${error && 'code' in error ? `: ${error.code}` : ''}`
    for (const job of [...this.#jobs.values()]) job.fail(detail)
  }
}

interface JobNeeds {
  id: number
  action: Action
  post: (message: ToThread) => void
  onOver: () => void
}

type Found = Digest | { data: unknown }

/** One answer that the thread works on. */
class Job {
  /** What came of it; fails as an answer does. */
  readonly over: Promise<Found>
  readonly needs: JobNeeds
  isOver = false
  /** Told of each half that was read, and of the end. */
  onRead: (half?: number) => void = () => {}
  #resolve: (result: Found) => void = () => {}
  #reject: (error: Error) => void = () => {}

  constructor(needs: JobNeeds) {
    this.needs = needs
    this.over = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.over.catch(() => {}) // whoever writes or waits for the end hears of it
  }

  /** Nobody waits for it any more. */
  drop(): void {
    if (this.isOver) return
    this.needs.post({ kind: 'drop', job: this.needs.id })
    this.fail('dropped')
  }

  fail(detail: string): void {
    this.#finish()
    // Our own trouble says nothing of the platform.
    this.#reject(new PlatformUnavailable(this.needs.action, 'overload', { detail }))
  }

  hear(message: FromThread): void {
    if (message.kind === 'read') {
      this.onRead(message.half)
      return
    }
    this.#finish()
    if (message.kind === 'digest') this.#resolve(new Digest(message.value, message.skipped))
    else if (message.kind === 'failed') this.#reject(fromFailure(this.needs.action, message.failure))
    else this.#resolve(message)
  }

  #finish(): void {
    this.isOver = true
    this.needs.onOver()
    this.onRead()
  }
}

/** One whose bytes go through two halves of shared memory, of which one is filled while the other is read. */
export class PassingJob {
  readonly #job: Job
  readonly #halves: Uint8Array[]
  readonly #isRead = [true, true]
  #half = 0
  #filled = 0
  #wake: () => void = () => {}

  constructor(job: Job, shared: SharedArrayBuffer) {
    this.#job = job
    this.#halves = [0, 1].map((half) => new Uint8Array(shared, half * halfBytes, halfBytes))
    job.onRead = (half) => {
      if (half !== undefined) this.#isRead[half] = true
      this.#wake()
    }
  }

  /** Resolves when there is room for more. */
  async write(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; ) {
      while (!this.#isRead[this.#half] && !this.#job.isOver) await this.#reading()
      if (this.#job.isOver) return void (await this.#job.over)
      const part = chunk.subarray(from, from + halfBytes - this.#filled)
      this.#halves[this.#half]?.set(part, this.#filled)
      this.#filled += part.length
      from += part.length
      if (this.#filled === halfBytes) this.#send()
    }
  }

  async end(): Promise<Digest | { projected: unknown }> {
    if (!this.#job.isOver) {
      this.#send()
      this.#job.needs.post({ kind: 'end', job: this.#job.needs.id })
    }
    const found = await this.#job.over
    return found instanceof Digest ? found : { projected: found.data }
  }

  drop(): void {
    this.#job.drop()
  }

  #reading(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #send(): void {
    if (this.#filled === 0) return
    this.#isRead[this.#half] = false
    this.#job.needs.post({ kind: 'bytes', job: this.#job.needs.id, half: this.#half, length: this.#filled })
    this.#half = 1 - this.#half
    this.#filled = 0
  }
}
