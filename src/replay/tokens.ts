/** Splits a text into the parts that may identify a person or vehicle, and those that cannot. */
import { half, hasPositions, pair } from './relocate.js'
import { harshDriving, nameLikeUnit, unit } from './vocabulary.js'

const word = '\\p{L}\\p{M}\\p{N}_'
const unitEnd = '(?![\\p{L}\\p{N}])'
const year = '(?:19|20)\\d\\d'
const dayOrMonth = '[0-3]?\\d'
const colon = '(?::|%3a)'
/** A pattern with a named group for each kind of token, in order of precedence. */
const tokens = (positions: string[]): RegExp =>
  new RegExp(
    [
      '(?<hash>\\$2[abxy]?\\$\\d\\d\\$[./A-Za-z0-9]{53})',
      '(?<url>https?:\\/\\/[^\\s"\'<>]+)',
      `(?<email>(?<![${word}.+%-])[${word}.+%-]+@[${word}-]+(?:\\.[${word}-]+)+)`,
      // UTF-8 of letters and digits outside ASCII.
      '(?<encoded>(?:%[89a-f][\\da-f])+)',
      ...positions,
      '(?<ip>(?<![\\d.])(?:\\d{1,3}\\.){3}\\d{1,3}(?![\\d.]))',
      // IPv6 and MAC addresses: a time has at most two colons, and never two in a row.
      `(?<groups>(?<![\\da-f])(?=(?:[\\da-f]|${colon}){0,35}${colon}${colon}|(?:[\\da-f]{0,4}${colon}){4})[\\da-f]{0,4}(?:${colon}[\\da-f]{0,4}){2,7}(?:\\.\\d{1,3}){0,3}(?![\\da-f:]))`,
      `(?<date>\\b\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?:Z|[+-]\\d\\d:?\\d\\d)?|\\b(?:\\d{4}[-./]\\d\\d[-./]\\d\\d|\\d\\d[-./]\\d\\d[-./]\\d{4}|${year}[-./]${dayOrMonth}[-./]${dayOrMonth}|${dayOrMonth}[-./]${dayOrMonth}[-./]${year})(?=\\D|$)|\\b\\d{1,2}:\\d\\d(?::\\d\\d)?(?!\\d)(?:\\s?[ap]\\.?m\\b\\.?|Z\\b)?)`,
      `(?<quantity>(?<![\\d.])-?\\d{1,8}(?:[.,]\\d+)?(?:\\s|%20)?(?:${unit}|(?<named>${nameLikeUnit}))${unitEnd})`,
      '(?<code>(?<![\\p{L}\\p{N}])(?=\\p{L}*\\p{N})(?=\\p{N}*\\p{L})[\\p{L}\\p{N}]{6,})',
      // Groups between dots or slashes are also those of a date, whose last one has four digits at most, and eight in all.
      '(?<phone>\\+?(?=(?:[./]?\\d){9})\\d{1,5}(?:[./]\\d{2,8}){2,}|\\+?\\d{2,5}\\/\\d{5,8}(?![\\d/])|\\+?\\d(?:[ ()_\\u00a0\\u2013-]{0,2}\\d){7,}(?:\\.\\d+)?|(?<![\\d.])\\d{3}[ -]\\d\\d[ -]?\\d\\d(?![\\d.]))',
      '(?<number>(?<!\\d)\\d+(?:\\.\\d+(?:e[+-]?\\d{1,3}(?![\\p{L}\\p{N}]))?)?)',
      `(?<harsh>(?<!\\p{L})(?:${harshDriving})(?!\\p{L}))`,
      '(?<word>(?:[\\p{L}\\p{M}]|(?!\\d)\\p{N})+)',
    ].join('|'),
    'giu',
  )
const token = tokens([])
// `S` is also south.
const tokenWithPositions = tokens([
  `(?<pair>${pair.source})`,
  `(?<half>${half.source}(?!\\s?(?![scf]${unitEnd})(?:${unit}|${nameLikeUnit})${unitEnd}))`,
])

const escaped = /&(?:amp;)?#(?:x([\da-f]{1,6})|(\d{1,7}));|\\u([\da-f]{4})/gi

/** A text without HTML entities and JSON escapes: `&#1040;`, `&amp;#x410;` and `\u0410` are one letter. */
export const withoutEscapes = (text: string): string =>
  text.replace(escaped, (found, hexadecimal, decimal, unit) => {
    const code = Number(decimal ?? `0x${hexadecimal ?? unit}`)
    return code > 0x10_ff_ff ? found : String.fromCodePoint(code)
  })

/** The pattern for the tokens of a text. */
export const tokensOf = (text: string): RegExp => (hasPositions(text) ? tokenWithPositions : token)

/** One or more numbers, each with its unit, such as `1,012.5 KPH` or `2 HRS 15 MIN`. */
export const measured = new RegExp(
  `^\\s*(?:-?\\d{1,8}(?:[.,]\\d{1,15}){0,3}\\s?(?:${unit}|${nameLikeUnit})(?![\\p{L}\\d])\\.?\\s*){1,4}$`,
  'iu',
)

/** Whether a quantity may be the end of a number plate: few are in a text that people did not write. */
export const isPlate = (quantity: string, isText: boolean): boolean =>
  isText
    ? /\d(?:\s|%20)?(?:[A-Z]{3,4}|NM|KN|HR)$|^\d{1,4}(?:\s|%20)?[A-Z]$/.test(quantity)
    : /^\d{3,4}(?:\s|%20)?[A-Z]{3}$/.test(quantity)

/**
 * Whether a word is the letters of a number plate, which may look like a word of the platform.
 * @param match the arguments of a `replace` callback after the match.
 */
export function endsPlate(found: string, match: unknown[]): boolean {
  const [offset, raw] = match.slice(-3) as [number, string]
  return /^[A-Z]{2,4}$/.test(found) && /(?<![\p{N}:.])\p{N}{1,4}(?: |-|%20)?$/u.test(raw.slice(0, offset))
}
