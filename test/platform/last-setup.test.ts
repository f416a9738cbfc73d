/** The last known setup of an account. */
import t from 'tap'
import { failure } from '../../src/platform/errors.js'
import { lastSetup } from '../../src/platform/last-setup.js'
import { setupIn } from '../../src/platform/wire.js'
import { failureOf } from '../devices/worker.js'

const setup = (timezone_id: number) => setupIn({ item: { timezone_id } })
const [old, next] = [setup(61), setup(65)]
/** A setup on its way, and what ends its way. */
const onItsWay = () => {
  let arrive: (setup: typeof old) => void = () => {}
  const sent = new Promise<typeof old>((resolve) => {
    arrive = resolve
  })
  return { sent, arrive }
}

t.test('a late setup is waited for, unless an earlier one is known and younger than an hour', async (t) => {
  let now = 0
  // The gateway's own sockets keep it alive.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  const orLast = lastSetup(() => now)
  const first = onItsWay()
  const waiting = orLast(first.sent)
  first.arrive(old)
  t.equal(await waiting, old)
  now = 3_599_999
  const late = onItsWay()
  t.equal(await orLast(late.sent), old)
  now += 1
  const pending = orLast(late.sent)
  late.arrive(next)
  t.equal(await pending, next, 'no longer')
  t.equal(await orLast(onItsWay().sent), next, 'it was for the next request as well')
})

t.test('while the platform is unavailable the last setup counts, until a refusal or a changed one', async (t) => {
  let now = 0
  const orLast = lastSetup(() => now)
  const fails = (reason: Parameters<typeof failure>[1]) => orLast(Promise.reject(failure('edit_setup_data', reason)))
  t.equal(await failureOf(fails('timeout')), 'timeout')
  await orLast(Promise.resolve(old))
  now = 1e9
  t.equal(await fails('timeout'), old)
  t.equal(await failureOf(fails('refused')), 'PlatformRefused')
  t.equal(await failureOf(fails('forbidden')), 'PlatformForbidden')
  t.equal(await failureOf(fails('wrong_shape')), 'wrong_shape')
})
