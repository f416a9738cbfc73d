/** Tests of the clock for TTLs. */
import t from 'tap'
import { monotonicClock } from '../../src/lib/monotonic-clock.js'

t.test('time passes as on the wrapped clock, and stands still during a correction of at most 1 s', async (t) => {
  let now = 10_000
  const clock = monotonicClock(() => now)
  const start = clock()
  const elapsedAfter = (ms: number): number => {
    now += ms
    return clock() - start
  }
  t.same([elapsedAfter(0), elapsedAfter(500), elapsedAfter(-1_000), elapsedAfter(200)], [0, 500, 500, 700])
})

t.test('after a backward jump of more than 1 s every TTL expires, and time passes on', async (t) => {
  let now = 10_000_000
  const clock = monotonicClock(() => now)
  const start = clock()
  now -= 1_001
  const jumped = clock()
  t.ok(jumped - start > 300 * 86_400_000)
  now += 5
  t.equal(clock() - jumped, 5)
})
