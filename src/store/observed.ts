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

/** All members of `target` are methods that give an answer or a promise of one, and never throw. */
function told<T extends object>(target: T, onStored: OnStored): T {
  const methods = new Map<string | symbol, unknown>()
  const wrapped = (verb: string, method: (...args: unknown[]) => unknown) => {
    return (...args: unknown[]): unknown => {
      const started = performance.now()
      const tell = (outcome: StoreReport['outcome']): void =>
        onStored({ verb, outcome, ms: performance.now() - started })
      const answer = method.apply(target, args)
      if (!(answer instanceof Promise)) {
        tell('ok')
        return answer
      }
      answer.then(
        () => tell('ok'),
        () => tell('unavailable'),
      )
      return answer
    }
  }
  return new Proxy(target, {
    get(_target, name) {
      const known = methods.get(name)
      if (known !== undefined) return known
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function' || typeof name !== 'string') return member
      const method = wrapped(name, member as (...args: unknown[]) => unknown)
      methods.set(name, method)
      return method
    },
  })
}
