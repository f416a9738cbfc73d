/** What the tests of the row reader share: documents, and how `JSON.parse` reads them. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type Row, RowReader, type RowShape, recordMaker } from '../../../src/lib/json-rows/index.js'
import { isObject, read } from '../../../src/platform/shape.js'
import { anyCharacter } from '../../character.js'

type Json = Record<string, unknown>

const s = 'scalar' as const
export const small = {
  ...{ id: s, name: s, č: s, '0': s, driver: { id: s, name: s, own: { id: s } } },
  items: [{ id: s, driver: { id: s }, items: [{ name: s }] }],
} as const

/** Without the sign of -0, which a row loses where it is normalized. */
const unsigned = (value: unknown): unknown => (value === 0 ? 0 : mapped(value, unsigned))

/** A field of an object by a name such as `driver.id`. */
const at = (record: Json, name: string) =>
  name.split('.').reduce<unknown>((value, part) => (value as Json)[part], record)

/** The record of a row, after checking that all of its methods agree with it. */
function recordOf(shape: RowShape, make: (text: string) => Json, row: Row): Json {
  const record = row.record()
  const text = Buffer.alloc(row.length + 2, 0x20)
  row.copy(text, 1)
  assert.deepStrictEqual(make(text.toString()), record)
  const check = (of: RowShape, prefix: string): void => {
    for (const [name, field] of Object.entries(of)) {
      const path = prefix + name
      if (field === 'scalar') assert.deepStrictEqual(row.scalar(row.slot(path)), at(record, path))
      else if (Array.isArray(field)) assert.equal(row.has(row.slot(path)), (at(record, path) as []).length > 0)
      else check(field as RowShape, `${path}.`)
    }
  }
  check(shape, '')
  return record
}

export const counted = { rows: 0, declined: 0, refused: 0, accepted: 0 }

/** A reader that normalizes as the gateway does. */
export function readerOf(shape: RowShape, onRow: (row: Row) => void): RowReader {
  const normalize = (record: Json): Json => {
    counted.declined++
    return read(shape, record)
  }
  return new RowReader({ shape, normalize, onRow, maxEnvelopeBytes: 1 << 26 })
}

/** The document with the record of each row in its place. */
function document(shape: RowShape, chunks: Iterable<Uint8Array>): unknown {
  const records: Json[] = []
  const make = recordMaker(shape)
  const reader = readerOf(shape, (row) => void records.push(recordOf(shape, make, row)))
  for (const chunk of chunks) reader.write(chunk)
  const fill = (value: unknown): unknown => {
    const row = reader.rowAt(value)
    if (row === undefined) return mapped(value, fill)
    return records[row] ?? assert.fail(`no row ${row}`)
  }
  const envelope = reader.end()
  counted.rows += records.length
  return fill(envelope)
}

function mapped(value: unknown, each: (value: unknown, name?: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => each(item))
  if (!isObject(value)) return value
  const result = {}
  for (const [name, inner] of Object.entries(value)) {
    const member = { value: each(inner, name), writable: true, enumerable: true, configurable: true }
    Object.defineProperty(result, name, member)
  }
  return result
}

function expected(shape: RowShape, bytes: Uint8Array): unknown {
  /** @param lists around the value. @param isItem whether it is an item of the innermost one. */
  const fill = (value: unknown, lists: number, isItem: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => fill(item, lists + 1, true))
    return mapped(value, (inner, name) => {
      if (!(lists === 1 && isItem && name === 'items' && Array.isArray(inner))) return fill(inner, lists, false)
      return inner.map((item) => (isObject(item) ? read(shape, item) : fill(item, 2, true)))
    })
  }
  return fill(JSON.parse(new TextDecoder().decode(bytes).trimStart()), 0, false)
}

/** What a function returns, or the name of its error. */
function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return (error as Error).name
  }
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

function* cut(bytes: Uint8Array, size: number): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

export function assertSame(text: string | Uint8Array, sizes = [1, 1 << 20], shape: RowShape = small): void {
  const bytes = typeof text === 'string' ? utf8(text) : text
  const wanted = outcome(() => expected(shape, bytes))
  if (typeof wanted === 'string') counted.refused++
  else counted.accepted++
  for (const size of sizes)
    assert.deepStrictEqual(
      unsigned(outcome(() => document(shape, cut(bytes, size)))),
      unsigned(wanted),
      `${bytes.length > 1000 ? '' : Buffer.from(bytes)} in chunks of ${size}`,
    )
}

