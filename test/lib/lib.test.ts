/** The small parts: a map, a budget and an arena that are bounded, long work in steps, a clock, and the settings of V8. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { BoundedMap } from '../../src/lib/bounded-map.js'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { inTurns, type Steps } from '../../src/lib/in-turns.js'
import { jsonBytes } from '../../src/lib/json-bytes.js'
import { monotonicClock } from '../../src/lib/monotonic-clock.js'
import { arenaBytes, type TextArena, TextArenaBuilder, textAt } from '../../src/lib/text-arena.js'
import { keptTicks } from '../../src/lib/v8-tuning.js'

t.test('a full map forgets the entry that was set least recently', async (t) => {
  const map = new BoundedMap<string, number>(3)
  for (const key of ['a', 'b', 'c']) map.set(key, 1)
  t.equal(map.size, 3)
  map.set('a', 2)
  t.equal(map.size, 3, 'an entry set again takes no more room')
  map.set('d', 1).set('e', 1)
  t.same(Object.fromEntries(map), { a: 2, d: 1, e: 1 })
  t.same([...map.keys()], ['a', 'd', 'e'])
})

t.test('no owner gets more than half of a budget, all together no more than all, and all is given back', async (t) => {
  const budget = new ByteBudget(120)
  const [a, b, again] = [budget.open('a'), budget.open('b'), budget.open('a')]
  t.ok(a.grow(50))
  t.notOk(again.grow(11), 'the half of the owner, over all its reservations')
  t.ok(again.grow(10))
  t.ok(b.grow(60))
  t.notOk(budget.open('c').grow(1), 'the budget')
  t.ok(budget.isShort)
  t.same([budget.usedBytes, budget.rejected, again.bytes], [120, 2, 10], 'a refused growth adds nothing')
  a.release()
  t.same([a.bytes, again.bytes, budget.usedBytes], [0, 10, 70], 'what it held')
  b.release()
  b.release()
  t.equal(budget.usedBytes, 10, 'what is released is free again, once')
  t.notOk(budget.isShort)
  t.notOk(b.grow(1), 'a released reservation holds nothing again')
  t.ok(budget.open('b').grow(60))
  again.release()
  t.ok(budget.open('a').grow(60))
})

t.test('long work leaves turns to others, and ends when its signal is aborted', async (t) => {
  function* endless(): Steps<never> {
    for (;;) yield
  }
  const stop = new AbortController()
  setImmediate(() => stop.abort())
  await t.rejects(inTurns(endless(), stop.signal), { name: 'AbortError' })
})

t.test('JSON that is made in steps is that of JSON.stringify', async (t) => {
  const list = Array.from({ length: 250 }, (_, at) => ({ at, text: at % 2 ? 'ü\u0001' : undefined }))
  const value = { list, none: [], inner: { nothing: {}, list, gone: undefined }, empty: null }
  const ring = Array.from({ length: 1_000 }, (_, at) => [at, at + 0.5])
  const nested = [null, undefined, { id: 1, geometry: { coordinates: [ring] } }, 'x', [[ring], 7], {}]
  for (const one of [value, list, {}, [], nested, { data: [...nested, ...list] }]) {
    const json = await inTurns(jsonBytes(one), AbortSignal.timeout(60_000))
    t.equal(Buffer.from(json).toString(), JSON.stringify(one))
  }
  t.ok([...jsonBytes({ data: [{ geometry: { coordinates: [ring] } }] })].length > 10, 'also a long list within an item')
})

t.test('time passes as on the wrapped clock, and stands still during a correction of at most 1 s', async (t) => {
  let now = 10_000
  const clock = monotonicClock(() => now)
  const start = clock()
  const elapsedAfter = (ms: number): number => {
    now += ms
    return clock() - start
  }
  t.same([elapsedAfter(0), elapsedAfter(500), elapsedAfter(-1_000), elapsedAfter(200)], [0, 500, 500, 700])
  const jumped = elapsedAfter(-1_001)
  t.ok(jumped > 300 * 86_400_000, 'after a longer jump backward every TTL expires')
  t.equal(elapsedAfter(5) - jumped, 5)
})

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
  const order = [6, 3, 1, 5, 0, 4, 2]
  const arena = builderOf(texts).build(order)
  const buffers = [arena.spans, ...arena.blocks].map(({ buffer }) => buffer as ArrayBuffer)
  const moved: TextArena = structuredClone(arena, { transfer: buffers })
  t.equal(arena.spans.length, 0, 'nothing was copied')
  for (const [at, number] of order.entries()) t.equal(textAt(moved, at), texts[number])
})

t.test('an arena takes little more memory than its texts', async (t) => {
  for (const [count, length] of Object.entries({ 0: 0, 1: 300, 100: 700, 30000: 1_000 })) {
    const arena = builderOf(Array(Number(count)).fill('x'.repeat(length))).build([...Array(Number(count)).keys()])
    const needed = Number(count) * (length + 12)
    t.ok(arenaBytes(arena) <= 1.1 * needed, `${arenaBytes(arena)} bytes for ${needed}`)
    t.ok(arena.blocks.length <= 5 + needed / (1 << 20), `${arena.blocks.length} blocks`)
  }
})

t.test('one tick object stays, of the shape that every tick has', async (t) => {
  setFlagsFromString('--allow-natives-syntax')
  const haveSameShape: (a: object, b: object) => boolean = runInNewContext('(a, b) => %HaveSameMap(a, b)')
  const { executionAsyncResource } = await import('node:async_hooks')
  const tick = await new Promise<object>((resolve) => process.nextTick(() => resolve(executionAsyncResource())))
  t.equal(keptTicks.length, 1)
  t.ok(haveSameShape(keptTicks[0] as object, tick))
  t.notOk(haveSameShape(keptTicks[0] as object, {}))
})
