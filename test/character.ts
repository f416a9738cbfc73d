/** Characters for properties. */
import fc from 'fast-check'

/** Any character but half of a surrogate pair: fast-check's `binary`, without its table, which takes a second of every process. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))
