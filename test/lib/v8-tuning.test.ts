/** The settings of V8: what they keep. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { keptTicks } from '../../src/lib/v8-tuning.js'

t.test('one tick object stays, of the shape that every tick has', async (t) => {
  setFlagsFromString('--allow-natives-syntax')
  const haveSameShape: (a: object, b: object) => boolean = runInNewContext('(a, b) => %HaveSameMap(a, b)')
  const { executionAsyncResource } = await import('node:async_hooks')
  const tick = await new Promise<object>((resolve) => process.nextTick(() => resolve(executionAsyncResource())))
  t.equal(keptTicks.length, 1)
  t.ok(haveSameShape(keptTicks[0] as object, tick))
  t.notOk(haveSameShape(keptTicks[0] as object, {}))
})
