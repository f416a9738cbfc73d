/** Positions in a record, turned by the rotation of a recording. */
import type { Position, Rotation } from './rotation.js'

const latKey = /^(lat|latitude|lastvalidlatitude)$/i
const lngKey = /^(lng|lon|long|longitude|lastvalidlongitude)$/i
const courseKey = /^(course|angle)$/i
const number = /^\s*-?\d+(\.\d+)?\s*$/

export const isCoordinateKey = (key: string): boolean => latKey.test(key) || lngKey.test(key)

/** `''` for `lat` and `lng`, `itude` for `latitude` and `longitude`, so that both keys of a position agree. */
const styleOf = (key: string): string => key.toLowerCase().replace(/lat|long?(?=itude)|lng|long?$/, '')

/**
 * The coordinates and courses of a record after the rotation, by key. Only those: other keys are absent. 0/0 means no fix and stays;
 * a coordinate without its partner, and a course without a position, become 0.
 */
export function relocate(rotation: Rotation, record: Record<string, unknown>): Record<string, string | number> {
  const names = Object.keys(record).filter((name) => isNumeric(record[name]))
  const moved: Record<string, string | number> = {}
  let turn: number | undefined
  for (const latName of names.filter((name) => latKey.test(name))) {
    const lngName = names.find((name) => lngKey.test(name) && styleOf(name) === styleOf(latName))
    if (lngName === undefined) continue
    const position = { lat: Number(record[latName]), lng: Number(record[lngName]) }
    const { lat, lng } = isNowhere(position) ? position : rotation.position(position)
    if (!isNowhere(position)) turn ??= rotation.turnAt(position)
    moved[latName] = like(record[latName], lat, 6)
    moved[lngName] = like(record[lngName], lng, 6)
  }
  for (const name of names.filter((name) => isCoordinateKey(name) && moved[name] === undefined))
    moved[name] = like(record[name], 0, 0)
  for (const name of names.filter((name) => courseKey.test(name)))
    moved[name] = like(record[name], turn === undefined ? 0 : (Number(record[name]) + turn + 720) % 360, 0)
  return moved
}

/** A pair such as `41.387917, 2.169919` or `41.387917/2.169919` in a text. */
export function relocatePair(rotation: Rotation, pair: string): string {
  const [lat = '', lng = ''] = pair.split(/[\s,/;]+/)
  const moved = relocate(rotation, { lat, lng })
  return `${moved.lat}${pair.slice(lat.length, -lng.length)}${moved.lng}`
}

/** A GeoJSON position: longitude, latitude. */
export function relocateArray(rotation: Rotation, [lng, lat]: readonly number[]): number[] {
  const moved = relocate(rotation, { lat, lng })
  return [Number(moved.lng), Number(moved.lat)]
}

const isNowhere = ({ lat, lng }: Position): boolean => lat === 0 && lng === 0
const isNumeric = (value: unknown): boolean =>
  (typeof value === 'number' && Number.isFinite(value)) || (typeof value === 'string' && number.test(value))

/** A value of the type and at least the decimals of the original. */
function like(original: unknown, value: number, minDecimals: number): string | number {
  const decimals = String(original).trim().split('.')[1]?.length ?? 0
  const text =
    value === 0 && Number(original) === 0
      ? String(original)
      : value.toFixed(Math.min(15, Math.max(minDecimals, decimals)))
  return typeof original === 'number' ? Number(text) : text
}
