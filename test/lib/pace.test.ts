/** What begins in a turn of the event loop, and whose turn it is. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import t from 'tap'
import { Pace } from '../../src/lib/pace.js'
import { Clock } from '../helper.js'

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

t.test('a turn ends once its work has taken long, also if the time passes after an await', async (t) => {
  const clock = new Clock(0)
  const pace = new Pace(clock.now)
  let [begun, ms] = [0, 6]
  for (let n = 0; n < 40; n += 1) {
    void pace.turn('a').then(async () => {
      for (let awaits = 0; awaits < 9; awaits += 1) await undefined
      begun += 1
      clock.advance(ms)
    })
  }
  const counts: number[] = []
  for (let turns = 0; turns < 6; turns += 1) {
    await endOfTurn()
    counts.push(begun)
    if (turns === 2) ms = 0
  }
  t.same(counts, [2, 3, 5, 6, 22, 38])
})

t.test('after a long turn of one caller others go first, and their responses do not wait for its next', async (t) => {
  const clock = new Clock(0)
  const pace = new Pace(clock.now)
  const order: string[] = []
  const slow = (): void => {
    order.push('slow')
    clock.advance(300)
    pace.enter(() => 'b', calm)
  }
  const calm = (): void => {
    order.push('calm')
    setImmediate(() => order.push('sent'))
  }
  for (let n = 0; n < 3; n += 1) pace.enter(() => 'a', slow)
  for (let turns = 0; turns < 7; turns += 1) await endOfTurn()
  t.same(order, Array(3).fill(['slow', 'calm', 'sent']).flat())
})

t.test('those that wait for one result go on one after another, not all at once', async (t) => {
  const pace = new Pace(() => 0)
  const order: string[] = []
  for (const name of ['a1', 'a2', 'a3']) {
    void pace.turn('a').then(async () => {
      order.push(name)
      await undefined
      order.push(`${name} done`)
    })
  }
  t.same(order, [])
  await endOfTurn()
  t.same(order, ['a1', 'a1 done', 'a2', 'a2 done', 'a3', 'a3 done'])
})

t.test('while connections are accepted nothing begins, but not for long, and then as much as ever', async (t) => {
  const clock = new Clock(0)
  const pace = new Pace(clock.now)
  let begun = 0
  for (let n = 0; n < 33; n += 1)
    pace.enter(
      () => 'a',
      () => begun++,
    )
  const counts: number[] = []
  for (let turns = 0; turns < 36; turns += 1) {
    pace.accepted()
    clock.advance(1)
    await endOfTurn()
    counts.push(begun)
  }
  t.same([counts[15], counts[16], counts[32], counts[33]], [16, 32, 32, 33])
})

t.test('the longest wait is that of what has begun since it was last taken', async (t) => {
  const clock = new Clock(0)
  const pace = new Pace(clock.now)
  const waits: number[] = []
  for (let n = 0; n < 17; n += 1)
    pace.enter(
      () => 'a',
      (waitedMs) => waits.push(waitedMs),
    )
  clock.advance(7)
  t.equal(pace.takeLongestWaitMs(), 0)
  await endOfTurn()
  t.same(waits, [...Array(16).fill(0), 7])
  t.same([pace.takeLongestWaitMs(), pace.takeLongestWaitMs()], [7, 0])
})
