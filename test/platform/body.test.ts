/** Response bodies read row by row. */
import t from 'tap'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { readRows } from '../../src/platform/body.js'

t.test('a long body whose bytes are all there lets other responses have their turn', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, '[]'.padStart(64 * 1024))
  const chunks = 100
  let [read, turns] = [0, 0]
  const body = async function* () {
    for (; read < chunks; read += 1) yield chunk
  }
  const countTurns = (): void => {
    turns += 1
    if (read < chunks) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  const sink = { write: () => {}, end: () => [], bytes: 0 }
  const budget = new ByteBudget({ maxBytes: 1, maxBytesPerOwner: 1 })
  t.same(await readRows('get_devices', body(), sink, budget.open('me')), [])
  t.equal(read, chunks)
  t.ok(turns >= chunks / 4, `${turns} turns for ${chunks} chunks`)
})
