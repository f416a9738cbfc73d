/** A process that reads a key file and ends: with lmdb, a damaged file ends the process that reads it. */
import { type Database, open } from 'lmdb'

/** Reads all of a key file. @throws, or ends the process, when it is damaged. */
function readKeyFile(path: string): void {
  const root = open({ path, readOnly: true, maxDbs: 4 })
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const
  // Some are missing if the process that created the file ended before it had created them.
  const opened = ['records', 'ids', 'owners'].map((name) => root.openDB({ name, ...binary }) as Database | undefined)
  const tables = opened.filter((table) => table !== undefined)
  // Behind the end of a file that was cut within a page, lmdb reads zeros: tables without a name, and rows without a value.
  let isCut = tables.length < Math.min(opened.length, (root.getStats() as { entryCount: number }).entryCount)
  for (const table of tables) {
    const lengths = [...table.getRange()].map(({ value }) => (value as Buffer).length)
    // A copy that was made between two writes may be a mix of both states.
    const { entryCount } = table.getStats() as { entryCount: number }
    isCut ||= lengths.includes(0) || lengths.length !== entryCount
  }
  if (isCut) throw new Error('Cut within a page, or between two writes')
}

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
