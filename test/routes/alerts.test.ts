/** `GET /v1/alerts`: the devices of all rules in one response are bounded. */
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { Fleet } from '../../src/devices/fleet.js'
import { type Bodies, gatewayOn, someHash } from '../helper.js'

t.test('alerts of more devices, or with longer names, than a response has room for need a `limit`', async (t) => {
  // What an account may have in flight, for the devices of a hundred rules.
  const maxBytes = getHeapStatistics().heap_size_limit / 8
  const items = Array.from({ length: 100 }, (_, at) => ({ id: at + 1, name: '"'.repeat(maxBytes / 60_000) }))
  const bodies: Bodies = { get_devices: [{ title: 'A', items }] }
  const { get } = await gatewayOn(t, bodies)
  const alertsOf = async (rules: number, rule: object, query = ''): Promise<number[]> => {
    const alerts = Array.from({ length: rules }, (_, at) => ({ id: at + 1, ...rule }))
    bodies.get_alerts = { items: { alerts } }
    const { status, body } = await get(`/v1/alerts${query}`, someHash)
    return [status, ...(body.data ?? []).map(({ devices }: { devices: object[] }) => devices.length)]
  }
  const all = { for_all_user_devices: 1 }
  t.same(await alertsOf(100, all), [503])
  t.same(await alertsOf(100, all, '?limit=2'), [200, 100, 100])
  const listed = { devices: Array.from({ length: 100_001 }, (_, at) => at + 1_000) }
  t.same(await alertsOf(2, listed), [503])
  t.same(await alertsOf(2, listed, '?limit=1'), [200, 100_001])
  const many = { devices: Array.from({ length: 200_001 }, (_, at) => at) }
  const named = t.capture(Fleet.prototype, 'name', Fleet.prototype.name)
  t.same(await alertsOf(1, many), [503])
  t.same(named(), [], 'before any of them is named')
  t.same(await alertsOf(1, { devices: [1] }), [200, 1])
  t.equal(named().length, 1)
})
