/** The projector against its definition: `read` after it finds what `read` finds after `JSON.parse`, or both refuse. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { Projector } from '../../../src/lib/json-rows/projector.js'
import { Plan } from '../../../src/lib/json-rows/projector-plan.js'
import { read, type Shape } from '../../../src/platform/shape.js'
import { wireAlert, wireDevice, wireGeofence, wireGroup, wireHistory } from '../../../src/platform/wire.js'

type Shapes = [Shape, ...Shape[]]

const answers: Shapes = [[wireGroup], { items: [wireGroup], data: [wireGroup], status: 'scalar', message: 'scalar' }]

function project(plan: Plan, chunks: Iterable<Uint8Array>): unknown {
  const projector = new Projector(plan)
  for (const chunk of chunks) projector.write(chunk)
  return projector.end()
}

function* pieces(bytes: Uint8Array, size: number): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

/** What came of it: for each shape a reading and how many rows it left out, or the name of the error. */
function outcome(shapes: Shapes, parse: () => unknown): unknown {
  try {
    const value = parse()
    return shapes.map((shape) => {
      const tally = { skipped: 0 }
      return [read(shape, value, tally), tally]
    })
  } catch (error) {
    return (error as Error).name
  }
}

type RowShape = { readonly [field: string]: Shape }
const isRecord = (of: Shape): of is RowShape => typeof of === 'object' && !Array.isArray(of)

const fitsRow = (of: Shape): boolean =>
  of === 'scalar' ||
  (isRecord(of) ? Object.values(of).every(fitsRow) : Array.isArray(of) && isRecord(of[0]) && fitsRow(of[0]))

/** Every shape within that can be read as a row. */
function rowsIn(of: Shape): RowShape[] {
  const within = isRecord(of) ? Object.values(of) : Array.isArray(of) ? [of[0] as Shape] : []
  return [...(isRecord(of) && fitsRow(of) ? [of] : []), ...within.flatMap(rowsIn)]
}

function assertSame(shapes: Shapes, bytes: Uint8Array, cuts: readonly Iterable<Uint8Array>[]): void {
  const expected = outcome(shapes, () => JSON.parse(new TextDecoder().decode(bytes)))
  const plans = [new Plan(shapes), new Plan(shapes, shapes.flatMap(rowsIn))]
  for (const cut of cuts) {
    const chunks = [...cut]
    for (const plan of plans)
      assert.deepStrictEqual(
        outcome(shapes, () => project(plan, chunks)),
        expected,
      )
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text)

const whole = (shapes: Shapes, text: string) => {
  const bytes = utf8(text)
  assertSame(shapes, bytes, [[bytes], pieces(bytes, 1)])
}

const escapedUnit = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`

/** A JSON string with some of its characters escaped that need not be. */
const stringText = (content: fc.Arbitrary<string>) =>
  fc
    .tuple(content, fc.constantFrom(0, 0, 0, 1, 2, 3))
    .map(([text, every]) =>
      every === 0
        ? JSON.stringify(text)
        : `"${[...Array(text.length).keys()]
            .map((at) => (at % every === 0 ? escapedUnit(text.charCodeAt(at)) : JSON.stringify(text[at]).slice(1, -1)))
            .join('')}"`,
    )

const names = [
  'id',
  'name',
  'items',
  'title',
  'status',
  'lat',
  'a',
  '',
  '0',
  '1',
  '12',
  '007',
  '4294967295',
  '1x',
  '__proto__',
  'constructor',
  'č',
]
const name = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: fc.string() })
const space = fc.constantFrom('', '', '', '', ' ', '\n', '\t\r ', '   ')

const numberText = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '-0.0',
    '1e999',
    '-1E+999',
    '1e-999',
    '12345678901234567890',
    '0.1',
    '1.50',
    '2E3',
    '9007199254740993',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
)

const inner = fc.json({ maxDepth: 2 })
const scalarText = fc.oneof(
  numberText,
  fc.constantFrom(
    'true',
    'false',
    'null',
    '"-"',
    '"[]"',
    '"{}"',
    '"[1"',
    '"\\ud800"',
    '"\\udc00\\ud83d"',
    '"\\/\\b\\"\\\\"',
  ),
  stringText(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))),
  stringText(inner),
  stringText(fc.constant('{"items":[{"id":1}],"0":{"id":2},"name":"in"}')),
)

