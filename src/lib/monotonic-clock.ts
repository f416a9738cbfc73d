/** A clock for times of life, made from one that somebody may set back. Knows nothing of what lives. */

/** A step back of this many milliseconds or less is a correction, during which no time has passed. */
const correctionMs = 1_000
/** Longer than anything lives, in milliseconds. */
const forever = 365 * 86_400_000

/** The same clock, but it never goes back: where the other does, nobody knows how much time has passed, so everything has outlived itself. */
export function neverBack(clock: () => number): () => number {
  let last = clock()
  let ahead = 0
  return () => {
    const now = clock()
    const back = last - now
    if (back > 0) ahead += back > correctionMs ? back + forever : back
    last = now
    return now + ahead
  }
}
