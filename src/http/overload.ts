/** Load shedding: while the event loop is late, or requests wait long for their turn, they are rejected with 503. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ApiError, overloaded } from '../errors.js'
import type { Turns } from './turns.js'
import type { App } from './types.js'

const sampleMs = 1_000
const resolutionMs = 10
/** Mean event-loop delay of a sample, or the longest time that a request waited in it. */
const maxDelayMs = 500

/**
 * Sheds the requests of all routes that are registered on `app` afterwards. One late sample is a pause, such as the start of the process
 * or a garbage collection. Ours, because @fastify/under-pressure sheds for one sample, and ends the process when file descriptors run
 * out: it reads the memory usage in a timer, which then throws.
 * @param now milliseconds since the start of the process.
 * @returns whether the last sample was late.
 */
export function shedOverload(app: App, turns: Turns, onShed: () => void, now = () => performance.now()): () => boolean {
  let isLate = false
  let lateSince: number | undefined
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  const timer = setInterval(() => {
    // If the loop was blocked for the whole sample, no delay was measured at all.
    const isLoopLate = !(delays.mean / 1e6 - resolutionMs <= maxDelayMs)
    // Taken in each sample: what is left over would make the next one late.
    isLate = turns.takeLongestWaitMs() > maxDelayMs || isLoopLate
    if (!isLate) lateSince = undefined
    delays.reset()
  }, sampleMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    delays.disable()
  })
  let checkedAt = Number.NEGATIVE_INFINITY
  app.addHook('onRequest', (_request, _reply, next) => {
    const at = now()
    // Without requests in between, two pauses are not one overload.
    if (at - checkedAt > 5 * sampleMs) lateSince = undefined
    if (isLate) lateSince ??= at
    checkedAt = at
    if (lateSince === undefined || at - lateSince < sampleMs) return next()
    onShed()
    next(new ApiError('gateway_error', { message: overloaded, retryAfterS: 2 }))
  })
  return () => isLate
}