const listText = (item: fc.Arbitrary<string>, maxLength = 4) =>
  fc.tuple(fc.array(item, { maxLength }), space, space).map(([items, a, b]) => `[${a}${items.join(`${b},${a}`)}${b}]`)

const recordText = (members: fc.Arbitrary<[string, string][]>) =>
  fc
    .tuple(members, space, space)
    .map(([all, a, b]) => `{${a}${all.map(([key, value]) => `${key}${b}:${a}${value}`).join(`${b},${a}`)}${b}}`)

const { anything } = fc.letrec<{ anything: string }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 4 },
    scalarText,
    listText(tie('anything')),
    recordText(fc.array(fc.tuple(stringText(name), tie('anything')), { maxLength: 5 })),
  ),
}))

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Shape>('scalar', 'ids'),
    tie('shape').map((item): Shape => [item]),
    fc.dictionary(fc.constantFrom(...names.filter((each) => each !== '__proto__')), tie('shape'), { maxKeys: 4 }),
  ),
}))

/** A value as the shape expects it, most of the time. */
function textOf(of: Shape, maxLength = 3): fc.Arbitrary<string> {
  return fc.oneof({ weight: 9, arbitrary: expectedText(of, maxLength) }, { weight: 1, arbitrary: anything })
}

function expectedText(of: Shape, maxLength: number): fc.Arbitrary<string> {
  if (of === 'scalar') return scalarText
  if (of === 'ids') return listText(fc.oneof(scalarText, textOf({ id: 'scalar' })))
  if (Array.isArray(of)) {
    const item = textOf(of[0] as Shape)
    const numbered = fc.array(fc.tuple(stringText(fc.nat(20).map(String)), item), { maxLength })
    const list = fc.oneof(
      { weight: 4, arbitrary: listText(item, maxLength) },
      { weight: 1, arbitrary: recordText(numbered) },
    )
    return fc.oneof({ weight: 9, arbitrary: list }, { weight: 1, arbitrary: list.map((text) => JSON.stringify(text)) })
  }
  const fields = Object.entries(of).map(([field, value]) =>
    fc.tuple(stringText(fc.constant(field)), textOf(value as Shape)),
  )
  const other = fc.tuple(stringText(name), anything)
  const members = fc.array(
    fc.oneof({ weight: 4, arbitrary: fc.oneof(other, ...fields) }, { weight: 1, arbitrary: other }),
    { maxLength: 8 },
  )
  return recordText(members)
}

const shaped = shape.chain((each) => fc.tuple(fc.constant(each), fc.oneof(textOf(each), anything)))
const size = fc.integer({ min: 1, max: 40 })

const wires: Shapes[] = [
  answers,
  [[wireDevice]],
  [{ items: { alerts: [wireAlert] } }],
  [{ items: [wireGeofence] }],
  [wireHistory],
]
const wired = fc
  .constantFrom(...wires)
  .chain((each) => fc.tuple(fc.constant(each), fc.oneof(...each.map((one) => textOf(one))), size))

type Edit = { kind: 'delete' | 'insert' | 'replace' | 'truncate'; at: number; byte: number }
const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('delete', 'insert', 'replace', 'truncate'),
  at: fc.nat(1000),
  byte: fc.oneof(
    fc.constantFrom(...utf8('{}[]",:\\ 019.-+eEutfn/\n'), 0, 0x1f, 0x7f, 0xc3, 0xe2, 0xef, 0xff),
    fc.nat(255),
  ),
})

function edited(bytes: Uint8Array, { kind, at, byte }: Edit): Uint8Array {
  const from = at % (bytes.length + 1)
  const to = kind === 'truncate' ? bytes.length : kind === 'insert' ? from : from + 1
  const middle = kind === 'insert' || kind === 'replace' ? [byte] : []
  return Uint8Array.from([...bytes.subarray(0, from), ...middle, ...bytes.subarray(to)])
}

t.test('any JSON reads the same through any shape, however it is cut', async () => {
  fc.assert(
    fc.property(shaped, size, space, space, ([of, text], length, before, after) => {
      const bytes = utf8(before + text + after)
      assertSame([of], bytes, [[bytes], pieces(bytes, 1), pieces(bytes, length)])
    }),
    { numRuns: 2000 },
  )
})

t.test('each of several shapes finds what it would have found alone', async () => {
  fc.assert(
    fc.property(shape, shaped, size, (one, [other, text], length) => {
      assertSame([one, other], utf8(text), [pieces(utf8(text), length)])
    }),
    { numRuns: 1000 },
  )
})

