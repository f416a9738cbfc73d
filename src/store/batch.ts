/** Collects the commands of one turn of the event loop and sends those that differ only in their key to Redis as one call. */
import { setImmediate } from 'node:timers/promises'
import type { Command, Replies } from './scripts.js'
import { StoreUnavailable } from './store.js'

type Value = string | number

/** What is sent as one call. A command that a full server refuses fails no other command. */
interface Call {
  readonly command: Command
  readonly values: readonly Value[]
  readonly keys: string[]
}

/** Rejects with the error of the whole call. */
export type Request = <C extends Command>(command: C, key: string, ...values: Value[]) => Promise<Replies[C]>

/**
 * @param send resolves with one reply per key, in order; an Error among them concerns its key only.
 * @param groupOf only keys of the same group may share a call.
 */
export function batched(send: (call: Call) => Promise<unknown>, groupOf: (key: string) => string): Request {
  /** By group, command and values. */
  const pending = new Map<string, { keys: string[]; replies: Promise<unknown> }>()
  const open = (name: string, call: Call) => {
    // Immediates run once all readable sockets have been read; a microtask would run after each of them.
    const replies = setImmediate().then(() => {
      pending.delete(name)
      return send(call)
    })
    const opened = { keys: call.keys, replies }
    pending.set(name, opened)
    return opened
  }
  return async <C extends Command>(command: C, key: string, ...values: Value[]) => {
    const name = `${groupOf(key)} ${command} ${values.join('\0')}`
    const { keys, replies } = pending.get(name) ?? open(name, { command, values, keys: [] })
    const place = keys.push(key) - 1
    const all = await replies
    const isReply = Array.isArray(all) && all.length === keys.length && (all[place] !== null || command === 'GET')
    if (!isReply) throw new StoreUnavailable('Redis sent an unexpected reply')
    return (all[place] instanceof Error ? 'damaged' : all[place]) as Replies[C]
  }
}
