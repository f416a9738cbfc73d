/** Limits of RowReader, its placeholders, and the compiled module. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { RowReader, type RowReaderOptions } from '../../../src/lib/json-rows/index.js'

const root = process.cwd()
const shape = { id: 'scalar', items: [{ id: 'scalar' }] } as const

const ids = (records: Record<string, unknown>[]) => records.map(({ id }) => id)

function open(options: Partial<RowReaderOptions> = {}) {
  const records: Record<string, unknown>[] = []
  const reader = new RowReader({
    ...{ shape, maxEnvelopeBytes: 1 << 26 },
    normalize: ({ id }) => ({ id, items: [] }),
    onRow: (row) => void records.push(row.record()),
    ...options,
  })
  const write = (text: string, chunk = 1 << 20): void => {
    const bytes = Buffer.from(text)
    for (let from = 0; from < bytes.length; from += chunk) reader.write(bytes.subarray(from, from + chunk))
  }
  return { reader, records, write }
}

function readAll(text: string, options: Partial<RowReaderOptions> = {}, chunk = 1 << 20): unknown {
  const { reader, records, write } = open(options)
  write(text, chunk)
  return [reader.end(), records.length]
}

t.test('the module that is loaded is what its source compiles to', async (t) => {
  const out = join(t.testdir(), 'row.wasm')
  const asc = join(root, 'node_modules/assemblyscript/bin/asc.js')
  const options = ['--config', 'src/lib/json-rows/assembly/asconfig.json', '--target', 'release', '--outFile', out]
  await promisify(execFile)(process.execPath, [asc, ...options], { cwd: root })
  t.ok(readFileSync(out).equals(readFileSync(join(root, 'src/lib/json-rows/row.wasm'))), 'after `npm run wasm`')
})

t.test('no document can forge a placeholder, not even with those of another reader', async (t) => {
  const text = '[{"items":[{"id":1},{"id":2}]}]'
  const first = open()
  first.write(text)
  const placeholders = (first.reader.end() as [{ items: string[] }])[0].items
  t.same(placeholders.map(first.reader.rowAt.bind(first.reader)), [0, 1])
  const nonce = String(placeholders[0]).slice(0, -1)
  const forged = [...placeholders, nonce, `${nonce}-1`, `${nonce}1e0`, '0', '"0"', '\u00000', '', 0, null, true, [], {}]
  const { reader, records, write } = open()
  write(JSON.stringify([{ items: [...forged, { id: 3 }], title: placeholders[0] }]))
  const [{ items, title }] = reader.end() as [{ items: unknown[]; title: unknown }]
  const found = items.map((item) => reader.rowAt(item))
  t.same(found.slice(0, -2), Array(forged.length - 1).fill(undefined), 'all but the objects')
  t.same(found.slice(-2), [0, 1])
  t.same(items.slice(0, -2), forged.slice(0, -1), 'the strings of the document are unchanged')
  t.equal(reader.rowAt(title), undefined)
  t.equal(records.length, 2)
})

t.test('whitespace between tokens does not decline a row', async (t) => {
  const items = [{ id: 1, a: [1, { b: null }] }, {}]
  const rows = Array.from({ length: 20 }, (_, id) => ({ id, text: ' \\" { ', items }))
  for (const indent of [undefined, 1, 4, '\t', 40]) {
    const { reader, records, write } = open({ normalize: () => assert.fail('declined') })
    write(JSON.stringify([{ items: rows }], undefined, indent).replaceAll('\n', '\r\n'), 1_000)
    reader.end()
    const read = rows.map(({ id }) => ({ id, items: [{ id: 1 }, { id: undefined }] }))
    t.same(records, read)
  }
})

t.test('an envelope over its limit is refused, placeholders included', async (t) => {
  const tooLarge = { name: 'TooLarge' }
  const title = (length: number) => `[{"title":"${'x'.repeat(length - 14)}"}]`
  t.same(readAll(title(5_000), { maxEnvelopeBytes: 5_000 }), [JSON.parse(title(5_000)), 0])
  for (const chunk of [1, 999, 1 << 20])
    t.throws(() => readAll(title(5_001), { maxEnvelopeBytes: 5_000 }, chunk), tooLarge)
  const { write } = open({ maxEnvelopeBytes: 1 << 16 })
  write('{"data":{')
  const writeForever = () => {
    for (;;) write(`"0":{"items":[{"id":1}]},`)
  }
  t.throws(writeForever, tooLarge, 'rows under numeric keys belong to the envelope')
  t.throws(() => readAll(`[{"items":[${'{},'.repeat(10_000)}{}]}]`, { maxEnvelopeBytes: 1 << 17 }), tooLarge)
})

t.test('a row of 1 MiB fits and a longer one does not, however it is split and read', async (t) => {
  for (const text of ['{"id":7,"a":"x"}', '{ "id":7,"a":"x"}', '{"id":7e0,"a":"x"}'])
    for (const chunk of [1_000, 65_536, 1 << 22]) {
      const fits = text.replace('x', 'x'.repeat(2 ** 20 + 1 - text.length))
      const { records, reader, write } = open()
      write(`[{"items":[{"id":1},${fits},{"id":2}]}]`, chunk)
      reader.end()
      t.same(ids(records), [1, 7, 2])
      const over = fits.replace('x', 'xx')
      t.throws(() => readAll(`[{"items":[${over}]}]`, {}, chunk), { name: 'TooLarge' })
      t.throws(() => readAll(`[{"items":[${over.slice(0, -1)}x`, {}, chunk), { name: 'TooLarge' }, 'unfinished')
    }
})

t.test('a list whose name is escaped, or ends like that of a list of rows, belongs to the envelope', async (t) => {
  t.same(readAll('[{"it\\u0065ms":[{"id":1}]}]'), [[{ items: [{ id: 1 }] }], 0])
  t.same(readAll('[{"the \\"items":[{"id":1}]}]'), [[{ 'the "items': [{ id: 1 }] }], 0])
})

t.test('a row whose kept fields exceed 128 KiB, or are not as described, is left out alone', async (t) => {
  const same = (record: Record<string, unknown>) => record
  const rows: [row: object, normalize: typeof same][] = [
    [{ items: Array(70_000).fill({}) }, same],
    [{ id: 'x'.repeat(140_000) }, same],
    [{ id: '1', items: 'x' }, ({ id, items }) => (items === 'x' ? { id: 1, items: 'many' } : { id })],
    [{ id: '1', items: 'x' }, ({ id, items }) => ({ id: items === 'x' ? 'x'.repeat(1 << 21) : id })],
  ]
  for (const [row, normalize] of rows) {
    const { reader, records, write } = open({ normalize })
    write(JSON.stringify([{ items: [{ id: 1 }, row, { id: 2 }], 7: row }]), 1_000)
    const [{ items, ...more }] = reader.end() as [{ items: unknown[]; 7: Record<string, unknown> }]
    t.same([items[1], ...items.map((item) => reader.rowAt(item))], [null, 0, undefined, 1])
    t.equal(reader.add(more[7]), undefined)
    t.equal(reader.add({ id: 3 }), 2)
    t.same(ids(records), [1, 2, 3])
  }
})

t.test('512 levels are read, and more are refused early and without a deep stack', async (t) => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  for (const chunk of [1, 1 << 20]) {
    t.match(readAll(nested(512), {}, chunk), { 1: 0 })
    t.match(readAll(`[{"items":[{"a":${nested(511)}}]}]`, {}, chunk), { 1: 1 })
    for (const text of [nested(513), `[{"items":[{"a":${nested(512)}}]}]`])
      t.throws(() => readAll(text, {}, chunk), { name: 'SyntaxError' })
  }
  for (const before of ['', '[{"items":[{"a":'])
    t.throws(() => open().write(before + '['.repeat(1 << 19)), { name: 'SyntaxError' }, 'before its end')
})

t.test('readers of one shape can be used in turn', async (t) => {
  const texts = [1, 2, 3].map((from) =>
    JSON.stringify([{ items: Array.from({ length: 30 }, (_, at) => ({ id: from * at })) }]),
  )
  const readers = texts.map(() => open())
  for (let at = 0; at < 400; at++)
    for (const [i, { write }] of readers.entries()) write(texts[i]?.slice(at, at + 1) ?? '')
  for (const [i, { reader, records }] of readers.entries()) {
    reader.end()
    t.equal(ids(records).join(), [...Array(30).keys()].map((at) => (i + 1) * at).join())
  }
})

t.test('errors quote nothing of the document', async () => {
  for (const text of ['[{"items":[{"id":secret}]}]', '[secret]', '[{"items":[{"id":1,"secret":', 'secret'])
    assert.throws(
      () => readAll(text),
      (error: Error) => error.name === 'SyntaxError' && !error.message.includes('secret'),
    )
})

t.test('shapes the module has no room for are refused', async (t) => {
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 'scalar' as const]))
  t.throws(() => open({ shape: fields(49) }), /at most 48 fields/)
  t.throws(() => open({ shape: { ['f'.repeat(32)]: 'scalar' } }), /at most 31 bytes/)
  const nested = Object.fromEntries(Array.from({ length: 48 }, (_, at) => [`f${at}`, fields(30)]))
  t.throws(() => open({ shape: nested }), /at most 1024 fields/)
  t.throws(() => open({ onRow: (row) => row.slot('name') }).write('[{"items":[{"id":1}]}]'), /no field name/)
})
