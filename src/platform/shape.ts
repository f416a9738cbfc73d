/** A small language that describes the parts of a platform response to read, and the reader for it. */
import { parsedJson } from '../lib/parsed-json.js'

/** The value of a field after reading: nested values and nulls have become `undefined`. */
export type Scalar = string | number | boolean | undefined

/**
 * A description of the parts to keep: `'scalar'` one value, `'scalars'` all values of a record whose field names are not
 * known, `'ids'` a list of ids or of objects with an `id`, `[shape]` a list, an object the named fields of a record. Everything else in the response is dropped.
 */
export type Shape = 'scalar' | 'scalars' | 'ids' | readonly [Shape] | RecordShape
export interface RecordShape {
  readonly [field: string]: Shape
}

/** The type that `read` returns for a shape: lists and records are always present, scalars may be `undefined`. */
export type Read<T> = T extends 'scalar'
  ? Scalar
  : T extends 'scalars'
    ? Record<string, Scalar>
    : T extends 'ids'
      ? Scalar[]
      : T extends readonly [infer Item]
        ? Read<Item>[]
        : { [K in keyof T]: Read<T[K]> }

export const isObject = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)

/** Longest JSON text within a response: it may be parsed several times, and nothing else runs meanwhile. A corner takes some 60 characters. */
const maxTextLength = 4 * 1024 * 1024

/** Parses JSON in a string (platform.md 2); text that is not JSON, or too long, counts as absent. */
export function unwrapped(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw
  return raw.length <= maxTextLength && /^\s*[[{]/.test(raw) ? parsedJson(raw) : undefined
}

function readScalar(raw: unknown): Scalar {
  if (typeof raw === 'string' || typeof raw === 'boolean') return raw
  return typeof raw === 'number' && Number.isFinite(raw) ? raw : undefined
}

/** The items of a list in any of the platform's spellings: an array, an object with numeric keys, either as JSON text. */
export function itemsOf(raw: unknown): unknown[] {
  const value = unwrapped(raw)
  if (Array.isArray(value)) return value
  if (!isObject(value)) return []
  // PHP arrays with gaps; named keys beside them (`pagination`) are not items.
  const keys = Object.keys(value).filter((key) => /^\d+$/.test(key))
  return keys.map((key) => value[key])
}

/** Counts items of record lists that are not records and are left out. */
export interface Tally {
  skipped: number
}

/** One for all: a list of millions of numbers in place of corners would take an object each. */
const noScalars: Record<string, Scalar> = Object.freeze({})

/** Reads `raw` by `shape`. Never throws: a value that is missing or has another type becomes `undefined`, `{}` or `[]`. */
export function read<T extends Shape>(shape: T, raw: unknown, tally?: Tally): Read<T>
export function read(shape: Shape, raw: unknown, tally?: Tally): unknown {
  if (shape === 'scalar') return readScalar(raw)
  if (shape === 'scalars') {
    const value = unwrapped(raw)
    if (!isObject(value)) return noScalars
    const result: Record<string, Scalar> = {}
    // `Object.fromEntries` takes several times as long, and a geofence may have thousands of corners.
    for (const name in value) result[name] = readScalar(value[name])
    return result
  }
  if (shape === 'ids') return itemsOf(raw).map((item) => readScalar(isObject(item) ? item.id : item))
  if (isList(shape)) return readList(shape[0], raw, tally)
  return readRecord(shape, raw, tally)
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

function readList(item: Shape, raw: unknown, tally: Tally | undefined): unknown[] {
  const items = itemsOf(raw)
  const kept = typeof item === 'object' && !isList(item) ? items.filter(isObject) : items
  if (tally) tally.skipped += items.length - kept.length
  return kept.map((value) => read(item, value, tally))
}

/** The fields of a record, which may be JSON text; some platforms send the name of a driver or a geofence in place of the record. */
function fieldsOf(raw: unknown): Record<string, unknown> {
  if (typeof raw === 'string' && !/^\s*(\{|\[\s*[\]{]|null$)/.test(raw)) return { name: raw }
  const value = unwrapped(raw)
  return isObject(value) ? value : {}
}

function readRecord(shape: RecordShape, raw: unknown, tally: Tally | undefined): Record<string, unknown> {
  const source = fieldsOf(raw)
  const result: Record<string, unknown> = {}
  for (const field in shape) {
    const own = Object.hasOwn(source, field) ? source[field] : undefined
    result[field] = read(shape[field] as Shape, own, tally)
  }
  return result
}
