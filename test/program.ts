/** The compiled program, for tests that start it as a process or a worker. */
import { join } from 'node:path'

/** A file of the program, compiled as the tests are. */
export const program = (...path: string[]): string => join(import.meta.dirname, '../src', ...path)

/** Options of `fork` for a file of the program: nothing of the loaders that tests themselves run with. */
export function plainly(env: Record<string, string>) {
  return { env: { ...process.env, NODE_OPTIONS: '', ...env }, execArgv: [], silent: true }
}
