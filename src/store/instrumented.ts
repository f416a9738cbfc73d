/** A store that reports the outcome and the duration of every call. */
import type { Store } from './store.js'

export interface StoreReport {
  /** The name of the method. */
  verb: string
  /** `none`: there is no such key, or nothing has changed. */
  outcome: 'ok' | 'none' | 'unavailable'
  /** Why it is unavailable. */
  error?: unknown
  ms: number
}

/** What a method returns that has found or changed nothing. */
const none: readonly unknown[] = [undefined, false, 'too_many']

type OnStored = (report: StoreReport) => void

/** The same store; `onStored` receives a report when a call of its keys or counters has ended. */
export function instrumented(store: Store, onStored: OnStored): Store {
  const { counters } = store
  return { ...store, keys: timed(store.keys, onStored), counters: counters && timed(counters, onStored) }
}

/** All members of `target` must be methods that return promises. */
function timed<T extends object>(target: T, onStored: OnStored): T {
  const get = (_: T, verb: string) => {
    const method = Reflect.get(target, verb) as (...args: unknown[]) => Promise<unknown>
    return (...args: unknown[]): Promise<unknown> => {
      const started = performance.now()
      const report = (outcome: StoreReport['outcome'], error?: unknown) =>
        onStored({ verb, outcome, error, ms: performance.now() - started })
      const reply = method.apply(target, args)
      reply.then(
        (found) => report(none.includes(found) ? 'none' : 'ok'),
        (error) => report('unavailable', error),
      )
      return reply
    }
  }
  return new Proxy(target, { get: get as ProxyHandler<T>['get'] & {} })
}
