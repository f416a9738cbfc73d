/** Positions in a record or a text, turned by the rotation of a recording. */
import type { Position, Rotation } from './rotation.js'

const latKey = /(^|_)(lat|latitude|lastvalidlatitude)(_?\d+)?$/i
const lngKey = /(^|_)(lng|lon|long|longitude|lastvalidlongitude)(_?\d+)?$/i
/** Parts of a name: `vehicleHeading`, `GPS course` and `heading_deg` have two. */
const namePart = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g
const coursePart = /(course|heading|azimuth|bearing)$|^(cog|hdg|compass)$/
/** What may also be that of a wheel or an order, and the parts beside which it is the vehicle's. */
const anglePart = /^(angle|direction)$/
const vehiclePart = /^(gps|last|start|end|of|travel|movement|driving|vehicle|deg|degrees)$/
const number = /^\s*-?\d+([.,]\d+)?\s*$/

/**
 * A coordinate pair in a text with positions. Platforms drop trailing zeros, so a coordinate may have few decimals: none at all in
 * `41/2.17;41.38/2.17`, where `;` separates two pairs, and at least one elsewhere.
 */
export const pair =
  /(?<=^|;)-?\d{1,3}(?:\.\d+)?\/-?\d{1,3}(?:\.\d+)?(?=;|$)|(?<![\w./-])-?\d{1,3}\.\d+(?:\s*[,/|]\s*|\s+)-?\d{1,3}\.\d+(?!\d|[./]\d)/
/** Half a pair, perhaps with zeros in front of it. A decimal comma with fewer digits may be that of thousands. */
export const half = /(?<![\d.])-?(?:1[0-8]\d|0?\d\d?)(?:\.\d+|,\d{5,})(?!\d|\.\d)/

