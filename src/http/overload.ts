/** Load shedding: while the event loop is late, or requests wait long for their turn, they are rejected with 503. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ApiError, overloaded } from '../errors.js'
import type { Pace } from '../lib/pace.js'
import type { App } from './types.js'

const sampleMs = 1_000
const resolutionMs = 10
/** Mean event-loop delay of a sample, or the longest time that a request has waited for its turn. */
const maxDelayMs = 500
/** Late samples in a row. Fewer are pauses, such as the start of the process or a garbage collection. */
const minLateSamples = 3

/** The late samples in a row. @param delayMs NaN if the loop was blocked for the whole sample. @param waitMs longest wait for a turn. */
export const lateSamples = (before: number, delayMs: number, waitMs: number): number =>
  delayMs <= maxDelayMs && waitMs <= maxDelayMs ? 0 : before + 1

export const isOverload = (late: number): boolean => late >= minLateSamples

/**
 * Sheds requests of all routes that are registered later. Ours, because @fastify/under-pressure sheds after a single late sample, and ends
 * the process when file descriptors run out.
 */
export function shedOverload(app: App, pace: Pace, onShed: () => void): void {
  let [late, isLoopLate] = [0, false]
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  const timer = setInterval(() => {
    const delayMs = delays.mean / 1e6 - resolutionMs
    isLoopLate = !(delayMs <= maxDelayMs)
    late = lateSamples(late, delayMs, pace.takeLongestWaitMs())
    delays.reset()
  }, sampleMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    delays.disable()
  })
  app.addHook('onRequest', ({ raw: { waitedMs = 0 } }, _reply, next) => {
    // While requests wait for each other, those of other callers are in time.
    if (!isOverload(late) || (!isLoopLate && waitedMs <= maxDelayMs)) return next()
    onShed()
    next(new ApiError('gateway_error', { message: overloaded, retryAfterS: 2 }))
  })
}
