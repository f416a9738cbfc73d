/** The check before anything is written: whether a scrubbed exchange still holds something secret, and where. */
import { withoutEscapes } from './tokens.js'

/** Whether the value of this key is a credential, whatever it looks like. */
export const isCredentialKey = (key: string): boolean =>
  /pass(word|wd)?$|passwd|token|api_?hash|secret|api_?key$|^(ott|otp|pin|cvv)$|gateway_params|authorization|cookie/i.test(
    key,
  )

const patterns: [string, RegExp][] = [
  ['a password hash', /\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}/],
  ['an API key', /gps_live_[\da-f]{48}/i],
  [
    'an e-mail address outside example.com',
    /[\p{L}\p{M}\p{N}_.+-]@(?!example\.com(?!\.?[\p{L}\p{M}\p{N}_-]))[\p{L}\p{M}\p{N}_-]+\.[\p{L}\p{M}\p{N}_-]/iu,
  ],
  // Scrubbed digits are ASCII.
  ['a digit of another script', /(?!\d)\p{Nd}/u],
  ['15 digits like a real IMEI', /(?<![\d.])(?!99)\d{15}(?!\d)/],
  [
    'a credential in a text',
    /\b(password|passwd|api_hash|token|secret)["']?\s*[=:]\s*["']?(?!scrubbed|null\b)[^\s"',&]{4,}/i,
  ],
]

/** The text itself and its percent-decoded, base64-decoded and unescaped readings, some levels deep. */
function readings(text: string, depth = 3): string[] {
  if (depth === 0) return [text]
  const plain = withoutEscapes(text)
  const inner = plain === text ? [] : [plain]
  if (/%[0-9a-f]{2}/i.test(text)) inner.push(text.replace(/(%[0-9a-f]{2})+/gi, unescaped))
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{12,}/g)) {
    for (const start of [0, 1, 2, 3]) {
      const decoded = Buffer.from(run.slice(start), 'base64').toString('latin1')
      if (/^[\s!-~]{8}/.test(decoded)) inner.push(decoded)
    }
  }
  return [text, ...inner.flatMap((one) => readings(one, depth - 1))]
}

const unescaped = (run: string): string => Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1')

/**
 * Every leak as `<JSON path>: <kind>`, never the value itself. Empty when the exchange may be written.
 * @param hashes credentials seen on the wire; those of six letters or more must not occur in any encoding or letter case.
 */
export function findLeaks(exchange: object, hashes: Iterable<string> = []): string[] {
  const spellings = [...hashes]
    .filter((hash) => hash.length >= 6)
    .flatMap((hash) => [hash.toLowerCase(), Buffer.from(hash).toString('hex')])
  const found: string[] = []
  /** Adds the leaks of a text. @returns whether it has none and may be shown. */
  const inspect = (path: string, text: string): boolean => {
    const before = found.length
    const all = readings(text)
    if (all.some((reading) => spellings.some((hash) => reading.toLowerCase().includes(hash))))
      found.push(`${path}: the live credential`)
    for (const [what, pattern] of patterns) if (all.some((one) => pattern.test(one))) found.push(`${path}: ${what}`)
    return found.length === before
  }
  const walk = (path: string, key: string, value: unknown): void => {
    if (isCredentialKey(key) && !isBlank(value)) found.push(`${path}: a credential by its name`)
    if (typeof value === 'string' || typeof value === 'number') inspect(path, String(value))
    if (typeof value !== 'object' || value === null) return
    for (const [name, item] of Object.entries(value)) {
      const shownName = inspect(`${path} (a key)`, name) ? name : '…'
      if (Array.isArray(value)) walk(`${path}[${name}]`, key, item)
      else walk(`${path}.${shownName}`, name, item)
    }
  }
  walk('$', '', exchange)
  return found
}

/** A text of a file in the message of an error, unless it is secret. @param source what the text is of. */
export const shown = (text: string, source: object = { text }): string =>
  findLeaks(source).length > 0 ? 'a credential or personal data' : text

/** Whether a value cannot be a credential: it is empty, was replaced, or is a flag such as `can_change_password`. */
const isBlank = (value: unknown): boolean =>
  [null, '', 'scrubbed', true, false].some((blank) => blank === value) || (Array.isArray(value) && value.length === 0)
