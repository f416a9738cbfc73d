/** How many unknown hashes each address is having validated right now. Knows neither hash nor platform. */

/** Validations under way per address: what a burst of guesses has already cost before the first one has failed. */
export class Guesses {
  /** address → digest → requests that wait for it. */
  readonly #waiting = new Map<string, Map<string, number>>()

  /** How many other hashes are being validated for an address; those who wait for one hash share its call. */
  underWay(address: string, digest: string): number {
    const digests = this.#waiting.get(address)
    return digests ? digests.size - (digests.has(digest) ? 1 : 0) : 0
  }

  /** Begins a validation whose failure will be counted under these names; to be ended by calling what this returns. */
  begin(names: readonly (string | undefined)[], digest: string): () => void {
    const ends = names.map((name) => (name === undefined ? () => {} : this.#begin(name, digest)))
    return () => {
      for (const end of ends) end()
    }
  }

  #begin(name: string, digest: string): () => void {
    const digests = this.#waiting.get(name) ?? new Map<string, number>()
    this.#waiting.set(name, digests)
    digests.set(digest, (digests.get(digest) ?? 0) + 1)
    return () => {
      const left = (digests.get(digest) ?? 1) - 1
      if (left > 0) digests.set(digest, left)
      else digests.delete(digest)
      if (digests.size === 0) this.#waiting.delete(name)
    }
  }
}
