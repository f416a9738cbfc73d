/** Collects the commands of one turn of the event loop and sends them to Redis as one call. */
import { type Command, isReply, type Replies } from './scripts.js'
import { StoreUnavailable } from './store.js'

type Value = string | number

/** Consecutive requests that differ only in their key. */
interface Run {
  readonly command: Command
  readonly values: readonly Value[]
  times: number
}

/** Sends the runs on as many consecutive keys. Resolves with one reply per key, in order; an Error among them concerns its key only. */
type Send = (keys: string[], runs: readonly Run[]) => Promise<unknown>

interface Request {
  readonly key: string
  readonly command: Command
  readonly values: readonly Value[]
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
}

export class Batch {
  readonly #send: Send
  /** Only keys of the same group may share a call. */
  readonly #groupOf: (key: string) => string
  #pending: Request[] = []

  constructor(send: Send, groupOf: (key: string) => string) {
    this.#send = send
    this.#groupOf = groupOf
  }

  /** Rejects with the error of the whole call. */
  request<C extends Command>(command: C, key: string, ...values: Value[]): Promise<Replies[C]> {
    return new Promise<unknown>((resolve, reject) => {
      // Immediates run once all readable sockets have been read; a microtask would run after each of them.
      if (this.#pending.length === 0) setImmediate(() => this.#flush())
      this.#pending.push({ key, command, values, resolve, reject })
    }) as Promise<Replies[C]>
  }

  #flush(): void {
    const groups = new Map<string, Request[]>()
    for (const request of this.#pending) {
      const name = this.#groupOf(request.key)
      const group = groups.get(name)
      if (group) group.push(request)
      else groups.set(name, [request])
    }
    this.#pending = []
    for (const group of groups.values()) {
      const keys = group.map(({ key }) => key)
      this.#send(keys, runsOf(group))
        .then((replies) => settle(group, replies))
        .catch((error) => group.forEach(({ reject }) => void reject(error)))
    }
  }
}

function settle(group: readonly Request[], replies: unknown): void {
  if (!Array.isArray(replies) || replies.length !== group.length) throw unexpectedReply()
  for (const [i, { command, resolve, reject }] of group.entries()) {
    const reply = replies[i] instanceof Error ? 'damaged' : replies[i]
    if (isReply(command, reply)) resolve(reply)
    else reject(unexpectedReply())
  }
}

const unexpectedReply = (): StoreUnavailable => new StoreUnavailable('Redis sent an unexpected reply')

function runsOf(requests: readonly Request[]): Run[] {
  const runs: Run[] = []
  for (const { command, values } of requests) {
    const last = runs.at(-1)
    if (last?.command === command && last.values.every((value, i) => value === values[i])) last.times += 1
    else runs.push({ command, values, times: 1 })
  }
  return runs
}
