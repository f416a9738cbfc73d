/** A reading thread that dies of an answer where the main thread says so. */
import { parentPort } from 'node:worker_threads'
import { packing } from '../../src/devices/fleet-builder.js'
import { serveReading } from '../../src/platform/thread-work.js'

if (parentPort)
  serveReading(parentPort, (_action, context) => {
    if (context === 'die') throw new Error('a text of the platform')
    return packing(Number(context))
  })
