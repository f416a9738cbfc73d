/** Whether a file may become, or is, a key file. Opens none as such. */
import { closeSync, openSync, readSync } from 'node:fs'

/** Where an lmdb file of this version of lmdb tells that it is one. */
const MAGIC = { at: 24, is: 0xbeefc0de }

/** Makes the file, or refuses one that is none of lmdb's: lmdb would end the whole process on it. */
export function claim(path: string): void {
  const file = openSync(path, 'a+', 0o600)
  try {
    const header = Buffer.alloc(MAGIC.at + 4)
    const read = readSync(file, header, 0, header.length, 0)
    if (read > 0 && header.readUInt32LE(MAGIC.at) !== MAGIC.is) throw new Error(`${path} is not a key file`)
  } finally {
    closeSync(file)
  }
}
