/** Collects the commands of one turn of the event loop and sends those that differ only in their key to Redis as one call. */
import type { Command, Replies } from './scripts.js'
import { StoreUnavailable } from './store.js'

type Value = string | number

/** What is sent as one call. A command that a full server refuses fails no other command. */
export interface Call {
  readonly command: Command
  readonly values: readonly Value[]
  readonly keys: string[]
}

/** Resolves with one reply per key, in order; an Error among them concerns its key only. */
type Send = (call: Call) => Promise<unknown>

interface Waiting {
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
}

export class Batch {
  readonly #send: Send
  /** Only keys of the same group may share a call. */
  readonly #groupOf: (key: string) => string
  /** By group, command and values. */
  #pending = new Map<string, Call & { waiting: Waiting[] }>()

  constructor(send: Send, groupOf: (key: string) => string) {
    this.#send = send
    this.#groupOf = groupOf
  }

  /** Rejects with the error of the whole call. */
  request<C extends Command>(command: C, key: string, ...values: Value[]): Promise<Replies[C]> {
    return new Promise<unknown>((resolve, reject) => {
      // Immediates run once all readable sockets have been read; a microtask would run after each of them.
      if (this.#pending.size === 0) setImmediate(() => this.#flush())
      const name = `${this.#groupOf(key)} ${command} ${values.join('\0')}`
      const call = this.#pending.get(name) ?? { command, values, keys: [], waiting: [] }
      this.#pending.set(name, call)
      call.keys.push(key)
      call.waiting.push({ resolve, reject })
    }) as Promise<Replies[C]>
  }

  #flush(): void {
    const calls = this.#pending
    this.#pending = new Map()
    for (const { waiting, ...call } of calls.values()) {
      this.#send(call)
        .then((replies) => settle(waiting, replies))
        .catch((error) => waiting.forEach(({ reject }) => void reject(error)))
    }
  }
}

function settle(waiting: readonly Waiting[], replies: unknown): void {
  if (!Array.isArray(replies) || replies.length !== waiting.length) {
    throw new StoreUnavailable('Redis sent an unexpected reply')
  }
  for (const [i, { resolve }] of waiting.entries()) resolve(replies[i] instanceof Error ? 'damaged' : replies[i])
}
