/** A process that reads a key file and ends: with lmdb, a damaged file ends the process that reads it. */
import { readKeyFile } from './embedded.js'

// lmdb creates the lock file where there is none.
process.umask(0o077)
readKeyFile(process.argv[2] ?? '')
