/** The last known setup of an account, which outlives its validations. */
import { setTimeout as pause } from 'node:timers/promises'
import { PlatformUnavailable } from './errors.js'
import type { WireSetup } from './wire.js'

/** Milliseconds that a request waits for the setup where a recent one is known. */
const maxWaitMs = 250
/** Later, zone or units may well have changed: a request waits rather than have wrong numbers. */
const recentForMs = 3_600_000

export class LastSetup {
  readonly #now: () => number
  #last: { setup: WireSetup; at: number } | undefined

  /** @param now monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * The setup that is on its way; the last one while it is late, and where it fails with PlatformUnavailable other than `wrong_shape`: without it,
   * values are null or in another unit. Waits for the first one as long as it takes.
   */
  async orLast(sent: Promise<WireSetup>): Promise<WireSetup> {
    const last = this.#last
    const arrived = sent.then((setup) => {
      this.#last = { setup, at: this.#now() }
      return setup
    })
    if (!last) return arrived
    const isRecent = this.#now() - last.at < recentForMs
    const late = isRecent ? [pause(maxWaitMs, last.setup, { ref: false })] : []
    return Promise.race([arrived, ...late]).catch((error: unknown) => {
      if (!(error instanceof PlatformUnavailable) || error.reason === 'wrong_shape') throw error
      return last.setup
    })
  }
}