/** A number with the decimals of a position: four (ten metres), or five after a comma. Few others have them; seconds do not count. */
const fine = /(?<!\d\d:|[\d.])-?(?:1[0-8]\d|0?\d\d?)(?:\.\d{4}|,\d{5})/
const decimalPairs = /^\s*-?\d{1,3}\.\d+[\s,/|]+-?\d{1,3}\.\d+(\s*[;|]\s*-?\d{1,3}\.\d+[\s,/|]+-?\d{1,3}\.\d+)*[;\s]*$/
const latestPositions = /^-?\d{1,3}(\.\d+)?\/-?\d{1,3}(\.\d+)?(;-?\d{1,3}(\.\d+)?\/-?\d{1,3}(\.\d+)?)+;?$/
const wellKnownText = /^\s*(srid=\d+;)?(multi)?(point|linestring|polygon|circle)[ zm]*\(/i
const named = /\b(lat|lng|lon|latitude|longitude)\b/i

/** Whether a text has positions, so that no decimal number in it may stay. */
export const hasPositions = (text: string): boolean =>
  [fine, decimalPairs, latestPositions, wellKnownText, named].some((pattern) => pattern.test(text))
/** Whether a number may be half a position. */
export const isFine = (value: unknown): boolean => typeof value === 'number' && fine.test(`${value}`)

export const isCoordinateKey = (key: string): boolean => latKey.test(key) || lngKey.test(key)
function isCourseKey(key: string): boolean {
  const parts = (key.match(namePart) ?? []).map((part) => part.toLowerCase())
  if (parts.some((part) => coursePart.test(part))) return true
  return parts.some((part) => anglePart.test(part)) && parts.every((p) => anglePart.test(p) || vehiclePart.test(p))
}
/** Whether what has this name would reveal the rotation beside a relocated position. */
export const isRotatedKey = (key: string): boolean => isCoordinateKey(key) || isCourseKey(key)

/** Whether a sensor shows a course or a coordinate: its id, type or name says what it shows. */
export const isRotatedSensor = ({ id, type, name }: Record<string, unknown>): boolean =>
  [id, type, name].some((word) => typeof word === 'string' && isRotatedKey(word))

/** The ids of such sensors. A history names its sensors once; its points refer to them by id. */
export function* rotatedSensors(raw: unknown): Generator<string> {
  if (typeof raw !== 'object' || raw === null) return
  if ('id' in raw && isRotatedSensor(raw)) yield `${raw.id}`
  for (const one of Object.values(raw)) yield* rotatedSensors(one)
}

/** `''` for `lat` and `lng`, `itude` for `latitude` and `longitude`, so that both keys of a position agree. */
const styleOf = (key: string): string => key.toLowerCase().replace(/(lat|lng|long?)(?=(itude)?(_?\d+)?$)/, '')

/**
 * The coordinates and courses of a record after the rotation, by key. Only those: other keys are absent. 0/0 means no fix and stays;
 * what is no place on the map becomes one of two constants. A coordinate without its partner, and a course without a position, become 0.
 */
export function relocate(rotation: Rotation, record: Record<string, unknown>): Record<string, string | number> {
  const names = Object.keys(record).filter((name) => isNumeric(record[name]))
  // Without a prototype: a record may have a member named `constructor`.
  const moved: Record<string, string | number> = Object.create(null)
  let turn: number | undefined
  // The shortest name first: the course is that of `lat`, not of `start_lat`.
  for (const latName of names.filter((name) => latKey.test(name)).sort((a, b) => a.length - b.length)) {
    const lngName = names.find((name) => lngKey.test(name) && styleOf(name) === styleOf(latName))
    if (lngName === undefined) continue
    const position = { lat: toNumber(record[latName]), lng: toNumber(record[lngName]) }
    const there: Position & { turn?: number } = constantFor(position) ?? rotation(position)
    turn ??= there.turn
    moved[latName] = like(record[latName], there.lat, 6)
    moved[lngName] = like(record[lngName], there.lng, 6)
  }
  for (const name of names.filter((name) => isCoordinateKey(name) && moved[name] === undefined))
    moved[name] = like(record[name], 0, 0)
  for (const name of names.filter(isCourseKey))
    moved[name] = like(record[name], turn === undefined ? 0 : (toNumber(record[name]) + turn + 720) % 360, 0)
  return moved
}

/** A pair such as `41.387917, 2.169919` or `41.387917/2.169919` in a text. */
export function relocatePair(rotation: Rotation, pair: string): string {
  const [lat = '', lng = ''] = pair.split(/[\s,/|]+/)
  const moved = relocate(rotation, { lat, lng })
  return `${moved.lat}${pair.slice(lat.length, -lng.length)}${moved.lng}`
}

/** A GeoJSON position: longitude, latitude, perhaps altitude. */
export const isPosition = (key: string, raw: unknown[]): raw is number[] =>
  key === 'coordinates' && (raw.length === 2 || raw.length === 3) && raw.every((part) => typeof part === 'number')

export function relocateArray(rotation: Rotation, [lng, lat, ...rest]: readonly number[]): number[] {
  const moved = relocate(rotation, { lat, lng })
  return [Number(moved.lng), Number(moved.lat), ...rest]
}

/**
 * What is written for a position that trackers send without a fix, such as 91/181: everybody knows it, so it would reveal the rotation. It may
 * also be degrees and minutes, such as 4123.27. A geofence across the date line has longitudes up to 360.
 */
function constantFor({ lat, lng }: Position): Position | undefined {
  if (lat === 0 && lng === 0) return { lat, lng }
  if (Math.abs(lat) > 90 || Math.abs(lng) > 360) return { lat: 91, lng: 181 }
  // The gateway shows a pole as a position.
  return Math.abs(lat) === 90 ? { lat, lng: 0 } : undefined
}
const isNumeric = (value: unknown): boolean =>
  Number.isFinite(value) || (typeof value === 'string' && number.test(value))

/** A number, also as a text with a point or a comma. */
export const toNumber = (value: unknown): number => Number(String(value).replace(',', '.'))

/** A value of the type, the separator and at least the decimals of the original. */
function like(original: unknown, value: number, minDecimals: number): string | number {
  const [, separator = '.', { length } = ''] = /([.,])(\d*)/.exec(String(original)) ?? []
  const text =
    value === 0 && toNumber(original) === 0
      ? String(original)
      : value.toFixed(Math.min(15, Math.max(minDecimals, length))).replace('.', separator)
  return typeof original === 'number' ? Number(text) : text
}
