/** Admission of platform calls: limits what is in flight per account and per kind of call, and queues the rest fairly. */
import type { Call } from '../lib/circuit-breaker.js'
import type { Action } from './actions.js'
import { failure } from './errors.js'

/** Calls to the platform at once; a PHP platform serves no more anyway. */
export const maxInFlight = 64

/**
 * Priorities, most urgent first: device lists, validations of known accounts, all calls of unknown accounts, everything else, histories.
 * Each limit includes the calls of all later priorities: hanging histories of many accounts take at most half of them, and the last
 * 8 are for device lists alone.
 */
const limits = { all: [maxInFlight, 56, 56, 48, 32], account: [8, 8, 8, 7, 6] }

/** The priorities of known accounts; 3 for every other action. */
const priorities: Partial<Record<Action, number>> = { get_devices: 0, get_user_data: 1, get_history: 4 }
/** The priority of credentials that anyone may have invented. Each counts as a new account, and many addresses may send any number. */
const unknown = 2
/** Limits of all calls of unknown accounts together: in flight, and in the queue. */
const [maxUnknownInFlight, maxUnknownQueued] = [40, 750]

/** Calls of one account and priority that wait for a slot. */
const maxQueuedPerAccount = 64
/** All calls that wait for a slot. */
const maxQueued = 1_000

/** Calls in flight of each priority and all later ones, as they are limited. */
const noCalls: readonly number[] = limits.all.map(() => 0)

type Queues = Map<string, (() => void)[]>

/**
 * Whenever a slot is free, the most urgent priority with a startable call goes first, and within it one account after the other.
 * An account has an entry only while it has calls in flight or in the queue.
 */
export class Bulkhead {
  readonly #all = [...noCalls]
  readonly #byAccount = new Map<string, number[]>()
  /** Per priority: the queue of each account, the account whose turn is next first. */
  readonly #queues: Queues[] = noCalls.map(() => new Map())
  #queued = 0

  get queued(): number {
    return this.#queued
  }

  /** Accounts with calls in flight or in the queue. */
  get accounts(): number {
    return new Set([this.#byAccount, ...this.#queues].flatMap((byAccount) => [...byAccount.keys()])).size
  }

  /**
   * Sends a call as soon as it has a slot.
   * @param signal the deadline of the call, waiting included.
   * @throws PlatformUnavailable `overload` when the queue is full, or the deadline passes in it; else what `send` throws.
   */
  async run<T>(call: Call & { action: Action }, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    const { account, action, isKnown } = call
    const priority = isKnown ? (priorities[action] ?? 3) : unknown
    if (this.#isFree(account, priority)) this.#count(account, priority, 1)
    else await this.#wait(account, action, priority, signal)
    try {
      return await send()
    } finally {
      this.#count(account, priority, -1)
      for (const [priority, queues] of this.#queues.entries()) this.#startQueued(priority, queues)
    }
  }

  #isFree(account: string, priority: number): boolean {
    const [all, own] = [this.#all, this.#byAccount.get(account) ?? noCalls]
    if (priority === unknown && all[unknown]! - all[unknown + 1]! >= maxUnknownInFlight) return false
    return noCalls.every((_, at) => at > priority || (all[at]! < limits.all[at]! && own[at]! < limits.account[at]!))
  }

  #count(account: string, priority: number, calls: 1 | -1): void {
    const own = this.#byAccount.get(account) ?? [...noCalls]
    for (const counts of [this.#all, own]) for (let at = 0; at <= priority; at += 1) counts[at]! += calls
    if (own[0]! > 0) this.#byAccount.set(account, own)
    else this.#byAccount.delete(account)
  }

  /** Resolves when the call has its slot. */
  async #wait(account: string, action: Action, priority: number, signal: AbortSignal): Promise<void> {
    const queues = this.#queues[priority]!
    const queue = queues.get(account) ?? []
    // While the whole queue fills up, each account's share of it shrinks, so that there is room for the next account.
    const maxLength = Math.min(maxQueuedPerAccount, (maxQueued - this.#queued) / 4)
    // Each of these accounts has one call.
    const isCrowded = priority === unknown && queues.size >= maxUnknownQueued
    if (queue.length >= maxLength || isCrowded || signal.aborted) throw failure(action, 'overload', 'the queue is full')
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
        reject(failure(action, 'overload', 'no slot before the deadline'))
      }
      signal.addEventListener('abort', leave)
      queue.push(start)
    })
  }

  #startQueued(priority: number, queues: Queues): void {
    // A Map visits entries that are set again, so this goes round until no account can start a call.
    for (const [account, queue] of queues) {
      if (!this.#isFree(account, priority)) continue
      this.#count(account, priority, 1)
      this.#queued -= 1
      queue.shift()?.()
      queues.delete(account)
      if (queue.length > 0) queues.set(account, queue)
    }
  }
}
