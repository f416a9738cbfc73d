/** Texts cut to a length. */
import { copied } from './copied.js'

/** The first characters of a text, without half of a surrogate pair at their end, which some JSON parsers refuse. */
export const truncated = (text: string, maxLength: number): string =>
  copied(text.slice(0, maxLength).replace(/\p{Cs}$/u, ''))
