/** Gathers what is asked within one turn of the event loop and sends it as one call; knows neither Redis nor what the verbs mean. */
import { StoreUnavailable } from './store.js'

export type Verb = 'find' | 'use' | 'again' | 'increment' | 'read' | 'touch' | 'limit'

/** As many keys in a row as are asked the same. */
export interface Run {
  readonly verb: Verb
  readonly value: string | number
  times: number
}

/**
 * Sends the verbs, those of the first run on as many of the first keys and so on; resolves with one answer for each key, in order. An
 * answer that is an Error fails its own key only.
 */
export type Send = (keys: string[], runs: readonly Run[]) => Promise<unknown[]>

/** A key of the store holds anything else than it should: the operation fails, the store works on. */
export class DamagedEntry extends StoreUnavailable {
  constructor(key: string, cause: unknown) {
    // Of a digest, an owner or an id only the beginning.
    super(`Redis holds a value of the wrong type as ${key.slice(0, 18)}…`, cause)
  }
}

interface Ask {
  readonly key: string
  readonly verb: Verb
  readonly value: string | number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

export class Batch {
  readonly #send: Send
  /** What may travel together: on a cluster only asks about the same key. */
  readonly #groupOf: (key: string) => string
  #waiting: Ask[] = []

  constructor(send: Send, groupOf: (key: string) => string) {
    this.#send = send
    this.#groupOf = groupOf
  }

  /** The answer to one verb on one key. Rejects with `DamagedEntry`, or with whatever fails the whole group. */
  ask(verb: Verb, key: string, value: string | number = ''): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // Immediates run once all sockets that were readable have been read; a microtask would run after each of them.
      if (this.#waiting.length === 0) setImmediate(() => this.#flush())
      this.#waiting.push({ key, verb, value, resolve, reject })
    })
  }

  #flush(): void {
    const asks = this.#waiting
    this.#waiting = []
    const groups = new Map<string, Ask[]>()
    for (const ask of asks) {
      const name = this.#groupOf(ask.key)
      const group = groups.get(name)
      if (group) group.push(ask)
      else groups.set(name, [ask])
    }
    for (const group of groups.values()) {
      this.#send(
        group.map(({ key }) => key),
        runsOf(group),
      ).then(
        (answers) => {
          for (const [i, { key, resolve, reject }] of group.entries()) {
            const answer = answers[i]
            if (answer instanceof Error) reject(new DamagedEntry(key, answer))
            else resolve(answer)
          }
        },
        (error) => group.forEach(({ reject }) => void reject(error)),
      )
    }
  }
}

/** Most of what is asked within one turn differs only in its key. */
function runsOf(asks: readonly Ask[]): Run[] {
  const runs: Run[] = []
  for (const { verb, value } of asks) {
    const last = runs.at(-1)
    if (last?.verb === verb && last.value === value) last.times += 1
    else runs.push({ verb, value, times: 1 })
  }
  return runs
}
