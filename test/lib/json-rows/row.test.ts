/** The compiled row reader against its source. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { Projector } from '../../../src/lib/json-rows/projector.js'
import { Plan } from '../../../src/lib/json-rows/projector-plan.js'
import type { Row } from '../../../src/lib/json-rows/row.js'
import { fieldsOf, recordMaker, textOfRecord } from '../../../src/lib/json-rows/row-text.js'
import { read, type Shape } from '../../../src/platform/shape.js'
import { wireDevice } from '../../../src/platform/wire.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

t.test('the module that is loaded is what its source compiles to', async (t) => {
  const out = join(t.testdir(), 'row.wasm')
  const asc = join(root, 'node_modules/assemblyscript/bin/asc.js')
  const options = ['--config', 'src/lib/json-rows/assembly/asconfig.json', '--target', 'release', '--outFile', out]
  await promisify(execFile)(process.execPath, [asc, ...options], { cwd: root })
  t.ok(readFileSync(out).equals(readFileSync(join(root, 'src/lib/json-rows/row.wasm'))), 'after `npm run wasm`')
})

/** Rows as they came one by one, and what of the list came no such way. */
function rowsOf<T>(text: string, shape: { readonly [field: string]: Shape }, take: (row: Row) => T): T[] {
  const taken: T[] = []
  const projector = new Projector(new Plan([[shape]], [shape]), (row) => {
    taken.push(take(row))
    return {}
  })
  projector.write(Buffer.from(text))
  projector.end()
  return taken
}

/** What comes of a list of rows, read one by one and all at once; the error's name where it is none. */
function both(shape: { readonly [field: string]: Shape }, text: string): [unknown, unknown] {
  const outcome = (parse: () => unknown): unknown => {
    try {
      return read([shape], parse())
    } catch (error) {
      return (error as Error).name
    }
  }
  const projector = new Projector(new Plan([[shape]], [shape]))
  const projected = outcome(() => {
    projector.write(Buffer.from(text))
    return projector.end()
  })
  return [projected, outcome(() => JSON.parse(text))]
}

t.test('a row tells its fields one by one as it does all together, and so does its text', async (t) => {
  const values = [0, -7, 12.5, 123456789012345, 2 ** 60, '', 'Öl "x" \u2028', true, false, null, 'a'.repeat(40), [1]]
  const rows = values.map((value, at) => ({
    id: value,
    online: values.at(at - 1),
    sensors: at % 2 ? [] : [{ type: value }, {}],
    device_data: at % 3 ? { id: value, services: at % 2 ? [{ id: 1 }] : [] } : null,
  }))
  const scalars = ['id', 'online', 'time', 'device_data.id'] as const
  const found = rowsOf(JSON.stringify(rows), wireDevice, (row) => {
    const text = Buffer.alloc(row.length + 2)
    row.copy(text, 1)
    return {
      record: row.record(),
      text: text.toString('utf8', 1, text.length - 1),
      scalars: scalars.map((name) => row.scalar(row.place(name))),
      lists: ['sensors', 'device_data.services'].map((name) => row.has(row.place(name))),
    }
  })
  const make = recordMaker(wireDevice)
  t.equal(found.length, rows.length)
  for (const [at, raw] of rows.entries()) {
    const whole = read(wireDevice, raw)
    t.same(found[at]?.record, whole)
    t.same(found[at]?.scalars, [whole.id, whole.online, whole.time, whole.device_data.id])
    t.same(found[at]?.lists, [whole.sensors.length > 0, whole.device_data.services.length > 0])
    for (const text of [found[at]?.text ?? '', textOfRecord(wireDevice, whole)]) t.same(make(text), whole)
  }
  t.equal(fieldsOf(wireDevice).length, JSON.parse(found[0]?.text ?? '').length)
})

t.test('a row whose kept text would be longer than there is room for is read the long way', async (t) => {
  const shape = {
    items: [Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, 'scalar' as const]))],
  } as const
  const text = `[{"items":[${Array(1_000).fill('{}').join()}]},{"items":[{"f1":1}]}]`
  t.equal(rowsOf(text, shape, () => true).length, 1)
  const [projected, parsed] = both(shape, text)
  t.same(projected, parsed)
})

