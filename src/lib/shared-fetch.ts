/** Requests that share a call in flight. */
import { setTimeout as pause } from 'node:timers/promises'

/** Most probes succeed within this time. */
const probeMs = 1_000

/**
 * The result of a call that another request has sent. If that may be a probe of a circuit breaker, which may hang, it is waited for no longer
 * than a second. @param requireClosed throws then.
 */
export async function shared<T>(call: Promise<T>, requireClosed: () => void): Promise<T> {
  try {
    requireClosed()
  } catch (refusal) {
    const late = pause(probeMs, undefined, { ref: false }).then(() => Promise.reject(refusal))
    return Promise.race([call, late])
  }
  return call
}
