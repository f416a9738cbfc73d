/** The account's zone, its clock, and ISO 8601 filters. */
import fc from 'fast-check'
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireSetup } from '../../src/platform/wire.js'
import { dayText } from '../../src/resources/time.js'
import { carriesOffset, filterTime, isDay, today, toZone, wallClock, type Zone } from '../../src/resources/zone.js'

const zoneOf = (raw: unknown): Zone => toZone(read(wireSetup, raw))

t.test("the account's offset is looked up by id, as text or number, else computed from the id", async (t) => {
  const values = { 61: 'UTC +01:00', 62: '+ 5:30', 20: 'UTC -09:15', 21: 'UTC +14:00', 65: 'UTC +14:01', 66: 'Mars' }
  const timezones = Object.entries(values).map(([id, value]) => ({ id: Number(id), value }))
  const rows: [id: unknown, list: unknown, offset: number][] = [
    ...Object.entries({ 61: 60, 62: 330, 20: -555, 21: 840, 65: 120, 66: 135 }).flatMap(
      ([id, offset]): [unknown, unknown, number][] => [
        [id, timezones, offset],
        [Number(id), timezones, offset],
      ],
    ),
    [57, [], 0],
    ['65', [], 120],
    [1, [], -840],
    [113, [], 840],
    [114, [], 0],
    [0, [], 0],
    ['x', [], 0],
    [null, [], 0],
    [undefined, [{ value: 'UTC +01:00' }], 0],
  ]
  for (const [timezone_id, list, offset] of rows)
    t.equal(zoneOf({ item: { timezone_id }, timezones: list }).offsetMinutes, offset, String(timezone_id))
  t.strictSame(zoneOf(null), { offsetMinutes: 0 })
})

const dst = (date_from: string, date_to: string, type = 'exact'): Zone =>
  zoneOf({ item: { timezone_id: 61 }, timezones: [], user_dst: { type, date_from, date_to } })

t.test('one hour is added between exact daylight saving dates, in both hemispheres', async (t) => {
  const north = dst('03-29 02:00', '10-25 02:00')
  const south = dst('2025-10-05 02:00:00', '2026-04-05 02:00:00')
  const dates = dst('03-29', '10-25', ' Exact')
  const rows: [Zone, instant: string, shown: string][] = [
    [north, '2026-03-29T00:59:59Z', '2026-03-29 01:59:59'],
    [north, '2026-03-29T01:00:00Z', '2026-03-29 03:00:00'],
    [north, '2026-10-25T00:59:59Z', '2026-10-25 02:59:59'],
    [north, '2026-10-25T01:00:00Z', '2026-10-25 02:00:00'],
    [north, '2026-12-01T12:00:00Z', '2026-12-01 13:00:00'],
    [south, '2026-01-01T12:00:00Z', '2026-01-01 14:00:00'],
    [south, '2026-07-01T12:00:00Z', '2026-07-01 13:00:00'],
    [south, '2026-04-05T00:59:59Z', '2026-04-05 02:59:59'],
    [south, '2026-04-05T01:00:00Z', '2026-04-05 02:00:00'],
    [south, '2026-10-05T01:00:00Z', '2026-10-05 03:00:00'],
    [dates, '2026-03-28T22:59:59Z', '2026-03-28 23:59:59'],
    [dates, '2026-03-28T23:00:00Z', '2026-03-29 01:00:00'],
  ]
  for (const [zone, instant, shown] of rows) t.equal(wallClock(Date.parse(instant), zone), shown, instant)
})

t.test('without exact and valid dates there is no daylight saving time', async (t) => {
  const rows: [from: string, to: string, type?: string][] = [
    ['', ''],
    ['03-29 02:00', ''],
    ['', '10-25 02:00'],
    ['13-40', '03-01'],
    ['03-01', '02-30'],
    ['03-29 24:00', '10-25 02:00'],
    ['03-29 02:60', '10-25 02:00'],
    ['03-29 02:00', '10-25 02:00', 'none'],
    ['03-29', '10-25', 'automatic'],
  ]
  for (const [from, to, type] of rows) t.strictSame(dst(from, to, type), { offsetMinutes: 60 }, `${from} ${to}`)
  t.equal(
    wallClock(Date.parse('2026-07-01T12:00:00Z'), dst('03-29', '03-29')),
    '2026-07-01 13:00:00',
    'an empty summer',
  )
  t.ok(dst('02-29', '10-25').summer, '29 February is valid')
})

t.test("today is the day on the account's clock", async (t) => {
  const late = Date.parse('2026-05-11T23:30:00Z')
  t.equal(dayText(today(late, { offsetMinutes: 60 })), '2026-05-12')
  t.equal(dayText(today(late, { offsetMinutes: 0 })), '2026-05-11')
  t.equal(dayText(today(late, { offsetMinutes: 29 })), '2026-05-11')
  t.equal(dayText(today(late, { offsetMinutes: -840 })), '2026-05-11')
  t.equal(dayText(today(Date.parse('2026-07-01T22:30:00Z'), dst('03-29', '10-25'))), '2026-07-02', 'in summer')
})

