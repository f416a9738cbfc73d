/** The state of the platform according to recent calls. */
import t from 'tap'
import type { Action } from '../../src/platform/actions.js'
import type { CallOutcome } from '../../src/platform/errors.js'
import { platformHealth } from '../../src/platform/health.js'

/** Each step is a call of an account, `a ok`, or time that passes, `1 ms`; after it the state must be this. */
const story = (title: string, steps: [step: string, state: string][]) =>
  t.test(title, async (t) => {
    let now = 0
    const health = platformHealth(() => now)
    t.equal(health.state, 'unknown')
    for (const [step, state] of steps) {
      const [account = '', outcome, action = 'get_devices'] = step.split(' ')
      if (outcome === 'ms') now += Number(account)
      else health.record({ account, outcome: outcome as CallOutcome, action: action as Action })
      t.equal(health.state, state, step)
    }
  })

story('an unusable response means down, unless the action worked for another account within a minute', [
  ['a ok', 'up'],
  ['a wrong_shape', 'down'],
  ['a ok', 'up'],
  ['b ok', 'up'],
  ['a wrong_shape', 'up'],
  ['59999 ms', 'up'],
  ['a wrong_shape', 'up'],
  ['1 ms', 'up'],
  ['a wrong_shape', 'down'],
  ['b ok', 'up'],
])

story('a success of another action does not count, and an action that is no longer called is forgotten', [
  ['a ok', 'up'],
  ['b ok', 'up'],
  ['a wrong_shape get_alerts', 'down'],
  ['b ok', 'down'],
  ['60000 ms', 'up'],
])

story('a platform without user data is down, whatever else it lacks means an old one', [
  ['a missing_action get_history', 'up'],
  ['a missing_action get_user_data', 'down'],
  ['a ok get_user_data', 'up'],
])

story('an outage means down whoever sees it, and calls that were not sent say nothing', [
  ['b ok', 'up'],
  ['a timeout', 'down'],
  ['a breaker_open', 'down'],
  ['b ok', 'up'],
  ['a breaker_open', 'up'],
])
