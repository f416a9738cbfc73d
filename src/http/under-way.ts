/** The answers under way, and which of them take too long. Knows no timer. */
import type { FastifyReply } from 'fastify'

/**
 * A list of places that are used again. A `Map` that every request enters and leaves would be made anew all the time, and its old
 * tables, chained to each other, keep what was in them alive until a full garbage collection.
 */
export class UnderWay {
  readonly #replies: (FastifyReply | undefined)[] = []
  /** When the reply of the same place began. */
  readonly #since: number[] = []
  readonly #free: number[] = []

  /** @param now milliseconds that only ever grow. @returns the reply's place, to leave it by. */
  enter(reply: FastifyReply, now: number): number {
    const place = this.#free.pop() ?? this.#replies.length
    this.#replies[place] = reply
    this.#since[place] = now
    return place
  }

  leave(place: number): void {
    this.#replies[place] = undefined
    this.#free.push(place)
  }

  /** Those that began at `before` or earlier; they have left. */
  overdue(before: number): FastifyReply[] {
    const late = this.#replies.filter((reply, place) => reply !== undefined && (this.#since[place] as number) <= before)
    for (const reply of late) this.leave(this.#replies.indexOf(reply))
    return late as FastifyReply[]
  }
}
