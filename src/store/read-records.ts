/** What records said when they were last read: a store is asked each time, but what is still the same need not be taken apart again. Knows no store. */
import type { KeyRecord } from './store.js'

/** Records kept at once; the oldest goes first. */
const mostRead = 10_000

/** `Said` is what a store compares: as long as it is the same, so is the record. */
export class ReadRecords<Said> {
  readonly #known = new Map<string, { said: Said; record: KeyRecord }>()

  of(digest: string): { said: Said; record: KeyRecord } | undefined {
    return this.#known.get(digest)
  }

  keep(digest: string, said: Said, record: KeyRecord): void {
    this.#known.delete(digest)
    this.#known.set(digest, { said, record })
    if (this.#known.size > mostRead) this.#known.delete(this.#known.keys().next().value ?? digest)
  }

  forget(digest: string): void {
    this.#known.delete(digest)
  }
}
