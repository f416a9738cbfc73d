/** Numbers, flags and texts as the platform spells them, in our units; knows no noun. */
import type { Scalar } from '../platform/shape.js'

const MILE_KM = 1.609344
const FOOT_M = 0.3048
const NAUTICAL_MILE_KM = 1.852

const kmPer: Record<string, number> = { mi: MILE_KM, mile: MILE_KM, miles: MILE_KM, nm: NAUTICAL_MILE_KM, m: 0.001 }
const kmhPer: Record<string, number> = { mph: MILE_KM, 'mi/h': MILE_KM, kn: NAUTICAL_MILE_KM, knots: NAUTICAL_MILE_KM }
const metresPer: Record<string, number> = { ft: FOOT_M, feet: FOOT_M, foot: FOOT_M }

const PLAIN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i
const GROUPED = /^[+-]?\d[\d.,]*$/
const THOUSANDS = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+$/
const QUANTITY = /^([+-]?(?:\d[\d\s.,'’]*|\.\d+))(.*)$/s

export function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  const result = Math.round(value * scale) / scale
  return Number.isFinite(result) ? result + 0 : value
}

/** `1,234.5`, `1.234,5`, `1,234` (thousands) and `12,5` (decimal) as a plain number text. */
function ungrouped(text: string): string {
  const comma = text.lastIndexOf(',')
  const dot = text.lastIndexOf('.')
  if (comma < 0) return text.indexOf('.') === dot ? text : text.replaceAll('.', '')
  if (dot > comma) return text.replaceAll(',', '')
  if (dot >= 0) return text.replaceAll('.', '').replace(',', '.')
  return THOUSANDS.test(text) ? text.replaceAll(',', '') : text.replace(',', '.')
}

/** Beyond any quantity of a fleet; sums and conversions of what is left stay finite. */
const ABSURD = 1e15

/** The number, and -0 as 0; undefined for absurd ones and NaN. */
const sane = (value: number): number | undefined => (Math.abs(value) < ABSURD ? value + 0 : undefined)

function parsed(text: string): number | undefined {
  if (PLAIN.test(text)) return sane(Number(text))
  return GROUPED.test(text) ? sane(Number(ungrouped(text))) : undefined
}

/** A number from a number or from text with any usual separators; a dash, `- km` or other words are absent. */
export function number(value: Scalar): number | undefined {
  if (typeof value === 'number') return sane(value)
  if (typeof value !== 'string' || /^\s*[+-]\s/.test(value)) return undefined
  return parsed(value.replace(/[\s'’]/g, ''))
}

/** A number with its unit in lower case (`"23.41 Km"` is 23.41 and `km`); the unit is `''` where none is written. */
export function quantity(value: Scalar): { amount: number; unit: string } | undefined {
  if (typeof value !== 'string') {
    const amount = number(value)
    return amount === undefined ? undefined : { amount, unit: '' }
  }
  const match = QUANTITY.exec(value.trim())
  const amount = number(match?.[1])
  return amount === undefined ? undefined : { amount, unit: (match?.[2] ?? '').trim().toLowerCase() }
}

const factor = (table: Record<string, number>, unit: string): number | undefined => {
  const word = unit.trim().toLowerCase()
  return Object.hasOwn(table, word) ? table[word] : undefined
}

function converted(table: Record<string, number>, amount: number, unit: Scalar, decimals: number): number {
  const by = typeof unit === 'string' ? factor(table, unit) : undefined
  return by === undefined ? amount : rounded(amount * by, decimals)
}

/** A speed in km/h; converted ones keep one decimal. Unknown units are taken as km/h. */
export const toKmh = (amount: number, unit: Scalar): number => converted(kmhPer, amount, unit, 1)

/** A distance in km; converted ones keep two decimals. Unknown units are taken as km. */
export const toKm = (amount: number, unit: Scalar): number => converted(kmPer, amount, unit, 2)

/** An altitude in metres; converted ones keep one decimal. Unknown units are taken as metres. */
export const toMetres = (amount: number, unit: Scalar): number => converted(metresPer, amount, unit, 1)

const FALSE_WORDS = new Set(['', '0', 'false', 'no', 'off', 'null'])

/** The truth of `1`, `"1"`, `true`, `"0"`, `"false"`, `""` …; a dash or nothing is absent. */
export function flag(value: Scalar): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  if (value === undefined || value.trim() === '-') return undefined
  return !FALSE_WORDS.has(value.trim().toLowerCase())
}

/** Trimmed text, or undefined where the platform writes nothing or a dash. Numbers become text, booleans do not. */
export function text(value: Scalar): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim()
  return trimmed === '' || trimmed === '-' ? undefined : trimmed
}

/** A positive safe integer from a number or a string of digits, without sign, space, fraction or exponent. */
export function id(value: Scalar): number | undefined {
  const parsedId = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value
  return typeof parsedId === 'number' && Number.isSafeInteger(parsedId) && parsedId > 0 ? parsedId : undefined
}

/** Degrees; unlike `number`, never reads `55,922` as thousands. */
function degrees(value: Scalar, most: number): number | undefined {
  const plain = typeof value === 'string' ? value.trim().replace(/^([+-]?\d+),(\d+)$/, '$1.$2') : value
  const result = typeof plain === 'string' ? (PLAIN.test(plain) ? Number(plain) : undefined) : number(plain)
  return result !== undefined && Math.abs(result) <= most ? result + 0 : undefined
}

/** A point on Earth in decimal degrees; both at 0 is how the platform says that there is none (platform.md 3.4). */
export function coordinates(lat: Scalar, lng: Scalar): { lat: number; lng: number } | undefined {
  const point = { lat: degrees(lat, 90), lng: degrees(lng, 180) }
  if (point.lat === undefined || point.lng === undefined) return undefined
  return point.lat === 0 && point.lng === 0 ? undefined : { lat: point.lat, lng: point.lng }
}
