/** The busiest callers of the last minute: without old requests, and bounded. */
import t from 'tap'
import { Callers } from '../../src/ops/callers.js'

t.test('a request is listed for at least a minute and less than 80 s', async (t) => {
  let now = 5_000_000
  const callers = new Callers(() => now)
  callers.count('a', null, false)
  now += 60_000
  t.equal(callers.top().length, 1)
  now += 20_000
  t.equal(callers.top().length, 0)
  for (let i = 0; i < 4; i += 1) {
    callers.count('b', 'key', i === 0)
    now += 15_000
  }
  t.same(callers.top(), [{ account: 'b', key: 'key', requests: 4, limited: 1 }], 'summed over the minute')
})

t.test('however many callers there are, the list and the memory are bounded', async (t) => {
  const callers = new Callers(() => 0)
  callers.count('busy', null, false)
  for (let i = 0; i < 10_000; i += 1) callers.count('account', `key-${i}`, false)
  callers.count('busy', null, false)
  t.equal(callers.top().length, 50)
  t.match(callers.top()[0], { account: 'busy', requests: 2 })
})
