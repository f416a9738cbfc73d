/** Installations that write their wall clock as Unix time are recognised per account, and every time is corrected. */
import { IANAZone } from 'luxon'
import t, { type Test } from 'tap'
import { correctTimes, isWallClock, minutesAhead } from '../../src/devices/wall-clock.js'
import { Clock, gatewayOn, someHash } from '../helper.js'
import { only } from '../only.js'
import { sendsBy } from '../platform/faulty.js'
import { now } from './worker.js'

const offsetS = 5.5 * 3600
const at = (seconds: number): number => now / 1000 + seconds

t.test('the rows of a list decide whether its Unix times are the wall clock', async (t) => {
  const zone = { offsetMinutes: 330 }
  const votes: [expected: boolean | undefined, ...rowsByMinutes: Record<number, number>[]][] = [
    [true, { 330: 1 }, { 326: 1 }, { 335: 1 }, { 330: 4, 0: 1 }, { 120: 9, 330: 1 }],
    [false, { 0: 4 }, { 330: 1, 0: 4 }],
    [undefined, { 324: 1 }, { 336: 1 }, {}],
  ]
  for (const [expected, ...all] of votes)
    for (const rowsByMinutes of all) {
      const ahead = Object.entries(rowsByMinutes).map(([minutes, rows]): [number, number] => [Number(minutes), rows])
      t.equal(isWallClock(ahead, now, zone), expected, JSON.stringify(ahead))
    }
  t.equal(isWallClock([[60, 1]], now, { offsetMinutes: -60 }), undefined, 'a clock behind UTC cannot be recognised')
  t.equal(isWallClock([[0, 4]], now, { offsetMinutes: 0 }), undefined, 'nor can that of London in winter')
  t.equal(minutesAhead({ timestamp: at(14 * 3_600) }, true, now), 840, 'that of Kiritimati can')
})

t.test('in the hour that the end of summer repeats, what has just come is corrected to now', async (t) => {
  const zone = { offsetMinutes: 60, name: 'Europe/Berlin' }
  for (const [now, wall, corrected] of [
    ['00:30', '02:29', '00:29'],
    ['01:30', '02:29', '01:29'],
    ['01:30', '02:45', '00:45'],
    ['02:10', '02:45', '01:45'],
    ['09:00', '02:45', '00:45'],
  ]) {
    const [at, shown, expected] = [now, wall, corrected].map((time) => Date.parse(`2026-10-25T${time}:00Z`))
    const row = { timestamp: Number(shown) / 1_000 }
    correctTimes(row, zone, Number(at))
    t.equal(row.timestamp, Number(expected) / 1_000, `${wall} at ${now}`)
  }
})

t.test('a time that a device does not have stays unknown, also west of Greenwich', async (t) => {
  for (const none of [0, '0', '', undefined]) {
    const row = { timestamp: none, moved_timestamp: at(-3_600) }
    correctTimes(row, { offsetMinutes: -300 }, now)
    t.same(row, { timestamp: none, moved_timestamp: at(4 * 3_600) }, JSON.stringify(none))
  }
})

t.test('the offset at the times of a large list is looked up once for each minute, also in summer', async (t) => {
  const summer = { from: { month: 3, position: 4, weekday: 7, time: '02:00' }, to: '10-25 02:00' }
  const ofRules = t.capture(Date.prototype, 'toJSON', Date.prototype.toJSON)
  const ofName = t.capture(IANAZone.prototype, 'offset', IANAZone.prototype.offset)
  for (const [dst, lookups] of [[{ summer }, ofRules] as const, [{ name: 'Europe/Berlin' }, ofName] as const]) {
    const zone = { offsetMinutes: 60, ...dst }
    let corrected = 0
    for (let at = 0; at < 5_000; at += 1) {
      const row = { timestamp: now / 1_000 + 7_200 - (at % 600), moved_timestamp: String(now / 1_000 + 7_200) }
      correctTimes(row, zone, now)
      if (row.timestamp === now / 1_000 - (at % 600)) corrected += 1
    }
    t.equal(corrected, 5_000)
    const { length } = lookups()
    t.ok(length > 0 && length < 200, 'rather than many times for each row')
  }
})

const row = (id: number, agoS: number, more: object = {}) => ({
  ...{ id, name: `Van ${id}`, online: 'ack', time: '12-05-2026 15:00:00', lat: 1, lng: 2 },
  ...{ timestamp: at(offsetS - agoS), acktimestamp: at(offsetS - agoS + 1), moved_timestamp: at(offsetS - agoS - 60) },
  ...more,
})

async function fleet(t: Test, rows: { id: number }[]) {
  const clock = new Clock(now)
  const list: { rows: { id: number; timestamp?: number }[] } = { rows }
  const options = { clock: clock.now, env: { POSITION_TTL_MS: '1' } }
  const get_devices = sendsBy((query) => {
    const items = list.rows.filter(({ id }) => [null, `${id}`].includes(query.get('id')))
    return items.length > 0 ? [{ items }] : []
  })
  const edit_setup_data = { item: { timezone_id: 1 }, timezones: [{ id: 1, value: 'UTC +05:30' }] }
  const { get, log, metrics, calls } = await gatewayOn(t, options, { get_devices, edit_setup_data })
  const fresh = (path: string) => {
    clock.advance(2)
    return get(path, someHash)
  }
  return { fresh, clock, log, metrics, list, calls }
}

