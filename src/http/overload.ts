/** Load shedding: while the event loop is late, or requests wait long for their turn, they are rejected with 503. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ApiError, overloaded } from '../errors.js'
import type { Turns } from './turns.js'
import type { App } from './types.js'

const sampleMs = 1_000
const resolutionMs = 10
/** Mean event-loop delay of a sample, or the time that the first waiting request has waited. */
const maxDelayMs = 500
/** Late samples in a row. Fewer are pauses, such as the start of the process or a garbage collection. */
const minLateSamples = 3

/**
 * The late samples in a row, with one more sample.
 * @param delayMs mean event-loop delay; NaN if the loop was blocked for the whole sample. @param waitMs wait of the first request in line.
 */
export const lateSamples = (before: number, delayMs: number, waitMs: number): number =>
  delayMs <= maxDelayMs && waitMs <= maxDelayMs ? 0 : before + 1

export const isOverload = (late: number): boolean => late >= minLateSamples

/**
 * Sheds the requests of all routes that are registered on `app` afterwards. Ours, because @fastify/under-pressure sheds after a single late
 * sample, and ends the process when file descriptors run out: it reads the memory usage in a timer, which then throws.
 */
export function shedOverload(app: App, turns: Turns, onShed: () => void): void {
  let late = 0
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  const timer = setInterval(() => {
    late = lateSamples(late, delays.mean / 1e6 - resolutionMs, turns.waitMs)
    delays.reset()
  }, sampleMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    delays.disable()
  })
  app.addHook('onRequest', (_request, _reply, next) => {
    if (!isOverload(late)) return next()
    onShed()
    next(new ApiError('gateway_error', { message: overloaded, retryAfterS: 2 }))
  })
}
