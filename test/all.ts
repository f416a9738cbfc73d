/** All tests of a folder in one process, one file after the other. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

/**
 * Runs the compiled tests below a folder. With a process for each file, two fifths of the processor time of the files with a gateway went into
 * loading and warming up the same modules.
 * @param alone how the names of files begin that tap runs in processes of their own.
 */
export async function runAll(folder: string, alone?: string): Promise<void> {
  // That of the configuration is for one test.
  t.setTimeout(600_000)
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.js'))
  const names = all.filter((name) => alone === undefined || !name.startsWith(alone))
  // The tests of a file come before the import of the next one, which is queued after them.
  for (const name of names.sort()) await t.test(name, async (t) => t.ok(await import(join(folder, name))))
}
