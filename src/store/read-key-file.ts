/** A process that reads a key file and ends: with lmdb, a damaged file ends the process that reads it. */
import { openToRead } from './embedded.js'

// lmdb creates the lock file where there is none.
process.umask(0o077)
// What ends the process before this, such as a limit of threads or files, says nothing about the file.
process.send?.('reading')
try {
  const { root, tables } = openToRead(process.argv[2] ?? '')
  const entriesOf = (table: typeof root): number => (table.getStats() as { entryCount: number }).entryCount
  // Behind the end of a file that was cut within a page, lmdb reads zeros: tables without a name, and rows without a value.
  let isCut = tables.length < Math.min(3, entriesOf(root))
  for (const table of tables) {
    const rows = [...table.getRange()] as { key: Buffer; value: Buffer }[]
    // A copy that was made between two writes may be a mix of both states: rows that no lookup finds, or other ones.
    const isFound = ({ key, value }: (typeof rows)[number]): boolean =>
      value.length > 0 && (table.get(key) as Buffer | undefined)?.equals(value) === true
    isCut ||= rows.length !== entriesOf(table) || !rows.every(isFound)
  }
  if (isCut) throw new Error('Cut within a page, or between two writes')
} catch (error) {
  // Nor does an error of the system, whose code is a positive number.
  const { code } = error as { code?: unknown }
  if (!(Number(code) > 0)) throw error
}
