/** Load shedding: while the event loop is late, requests are rejected with 503. */
import underPressure from '@fastify/under-pressure'
import { ApiError } from '../errors.js'
import type { App } from './types.js'

const sampleMs = 1_000
/** Mean event-loop delay of a sample. */
const maxDelayMs = 500

/**
 * Sheds the requests of all routes that are registered on `app` afterwards. One late sample is a pause, such as the start of the process
 * or a garbage collection; the library alone would shed for it.
 * @param now milliseconds since the start of the process.
 */
export async function shedOverload(app: App, onShed: () => void, now = () => performance.now()): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelayMs,
    sampleInterval: sampleMs,
    pressureHandler: () => {},
  })
  let lateSince: number | undefined
  let checkedAt = Number.NEGATIVE_INFINITY
  app.addHook('onRequest', (_request, _reply, next) => {
    const at = now()
    // Without requests in between, two pauses are not one overload.
    if (!app.isUnderPressure() || at - checkedAt > 5 * sampleMs) lateSince = undefined
    else lateSince ??= at
    checkedAt = at
    if (lateSince === undefined || at - lateSince < sampleMs) return next()
    onShed()
    next(new ApiError('gateway_error', { message: 'The service is overloaded. Try again shortly.', retryAfterS: 2 }))
  })
}
