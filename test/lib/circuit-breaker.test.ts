/** The circuit breaker, with time as a parameter. */
import fc from 'fast-check'
import t from 'tap'
import { type Call, CircuitBreaker, type Outcome } from '../../src/lib/circuit-breaker.js'

const actions = ['devices', 'user', 'events', 'history', 'alerts', 'services', 'drivers']

function breaker() {
  let now = 50_000
  const guard = new CircuitBreaker(() => now)
  const call = (account: string, action = 'devices'): Call => ({ account, action, isKnown: !/^invented/.test(account) })
  return {
    guard,
    pass: (ms: number) => {
      now += ms
    },
    waitMs: (account: string, action?: string) => guard.waitMs(call(account, action)),
    start: (account: string, action?: string) => guard.enter(call(account, action)),
    /** Makes calls one after another. @returns how many were let through. */
    calls: (outcome: Outcome, account: string, count = 1, action?: string): number => {
      let passed = 0
      for (let n = 0; n < count; n += 1) {
        const permit = guard.enter(call(account, action))
        permit?.record(outcome)
        if (permit) passed += 1
      }
      return passed
    },
  }
}

/** A breaker whose circuit for an action three accounts have opened. */
function openBreaker() {
  const parts = breaker()
  for (const account of ['x', 'y', 'z']) parts.calls('failure', account, 2)
  return parts
}

t.test('five failures in a row stop an action of an account, and nothing else', async (t) => {
  const { guard, calls } = breaker()
  t.equal(calls('failure', 'a', 4), 4)
  t.equal(calls('success', 'a'), 1)
  t.equal(calls('failure', 'a', 4), 4)
  t.equal(calls('ignored', 'a'), 1, 'no success')
  t.equal(calls('failure', 'a', 9), 1)
  t.equal(calls('success', 'a', 1, 'alerts'), 1)
  t.equal(calls('success', 'b'), 1)
  t.equal(guard.state, 'closed')
})

t.test('a stopped action of an account gets one probe after the cool-down, which decides', async (t) => {
  const { calls, start, waitMs, pass } = breaker()
  calls('failure', 'a', 5)
  t.equal(waitMs('a'), 2_000)
  pass(1_999)
  t.equal(calls('success', 'a'), 0)
  t.equal(waitMs('a'), 1)
  pass(1)
  t.equal(waitMs('a'), 0)
  const probe = start('a')
  t.ok(probe)
  t.equal(waitMs('a'), 2_000, 'no second probe beside it')
  t.equal(calls('success', 'a'), 0)
  probe?.record('failure')
  t.equal(waitMs('a'), 2_000, 'a failed probe starts another cool-down')
  pass(2_000)
  t.equal(calls('ignored', 'a'), 1)
  t.equal(calls('success', 'a'), 1, 'an ignored probe leaves room for the next')
  t.equal(calls('failure', 'a', 9), 5, 'it counts from the start again')
})

t.test('calls that started before a circuit changed its state have no effect on it', async (t) => {
  const own = breaker()
  const early = Array.from({ length: 20 }, () => own.start('a'))
  own.calls('failure', 'a', 5)
  early.pop()?.record('success')
  for (const permit of early.splice(0, 9)) permit?.record('failure')
  t.equal(own.waitMs('a'), 2_000, 'neither stopped')
  own.pass(2_000)
  own.calls('success', 'a')
  for (const permit of early) permit?.record('failure')
  t.equal(own.calls('failure', 'a', 9), 5, 'nor when it works again')

  const { guard, calls, start, pass } = breaker()
  const others = ['d', 'e', 'f'].flatMap((account) => [start(account), start(account), start(account)])
  for (const account of ['x', 'y', 'z']) calls('failure', account, 2)
  others.pop()?.record('success')
  t.equal(guard.state, 'open')
  pass(2_000)
  const late = start('a')
  others.pop()?.record('success')
  t.equal(guard.state, 'half_open')
  pass(250)
  calls('success', 'b')
  for (const permit of [late, ...others]) permit?.record('failure')
  t.equal(guard.state, 'closed')
})

