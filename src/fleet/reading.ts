/** The reading thread: large device lists become packed fleets here. Started by the program, never imported. */
import { parentPort } from 'node:worker_threads'
import { serveReading } from '../platform/thread-work.js'
import { packing } from './packing.js'

if (parentPort === null) throw new Error('this module is for a thread of its own')
serveReading(parentPort, (_action, now) => packing(Number(now)))