t.test('rows read the same however many names there are, in whatever order', async () => {
  const shape = {
    id: 'scalar',
    name: 'scalar',
    driver: { id: 'scalar', name: 'scalar' },
    items: [{ id: 'scalar', driver: { id: 'scalar' } }],
  } as const
  const kept = fc.constantFrom('id', 'name', 'driver', 'items', 'a', 'b', 'note', `long ${'n'.repeat(26)}`)
  const other = fc.nat(2_000).map((number) => `${'n'.repeat(number % 40)}${number}`)
  const scalar = fc.oneof(fc.nat(99), fc.string(), fc.constant(null))
  const record = (more: fc.Arbitrary<unknown>) =>
    fc
      .uniqueArray(fc.tuple(fc.oneof({ weight: 3, arbitrary: kept }, other), more), {
        maxLength: 30,
        selector: ([name]) => name,
      })
      .map((members) => Object.fromEntries(members))
  const inner = record(scalar)
  const row = record(fc.oneof(scalar, inner, fc.array(record(fc.oneof(scalar, inner)), { maxLength: 3 })))
  fc.assert(
    fc.property(fc.array(row, { minLength: 50, maxLength: 100 }), (rows) => {
      const [projected, parsed] = both(shape, JSON.stringify(rows))
      assert.deepStrictEqual(projected, parsed)
    }),
    { numRuns: 100 },
  )
})

t.test('a row is refused, or read the long way, wherever it is not quite one', async (t) => {
  const shape = { id: 'scalar', driver: { id: 'scalar', name: 'scalar' }, items: [{ id: 'scalar' }] } as const
  const digits = '1'.repeat(400)
  const values = [
    ...[
      '"\\u12g4"',
      '"\\u004"',
      '"\\x"',
      '"\t"',
      '01',
      '-',
      '1.',
      '1.e1',
      '.5',
      '1e',
      'tru',
      'nulL',
      '[1,]',
      '{"a":1,}',
      '{"a"1}',
    ],
    ...[
      digits,
      `-${digits}.5`,
      '1e400',
      '-1E+5',
      '"\\ud83d\\ude00"',
      '"\\u00E9"',
      '[[[]]]',
      '{"":{}}',
      '[',
      '{"id":1',
      '"',
    ],
    ...[
      '{"id":1,"id":2}',
      '{"name":3}',
      '[{"id":1},7]',
      '[{"id":1},{}]',
      '"{\\"id\\":5}"',
      '"[{\\"id\\":5}]"',
      'false',
      '[]',
      '{}',
      'null',
    ],
  ].map((text) => text.replaceAll('\\\\', '\\'))
  const names = ['id', 'driver', 'items', 'other', 'dr\\u0069ver']
  for (const value of values)
    for (const name of names)
      for (const row of [
        `{"${name}":${value}}`,
        `{"driver":{"id":1,"name":2},"items":[{"id":1}],"id":3,"${name}":${value}}`,
        `{"other":{"a":[{"b":${value}}]},"${name}":${value},"id":4}`,
        `{"${name}" :${value}}`,
      ]) {
        const [projected, parsed] = both(shape, `[{"id":1},${row},{"id":2}]`)
        t.same(projected, parsed, row)
      }
})

t.test('names that are forgotten within a row are not expected behind it', async (t) => {
  const shape = { items: [{ id: 'scalar' }], id: 'scalar' } as const
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`name${at}`, at]))
  const [projected, parsed] = both(shape, JSON.stringify([{ items: [many, { a: 1, id: 2 }], id: 7 }]))
  t.same(projected, parsed)
})

t.test('shapes that no row reader has room for are refused', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 49 }, (_, at) => [`f${at}`, 'scalar' as const]))
  t.throws(() => new Plan([[many]], [many]), /at most 48 fields/)
  const long = { ['f'.repeat(32)]: 'scalar' as const }
  t.throws(() => new Plan([[long]], [long]), /too long/)
  const ids = { devices: 'ids' as const }
  t.throws(() => new Plan([[ids]], [ids]), /a row holds scalars, records and lists of records/)
})
