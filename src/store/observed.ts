/** A store that tells of every call how it ended and how long it took. Knows neither Redis nor lmdb. */
import type { Store } from './store.js'

export interface StoreReport {
  verb: string
  outcome: 'ok' | 'unavailable'
  ms: number
}

export type OnStored = (report: StoreReport) => void

/** The same store; `onStored` hears of every verb of its keys and counters once it has ended. */
export function observed(store: Store, onStored: OnStored): Store {
  return {
    kind: store.kind,
    keys: told(store.keys, onStored),
    counters: store.counters && told(store.counters, onStored),
    up: () => store.up(),
    close: () => store.close(),
  }
}

/** All members of `target` are methods that give promises. */
function told<T extends object>(target: T, onStored: OnStored): T {
  const methods = new Map<string | symbol, unknown>()
  const wrapped = (verb: string, method: (...args: unknown[]) => Promise<unknown>) => {
    return async (...args: unknown[]): Promise<unknown> => {
      const started = performance.now()
      const tell = (outcome: StoreReport['outcome']): void =>
        onStored({ verb, outcome, ms: performance.now() - started })
      try {
        const answer = await method.apply(target, args)
        tell('ok')
        return answer
      } catch (error) {
        tell('unavailable')
        throw error
      }
    }
  }
  return new Proxy(target, {
    get(_target, name) {
      const known = methods.get(name)
      if (known !== undefined) return known
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function' || typeof name !== 'string') return member
      const method = wrapped(name, member as (...args: unknown[]) => Promise<unknown>)
      methods.set(name, method)
      return method
    },
  })
}
