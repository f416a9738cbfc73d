/** A process that reads a key file and ends: with lmdb, a damaged file ends the process that reads it. */
import { readKeyFile } from './embedded.js'

// lmdb creates the lock file where there is none.
process.umask(0o077)
// What ends the process before this, such as a limit of threads or files, says nothing about the file.
process.send?.('reading')
try {
  readKeyFile(process.argv[2] ?? '')
} catch (error) {
  // Nor does an error of the system, whose code is a positive number.
  const { code } = error as { code?: unknown }
  if (!(Number(code) > 0)) throw error
}
