/** The built program, for tests that start it as a process or a worker. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** A file of the program as it is deployed. */
export const program = (...path: string[]): string => join(import.meta.dirname, '../../dist', ...path)

/** Options of `fork` for a file of the program. */
export const withEnv = (env: Record<string, string>) => ({ env: { ...process.env, ...env }, silent: true })

/** Runs a script where it may mount; no other process sees its mounts. */
export const mounting = (script: string, ...args: string[]) =>
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script, ...args], { encoding: 'utf8' })

/** For tap's `skip`: a reason where a script may not mount. */
export const withoutMount = () => mounting('mount -t tmpfs tmpfs /mnt').status !== 0 && 'this process may not mount'
