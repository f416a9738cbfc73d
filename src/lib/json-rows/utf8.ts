/** Decodes UTF-8. */
import { isAscii } from 'node:buffer'

/** Equals `TextDecoder`, but for the byte order mark, which stays; ASCII takes a tenth of the time. */
export function decoded(bytes: Buffer, from: number, to: number): string {
  const part = bytes.subarray(from, to)
  return part.toString(isAscii(part) ? 'latin1' : 'utf8')
}
