/** Reports damaged entries of a store, each once. */

/** What is damaged: a key record, an owner's index, or the mapping from an id to a digest. */
export type Damaged = 'key' | 'owner' | 'id'

/** @param start the first eight characters of the entry's digest, owner or id. */
export type OnDamaged = (what: Damaged, start: string) => void

/** Reports remembered at once; beyond this, entries may be reported again. */
const maxReported = 10_000

export class DamageReports {
  readonly #onDamaged: OnDamaged
  readonly #reported = new Set<string>()

  constructor(onDamaged: OnDamaged) {
    this.#onDamaged = onDamaged
  }

  /** @param name the entry's digest, owner or id; it may be damaged, too. */
  report(what: Damaged, name: string): void {
    const entry = `${what} ${name}`
    if (this.#reported.has(entry)) return
    if (this.#reported.size >= maxReported) this.#reported.clear()
    this.#reported.add(entry)
    this.#onDamaged(what, name.slice(0, 8).replace(/[^\w-]/g, '?'))
  }
}
