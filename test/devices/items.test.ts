/** Responses read row by row. */
import t from 'tap'
import { readItems } from '../../src/devices/items.js'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { wireDevice } from '../../src/platform/wire.js'

t.test('a long body whose bytes are all there lets other responses have their turn', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const chunks = 100
  let [read, turns] = [0, 0]
  const body = async function* () {
    for (; read < chunks; read += 1) yield chunk
    yield Buffer.from('[]')
  }
  const countTurns = (): void => {
    turns += 1
    if (read < chunks) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  const options = { shape: wireDevice, onRow: () => {}, maxEnvelopeBytes: 2 ** 26, bytes: () => 0 }
  const budget = new ByteBudget(2 ** 31)
  const { envelope } = await readItems('get_devices', body(), options, { reservation: budget.open('me') })
  t.same(envelope, [])
  t.equal(read, chunks)
  t.ok(turns >= chunks / 4, `${turns} turns for ${chunks} chunks`)
})
