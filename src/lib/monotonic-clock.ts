/** A clock that never goes backwards, for TTLs. */

/** A smaller backward jump is a correction by NTP: the clock goes on from its last value. */
const maxCorrectionMs = 1_000
/** Longer than any TTL. */
const yearMs = 365 * 86_400_000

/**
 * Wraps a clock that may be set back. After a backward jump of more than 1 s every TTL expires, because the time that has really
 * passed is unknown.
 */
export function monotonicClock(clock: () => number): () => number {
  let last = clock()
  let offset = 0
  return () => {
    const now = clock()
    const back = last - now
    if (back > 0) offset += back > maxCorrectionMs ? back + yearMs : back
    last = now
    return now + offset
  }
}
