/** What begins in a turn of the event loop, and whose turn it is. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import t from 'tap'
import { Pace } from '../../src/lib/pace.js'
import { Clock } from '../helper.js'

/** A pace, and work that takes time on its clock; `begun` has the callers in the order in which their work began. */
function stage() {
  const clock = new Clock(0)
  const pace = new Pace(clock.now)
  const begun: string[] = []
  const request = (caller: string, ms: number, times = 1, afterwards = (): void => {}): void => {
    const begin = (): void => {
      begun.push(caller)
      clock.advance(ms)
      afterwards()
    }
    for (let n = 0; n < times; n += 1) pace.enter(() => caller, begin)
  }
  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await endOfTurn()
  }
  return { clock, pace, begun, request, turns }
}

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
  t.same([begun.at(-1), begun.length], ['a100', 103])
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
  t.same(counts, [2, 4, 6, 22, 38, 40])
})

t.test('after a long turn of one caller others go first, and their responses do not wait for its next', async (t) => {
  const { clock, pace, turns } = stage()
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
  await turns(7)
  t.same(order, Array(3).fill(['slow', 'calm', 'sent']).flat())
})

t.test('between two long pieces of work of callers with debts, others do all that they wait for', async (t) => {
  const { begun, request, turns } = stage()
  const callers = ['a', 'b', 'c']
  // Each has used 60 ms, one after another.
  for (const caller of callers) request(caller, 20, 3)
  await turns(12)
  begun.length = 0
  for (const caller of callers) request(caller, 20, 2, () => request('calm', 0, 5))
  await turns(20)
  const between = begun
    .join(' ')
    .split(/\b[abc]\b/)
    .map((calm) => calm.trim().split(' ').filter(Boolean).length)
  t.same(between, [0, 5, 5, 5, 5, 5, 5])
  t.same(begun.filter((caller) => caller !== 'calm').sort(), ['a', 'a', 'b', 'b', 'c', 'c'])
})

t.test(
  'a caller with debts has every other turn while others fill theirs, and nothing that it waits for is lost',
  async (t) => {
    const { clock, begun, request, turns } = stage()
    request('heavy', 20, 10)
    await turns(10)
    begun.length = 0
    request('heavy', 20, 1)
    // Its debt is gone while it waits.
    request('heavy', 20, 2)
    clock.advance(60_000)
    request('heavy', 20, 2)
    request('calm', 0, 200)
    await turns(10)
    t.same(begun.filter((caller) => caller === 'heavy').length, 5)
    t.ok(begun.lastIndexOf('heavy') < 100, 'the last of them did not wait for the others')
    await turns(10)
    t.same(begun.length, 205)
  },
)

t.test('neither callers with smaller debts nor those who come for the first time keep one waiting', async (t) => {
  const { begun, request, turns } = stage()
  request('heavy', 200)
  request('light', 20)
  request('middle', 100)
  await turns(6)
  begun.length = 0
  // The first is under way while the others wait.
  request('new0', 20)
  for (const caller of ['heavy', 'light']) request(caller, 20)
  request('middle', 0, 50)
  for (let n = 1; n < 20; n += 1) request(`new${n}`, 20)
  await turns(8)
  for (const caller of ['heavy', 'light', 'middle']) t.ok(begun.includes(caller), caller)
  t.ok(begun.includes('new3'))
})

t.test('of callers with like debts, one that has always more to do does not keep another one waiting', async (t) => {
  const { begun, request, turns } = stage()
  request('busy', 20)
  request('other', 20)
  await turns(6)
  let isOver = false
  const again = (caller: string): void => request(caller, 0, 1, () => void (isOver || setImmediate(again, caller)))
  for (let n = 0; n < 20; n += 1) for (const caller of ['busy', 'calm']) again(caller)
  begun.length = 0
  request('other', 0)
  await turns(8)
  t.ok(begun.includes('other'))
  isOver = true
})

t.test('each is charged its own work, of a long pause only a part, and short work leaves no debt', async (t) => {
  const { begun, request, turns } = stage()
  for (const caller of ['a', 'b']) request(caller, 8)
  request('paused', 300)
  request('short', 1, 200)
  await turns(40)
  begun.length = 0
  // The first of the turn is quick: those with debts do not begin in it.
  for (const caller of ['calm', 'a', 'b', 'short']) request(caller, 0)
  t.same(begun, ['calm', 'a', 'b', 'short'])
  await turns(4)
  begun.length = 0
  request('heavy', 20, 3)
  await turns(6)
  begun.length = 0
  request('calm', 11)
  for (const caller of ['heavy', 'paused']) request(caller, 0)
  await turns(4)
  t.same(begun, ['calm', 'paused', 'heavy'])
})

t.test('a debt is gone after a minute', async (t) => {
  const { clock, begun, request, turns } = stage()
  const orderOf = async (caller: string): Promise<string> => {
    begun.length = 0
    request('first', 50)
    request(caller, 0)
    request('calm', 0, 2)
    await turns(4)
    clock.advance(10_000)
    return begun.slice(1).join(' ')
  }
  request('long', 20, 100)
  await turns(110)
  t.equal(await orderOf('long'), 'calm calm long')
  clock.advance(40_000)
  t.equal(await orderOf('long'), 'calm calm long')
  clock.advance(5_000)
  t.equal(await orderOf('long'), 'long calm calm')
})

t.test('of callers with like debts, one that does much in a short time does all of it in its turn', async (t) => {
  const { begun, request, turns } = stage()
  for (const caller of ['a', 'b', 'c']) request(caller, 20)
  await turns(4)
  begun.length = 0
  request('a', 20, 2)
  request('b', 20, 2)
  request('c', 0, 10)
  await turns(8)
  t.equal(begun.join(' '), `a b ${'c '.repeat(10)}a b`)
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
  const { clock, pace, begun, request } = stage()
  request('a', 0, 50)
  const counts: number[] = []
  for (let turns = 0; turns < 36; turns += 1) {
    pace.accepted()
    clock.advance(1)
    await endOfTurn()
    counts.push(begun.length)
  }
  t.same([counts[15], counts[16], counts[32], counts[33]], [16, 32, 32, 48])
  await endOfTurn()
  t.equal(begun.length, 50)
})

t.test('the longest wait is that of what has begun since it was last taken', async (t) => {
  const clock = new Clock(100)
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
