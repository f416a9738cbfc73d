/** Bounds the different names of members in a JSON document: `JSON.parse` takes up to 4 µs for each new one. */
import { randomInt } from 'node:crypto'

const quote = 0x22
const colon = 0x3a
const space = 0x20
/** A platform has some hundred, and lists with numbers as names have one for each row. */
const maxNames = 100_000
/** Random, so that no document can choose names whose hashes are equal. */
const factor = 2 * randomInt(2 ** 30) + 1
const hashBits = 18

/** Whether a document has too many different names, those of JSON in its texts included. It may have some more than the maximum: equal hashes count once. */
export function hasTooManyNames(document: Uint8Array): boolean {
  if (document.length < 4 * maxNames) return false
  const seen = new Uint8Array(1 << hashBits)
  let [names, hash, text, isEnd] = [0, 0, 0, false]
  for (let at = 0; at < document.length; at++) {
    const byte = document[at] as number
    if (byte === quote) {
      text = hash >>> (32 - hashBits)
      hash = 0
      isEnd = true
    } else if (byte === colon && isEnd) {
      names += 1 - (seen[text] as number)
      if (names > maxNames) return true
      seen[text] = 1
    } else {
      hash = Math.imul(hash ^ byte, factor)
      hash ^= hash >>> 16
      if (byte > space) isEnd = false
    }
  }
  return false
}
