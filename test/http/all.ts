/** All tests of this folder, in one process, but those that run alone. */
import { runAll } from '../all.js'

await runAll(import.meta.dirname)
