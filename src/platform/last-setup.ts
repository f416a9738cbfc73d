/** The last known setup of an account, which outlives its validations. */
import { setTimeout as pause } from 'node:timers/promises'
import { PlatformUnavailable } from './errors.js'
import type { WireSetup } from './wire.js'

/** Milliseconds that a request waits for the setup where a recent one is known. */
const maxWaitMs = 250
/** Later, zone or units may well have changed: a request waits rather than have wrong numbers. */
const recentForMs = 3_600_000

/** @param now monotonic milliseconds. */
export function lastSetup(now: () => number) {
  let last: { setup: WireSetup; at: number } | undefined
  /**
   * The pending setup; the last one if it is late, or fails with PlatformUnavailable other than `wrong_shape`: without a setup, values are null
   * or in another unit. Waits for the first one as long as it takes.
   */
  return async (sent: Promise<WireSetup>): Promise<WireSetup> => {
    const known = last
    const arrived = sent.then((setup) => {
      last = { setup, at: now() }
      return setup
    })
    if (!known) return arrived
    const isRecent = now() - known.at < recentForMs
    const late = isRecent ? [pause(maxWaitMs, known.setup, { ref: false })] : []
    return Promise.race([arrived, ...late]).catch((error: unknown) => {
      if (!(error instanceof PlatformUnavailable) || error.reason === 'wrong_shape') throw error
      return known.setup
    })
  }
}
