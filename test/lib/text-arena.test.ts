/** Texts in an arena come back as they were added. */
import t from 'tap'
import { arenaBytes, type TextArena, TextArenaBuilder, textAt } from '../../src/lib/text-arena.js'

function builderOf(texts: readonly string[]): TextArenaBuilder {
  const builder = new TextArenaBuilder()
  for (const text of texts) {
    const bytes = Buffer.from(text)
    builder.add(bytes.length, (to, from) => bytes.copy(to, from))
  }
  return builder
}

t.test('texts of any length come back, in any order, also after a transfer to another thread', async (t) => {
  const texts = ['', 'Öl', 'a'.repeat(70_000), 'x'.repeat(3 << 20), '', '\u20ac'.repeat(30_000), 'z']
  const builder = builderOf(texts)
  const order = [6, 3, 1, 5, 0, 4, 2]
  const arena = builder.build(order)
  const buffers = [arena.spans, ...arena.blocks].map(({ buffer }) => buffer as ArrayBuffer)
  const moved: TextArena = structuredClone(arena, { transfer: buffers })
  t.equal(arena.spans.length, 0, 'nothing was copied')
  t.same(
    order.map((_, at) => textAt(moved, at)),
    order.map((number) => texts[number]),
  )
})

t.test('an arena takes little more memory than its texts', async (t) => {
  for (const [count, length] of [
    [0, 0],
    [1, 300],
    [100, 700],
    [30_000, 1_000],
  ] as const) {
    const arena = builderOf(Array(count).fill('x'.repeat(length))).build([...Array(count).keys()])
    const needed = count * (length + 12)
    t.ok(arenaBytes(arena) <= 1.1 * needed, `${arenaBytes(arena)} bytes for ${needed}`)
    t.ok(arena.blocks.length <= 5 + needed / (1 << 20), `${arena.blocks.length} blocks`)
  }
})
