/** Serializes long values in steps. */
import type { Steps } from './in-turns.js'

/** Items that are serialized at once, unless one of them has a longer list. */
const stepItems = 100
const encoder = new TextEncoder()

/** `JSON.stringify` in UTF-8. A step is at most 100 items of a list, a member's name, a scalar or a bracket; an item with a long list has steps of its own. */
export function* jsonBytes(value: object): Steps<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  for (const text of textsOf(value)) {
    parts.push(encoder.encode(text))
    yield
  }
  const json = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    json.set(part, at)
    at += part.length
  }
  return json
}

/** Whether a value has a list of more items than a step, at whatever depth. */
function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length > stepItems || value.some(hasLongList)
  for (const name in value) if (hasLongList((value as Record<string, unknown>)[name])) return true
  return false
}

function* textsOf(value: unknown): Generator<string, void, undefined> {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += stepItems) {
      const items = value.slice(at, at + stepItems)
      const start = at === 0 ? '[' : ','
      if (!items.some(hasLongList)) yield `${start}${JSON.stringify(items).slice(1, -1)}`
      else
        for (const [place, item] of items.entries()) {
          yield place === 0 ? start : ','
          yield* textsOf(item ?? null)
        }
    }
    yield value.length === 0 ? '[]' : ']'
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
    for (const [at, [name, inner]] of members.entries()) {
      yield `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`
      yield* textsOf(inner)
    }
    yield members.length === 0 ? '{}' : '}'
  } else yield JSON.stringify(value)
}
