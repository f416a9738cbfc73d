/** The reading thread: large device lists become packed fleets here. Started by the program, never imported. */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { serveReading } from '../platform/thread-work.js'
import { packing } from './fleet-builder.js'

/** As of setpriority(2): it still gets a tenth of a core that the main thread could use up. */
const nice = 10

if (parentPort === null) throw new Error('this module is for a thread of its own')
// Where cores are few, answers from memory go before lists. Elsewhere than on Linux this would be the whole process.
if (process.platform === 'linux') setPriority(0, nice)
serveReading(parentPort, (_action, now) => packing(Number(now)))
