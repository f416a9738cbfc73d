/** A soak that grows must be told from one that does not. */
import t from 'tap'
import { grownIn, rise, type Sample } from './flat.js'

/** Half an hour in which all stays as it is, but for what is said. */
function soak(change: (minute: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: 12 }, (_, i) => {
    const minute = (i + 1) * 2.5
    const wobble = i % 2 === 0 ? 0.5 : -0.5
    const memory = { rssMb: 150 + 10 * wobble, heapMb: 40 + wobble, externalMb: 5, handles: 30 }
    const latency = { p50: 3, p99: 20, bareP50: 1, bareP99: 4 }
    return { minute, answers: 9_000, unavailable: 0, unexpected: 0, ...memory, ...latency, ...change(minute) }
  })
}

t.test('the rise of a line is its last value less its first', async (t) => {
  t.equal(rise([1, 3, 5, 7]), 6)
  t.equal(rise([4, 4, 4]), 0)
  t.equal(rise([4]), 0)
})

t.test('a soak that stays as it is, wobbling, is flat', async (t) => {
  t.strictSame(grownIn(soak()), [])
})

t.test('memory that is taken during the warm-up only is flat', async (t) => {
  t.strictSame(grownIn(soak((minute) => ({ heapMb: Math.min(40, 20 + 2 * minute) }))), [])
})

t.test('latency that grows as that of a bare server is flat', async (t) => {
  t.strictSame(grownIn(soak((minute) => ({ p99: 20 * minute, bareP99: 4 * minute }))), [])
})

t.test('fifty bytes lost at each of 100 requests a second are found', async (t) => {
  const leaking = soak((minute) => ({ heapMb: 40 + (minute * 60 * 100 * 50) / 1e6 }))
  t.match(grownIn(leaking), [/MB of heap and external memory more at the end/])
})

t.test('buffers, handles, latency and wrong answers are looked at, too', async (t) => {
  t.match(grownIn(soak((minute) => ({ externalMb: minute }))), [/external/])
  t.match(grownIn(soak((minute) => ({ rssMb: 150 + 3 * minute }))), [/resident/])
  t.match(grownIn(soak((minute) => ({ handles: 30 + 5 * minute }))), [/handles/])
  t.match(grownIn(soak((minute) => ({ p99: 20 + minute ** 2 }))), [/p99/])
  t.match(grownIn(soak((minute) => ({ unexpected: minute === 30 ? 1 : 0 }))), ['1 unexpected answers'])
  t.match(grownIn(soak(() => ({ unavailable: 20 }))), ['240 answers 503'])
})
