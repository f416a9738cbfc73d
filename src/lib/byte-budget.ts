/** A budget in bytes for what is in flight, of which one owner gets half: it cannot shut out the others. */

/** Bytes held by one piece of work, for example one response; `release` gives all of them back. */
export interface Reservation {
  readonly bytes: number
  /** Adds bytes; false, and nothing is added, where the owner or the budget has no room for them. */
  grow(bytes: number): boolean
  /** Gives everything back; may be called more than once. */
  release(): void
}

export class ByteBudget {
  readonly maxBytes: number
  readonly #byOwner = new Map<string, number>()
  readonly #used: Float64Array
  #rejected = 0

  /** @param maxBytes that all owners may hold together. @param used a number to count them in, which another thread may read. */
  constructor(maxBytes: number, used: Float64Array = new Float64Array(1)) {
    this.maxBytes = maxBytes
    this.#used = used
  }

  /** Bytes in flight now. */
  get usedBytes(): number {
    return this.#used[0] as number
  }

  /** How often a reservation was refused more bytes, since the start. */
  get rejected(): number {
    return this.#rejected
  }

  /** Whether more than half of the budget is in use: time to cut slow readers. */
  get isShort(): boolean {
    return this.usedBytes > this.maxBytes / 2
  }

  /** A reservation of no bytes yet. @param owner for example the account's id. */
  open(owner: string): Reservation {
    let held = 0
    let isReleased = false
    return {
      get bytes() {
        return held
      },
      grow: (bytes) => {
        if (isReleased || !this.#add(owner, bytes)) return false
        held += bytes
        return true
      },
      release: () => {
        isReleased = true
        this.#add(owner, -held)
        held = 0
      },
    }
  }

  #add(owner: string, bytes: number): boolean {
    const owned = (this.#byOwner.get(owner) ?? 0) + bytes
    const used = this.usedBytes + bytes
    if (bytes > 0 && (used > this.maxBytes || owned > this.maxBytes / 2)) {
      this.#rejected += 1
      return false
    }
    this.#used[0] = used
    if (owned > 0) this.#byOwner.set(owner, owned)
    else this.#byOwner.delete(owner)
    return true
  }
}
