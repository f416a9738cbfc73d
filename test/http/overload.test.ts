/** Load shedding while the event loop is late. */
import { setTimeout as pause } from 'node:timers/promises'
import { fastify } from 'fastify'
import t from 'tap'
import { shedOverload } from '../../src/http/overload.js'
import type { App } from '../../src/http/types.js'
import { isUnavailable } from '../faults.js'
import { gateway } from '../helper.js'

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('the first request after a slow start is served', async (t) => {
  const app = fastify() as unknown as App
  t.teardown(() => app.close())
  await shedOverload(
    app,
    () => {},
    () => 3_000,
  )
  app.get('/', async () => 'served')
  await app.ready()
  while (!app.isUnderPressure()) {
    block(1_600)
    await pause(1)
  }
  t.equal((await app.inject('/')).statusCode, 200)
})

t.test('one pause is no overload; after several, requests get 503 while health is still served', async (t) => {
  const { get, metrics } = await gateway(t)
  const status = async (): Promise<number> => (await get('/v1/me', 'demo')).status
  while ((await status()) !== 200) await pause(50)
  await pause(600)
  t.equal(await status(), 200)
  block(1_600)
  t.equal(await status(), 200, 'after one pause')
  let shed = await get('/v1/me', 'demo')
  for (let pauses = 0; shed.status === 200 && pauses < 10; pauses += 1) {
    block(1_600)
    const [me, health] = await Promise.all([get('/v1/me', 'demo'), get('/health')])
    t.equal(health.status, 200)
    shed = me
  }
  isUnavailable(t, shed, 'after several pauses')
  t.equal(shed.headers.get('retry-after'), '2')
  t.match(await metrics(), /^gateway_shed_total [1-9]/m)
  while ((await status()) !== 200) await pause(50)
})
