/** Collects the commands of one turn of the event loop and sends those that differ only in their key to Redis as one call. */
import { setImmediate } from 'node:timers/promises'
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

export class Batch {
  readonly #send: Send
  /** Only keys of the same group may share a call. */
  readonly #groupOf: (key: string) => string
  /** By group, command and values. */
  readonly #pending = new Map<string, { keys: string[]; replies: Promise<unknown> }>()

  constructor(send: Send, groupOf: (key: string) => string) {
    this.#send = send
    this.#groupOf = groupOf
  }

  /** Rejects with the error of the whole call. */
  async request<C extends Command>(command: C, key: string, ...values: Value[]): Promise<Replies[C]> {
    const name = `${this.#groupOf(key)} ${command} ${values.join('\0')}`
    const { keys, replies } = this.#pending.get(name) ?? this.#open(name, { command, values, keys: [] })
    const place = keys.push(key) - 1
    const all = await replies
    const isReply = Array.isArray(all) && all.length === keys.length && (all[place] !== null || command === 'GET')
    if (!isReply) throw new StoreUnavailable('Redis sent an unexpected reply')
    return (all[place] instanceof Error ? 'damaged' : all[place]) as Replies[C]
  }

  #open(name: string, call: Call) {
    // Immediates run once all readable sockets have been read; a microtask would run after each of them.
    const replies = setImmediate().then(() => {
      this.#pending.delete(name)
      return this.#send(call)
    })
    const opened = { keys: call.keys, replies }
    this.#pending.set(name, opened)
    return opened
  }
}
