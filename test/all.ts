/** All tests of a folder in one process, one file after the other. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'

/**
 * How the names of files begin that tap runs in processes of their own: those that measure the heap or the processor time of their process,
 * to which the garbage of other files would add, and those of Redis, which load no gateway, and wait for most of their time.
 */
export const alone = ['http/memory', 'platform/fairness', 'platform/faults', 'store/redis']

/**
 * Runs the compiled tests below a folder. With a process for each file, two fifths of the processor time of the files with a gateway went into
 * loading and warming up the same modules.
 */
export async function runAll(folder: string): Promise<void> {
  // That of the configuration is for one test.
  t.setTimeout(600_000)
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.js'))
  const names = all.filter((name) => !alone.some((start) => join(basename(folder), name).startsWith(start)))
  // The tests of a file come before the import of the next one, which is queued after them.
  for (const name of names.sort()) await t.test(name, async (t) => t.ok(await import(join(folder, name))))
}
