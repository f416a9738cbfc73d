/** Numbers, flags, texts, ids and coordinates as the platform writes them, in our types and units (platform.md 2). */
import type { Scalar } from '../platform/shape.js'

const mileKm = 1.609344
const footM = 0.3048
const nauticalMileKm = 1.852

type Factors = Readonly<Record<string, number>>

const each = (words: string, factor: number): Factors =>
  Object.fromEntries(words.split(' ').map((word) => [word, factor]))

/** For distances and speeds: if only one of the two has a unit, the other is in the same kind of miles. */
const kmPerMiles: Factors = {
  ...each('mi mile miles mph mi/h', mileKm),
  ...each('nm kn kt kts knot knots', nauticalMileKm),
}
const kmPer: Factors = { ...kmPerMiles, ...each('m mt meter meters metre metres', 0.001) }
const metresPer = each('ft feet foot', footM)

const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i
const grouped = /^[+-]?\d[\d.,]*$/
const thousands = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+$/
const dottedThousands = /^[+-]?[1-9]\d{0,2}(?:\.\d{3})+$/
/** PHP writes small numbers with an exponent. */
const quantityPattern = /^([+-]?(?:\d[\d\s.,'\u2019]*|\.\d+)(?:(?<=[\d.])e[+-]?\d{1,3}(?![\da-z]))?)(.*)$/is

/** The value rounded to a number of decimals; -0 becomes 0. */
export function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  const result = Math.round(value * scale) / scale
  return Number.isFinite(result) ? result + 0 : value
}

/** `1,234.5`, `1.234,5`, `1,234` (thousands) and `12,5` (decimal) with a point as the only separator; a date such as `14.03.2026` as it is. */
function ungrouped(text: string): string {
  const comma = text.lastIndexOf(',')
  const dot = text.lastIndexOf('.')
  if (comma < 0) return text.indexOf('.') < dot && dottedThousands.test(text) ? text.replaceAll('.', '') : text
  if (dot > comma) return text.replaceAll(',', '')
  if (dot >= 0) return text.replaceAll('.', '').replace(',', '.')
  return thousands.test(text) ? text.replaceAll(',', '') : text.replace(',', '.')
}

/** Larger than any quantity of a fleet; sums and conversions of smaller values stay finite. */
const maxValue = 1e15

/** The number, with -0 as 0; undefined for NaN and values that are too large. */
const finite = (value: number): number | undefined => (Math.abs(value) < maxValue ? value + 0 : undefined)

function parsed(text: string): number | undefined {
  if (plainNumber.test(text)) return finite(Number(text))
  return grouped.test(text) ? finite(Number(ungrouped(text))) : undefined
}

/** Longer than any number with its unit: more of a text is not read. */
const maxLength = 400

/** A number, or the number in a text with any usual separators; undefined for a dash, `- km` and other words. */
export function number(value: Scalar): number | undefined {
  if (typeof value === 'number') return finite(value)
  if (typeof value !== 'string' || value.length > maxLength || /^\s*[+-]\s/.test(value)) return undefined
  return parsed(value.replace(/[\s'\u2019]/g, ''))
}

/** A number with its unit in lower case (`"23.41 Km"` is 23.41 and `km`); the unit is `''` if there is none. */
export function quantity(value: Scalar): { amount: number; unit: string } | undefined {
  if (typeof value !== 'string') {
    const amount = number(value)
    return amount === undefined ? undefined : { amount, unit: '' }
  }
  const match = quantityPattern.exec(value.trim().slice(0, maxLength))
  const amount = number(match?.[1])
  return amount === undefined ? undefined : { amount, unit: (match?.[2] ?? '').trim().toLowerCase() }
}

/** @param unit of a value that does not state its own. */
function converted(factors: Factors, value: Scalar, unit: Scalar, decimals: number): number | undefined {
  const found = quantity(value)
  if (!found) return undefined
  const name = found.unit || (typeof unit === 'string' ? unit.trim().toLowerCase() : '')
  const factor = Object.hasOwn(factors, name) ? factors[name] : undefined
  return factor === undefined ? found.amount : rounded(found.amount * factor, decimals)
}

/** A speed in km/h, not negative, rounded to one decimal if converted. An unknown unit counts as km/h, `mi` as `mph`. */
export function toKmh(value: Scalar, unit: Scalar): number | undefined {
  const speed = converted(kmPerMiles, value, unit, 1)
  return speed && Math.max(0, speed)
}

/** A course in degrees, from 0 up to 360, rounded to two decimals. */
export const toDegrees = (course: number): number => rounded(((course % 360) + 360) % 360, 2) % 360

/** A distance in km, rounded to two decimals if converted. An unknown unit counts as km, `mph` as `mi`. */
export const toKm = (value: Scalar, unit: Scalar): number | undefined => converted(kmPer, value, unit, 2)

/** An altitude in metres, rounded to one decimal if converted. An unknown unit counts as metres. */
export const toMetres = (value: Scalar, unit: Scalar): number | undefined => converted(metresPer, value, unit, 1)

const falseWords = new Set(['', '0', 'false', 'no', 'off', 'null'])

/** The boolean of `1`, `"1"`, `true`, `"0"`, `"false"`, `""` …; undefined for a dash or no value. */
export function flag(value: Scalar): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  if (value === undefined || value.trim() === '-') return undefined
  return !falseWords.has(value.trim().toLowerCase())
}

/**
 * The trimmed text of a string or number, without half of a surrogate pair, which some JSON parsers refuse; undefined for an empty text, a
 * dash, a boolean, and an integer that lost its last digits, such as that of a SIM card.
 */
export function text(value: Scalar): string | undefined {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER ? undefined : String(value)
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim().toWellFormed()
  return trimmed === '' || trimmed === '-' ? undefined : trimmed
}

/** Longer texts are no words; their letters would be compared again and again. */
const maxWordLength = 100

/** A word of the platform in lower case; a longer text is cut. Undefined as for `text`. */
export const word = (value: Scalar): string | undefined =>
  text(typeof value === 'string' ? value.trimStart().slice(0, maxWordLength) : value)?.toLowerCase()

/** A positive safe integer from a number or a string of digits without sign, space, fraction or exponent. */
export function id(value: Scalar): number | undefined {
  const parsedId = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value
  return typeof parsedId === 'number' && Number.isSafeInteger(parsedId) && parsedId > 0 ? parsedId : undefined
}

/** Decimal degrees up to `max`, of either sign. A comma is always a decimal separator here; `number` would take `55,922` for thousands. */
export function degrees(value: Scalar, max: number): number | undefined {
  const plain = typeof value === 'string' ? value.trim().replace(/^([+-]?\d+),(\d+)$/, '$1.$2') : value
  const result = typeof plain === 'string' ? (plainNumber.test(plain) ? Number(plain) : undefined) : number(plain)
  return result !== undefined && Math.abs(result) <= max ? result + 0 : undefined
}

/** A WGS84 position in decimal degrees; undefined outside the ranges and for 0/0, the platform's "no position" (platform.md 3.4). */
export function coordinates(lat: Scalar, lng: Scalar): { lat: number; lng: number } | undefined {
  const point = { lat: degrees(lat, 90), lng: degrees(lng, 180) }
  if (point.lat === undefined || point.lng === undefined) return undefined
  return point.lat === 0 && point.lng === 0 ? undefined : { lat: point.lat, lng: point.lng }
}
