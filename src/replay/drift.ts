/** Compares the shape of a response with its recording. Values do not count, nor do names that people have written. */
import { plainKey } from './keys.js'

/** `gone`: a field that every recorded record had; `changed`: a kind never recorded there; `new`: harmless. */
type Drift = { path: string; what: 'gone' | 'changed' | 'new'; was: string; is: string }

/** `count`: how often it was there; `records`: how often as an object with members. */
type Place = { kinds: Set<string>; count: number; records: number; parent: string }
type Shape = Map<string, Place>

/** All drift between two bodies. Rows of a list are one shape; within a body, an empty list, `{}` and null prove nothing. */
export function drift(recorded: unknown, live: unknown): Drift[] {
  const was = shapeOf(recorded)
  const is = shapeOf(live)
  const lines: Drift[] = []
  const whole = was.get('$')
  // A list may be an empty one.
  const mayBeEmpty = whole === undefined || whole.kinds.size === 0 || (Array.isArray(recorded) && Array.isArray(live))
  if (!mayBeEmpty && is.get('$')?.kinds.size === 0)
    lines.push({ path: '$', what: 'changed', was: kindsOf(whole), is: 'empty' })
  for (const [path, place] of was) {
    const now = is.get(path)
    if (now === undefined) {
      const always = was.get(place.parent)?.records === place.count && !path.endsWith(']')
      const seen = is.get(place.parent)?.kinds.has('object')
      if (always && seen) lines.push({ path, what: 'gone', was: kindsOf(place), is: '' })
    } else if (place.kinds.size > 0 && [...now.kinds].some((kind) => !place.kinds.has(kind))) {
      lines.push({ path, what: 'changed', was: kindsOf(place), is: kindsOf(now) })
    }
  }
  for (const [path, place] of is) {
    const known = was.has(path) || !was.get(place.parent)?.kinds.has('object')
    if (!known && !path.endsWith(']')) lines.push({ path, what: 'new', was: '', is: kindsOf(place) })
  }
  return lines
}

const kindsOf = ({ kinds }: Place): string => [...kinds].sort().join(' or ') || 'null'

function shapeOf(body: unknown): Shape {
  const shape: Shape = new Map()
  const add = (path: string, parent: string, value: unknown): void => {
    const place = shape.get(path) ?? { kinds: new Set(), count: 0, records: 0, parent }
    shape.set(path, place)
    place.count++
    const kind = kindOf(value)
    if (kind !== undefined) place.kinds.add(kind)
    if (kind === 'object') place.records++
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) {
      add(/^\d+$/.test(key) ? `${path}[]` : `${path}.${plainKey.test(key) ? key : '*'}`, path, item)
    }
  }
  add('$', '', body)
  return shape
}

function kindOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : 'array'
  if (typeof value !== 'object') return typeof value
  return value === null || Object.keys(value).length === 0 ? undefined : 'object'
}
