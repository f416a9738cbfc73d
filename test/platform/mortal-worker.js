/** A worker whose handlers fail or end the worker, as their parameters say. */
import { parentPort } from 'node:worker_threads'
import { serveJobs } from '../../src/platform/worker-server.js'

const handlers = {
  throw: () => {
    throw new TypeError('a text of the platform')
  },
  exit: () => process.exit(7),
  hang: () => new Promise(() => {}),
  hold: (reservation) => {
    reservation.grow(5_000)
    return handlers.hang()
  },
}

if (parentPort) {
  serveJobs(parentPort, {
    get_devices: async () => {
      throw new Error('not used')
    },
    get_history: async ({ params: { from, to } }, { reservation }) => {
      if (from === 'json') return { result: { json: Buffer.from(to), skippedRows: 0 }, transfer: [] }
      return handlers[from]?.(reservation)
    },
  })
}
