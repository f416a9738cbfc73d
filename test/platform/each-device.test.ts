/** Calls of an action that the platform has for single devices only. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import t from 'tap'
import { eachDevice } from '../../src/platform/each-device.js'
import { type FailedOutcome, failure } from '../../src/platform/errors.js'

const ids = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)

/** The rows of devices that fail as given; and how many were requested. */
async function rowsOf(count: number, fails: (id: number) => FailedOutcome | undefined) {
  let calls = 0
  const rows = await eachDevice(ids(count), async (id) => {
    calls += 1
    const reason = fails(id)
    if (reason) throw failure('get_services', reason)
    return [`${id}a`, `${id}b`]
  }).catch(({ reason }) => reason as string)
  return { rows, calls }
}

t.test('devices are requested four at a time, and their rows keep the order of the devices (N48)', async (t) => {
  let [open, most] = [0, 0]
  const rows = await eachDevice(ids(10), async (id) => {
    open += 1
    most = Math.max(most, open)
    for (let turns = 0; turns < 1 + (id % 3); turns += 1) await endOfTurn()
    open -= 1
    return [id]
  })
  t.same([rows, most], [ids(10), 4])
})

t.test('a device that the platform denies for good is left out (N07); other failures end the whole list', async (t) => {
  for (const reason of ['status_0', 'rejected', 'missing_action', 'forbidden'] as const) {
    const { rows } = await rowsOf(6, (id) => (id === 2 || id === 5 ? reason : undefined))
    t.same(rows, ['1a', '1b', '3a', '3b', '4a', '4b', '6a', '6b'], reason)
  }
  const others = ['timeout', 'server_error', 'html', 'refused', 'rate_limited', 'too_large', 'wrong_shape'] as const
  for (const reason of others)
    t.strictSame(await rowsOf(100, (id) => (id === 5 ? reason : undefined)), { rows: reason, calls: 8 })
})

t.test('where all devices are refused, so is the list, after few calls', async (t) => {
  for (const [count, calls] of Object.entries({ 1: 1, 5: 5, 20: 20, 900: 20 }))
    t.strictSame(await rowsOf(Number(count), () => 'missing_action'), { rows: 'missing_action', calls })
  t.equal((await rowsOf(900, (id) => (id < 20 ? 'status_0' : undefined))).rows.length, 2 * 881)
  t.strictSame(await rowsOf(0, () => 'status_0'), { rows: [], calls: 0 })
})
