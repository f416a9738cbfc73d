/** Creates and verifies the file of the embedded key store, with rights for its owner only. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export const keyFileIn = (dataDir: string): string => join(dataDir, 'keys.mdb')
export const lockOf = (path: string): string => `${path}-lock`

/** Ours, because the recursive `mkdirSync` of Node never returns below `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(path)) throw error
  }
}

/** Creates the key file and its lock unless they exist: directory 0700, files 0600, where lmdb would make them readable for others. */
export function createKeyFile(path: string): void {
  makeFolder(dirname(resolve(path)))
  for (const file of [lockOf(path), path]) closeSync(openSync(file, 'a+', 0o600))
}

/** Takes a tenth of a second. @throws unless lmdb can read all of the file. */
export async function verifyKeyFile(path: string): Promise<void> {
  if (statSync(path).size === 0) return
  const child = fork(new URL('./read-key-file.js', import.meta.url), [path], { execArgv: [], stdio: 'ignore' })
  // Without memory for another process, the file is opened as it is.
  const [code] = await once(child, 'exit').catch(() => [0])
  if (code !== 0) throw new Error(`${path} is damaged, or not a key file; restore a backup of its folder`)
}
