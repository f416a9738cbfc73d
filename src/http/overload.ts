/** Load shedding: while the event loop is late, requests are rejected with 503. */
import underPressure from '@fastify/under-pressure'
import { ApiError } from '../errors.js'
import type { App } from './types.js'

/** Sheds the requests of all routes that are registered below `app` afterwards. */
export async function shedOverload(app: App, onShed: () => void): Promise<void> {
  await app.register(underPressure, {
    /** Milliseconds on average during a sample: a single pause is none, unless it fills the sample. */
    maxEventLoopDelay: 1_000,
    sampleInterval: 250,
    pressureHandler: async () => {
      onShed()
      throw new ApiError('gateway_error', { message: 'The service is overloaded. Try again shortly.', retryAfterS: 2 })
    },
  })
}
