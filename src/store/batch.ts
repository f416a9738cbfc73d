/** Collects the commands of one turn of the event loop and sends those that differ only in their key to Redis as one call. */
import { setImmediate } from 'node:timers/promises'
import type { Command, Replies } from './scripts.js'
import { StoreUnavailable } from './store.js'

type Value = string | number

/** Rejects with the error of the whole call. */
export type Request = <C extends Command>(command: C, key: string, ...values: Value[]) => Promise<Replies[C]>

/**
 * @param send resolves with one reply per key, in order; an Error among them concerns its key only.
 * @param isCluster whether each key needs a call of its own.
 */
export function batched(
  send: (command: Command, keys: readonly string[], values: readonly Value[]) => Promise<unknown>,
  isCluster: boolean,
): Request {
  /** Calls by command and values, in a cluster by key, too. A command that a full server refuses fails no other command. */
  const pending = new Map<string, { keys: string[]; replies: Promise<unknown> }>()
  return async <C extends Command>(command: C, key: string, ...values: Value[]) => {
    const name = `${isCluster ? key : ''} ${command} ${values.join('\0')}`
    let call = pending.get(name)
    if (!call) {
      const keys: string[] = []
      // Immediates run once all readable sockets have been read; a microtask would run after each of them.
      const replies = setImmediate().then(() => {
        pending.delete(name)
        return send(command, keys, values)
      })
      call = { keys, replies }
      pending.set(name, call)
    }
    const place = call.keys.push(key) - 1
    const all = await call.replies
    const isReply = Array.isArray(all) && all.length === call.keys.length && (all[place] !== null || command === 'GET')
    if (!isReply) throw new StoreUnavailable('Redis sent an unexpected reply')
    return (all[place] instanceof Error ? 'damaged' : all[place]) as Replies[C]
  }
}