t.test('one row of the future corrects every row, in lists of any size, alone and by its columns', async (t) => {
  const old = Array.from({ length: 1_200 }, (_, n) => row(n + 2, 86_400 + n, { online: 'offline' }))
  const { fresh, log, metrics, list } = await fleet(t, [row(1, -2, { online: 'busy' }), ...old])
  const { body } = await fresh('/v1/devices?limit=3')
  t.match(log(), /"offsetMinutes":330,"msg":"the platform writes its wall clock as Unix time: corrected"/)
  const times = (seconds: number) => ({ timestamp: at(seconds), moved_at: at(seconds - 60) })
  t.match(body.data, only(times(2), times(-86_400), times(-86_401)))
  t.match((await fresh('/v1/devices/1201')).body, times(-86_400 - 1_199))
  t.equal((await fresh('/v1/devices/1/location')).body.timestamp, at(2))
  t.equal((await fresh(`/v1/devices?updated_since=${at(-60)}`)).body.count, 1)
  t.match(await metrics(), /gateway_corrected_lists_total [1-9]/)
  list.rows = [row(1, 4_000, { online: 'busy' }), ...old]
  t.match(
    (await fresh('/v1/devices?limit=1')).body.data,
    only({ timestamp: at(-4_000), status: 'offline' }),
    'and later',
  )
  t.equal(log().match(/wall clock/g)?.length, 1, 'reported once')
  list.rows = [row(1, offsetS), row(2, offsetS)]
  t.match((await fresh('/v1/devices')).body.data, only(times(0), times(0)), 'until its devices are in time')
})

t.test('a device requested alone is corrected as in its list', async (t) => {
  const { fresh, calls } = await fleet(t, [row(1, 0), row(2, 600)])
  t.equal((await fresh('/v1/devices/1')).body.timestamp, at(0))
  t.equal((await fresh('/v1/devices/2')).body.timestamp, at(-600))
  const sent = calls.length
  await fresh('/v1/devices/2')
  t.ok(calls.length - sent <= 2, 'without the list')
})

t.test('a clock that was wrong for a while leaves no wrong times of devices requested alone', async (t) => {
  const setBack = -offsetS * 1_000
  for (const [rows, ms] of [
    [[row(1, offsetS), row(2, offsetS)], setBack],
    [[row(1, 0), row(2, 0)], -setBack],
  ] as const) {
    const { fresh, clock } = await fleet(t, [...rows])
    const times = async () => (await fresh('/v1/devices/1/location')).body.timestamp
    clock.advance(ms)
    await fresh('/v1/devices')
    t.not(await times(), at(0))
    clock.advance(-ms)
    t.equal(await times(), at(0))
  }
})

t.test('a single tracker that is set to local time, or to any other, corrects nothing', async (t) => {
  const inTime = [row(2, offsetS), row(3, offsetS + 60)]
  for (const odd of [row(1, 0), row(1, offsetS - 7_200)]) {
    const { fresh, log, metrics } = await fleet(t, [odd, ...inTime])
    const times = [odd, ...inTime].map(({ timestamp }) => ({ timestamp }))
    t.match((await fresh('/v1/devices')).body.data, times)
    t.match((await fresh('/v1/devices/1')).body, times[0])
    t.notMatch(log(), /wall clock/)
    t.match(await metrics(), /gateway_corrected_lists_total 0/)
  }
})

t.test('a tracker that is set to local time corrects nothing either while the others are parked', async (t) => {
  const parked = (id: number) => row(id, offsetS + 86_400, { online: 'offline' })
  const { fresh, log, list } = await fleet(t, [row(1, 0), row(2, offsetS), row(3, offsetS)])
  await fresh('/v1/devices')
  list.rows = [row(1, 0), parked(2), parked(3)]
  const times = list.rows.map(({ timestamp }) => ({ timestamp }))
  t.match((await fresh('/v1/devices')).body.data, times)
  t.notMatch(log(), /wall clock/)
  list.rows = [row(1, 0), row(2, 0), parked(3)]
  t.match((await fresh('/v1/devices')).body.data, [{ timestamp: at(0) }, { timestamp: at(0) }], 'two of them do')
})

t.test('a device with a strange clock does not turn each request for it into one for the whole list', async (t) => {
  const rows = [row(7, offsetS - 7_200, { online: 'offline' }), row(8, offsetS + 86_400, { online: 'offline' })]
  const { fresh, calls, list, clock } = await fleet(t, rows)
  const sent = async (): Promise<string[]> => {
    calls.length = 0
    for (const id of [7, 7, 8]) await fresh(`/v1/devices/${id}`)
    return calls.filter((url) => url.includes('get_devices') && !url.includes('&id='))
  }
  t.equal((await sent()).length, 2, 'one list with its second page, which does not show what its clock is')
  t.same(await sent(), [])
  list.rows = rows.map((one) => ({ ...one, ...row(one.id, -600) }))
  clock.advance(600_000)
  t.equal((await sent()).length, 2, 'a later one may: read once, and once more with the times corrected')
  t.equal((await fresh('/v1/devices/8')).body.timestamp, at(600))
})
