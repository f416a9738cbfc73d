/** Parameters of all routes: errors, and windows of lists. */
import assert from 'node:assert'
import fc from 'fast-check'
import t from 'tap'
import { isLong } from '../faults.js'
import type { Gateway } from '../helper.js'
import { fleet } from './fleet.js'

t.test('an invalid parameter is a 400 that names it', async (t) => {
  const { get, hash, id } = await fleet(t)
  const cases: [path: string, param: string][] = [
    [`/v1/history/${id}`, 'from'],
    [`/v1/history/${id}?from=2026-02-30&to=2026-03-01`, 'from'],
    [`/v1/history/${id}?from=2026-05-11&to=11-05-2026`, 'to'],
    [`/v1/history/${id}?from=2026-05-11T00:00:00Z&to=2026-05-12`, 'from'],
    [`/v1/history/${id}?from=2026-05-12&to=2026-05-11`, 'from'],
    ['/v1/events?from=yesterday', 'from'],
    ['/v1/events?to=2026-13-01', 'to'],
    ['/v1/events?from=', 'from'],
    ['/v1/events?from=2026-05-12&to=2026-05-11', 'from'],
    ['/v1/events?device_ids=1,2,3,4,5,6,7,8,9,10,11', 'device_ids'],
    ['/v1/events?device_ids=1&device_id=1', 'device_ids'],
    ['/v1/events?after_id=-1', 'after_id'],
    ['/v1/services?device_id=-1', 'device_id'],
    ['/v1/drivers?offset=-1', 'offset'],
    ['/v1/devices?status=driving', 'status'],
    ['/v1/devices?ids=1&ids=', 'ids'],
    ['/v1/devices?updated_since=2026-05-12', 'updated_since'],
    ['/v1/geofences?format=kml', 'format'],
  ]
  for (const [path, param] of cases) {
    const { status, body } = await get(path, hash)
    t.same([status, body.error, body.param], [400, 'invalid_request', param], path)
  }
  const { body } = await get('/v1/events?from=yesterday', hash)
  const expected = 'an ISO 8601 date or date-time, such as 2026-05-11 or 2026-05-11T08:30:00Z'
  t.equal(body.message, `\`from\` must be ${expected}.`, 'the message says what is expected')
})

t.test('a 404 names the id as sent, truncated, and never a credential', async (t) => {
  const { get, hash, foreignId, calls } = await fleet(t)
  const key = `gps_live_${'0123456789ab'.repeat(4)}`
  const asSent = ['999999', String(foreignId), '1e3', '0', '-1', '1.0', '007', 'abc', '9'.repeat(20)]
  const rows: [sent: string, named: string][] = [
    ...asSent.map((sent): [string, string] => [sent, sent]),
    ['9'.repeat(99), '9'.repeat(64)],
    [`x${key}`, 'x…'],
    [hash, '…'],
  ]
  for (const [sent, named] of rows) {
    for (const [noun, path] of Object.entries({ device: 'devices/ID', geofence: 'geofences/ID' })) {
      const { status, body } = await get(`/v1/${path.replace('ID', encodeURIComponent(sent))}`, hash)
      t.strictSame([status, body.message], [404, `There is no ${noun} with id ${named}.`])
    }
  }
  t.equal(calls.filter((call) => call.includes('get_devices')).length, 2, 'what cannot be an id is not asked for')
})

t.test('any window of devices and events is that part of the complete list, with any filter', async (t) => {
  const { get, hash, id } = await fleet(t, 4)
  const filters = [
    '/v1/devices?',
    '/v1/devices?status=online',
    '/v1/events?from=2026-05-11',
    `/v1/events?device_id=${id}&from=2026-05-01&to=2026-05-09T12:00:00Z`,
    '/v1/events?type=ignition_on&from=2026-05-05',
    '/v1/events?type=nothing_of_the_kind',
  ]
  const whole = new Map<string, { id: number }[]>()
  for (const filter of filters) whole.set(filter, await everything(get, `${filter}&limit=200`, hash))
  t.ok((whole.get(filters[3] ?? '')?.length ?? 0) > 50)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...filters),
      fc.nat({ max: 250 }),
      fc.integer({ min: 1, max: 220 }),
      async (filter, offset, limit) => {
        const all = whole.get(filter) ?? []
        const { body } = await get(`${filter}&limit=${limit}&offset=${offset}`, hash)
        const applied = filter.startsWith('/v1/events') ? Math.min(limit, 200) : limit
        const [data, count] = [all.slice(offset, offset + applied), all.length]
        const has_more = offset + applied < count
        assert.deepStrictEqual(body, { object: 'list', count, limit: applied, offset, has_more, data })
      },
    ),
    { numRuns: isLong ? 1000 : 150 },
  )
})

/** A complete list, window by window. */
async function everything(get: Gateway['get'], path: string, hash: string): Promise<{ id: number }[]> {
  const items: { id: number }[] = []
  for (;;) {
    const { body } = await get(`${path}&offset=${items.length}`, hash)
    items.push(...body.data)
    if (!body.has_more) return items
  }
}
