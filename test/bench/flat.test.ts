/** The verdict on a soak: what grows is found, what wobbles is not. */
import t from 'tap'
import { grownIn, type Sample } from './flat.js'

/** Half an hour in which nothing grows except for the change. */
function soak(change: (minute: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: 12 }, (_, i) => {
    const minute = (i + 1) * 2.5
    const wobble = i % 2 === 0 ? 0.5 : -0.5
    const memory = { rssMb: 150 + 10 * wobble, heapMb: 40 + wobble, externalMb: 5, handles: 30 }
    return { minute, ...memory, p99: 20, responses: 9_000, unavailable: 0, unexpected: 0, ...change(minute) }
  })
}

t.test('a soak that wobbles or grows only during the warm-up is flat', async (t) => {
  t.strictSame(grownIn(soak()), [])
  t.strictSame(grownIn(soak((minute) => ({ heapMb: Math.min(40, 20 + 2 * minute) }))), [])
})

t.test('fifty bytes lost at each of 100 requests a second are found', async (t) => {
  const leaking = soak((minute) => ({ heapMb: 40 + (minute * 60 * 100 * 50) / 1e6 }))
  t.match(grownIn(leaking), [/MB of heap and external memory more at the end/])
})

t.test('growing buffers, handles and latency and unexpected responses are found', async (t) => {
  t.match(grownIn(soak((minute) => ({ externalMb: minute }))), [/external/])
  t.match(grownIn(soak((minute) => ({ rssMb: 150 + 3 * minute }))), [/resident/])
  t.match(grownIn(soak((minute) => ({ handles: 30 + 5 * minute }))), [/handles/])
  t.match(grownIn(soak((minute) => ({ p99: 20 + minute ** 2 }))), [/p99/])
  t.match(grownIn(soak((minute) => ({ unexpected: minute === 30 ? 1 : 0 }))), ['1 unexpected responses'])
  t.match(grownIn(soak(() => ({ unavailable: 20 }))), ['240 responses 503'])
})
