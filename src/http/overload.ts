/** Load shedding: while the event loop is late, requests are rejected with 503. */
import underPressure from '@fastify/under-pressure'
import { ApiError } from '../errors.js'
import type { App } from './types.js'

/** Sheds the requests of all routes that are registered below `app` afterwards. */
export async function shedOverload(app: App, onShed: () => void): Promise<void> {
  await app.register(underPressure, {
    /** Milliseconds, the mean of a sample. With shorter samples one pause fills a sample, and one pause is no overload. */
    maxEventLoopDelay: 1_000,
    sampleInterval: 1_000,
    pressureHandler: async () => {
      onShed()
      throw new ApiError('gateway_error', { message: 'The service is overloaded. Try again shortly.', retryAfterS: 2 })
    },
  })
}
