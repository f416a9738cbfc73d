/** Entry point of the worker that sends device list and history requests and reads their responses; never imported. */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { serveJobs } from '../platform/worker-server.js'
import { readDeviceList } from './device-list.js'
import { readHistory } from './history-document.js'

/** As in setpriority(2): with few cores, responses from memory go before lists. The worker still gets a tenth of a busy core. */
const nice = 10

if (parentPort === null) throw new Error('this module runs in a worker')
// On other systems than Linux the priority would hold for the whole process.
if (process.platform === 'linux') setPriority(0, nice)
serveJobs(parentPort, { get_devices: readDeviceList, get_history: readHistory })
