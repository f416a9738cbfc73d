/** Runs long work in steps, between which other work of the thread has its turn. */
import { setImmediate as endOfTurn } from 'node:timers/promises'

/** Long enough that ending turns costs nothing, short enough for all who wait. */
const turnMs = 5

/** Work that a `yield` may interrupt. */
export type Steps<T> = Generator<undefined, T, undefined>

/** The result of the work. @param next resolves when it may go on. @throws what it throws, or the reason of an aborted signal. */
export async function inTurns<T>(
  steps: Steps<T>,
  signal?: AbortSignal,
  next: () => Promise<unknown> = endOfTurn,
): Promise<T> {
  let since = performance.now()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() - since < turnMs) continue
    await next()
    signal?.throwIfAborted()
    since = performance.now()
  }
}
