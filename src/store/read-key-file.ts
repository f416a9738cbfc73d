/** A process that reads a key file and ends: with lmdb, a damaged file ends the process that reads it. */
import { readKeyFile } from './embedded.js'

readKeyFile(process.argv[2] ?? '')