t.test("a filter with an offset is converted to the account's clock, one without is on it already", async (t) => {
  const zone: Zone = { offsetMinutes: 120 }
  const rows: [string, string][] = [
    ['2026-05-11T10:00:00Z', '2026-05-11 12:00:00'],
    ['2026-05-11t10:00:00z', '2026-05-11 12:00:00'],
    ['2026-05-11 10:00:00Z', '2026-05-11 12:00:00'],
    ['2026-05-11T10:00:00.987654Z', '2026-05-11 12:00:00'],
    ['2026-05-11T10:00:00,987654Z', '2026-05-11 12:00:00'],
    ['2026-05-11T10:00:00+05:30', '2026-05-11 06:30:00'],
    ['2026-05-11T10:00:00+0530', '2026-05-11 06:30:00'],
    ['2026-05-11T10:00:00 05:30', '2026-05-11 06:30:00'],
    ['2026-05-11T10:00:00 +05:30', '2026-05-11 06:30:00'],
    ['2026-05-11T10:00:00-03', '2026-05-11 15:00:00'],
    ['2026-05-11T23:30Z', '2026-05-12 01:30:00'],
    ['2026-12-31T23:30:00Z', '2027-01-01 01:30:00'],
    ['2026-05-11T10:00:00', '2026-05-11 10:00:00'],
    ['2026-05-11T10:00:00.9', '2026-05-11 10:00:00'],
    ['2026-05-11 10:00', '2026-05-11 10:00:00'],
    ['2024-02-29T00:00:00', '2024-02-29 00:00:00'],
    ['20260511T100000Z', '2026-05-11 12:00:00'],
    ['20260511T1000+0530', '2026-05-11 06:30:00'],
    ['20260511T100000.5', '2026-05-11 10:00:00'],
    ['20260511T10', '2026-05-11 10:00:00'],
    ['2026-05-11T10', '2026-05-11 10:00:00'],
    ['2026-05-11T10Z', '2026-05-11 12:00:00'],
    ['2026-05-11T10 02:00', '2026-05-11 10:00:00'],
    ['2026-05-11T24:00', '2026-05-12 00:00:00'],
    ['20261231T240000', '2027-01-01 00:00:00'],
    ['2026-05-11T24:00:00Z', '2026-05-12 02:00:00'],
    ['20260511', '2026-05-11 00:00:00'],
    ['9999-12-31T23:59:59', '9999-12-31 23:59:59'],
  ]
  for (const [sent, expected] of rows) t.equal(filterTime(sent, 'from', zone), expected, sent)
  const clocks = [
    '24:00:01',
    '24:30',
    '25',
    '10:0',
    '10:60:00',
    '10:00:60',
    '10:00:00+25:00',
    '10:00:00+05:75',
    '10:00:00 ',
    '10:00 PM',
    '',
  ]
  const days = [
    '0099-12-31',
    '2025-02-29',
    '2026-02-30',
    '2026-5-11',
    '2026-W20-1',
    '20260230',
    '00260511',
    '2026051',
    '11-05-2026',
    ' 2026-05-11',
  ]
  const texts = [
    '9999-12-31T23:59:59Z',
    '1778501007',
    '',
    'yesterday',
    ...days,
    ...days.map((day) => `${day}T10:00:00Z`),
  ]
  for (const none of [...texts, ...clocks.map((clock) => `2026-05-11T${clock}`)])
    t.equal(filterTime(none, 'from', zone), undefined, none)
})

t.test('a date alone is its first or last second', async (t) => {
  t.equal(filterTime('2026-05-11', 'from'), '2026-05-11 00:00:00')
  t.equal(filterTime('2026-05-11', 'to'), '2026-05-11 23:59:59')
  t.equal(filterTime('20260511', 'to'), '2026-05-11 23:59:59')
  t.equal(isDay('2026-05-11'), true)
  for (const none of ['2026-05-11T00:00:00', '2026-02-30', '0099-05-11', '20260511', ''])
    t.equal(isDay(none), false, none)
})

t.test('the zone is needed only for a filter with an offset', async (t) => {
  for (const yes of ['2026-05-11T10:00:00Z', '2026-05-11T10:00+01', '2026-05-11T10:00:00-00:00'])
    t.equal(carriesOffset(yes), true, yes)
  for (const no of ['2026-05-11', '2026-05-11T10:00:00', '2026-02-30T10:00:00Z', 'Z'])
    t.equal(carriesOffset(no), false, no)
})

t.test('an instant and its filter agree in every zone', async () => {
  const instants = fc.date({ min: new Date('1980-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, fc.integer({ min: -840, max: 840 }), (date, offsetMinutes) => {
      const zone = { offsetMinutes }
      const shifted = new Date(date.getTime() + offsetMinutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')
      return filterTime(date.toISOString(), 'to', zone) === shifted && wallClock(date.getTime(), zone) === shifted
    }),
  )
})

t.test('a filter never throws and has one format, whatever is sent', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (sent) => {
      const result = filterTime(sent, 'from', { offsetMinutes: -840 }) ?? ''
      return /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)?$/.test(result)
    }),
  )
})
