/** Validations of unknown hashes that are in flight, counted by the names that a failure would be charged to. */

/** This many waiting requests count as one validation, even if they share it: else one address and hash could take all connections. */
const maxSharing = 4

export class PendingValidations {
  /** name → digest → requests waiting for its validation. */
  readonly #byName = new Map<string, Map<string, number>>()

  /** Validations in flight under a name, without that of this hash, which its requests share; at least a quarter of the waiting requests. */
  count(name: string, digest: string): number {
    const digests = this.#byName.get(name) ?? new Map<string, number>()
    const requests = [...digests.values()].reduce((sum, waiting) => sum + waiting, 0)
    return Math.max(digests.size - (digests.has(digest) ? 1 : 0), Math.floor(requests / maxSharing))
  }

  /** @returns a function to call once when the validation has ended. */
  begin(names: readonly string[], digest: string): () => void {
    for (const name of names) this.#add(name, digest, 1)
    return () => {
      for (const name of names) this.#add(name, digest, -1)
    }
  }

  #add(name: string, digest: string, requests: 1 | -1): void {
    const digests = this.#byName.get(name) ?? new Map<string, number>()
    this.#byName.set(name, digests.set(digest, (digests.get(digest) ?? 0) + requests))
    if (digests.get(digest) === 0) digests.delete(digest)
    if (digests.size === 0) this.#byName.delete(name)
  }
}
