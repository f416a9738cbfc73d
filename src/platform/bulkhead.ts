/** Admission of platform calls: limits what is in flight per account and per kind of call, and queues the rest fairly. */
import type { Action } from './actions.js'
import { PlatformUnavailable } from './errors.js'

/** Sockets to the platform; a PHP platform serves no more at once anyway. */
export const maxInFlight = 64

/**
 * Priorities, most urgent first: device lists, validations, everything else, histories. Each limit includes the calls of all later
 * priorities: hanging histories of many accounts take half of the sockets, and the last 8 are for device lists alone.
 */
const limits = { all: [maxInFlight, 56, 48, 32], account: [8, 8, 7, 6] }

/** Calls of one account and priority that wait for a slot. */
const maxQueuedPerAccount = 64
/** All calls that wait for a slot. */
const maxQueued = 1_000

function priorityOf(action: Action): number {
  if (action === 'get_devices') return 0
  if (action === 'get_user_data') return 1
  return action === 'get_history' ? 3 : 2
}

/** What is in flight, by priority. */
class Slots {
  readonly #limits: readonly number[]
  /** Calls in flight of each priority and of those after it. */
  readonly #used: number[]

  constructor(limits: readonly number[]) {
    this.#limits = limits
    this.#used = limits.map(() => 0)
  }

  get used(): number {
    return this.#used[0] as number
  }

  isFree(priority: number): boolean {
    return this.#limits.every((limit, at) => at > priority || (this.#used[at] as number) < limit)
  }

  add(priority: number, calls: 1 | -1): void {
    for (let at = 0; at <= priority; at += 1) this.#used[at] = (this.#used[at] as number) + calls
  }
}

type Queues = Map<string, (() => void)[]>

/**
 * Whenever a slot is free, the most urgent priority with a startable call goes first, and within it one account after the other.
 * An account has an entry only while it has calls in flight or in the queue.
 */
export class Bulkhead {
  readonly #all = new Slots(limits.all)
  readonly #byAccount = new Map<string, Slots>()
  /** Per priority: the queue of each account, the account whose turn is next first. */
  readonly #queues: Queues[] = limits.all.map(() => new Map())
  #queued = 0
  #rejected = 0

  get inFlight(): number {
    return this.#all.used
  }

  get queued(): number {
    return this.#queued
  }

  /** Calls that got no slot, since the start. */
  get rejected(): number {
    return this.#rejected
  }

  /** Accounts with calls in flight or in the queue. */
  get accounts(): number {
    return new Set([this.#byAccount, ...this.#queues].flatMap((byAccount) => [...byAccount.keys()])).size
  }

  /**
   * Runs a call as soon as it has a slot.
   * @param signal the deadline of the call, waiting included.
   * @throws PlatformUnavailable `overload` when the queue is full, or the deadline passes in it; else what the call throws.
   */
  async run<T>(account: string, action: Action, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const priority = priorityOf(action)
    if (this.#isFree(account, priority)) this.#take(account, priority)
    else await this.#wait(account, action, signal)
    try {
      return await call()
    } finally {
      this.#release(account, priority)
    }
  }

  #isFree(account: string, priority: number): boolean {
    return this.#all.isFree(priority) && (this.#byAccount.get(account)?.isFree(priority) ?? true)
  }

  #take(account: string, priority: number): void {
    const own = this.#byAccount.get(account) ?? new Slots(limits.account)
    this.#byAccount.set(account, own)
    for (const slots of [this.#all, own]) slots.add(priority, 1)
  }

  #release(account: string, priority: number): void {
    const own = this.#byAccount.get(account) as Slots
    for (const slots of [this.#all, own]) slots.add(priority, -1)
    if (own.used === 0) this.#byAccount.delete(account)
    for (const [priority, queues] of this.#queues.entries()) this.#startQueued(priority, queues)
  }

  /** Resolves when the call has its slot. */
  async #wait(account: string, action: Action, signal: AbortSignal): Promise<void> {
    const queues = this.#queues[priorityOf(action)] as Queues
    const queue = queues.get(account) ?? []
    // While the whole queue fills up, each account's share of it shrinks, so that there is room for the next account.
    const maxLength = Math.min(maxQueuedPerAccount, (maxQueued - this.#queued) / 4)
    if (queue.length >= maxLength || signal.aborted) throw this.#rejection(action, 'the queue is full')
    queues.set(account, queue)
    this.#queued += 1
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        queue.splice(queue.indexOf(start), 1)
        if (queue.length === 0) queues.delete(account)
        this.#queued -= 1
        reject(this.#rejection(action, 'no slot before the deadline'))
      }
      signal.addEventListener('abort', leave)
      queue.push(start)
    })
  }

  #startQueued(priority: number, queues: Queues): void {
    // A Map visits entries that are set again, so this goes round until no account can start a call.
    for (const [account, queue] of queues) {
      if (!this.#isFree(account, priority)) continue
      this.#take(account, priority)
      this.#queued -= 1
      queue.shift()?.()
      queues.delete(account)
      if (queue.length > 0) queues.set(account, queue)
    }
  }

  #rejection(action: Action, detail: string): PlatformUnavailable {
    this.#rejected += 1
    return new PlatformUnavailable(action, 'overload', { detail })
  }
}
