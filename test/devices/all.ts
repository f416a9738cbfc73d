/** All tests of this folder, in one process. */
import { runAll } from '../all.js'

await runAll(import.meta.dirname)