const seed = Number(process.env.SEED ?? Date.now() % 1e9)
t.comment(`SEED=${seed}`)
export const check = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number, work: (value: T) => void): void =>
  fc.assert(fc.property(arbitrary, work), { seed, numRuns })

const names = ['id', 'name', 'items', 'driver', 'own', 'title', 'a', '', '0', '12', '__proto__', 'constructor', 'č']
const space = fc.constantFrom('', '', '', '', '', ' ', '\n', '\t\r ', `\n${' '.repeat(40)}`)
const escapedUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A JSON string, sometimes with needless escapes, but for the name of the lists of rows. */
const stringOf = (content: fc.Arbitrary<string>) =>
  fc
    .tuple(content, fc.constantFrom(false, false, false, true))
    .map(([text, isEscaped]) =>
      isEscaped && text !== 'items' ? `"${text.split('').map(escapedUnit).join('')}"` : JSON.stringify(text),
    )

const scalarText = fc.oneof(
  fc.constantFrom('0', '-0', '-0.0', '1e999', '-1E+999', '1e-999', '12345678901234567890', '1.50', '2E3', '5e-324'),
  fc.constantFrom(...'true false null "[1" "\\ud800" "\\udc00\\ud83d" "\\/\\b\\"\\\\" "😀"'.split(' ')),
  fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((value) => JSON.stringify(value)),
  stringOf(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: anyCharacter, maxLength: 40 }))),
  stringOf(fc.constantFrom('{"items":[{"id":1}],"0":{"id":2}}', '[{"id":1,"driver":{"id":3}}]', '{', '[]')),
)
const listOf = (item: fc.Arbitrary<string>, maxLength = 3) =>
  fc.tuple(fc.array(item, { maxLength }), space, space).map(([items, a, b]) => `[${a}${items.join(`${b},${a}`)}${b}]`)
const objectOf = (members: fc.Arbitrary<[string, string]>) =>
  fc
    .tuple(fc.array(members, { maxLength: 6 }), space, space)
    .map(([all, a, b]) => `{${a}${all.map(([name, value]) => `${name}${b}:${a}${value}`).join(`${b},${a}`)}${b}}`)
const nameText = stringOf(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) }, fc.string({ maxLength: 50 })))
export const { anything } = fc.letrec<{ anything: string }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 4 },
    scalarText,
    listOf(tie('anything')),
    objectOf(fc.tuple(nameText, tie('anything'))),
  ),
}))

/** An object as a shape describes it, most of the time. */
function rowText(shape: RowShape): fc.Arbitrary<string> {
  const members = Object.entries(shape).map(([name, field]) => {
    const item = Array.isArray(field) ? rowText(field[0]) : undefined
    const usual = item ? listOf(item) : field === 'scalar' ? scalarText : rowText(field as RowShape)
    const value = fc.oneof({ weight: 9, arbitrary: usual }, anything, stringOf(usual), fc.constantFrom('[]', '{}'))
    return fc.tuple(fc.constant(JSON.stringify(name)), value)
  })
  return objectOf(fc.oneof({ weight: 4, arbitrary: fc.oneof(...members) }, fc.tuple(nameText, anything)))
}

const layouts: ((list: string) => string)[] = [
  (list) => `[{"title":"A","items":${list}},null,{"items":${list}}]`,
  (list) => `{"items":[{"status":1,"items":${list}}],"sensors":[{"id":1}],"status":1}`,
  (list) => ` {"data" : [ {"items":\n${list}} ] , "total":1}\n`,
  (list) => `\ufeff{"items":{"total":2,"data":[{"items":${list}}]}}`,
  (list) => `{"items":{"0":{"items":${list}},"7":[${list}, ${list},{"id":1}]}}`,
  (list) => `[[${list}],${list}]`,
]
export const documentOf = (shape: RowShape) =>
  fc
    .tuple(fc.constantFrom(...layouts), listOf(fc.oneof({ weight: 9, arbitrary: rowText(shape) }, anything), 4))
    .map(([layout, list]) => layout(list))
export const size = fc.integer({ min: 1, max: 40 })
