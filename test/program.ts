/** The compiled program, for tests that start it as a process or a worker. */
import { join } from 'node:path'

/** A file of the program, compiled as the tests are. */
export const program = (...path: string[]): string => join(import.meta.dirname, '../src', ...path)

/** Options of `fork` for a file of the program. */
export const withEnv = (env: Record<string, string>) => ({ env: { ...process.env, ...env }, silent: true })
