/** The state of the platform according to recent calls. */
import t from 'tap'
import type { Action } from '../../src/platform/actions.js'
import type { CallOutcome } from '../../src/platform/errors.js'
import { PlatformHealth } from '../../src/platform/health.js'

function open() {
  let now = 0
  const health = new PlatformHealth(() => now)
  const later = (ms: number): void => {
    now += ms
  }
  const recorder =
    (account: string) =>
    (outcome: CallOutcome, action: Action = 'get_devices'): void =>
      health.record({ action, outcome, account })
  return { health, later, a: recorder('a'), b: recorder('b') }
}

t.test('an unusable response means down, unless the action worked for another account within a minute', async (t) => {
  const { health, a, b, later } = open()
  t.equal(health.state, 'unknown')
  a('ok')
  t.equal(health.state, 'up')
  a('wrong_shape')
  t.equal(health.state, 'down', "the account's own success is no excuse")
  a('ok')
  b('ok')
  a('wrong_shape')
  t.equal(health.state, 'up')
  later(59_999)
  a('wrong_shape')
  t.equal(health.state, 'up')
  later(1)
  a('wrong_shape')
  t.equal(health.state, 'down')
  b('ok')
  t.equal(health.state, 'up', 'at once with the next success')
})

t.test('a success of another action is no excuse, and an action that nobody calls any more is forgotten', async (t) => {
  const { health, a, b, later } = open()
  a('ok')
  b('ok')
  a('wrong_shape', 'get_alerts')
  b('ok')
  t.equal(health.state, 'down')
  later(60_000)
  t.equal(health.state, 'up')
})

t.test('an outage means down whoever sees it, and calls that were not sent say nothing', async (t) => {
  const { health, a, b } = open()
  b('ok')
  a('timeout')
  t.equal(health.state, 'down')
  a('breaker_open')
  t.equal(health.state, 'down')
  b('ok')
  a('breaker_open')
  t.equal(health.state, 'up')
})
