/** All tests of this folder, in one process, but those that wait for Redis for most of their time, and load no gateway. */
import { runAll } from '../all.js'

await runAll(import.meta.dirname, 'redis')