t.test('an answer of the platform reads the same with any field changed', async () => {
  fc.assert(
    fc.property(wired, ([shapes, text, length]) => {
      const bytes = utf8(text)
      assertSame(shapes, bytes, [[bytes], pieces(bytes, length)])
    }),
    { numRuns: 300 },
  )
})

t.test('a cut between any two bytes changes nothing', async () => {
  fc.assert(
    fc.property(shaped, ([of, text]) => {
      const bytes = utf8(text).subarray(0, 300)
      const cuts = Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)])
      assertSame([of], bytes, cuts)
    }),
    { numRuns: 200 },
  )
})

t.test('what JSON.parse refuses is refused, and nothing else', async () => {
  const edits = fc.array(edit, { minLength: 1, maxLength: 2 })
  let refused = 0
  fc.assert(
    fc.property(shaped, fc.array(edits, { minLength: 5, maxLength: 5 }), size, ([of, text], several, length) => {
      for (const each of several) {
        const bytes = each.reduce(edited, utf8(text))
        if (typeof outcome([of], () => JSON.parse(new TextDecoder().decode(bytes))) === 'string') refused++
        assertSame([of], bytes, [[bytes], pieces(bytes, length)])
      }
    }),
    { numRuns: 800 },
  )
  assert.ok(refused > 1000)
})

t.test('bytes that are no UTF-8 read as the replacement character', async () => {
  const byte = fc.oneof(
    fc.constantFrom(0xc3, 0xe2, 0xed, 0xf0, 0xf4, 0x82, 0xac, 0xbf, 0xef, 0xbb),
    fc.integer({ min: 0x23, max: 0x5b }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), fc.array(byte, { maxLength: 12 }), size, (wild, likely, length) => {
      const content = [...wild.filter((each) => each >= 0x20 && each !== 0x22 && each !== 0x5c), ...likely]
      const bytes = Uint8Array.from([
        ...utf8('{"č":1,"name":"'),
        ...content,
        ...utf8('","x":"'),
        ...content,
        ...utf8('"}'),
      ])
      assertSame([{ name: 'scalar', č: 'scalar' }], bytes, [[bytes], pieces(bytes, length), pieces(bytes, 1)])
    }),
    { numRuns: 2000 },
  )
})

t.test('long lists at any depth read the same as short ones', async () => {
  const rows = fc.constantFrom<Shape>(
    { id: 'scalar', items: [{ id: 'scalar', name: 'scalar' }] },
    [{ id: 'scalar' }],
    'ids',
    'scalar',
  )
  fc.assert(
    fc.property(
      rows.chain((row) => fc.tuple(fc.constant(row), fc.array(textOf(row, 30), { minLength: 1, maxLength: 20 }))),
      fc.boolean(),
      fc.integer({ min: 1, max: 5000 }),
      ([row, texts], numbered, length) => {
        // Several times the bytes after which values are built.
        const count = Math.ceil((60_000 * texts.length) / texts.join('').length)
        const many = Array.from({ length: count }, (_, at) => texts[at % texts.length])
        const list = numbered ? `{${many.map((text, at) => `"${at % Math.ceil(count * 0.8)}":${text}`)}}` : `[${many}]`
        const text = `[{"title":1,"items":${list},"items":${list},"title":[${list}]},{"x":${list},"items":[${list},1]}]`
        const bytes = utf8(text)
        assertSame([[{ title: 'scalar', items: [row] }]], bytes, [pieces(bytes, length)])
      },
    ),
    { numRuns: 60 },
  )
})

t.test('numbers are those of JSON.parse', async () => {
  for (const text of [
    '1e999',
    '-0',
    '-0.0',
    '12345678901234567890',
    '0.1',
    '1e-7',
    '5e-324',
    '9007199254740993',
    '1E400',
    '-1e400',
  ])
    for (const place of [text, ` ${text} `, `{"id":${text}}`, `{"x":${text},"id":${text}}`])
      whole(['scalar', { id: 'scalar' }], place)
})

