/** The verdicts on a soak and on a run: what grows is found, what wobbles is not. */
import t from 'tap'
import { grownIn, type Sample } from './flat.js'
import { spread, verdictOn } from './table.js'

/** Half an hour in which nothing grows except for the change. */
function soak(change: (minute: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 12 }, (_, i) => {
    const minute = (i + 1) * 2.5
    const wobble = i % 2 === 0 ? 0.5 : -0.5
    const memory = { rssMb: 150 + 10 * wobble, heapMb: 40 + wobble, externalMb: 5, handles: 30 }
    return { minute, ...memory, p99: 20, responses: 9_000, unavailable: 0, unexpected: 0, ...change(minute) }
  })
}

t.test('what is more at the end of a soak is found, a wobble and the growth of a warm-up are not', async (t) => {
  const rows: [change: (minute: number) => Partial<Sample>, found: (string | RegExp)[]][] = [
    [() => ({}), []],
    [(minute) => ({ heapMb: Math.min(40, 20 + 2 * minute) }), []],
    // Fifty bytes lost at each of 100 requests a second.
    [(minute) => ({ heapMb: 40 + (minute * 60 * 100 * 50) / 1e6 }), [/MB of heap and external memory more at the end/]],
    [(minute) => ({ externalMb: minute }), [/external/]],
    [(minute) => ({ rssMb: 150 + 3 * minute }), [/resident/]],
    [(minute) => ({ handles: 30 + 5 * minute }), [/handles/]],
    [(minute) => ({ p99: 20 + minute ** 2 }), [/p99/]],
    [(minute) => ({ unexpected: minute === 30 ? 1 : 0 }), ['1 unexpected responses']],
    [() => ({ unavailable: 20 }), ['240 responses 503']],
  ]
  for (const [change, found] of rows) {
    const grown = grownIn(soak(change))
    t.equal(grown.length, found.length)
    t.match(grown, found)
  }
})

t.test('a floor whose rounds differ by more than 30 %, or that had one round, proves nothing', async (t) => {
  t.same([verdictOn([3, 30]).isNoisy, verdictOn([3, 31]).isNoisy], [false, true])
  t.same([verdictOn([spread([90, 100, 110])]).isNoisy, verdictOn([3, spread([100])]).isNoisy], [false, true])
})
