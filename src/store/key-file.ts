/** Creates and verifies the file of the embedded key store, with rights for its owner only. */
import { type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StoreUnavailable } from './store.js'

export const keyFileIn = (dataDir: string): string => join(dataDir, 'keys.mdb')
export const lockOf = (path: string): string => `${path}-lock`

/** The descriptors of a key file and its lock. */
export interface KeyFile {
  readonly path: string
  readonly file: number
  readonly lock: number
}

/** Ours, because the recursive `mkdirSync` of Node never returns below `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster.
    if (existsSync(path)) return
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    throw isLink ? new Error(`${path} is a link that leads nowhere`) : error
  }
}

/**
 * Creates the key file and its lock unless they exist: directory 0700, files 0600, where lmdb would make them readable for others. Throws
 * where they cannot be opened: lmdb ends the process without a lock.
 * @returns both, open. Neither is ever closed, because that would release the locks that this process has on it.
 */
export function createKeyFile(path: string): KeyFile {
  makeFolder(dirname(resolve(path)))
  const flags = constants.O_RDWR | constants.O_CREAT
  const [lock, file] = [lockOf(path), path].map((name) => openSync(name, flags, 0o600)) as [number, number]
  if ([lock, file].some((opened) => fstatSync(opened).size === 0)) requireRoom(dirname(path))
  return { path, file, lock }
}

/** Throws where new files find no room, tried with more than they need: lmdb, which maps them into memory, would end the process. */
function requireRoom(folder: string): void {
  const attempt = join(folder, `.room-${process.pid}`)
  try {
    writeFileSync(attempt, Buffer.alloc(64 * 1024), { mode: 0o600 })
  } finally {
    rmSync(attempt, { force: true })
  }
}

/** A transaction takes less than half of it. */
export const minFreeBytes = 256 * 1024

/** Whether fewer bytes are free. A file system without a maximum size reports no blocks, and is never full. */
export function isFull(path: string, bytes = minFreeBytes): boolean {
  const { blocks, bavail, bsize } = statfsSync(path)
  return blocks > 0 && bavail * bsize < bytes
}

/**
 * Throws when the key file or its lock is no longer the open one, or none: the next process to open them would not find what is written
 * here, or overwrite it. @returns the status of the key file.
 */
export function requireSame({ path, file, lock }: KeyFile): Stats {
  requireSameFile(lockOf(path), lock)
  return requireSameFile(path, file)
}

function requireSameFile(path: string, file: number): Stats {
  const [opened, current] = [fstatSync(file), statSync(path)]
  if (current.dev === opened.dev && current.ino === opened.ino) return opened
  throw new Error('It was replaced: restart the gateway')
}

/**
 * Extends the open key file to at least `bytes` behind its `used` ones, and writes one of them in any case. Throws where the disk is full,
 * fails or is read-only by now, and as `requireSame`. If lmdb itself cannot write, its error message overflows a buffer and ends the
 * process; zeros behind its last page do no harm. To be called within a transaction: all processes together have only one at a time.
 */
export function keepRoom(keyFile: KeyFile, used: number, bytes = minFreeBytes): void {
  const { path, file } = keyFile
  const { size } = requireSame(keyFile)
  if (isFull(path, bytes)) throw new Error('The disk is full')
  const end = used + bytes
  let at = Math.min(size, end - 1)
  while (at < end) at += writeSync(file, Buffer.alloc(end - at), 0, null, at)
}

/** The process that reads a key file may take this long; some limits of the system let it hang. */
const maxReadMs = 30_000

/**
 * Rejects where lmdb cannot read all of an existing file; takes a tenth of a second. Reads it in another process: closing one handle releases
 * the locks of all handles of a process, and the next process to open the file then breaks those locks.
 */
export async function verifyKeyFile(path: string): Promise<void> {
  if (!existsSync(path) || statSync(path).size === 0) return
  const lock = lockOf(path)
  // The process that reads it creates a missing lock.
  for (const one of [path, existsSync(lock) ? lock : dirname(path)]) accessSync(one, constants.R_OK | constants.W_OK)
  const options: ForkOptions = { execArgv: [], stdio: 'ignore', timeout: maxReadMs, killSignal: 'SIGKILL' }
  const child = fork(new URL('./read-key-file.js', import.meta.url), [path], options)
  let isReading = false
  child.once('message', () => {
    isReading = true
  })
  // Its message may come after its exit. Where it cannot start, or not read in time, the file is opened as it is.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  const [[code, signal]] = await ended.catch(() => [[0]])
  if (!isReading || code === 0 || signal === 'SIGKILL') return
  // On btrfs and ZFS, a full disk ends a process that reads.
  if (isFull(path)) throw new StoreUnavailable(`${path} cannot be read while its disk is full`)
  const advice = 'restore a backup of its folder, unless its file system has no locks or shared memory maps'
  throw new StoreUnavailable(`${path} is damaged, or not a key file; ${advice}`)
}
