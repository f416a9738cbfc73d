/** What may be a word of the platform under a key that has such words. */

const term = /^[a-z0-9_#%./-]{0,24}$/
/** What looks like a term but is none: a phone, a position, an IP or MAC address, the name of a person. */
const noTerm =
  /\d{9}|\d\.\d{4}|(?!(?:\d\.){3}\d$)(?:\d{1,3}\.){3}\d|(?:[\da-f]{2}[-.]){5}|[a-z]{3}\.(?!svg|png|jpg|gif)[a-z]{3}/
/** Letters and at least three digits, such as a chassis number. */
const isSerial = (run: string): boolean => run.length >= 12 && /(?:\d[a-z]*){3}/.test(run)
const isTerm = (raw: string): boolean => term.test(raw) && !noTerm.test(raw) && !raw.split(/[^a-z\d]/).some(isSerial)
/** Keys of terms that the gateway reads in any letter case: letters only, for other terms may be number plates or base64. */
const anyCaseKey = /^(type|protocol|expiration_by|online)$/
const anyCase = /^([A-Z]+|[A-Z]?[a-z]+)([_-]([A-Z]+|[A-Z]?[a-z]+|InOut))*$/
const color = /^#?([\da-f]{3}|[\da-f]{6})$/i
/** A term in small letters, or in any case where the gateway does not distinguish. */
export function isTermOf(key: string, raw: string): boolean {
  if (key.endsWith('color') && color.test(raw)) return true
  const name = key === 'protocol' ? raw.replace(/\d{1,3}$/, '') : raw
  return isTerm(anyCaseKey.test(key) && anyCase.test(name) ? raw.toLowerCase() : raw)
}
