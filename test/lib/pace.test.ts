/** What begins in a turn of the event loop, and whose turn it is. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import t from 'tap'
import { Pace } from '../../src/lib/pace.js'
import { Clock } from '../helper.js'

const a = (): string => 'a'

t.test('callers take turns, however much of one of them waits; what one of them has begins in order', async (t) => {
  const pace = new Pace(() => 0)
  const begun: string[] = []
  const enter = (caller: string, count: number): void => {
    for (let n = 1; n <= count; n += 1)
      pace.enter(
        () => caller,
        () => begun.push(`${caller}${n}`),
      )
  }
  enter('a', 100)
  enter('b', 2)
  enter('c', 1)
  t.same(begun.length, 16)
  await endOfTurn()
  t.same(begun.slice(16), 'a17 b1 c1 a18 b2 a19 a20 a21 a22 a23 a24 a25 a26 a27 a28 a29'.split(' '))
  for (let turns = 0; turns < 5; turns += 1) await endOfTurn()
  t.equal(begun.at(-1), 'a100')
  t.equal(begun.length, 103)
})

t.test('after a long turn fewer begin in the next, at least one, and after short turns more again', async (t) => {
  const clock = new Clock(0)
  const pace = new Pace(clock.now)
  let [begun, ms] = [0, 11]
  const begin = (): void => {
    begun += 1
    clock.advance(ms / 2)
  }
  for (let n = 0; n < 200; n += 1) pace.enter(a, begin)
  const counts: number[] = []
  for (let turns = 0; turns < 12; turns += 1) {
    if (turns === 6) ms = 0
    counts.push(begun)
    begun = 0
    await endOfTurn()
  }
  t.same(counts, [16, 8, 4, 2, 1, 2, 1, 2, 4, 8, 16, 16])
})

t.test('while connections are accepted nothing begins, but not for long', async (t) => {
  const pace = new Pace(() => 0)
  let begun = 0
  for (let n = 0; n < 33; n += 1) pace.enter(a, () => begun++)
  const counts: number[] = []
  for (let turns = 0; turns < 36; turns += 1) {
    pace.accepted()
    await endOfTurn()
    counts.push(begun)
  }
  t.same([counts[15], counts[16], counts[32], counts[33]], [16, 32, 32, 33])
})

t.test('the longest wait is that of what has begun since it was last taken', async (t) => {
  const clock = new Clock(0)
  const pace = new Pace(clock.now)
  const waits: number[] = []
  for (let n = 0; n < 17; n += 1) pace.enter(a, (waitedMs) => waits.push(waitedMs))
  clock.advance(7)
  t.equal(pace.takeLongestWaitMs(), 0)
  await endOfTurn()
  t.same(waits, [...Array(16).fill(0), 7])
  t.same([pace.takeLongestWaitMs(), pace.takeLongestWaitMs()], [7, 0])
})
