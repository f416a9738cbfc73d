/** RowReader against its definition: `JSON.parse` of the whole document, with each row normalized. */
import fc from 'fast-check'
import t from 'tap'
import { wireDevice, wirePoint } from '../../../src/platform/wire.js'
import { isLong } from '../../faults.js'
import { anything, assertSame, check, counted, documentOf, readerOf, size, small, utf8 } from './documents.js'

t.test('any document reads as JSON.parse reads it, however it is split', async (t) => {
  const runs = isLong ? 2_000 : 300
  check(fc.tuple(fc.oneof({ weight: 4, arbitrary: documentOf(small) }, anything), size), runs, ([text, length]) =>
    assertSame(text, [1, length, 1 << 20]),
  )
  const { rows, declined } = counted
  t.ok(declined > runs / 2 && rows - declined > runs / 2, `of ${rows} rows ${declined} were normalized by the caller`)
})

t.test("the gateway's rows read as its own normalizer reads them", async () => {
  for (const shape of [wireDevice, wirePoint])
    check(fc.tuple(documentOf(shape), size), isLong ? 300 : 100, ([text, length]) =>
      assertSame(text, [length, 1 << 20], shape),
    )
})

t.test('exactly the documents that JSON.parse refuses are refused', async (t) => {
  const runs = isLong ? 500 : 100
  counted.refused = 0
  counted.accepted = 0
  const usual = fc.constantFrom(...utf8('{}[]",:\\ 019.-+eEutfn/\n'), 0, 0x1f, 0x7f, 0xc3, 0xe2, 0xef, 0xff)
  const edits = fc.record({
    kind: fc.constantFrom('delete', 'insert', 'replace', 'truncate'),
    at: fc.nat(2_000),
    byte: fc.oneof(usual, fc.nat(255)),
  })
  check(
    fc.tuple(documentOf(small), fc.array(edits, { minLength: 8, maxLength: 8 }), size),
    runs,
    ([text, all, length]) => {
      for (const { kind, at, byte } of all) {
        const bytes = utf8(text)
        const from = at % (bytes.length + 1)
        const to = kind === 'truncate' ? bytes.length : kind === 'insert' ? from : from + 1
        const middle = kind === 'insert' || kind === 'replace' ? [byte] : []
        assertSame(Uint8Array.from([...bytes.subarray(0, from), ...middle, ...bytes.subarray(to)]), [length, 1 << 20])
      }
    },
  )
  const { refused, accepted } = counted
  t.ok(refused > 2 * runs && accepted > 0.4 * runs, `${refused} refused, ${accepted} accepted`)
})

t.test('bytes that are not UTF-8 read as replacement characters', async () => {
  const likely = fc.constantFrom(0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0x82, 0xac, 0xbf, 0xef, 0xbb, 0x41)
  const content = fc.array(fc.oneof(likely, fc.integer({ min: 0x23, max: 0x5b }), fc.integer({ min: 0x80, max: 255 })))
  check(fc.tuple(content, size), 1_000, ([middle, length]) => {
    const parts = ['[{"title":"', '","items":[{"name":"', '","a', '":1,"driver":{"name": "', '"}}]}]']
    assertSame(Uint8Array.from(parts.flatMap((part, at) => [...(at ? middle : []), ...utf8(part)])), [1, length])
  })
})

t.test('odd values read as JSON.parse reads them, in every place of a row and beside it', async () => {
  const digits = '1'.repeat(400)
  const numbers = '01 - 1. .5 +1 1e 1e+ 1.e1 NaN tru nulL True 1e400 -1E+5'.split(' ')
  const brackets = '[ ] { } [} {] [1,] [,1] {"a"} {"a":} {"a":1,} {,} {1:1} [[[]]] {"":{}} {"id":1,"id":2}'.split(' ')
  const strings = ['"\\x"', '"\\u12g4"', '"\\u004"', '"\t"', '"\n"', "'a'", '"a" "b"', '"', '"\\', '"\0"', '\0', '\v1']
  const others = ['', '1 2', 'tru e', '{"a" 1}', digits, `-${digits}.5`, '"\\u00E9"', '{"name":3}']
  const lists = ['[{"id":1},7]', '[{"id":1},{}]', '"[{\\"id\\":5}]"', '{"1":{"id":5}}', '[]', '{}', 'null', '"\u2028"']
  for (const value of [...numbers, ...brackets, ...strings, ...others, ...lists])
    for (const name of ['id', 'driver', 'items', 'other', 'dr\\u0069ver', '__proto__']) {
      const members = `"id":1,"driver":{"id":1,"own":{"id":2}},"items":[{"id":1}],"${name}":${value},"name":4`
      assertSame(`[{"items":[{"id":1},{${members}},{"id":2}]}]`)
      assertSame(`[{"items":[{"id":1, "other":[{"a":${value}}]},\n{${members} }, ${value}]}]`)
      assertSame(`{${members},"items":[{${members}}]}`)
    }
})

t.test('an empty list is told from an absent one, unless its row is declined', async (t) => {
  const found: boolean[] = []
  const reader = readerOf(small, (row) => void found.push(row.isList(row.slot('items'))))
  const rows = ['[]', '[ ]', '[{"driver":{}}]', 'null', '{}'].map((items) => `{"id":1,"items":${items}}`)
  const declined = ['{"id":1,"items":[],"driver":"none"}', '{"id":1,"items":[{}],"driver":"none"}']
  reader.write(Buffer.from(`[{"items":[${[...rows, '{"id":1}', ...declined].join()}]}]`))
  reader.end()
  t.same(found, [true, true, true, false, false, false, false, true])
})

t.test('byte order marks are ignored at the start, as many as there are', async () => {
  for (const text of ['\ufeff[]', '\ufeff\ufeff[]', '\ufeff', ' \ufeff[]', '[\ufeff]', '[{"items":[\ufeff{"id":1}]}]'])
    assertSame(text)
  assertSame(Uint8Array.from([0xef, 0xbb, 0x5b, 0x5d]))
})

t.test('objects are read alike however many names there are, in whatever order', async () => {
  const kept = fc.constantFrom('id', 'name', 'driver', 'items', 'a', 'b', `long ${'n'.repeat(26)}`)
  const other = fc.nat(2_000).map((number) => `${'n'.repeat(number % 40)}${number}`)
  const record = (value: fc.Arbitrary<unknown>) => fc.dictionary(fc.oneof(kept, kept, other), value, { maxKeys: 30 })
  const inner = record(fc.nat(99))
  const row = record(fc.oneof(fc.nat(99), fc.string(), inner, fc.array(inner, { maxLength: 3 })))
  check(fc.array(row, { minLength: 50, maxLength: 100 }), 20, (rows) =>
    assertSame(JSON.stringify([{ items: rows }]), [1 << 20]),
  )
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`name${at}`, at]))
  assertSame(JSON.stringify([{ items: [{ items: [many, { a: 1, id: 2 }], id: 7 }] }]))
})
