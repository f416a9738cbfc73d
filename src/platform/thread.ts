/** A thread beside the main one that reads large answers; started by the first of them. Knows no transport and no field of any action. */
import { Worker } from 'node:worker_threads'
import type { Action } from './actions.js'
import { PlatformUnavailable } from './errors.js'
import { type FromThread, halfBytes, type ToThread } from './thread-work.js'

/** What the thread made of an answer: opaque to all but those who gave the thread its work. */
export class Digest {
  readonly value: unknown
  /** Rows that were no records and were left out. */
  readonly skipped: number

  constructor(value: unknown, skipped: number) {
    this.value = value
    this.skipped = skipped
  }
}

export interface ThreadOptions {
  /** The module that runs in the thread and calls `serveReading`. */
  module: URL
  /** What the thread is told with each answer, such as the time; has to be cloneable. */
  context: () => unknown
}

/** Most memory of the thread for values, MB: some 100,000 devices at once. */
const mostHeapMb = 512

/** One thread for all answers; what it is in the middle of fails when it ends, and the next answer starts another. */
export class ReadingThread {
  readonly #options: ThreadOptions
  readonly #jobs = new Map<number, Job>()
  #worker: Worker | undefined
  #lastJob = 0

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** @param signal ends the work when it aborts: whatever is awaited of it then fails. */
  begin(action: Action, signal: AbortSignal): Job {
    const worker = this.#started()
    const id = ++this.#lastJob
    const post = (message: ToThread): void => worker.postMessage(message)
    const job = new Job({ id, action, post, onOver: () => this.#jobs.delete(id) })
    this.#jobs.set(id, job)
    const end = (): void => job.drop()
    signal.addEventListener('abort', end, { once: true })
    job.over.finally(() => signal.removeEventListener('abort', end)).catch(() => {})
    job.start(this.#options.context())
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

/** One answer on its way to the thread: bytes through two halves of shared memory, of which one is filled while the other is read. */
export class Job {
  /** What came of it; fails as an answer does. */
  readonly over: Promise<Digest | { projected: unknown }>
  readonly #needs: JobNeeds
  readonly #shared = new SharedArrayBuffer(2 * halfBytes)
  readonly #halves = [0, 1].map((half) => new Uint8Array(this.#shared, half * halfBytes, halfBytes))
  readonly #isRead = [true, true]
  #half = 0
  #filled = 0
  #wake: () => void = () => {}
  #resolve: (result: Digest | { projected: unknown }) => void = () => {}
  #reject: (error: Error) => void = () => {}
  #isOver = false

  constructor(needs: JobNeeds) {
    this.#needs = needs
    this.over = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.over.catch(() => {}) // whoever writes or waits for the end hears of it
  }

  start(context: unknown): void {
    const { id: job, action, post } = this.#needs
    post({ kind: 'begin', job, action, context, shared: this.#shared })
  }

  /** Resolves when there is room for more. */
  async write(chunk: Uint8Array): Promise<void> {
    for (let from = 0; from < chunk.length; ) {
      while (!this.#isRead[this.#half] && !this.#isOver) await this.#reading()
      if (this.#isOver) return void (await this.over)
      const part = chunk.subarray(from, from + halfBytes - this.#filled)
      this.#halves[this.#half]?.set(part, this.#filled)
      this.#filled += part.length
      from += part.length
      if (this.#filled === halfBytes) this.#send()
    }
  }

  end(): Promise<Digest | { projected: unknown }> {
    if (!this.#isOver) {
      this.#send()
      this.#needs.post({ kind: 'end', job: this.#needs.id })
    }
    return this.over
  }

  /** Nobody waits for it any more. */
  drop(): void {
    if (this.#isOver) return
    this.#needs.post({ kind: 'drop', job: this.#needs.id })
    this.fail('dropped')
  }

  fail(detail: string): void {
    this.#finish()
    // Our own trouble says nothing of the platform.
    this.#reject(new PlatformUnavailable(this.#needs.action, 'overload', { detail }))
  }

  hear(message: FromThread): void {
    if (message.kind === 'read') {
      this.#isRead[message.half] = true
      this.#wake()
      return
    }
    this.#finish()
    const { kind } = message
    if (kind === 'digest') this.#resolve(new Digest(message.value, message.skipped))
    else if (kind === 'projected') this.#resolve({ projected: message.projected })
    else this.#reject(new PlatformUnavailable(this.#needs.action, message.reason, { detail: message.detail }))
  }

  #finish(): void {
    this.#isOver = true
    this.#needs.onOver()
    this.#wake()
  }

  #reading(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #send(): void {
    if (this.#filled === 0) return
    this.#isRead[this.#half] = false
    this.#needs.post({ kind: 'bytes', job: this.#needs.id, half: this.#half, length: this.#filled })
    this.#half = 1 - this.#half
    this.#filled = 0
  }
}
