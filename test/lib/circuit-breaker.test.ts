/** The breaker, with time as a parameter. */
import t from 'tap'
import { Breaker, type BreakerState, type Verdict } from '../../src/lib/circuit-breaker.js'

function breaker() {
  let now = 50_000
  const states: BreakerState[] = []
  const guard = new Breaker({ coolDownMs: 2_000, now: () => now, onState: (state) => void states.push(state) })
  return {
    guard,
    states,
    wait: (ms: number) => {
      now += ms
    },
    /** Calls one after another; how many were let through. */
    calls: (verdict: Verdict, count = 1, subject = 'a'): number => {
      let passed = 0
      for (let n = 0; n < count; n += 1) {
        const permit = guard.enter(subject)
        permit?.tell(verdict)
        if (permit) passed += 1
      }
      return passed
    },
  }
}

t.test('a few failures open nothing; five in a row do', async (t) => {
  const { guard, calls } = breaker()
  t.equal(calls('sick', 4), 4)
  calls('well')
  t.equal(calls('sick', 4), 4)
  t.equal(guard.state, 'closed')
  t.equal(calls('sick', 3), 1)
  t.equal(guard.state, 'open')
})

t.test('one account that always fails does not shut out the others', async (t) => {
  const { guard, calls } = breaker()
  for (let n = 0; n < 50; n += 1) {
    calls('sick', 3, 'the long history')
    calls('well', 1, 'others')
  }
  t.equal(guard.state, 'closed')
})

t.test('six in ten of at least ten calls failing, for more than one, opens it; half of them does not', async (t) => {
  const { guard, calls, wait } = breaker()
  const pairs = (count: number): void => {
    for (let n = 0; n < count; n += 1) calls('sick', 1, `account ${n}`) && calls('well')
  }
  pairs(20)
  t.equal(guard.state, 'closed', 'half')
  wait(10_000)
  pairs(3)
  calls('sick', 2, 'account 5')
  t.equal(guard.state, 'closed', 'eight calls are too few, and older ones do not count')
  calls('well')
  calls('sick', 1, 'account 6')
  t.equal(guard.state, 'open', 'six of ten')
})

t.test('an open breaker turns everybody away, then lets one through, who decides', async (t) => {
  const { guard, calls, wait, states } = breaker()
  calls('sick', 5)
  t.equal(guard.remainingMs, 2_000)
  wait(1_500)
  t.equal(calls('well', 100), 0)
  t.equal(guard.remainingMs, 500)
  wait(500)
  const probe = guard.enter('a')
  t.ok(probe)
  t.equal(calls('well', 100), 0, 'nobody beside the probe')
  probe?.tell('sick')
  t.equal(guard.remainingMs, 2_000, 'a failed probe begins anew')
  wait(2_000)
  t.equal(calls('unclear'), 1)
  t.equal(guard.state, 'half_open', 'a probe that tells nothing is no verdict')
  t.equal(calls('well'), 1)
  t.same(states, ['open', 'half_open', 'open', 'half_open', 'closed'])
  t.equal(calls('sick', 4), 4, 'closed, it has forgotten')
})

t.test('calls that began before it opened have no say afterwards', async (t) => {
  const { guard, calls, wait } = breaker()
  const early = Array.from({ length: 20 }, () => guard.enter('a'))
  calls('sick', 5)
  for (const permit of early) permit?.tell('well')
  t.equal(guard.state, 'open')
  wait(2_000)
  calls('well')
  for (const permit of early) permit?.tell('sick')
  t.equal(guard.state, 'closed')
})
