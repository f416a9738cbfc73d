/** JSON in slices, so that a large response never blocks the event loop. */
import { setImmediate } from 'node:timers/promises'

const sliceMs = 2

/** The JSON text of a value, one slice of work after the other. */
export async function* jsonChunks(value: unknown): AsyncGenerator<string> {
  let start = performance.now()
  let chunk = ''
  for (const piece of pieces(value)) {
    chunk += piece
    if (performance.now() - start < sliceMs) continue
    yield chunk
    chunk = ''
    await setImmediate()
    start = performance.now()
  }
  yield chunk
}

/** Splits only lists, which may be generators, and the objects around them: those with `items` or `data`. */
function* pieces(value: unknown): Generator<string> {
  const isObject = typeof value === 'object' && value !== null
  const isList = isObject && Symbol.iterator in value
  if (!isList && !(isObject && ('items' in value || 'data' in value))) return yield JSON.stringify(value)
  let separator = ''
  yield isList ? '[' : '{'
  for (const item of isList ? (value as Iterable<unknown>) : Object.keys(value)) {
    yield isList ? separator : `${separator}${JSON.stringify(item)}:`
    yield* pieces(isList ? item : value[item as keyof typeof value])
    separator = ','
  }
  yield isList ? ']' : '}'
}

/** A list whose items are made when they are read. */
export function* lazily<T, R>(list: Iterable<T>, toItem: (item: T) => R): Generator<R> {
  for (const item of list) yield toItem(item)
}