t.test('a number, word or escape that is not quite one is refused where it is kept and where it is not', async () => {
  const wrong = [
    '01',
    '-',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '--1',
    '0x1',
    'NaN',
    'tru',
    'truee',
    'True',
    'nul',
    '"\\x"',
    '"\\u12g4"',
    '"\t"',
    "'a'",
    '1 2',
  ]
  for (const text of wrong)
    for (const place of [text, `{"id":${text}}`, `{"x":${text}}`, `{"x":[${text}]}`, `[${text}]`, `{"id":[${text},1]}`])
      whole(['scalar', { id: 'scalar' }, [{ id: 'scalar' }]], place)
})

t.test(
  'brackets, commas and colons that do not fit are refused where they are kept and where they are not',
  async () => {
    const wrong = [
      '',
      '[',
      ']',
      '{',
      '}',
      '[}',
      '{]',
      '[1,]',
      '[,1]',
      '{"id"}',
      '{"id":}',
      '{"id":1,}',
      '{,}',
      '{"id" 1}',
      '{1:1}',
      '[1 1]',
      '[1:1]',
    ]
    for (const text of [...wrong, '{}{}', '[][]', '{"id":1}x', '1,', '"a"b', '{"id":[}]}'])
      for (const place of [text, `{"x":${text}}`, `{"items":${text}}`, `[${text}]`])
        whole([{ items: [{ id: 'scalar' }] }, [{ id: 'scalar' }]], place)
  },
)

t.test('the last of several members of one name counts', async () => {
  const shapes: Shapes = [{ id: 'scalar', items: [{ id: 'scalar' }] }]
  for (const text of [
    '{"id":1,"id":2}',
    '{"id":1,"id":{}}',
    '{"id":1,"id":null}',
    '{"id":1,"\\u0069d":[2]}',
    '{"items":[{"id":1}],"items":{"3":{"id":2}}}',
    '{"items":[{"id":1,"id":[]}],"items":"[]"}',
  ])
    whole(shapes, text)
})

t.test('a member named __proto__ is a name like any other', async () => {
  whole(
    [{ id: 'scalar', items: [{ id: 'scalar' }] }],
    '{"__proto__":{"id":1},"items":{"__proto__":{"id":2},"0":{"__proto__":[]}}}',
  )
})

t.test('one byte order mark is passed over, two are not', async () => {
  for (const text of [
    '\ufeff[{"title":"a"}]',
    '\ufeff\ufeff[]',
    '\ufeff',
    ' \ufeff[]',
    '[\ufeff]',
    '{"status":"\ufeff"}',
  ])
    whole(answers, text)
  const bytes = Uint8Array.from([0xef, 0xbb, 0x5b, 0x5d])
  assertSame(answers, bytes, [[bytes], pieces(bytes, 1)])
})

t.test('512 levels are read and endless ones refused, kept or not, without a deep stack', async () => {
  const shapes: Shapes = [{ a: 'scalar', id: 'scalar' }]
  const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)},"id":1}`
  whole(shapes, nested(511))
  const endless = utf8(`{"a":${'['.repeat(1 << 20)}`)
  t.throws(() => project(new Plan(shapes), [endless]), { name: 'SyntaxError' })
  t.throws(() => project(new Plan(shapes), [utf8(nested(512))]), { name: 'SyntaxError' })
})

t.test('where all is wanted all is kept, of however much', async () => {
  const plan = new Plan([{ errors: 'all', status: 'scalar' }])
  fc.assert(
    fc.property(fc.array(anything, { minLength: 1, maxLength: 5 }), size, (texts, length) => {
      const many = Array.from({ length: 400 }, (_, at) => texts[at % texts.length])
      const text = `{"errors":{"a":[${many}],"č":{"":${many[0]},"\\u0062":[${many}]}},"x":[${many}]}`
      const { x: _x, ...expected } = JSON.parse(text)
      assert.deepEqual(project(plan, pieces(utf8(text), length)), expected)
    }),
    { numRuns: 60 },
  )
})

t.test('an answer that is a list, an envelope or an error is told apart by the reader', async () => {
  const row = { id: 7, name: 'Van', lat: 1.5 }
  const found = (value: unknown) => project(new Plan(answers), [utf8(JSON.stringify(value))])
  t.same(found([{ title: 'North', items: [{ ...row, icon: { type: 'arrow' } }] }]), [{ title: 'North', items: [row] }])
  t.same(found({ data: [{ title: 'North', items: [row] }], total: 1 }), { data: [{ title: 'North', items: [row] }] })
  t.same(found({ status: 0, message: 'No such page', trace: ['a'] }), { status: 0, message: 'No such page' })
})
