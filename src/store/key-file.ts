/** Creates the file of the embedded key store, with rights for its owner only. */
import { closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Where an lmdb file holds its magic number. */
const MAGIC = { at: 24, is: 0xbeefc0de }

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

/**
 * Creates the key file and its lock unless they exist: directory 0700, files 0600, where lmdb would make them readable for others.
 * @throws when it is not an lmdb file: lmdb would end the whole process.
 */
export function createKeyFile(path: string): void {
  makeFolder(dirname(resolve(path)))
  closeSync(openSync(`${path}-lock`, 'a', 0o600))
  const file = openSync(path, 'a+', 0o600)
  try {
    const header = Buffer.alloc(MAGIC.at + 4)
    const length = readSync(file, header, 0, header.length, 0)
    if (length > 0 && header.readUInt32LE(MAGIC.at) !== MAGIC.is) throw new Error(`${path} is not a key file`)
  } finally {
    closeSync(file)
  }
}