t.test('one account, whatever it does, together with chance failures of a second one, shuts out nobody', async () => {
  const step = fc.record({
    account: fc.constantFrom('bad', 'bad', 'bad', 'unlucky'),
    action: fc.constantFrom(...actions),
    outcome: fc.constantFrom<Outcome>('failure', 'failure', 'failure', 'ignored', 'success'),
    ms: fc.constantFrom(0, 30, 2_000, 60_000),
    isSlow: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
      const { start, pass } = breaker()
      const slow: (() => void)[] = []
      return steps.every(({ account, action, outcome, ms, isSlow }) => {
        const permit = start(account, action)
        if (isSlow) slow.push(() => permit?.record(outcome))
        else permit?.record(outcome)
        if (slow.length > 8) slow.shift()?.()
        pass(ms)
        return actions.every((action) => start('calm', action) !== undefined)
      })
    }),
    { numRuns: 300 },
  )
})

t.test('three accounts that fail in one action, without a success between, stop that action for all', async (t) => {
  const { guard, calls, start } = breaker()
  calls('failure', 'a', 2)
  calls('failure', 'b', 2)
  calls('success', 'd')
  calls('failure', 'a', 2)
  calls('failure', 'b', 3)
  t.equal(guard.state, 'closed')
  calls('ignored', 'd')
  calls('failure', 'c')
  t.equal(guard.state, 'open')
  t.equal(start('d'), undefined)
  t.ok(start('d', 'alerts'))
})

t.test('accounts that callers may have invented count as one', async (t) => {
  const { guard, calls } = breaker()
  for (let n = 0; n < 100; n += 1) calls('failure', `invented ${n}`)
  calls('failure', 'a', 2)
  t.equal(guard.state, 'closed')
  calls('failure', 'b')
  t.equal(guard.state, 'open')
})

t.test('accounts whose one action fails for days do not add up to an outage', async (t) => {
  const { guard, calls, pass } = breaker()
  const accounts = Array.from({ length: 20 }, (_, n) => `long history ${n}`)
  for (const account of accounts) {
    calls('failure', account, 5, 'history')
    calls('success', 'calm', 1, 'history')
  }
  for (let n = 0; n < 100; n += 1) {
    pass(2_000)
    for (const account of accounts) t.equal(calls('failure', account, 3, 'history'), 1, 'one probe each')
  }
  t.equal(guard.state, 'closed')
})

t.test('an open circuit rejects all calls until the cool-down ends, and closes with the first success', async (t) => {
  const { guard, calls, start, waitMs, pass } = openBreaker()
  t.equal(waitMs('a'), 2_000)
  pass(1_500)
  t.equal(calls('success', 'a', 100), 0)
  t.equal(waitMs('a'), 500)
  pass(500)
  t.equal(waitMs('a'), 0)
  const probe = start('a')
  t.ok(probe)
  t.equal(guard.state, 'half_open')
  t.equal(calls('success', 'b', 100), 0, 'no second probe at once')
  probe?.record('success')
  t.equal(guard.state, 'closed')
  t.equal(calls('failure', 'a', 4), 4, 'it counts from the start again')
  t.equal(calls('failure', 'b', 2), 2)
})

t.test('half-open, an account that fails or hangs waits a cool-down for its next probe, no other', async (t) => {
  const { calls, start, waitMs, pass } = openBreaker()
  pass(2_000)
  start('hanging')
  t.equal(waitMs('b'), 250, 'eight probes per cool-down')
  pass(250)
  t.equal(calls('failure', 'failing', 9), 1)
  pass(1_000)
  t.same([waitMs('hanging'), waitMs('failing'), waitMs('b')], [750, 1_000, 0])
  start('b')?.record('ignored')
  t.equal(waitMs('b'), 0, 'an ignored probe costs no cool-down')
  pass(1_000)
  t.equal(calls('failure', 'failing', 9), 1)
})

t.test('the first probe that succeeds ends the outage for all actions', async (t) => {
  const { guard, calls, start, pass } = openBreaker()
  for (const account of ['x', 'y', 'z']) calls('failure', account, 2, 'alerts')
  calls('success', 'a', 1, 'events')
  t.equal(start('a', 'alerts'), undefined, 'a success of a third action ends nothing')
  pass(2_000)
  const probe = start('b', 'alerts')
  t.equal(guard.state, 'open', 'the worst of all')
  calls('success', 'a')
  t.equal(guard.state, 'closed')
  probe?.record('failure')
  t.ok(start('a', 'alerts'))
})
