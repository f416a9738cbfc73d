/** Unix seconds, days and durations. */
import fc from 'fast-check'
import { DateTime } from 'luxon'
import t from 'tap'
import { asIfUtc, dayText, durationSeconds, epochDay, unixSeconds, wallClockText } from '../../src/resources/time.js'

t.test('a timestamp in seconds or milliseconds becomes whole seconds; an impossible one is 0 (N62)', async (t) => {
  t.equal(unixSeconds(1778501007), 1778501007)
  t.equal(unixSeconds(1778501007123), 1778501007)
  t.equal(unixSeconds(1778501007.9), 1778501007)
  t.equal(unixSeconds(1e11), 1e11)
  t.equal(unixSeconds(253_402_300_799_999), 253_402_300_799)
  for (const none of [undefined, 0, -5, Number.NaN, 253_402_300_800_000, 9e14]) t.equal(unixSeconds(none), 0)
})

t.test('a wall clock has four digits for the year, and none outside 0000 to 9999', async (t) => {
  t.equal(wallClockText(DateTime.utc(2026, 5, 1, 2, 3, 4, 567)), '2026-05-01 02:03:04')
  t.equal(wallClockText(DateTime.utc(50)), '0050-01-01 00:00:00')
  for (const date of [DateTime.utc(10_000), DateTime.utc(-1), DateTime.utc(2026, 13)])
    t.equal(wallClockText(date), undefined)
})

t.test('durations in every notation are counted in seconds (N25)', async (t) => {
  const rows: [string, number][] = [
    ['47h 12min 9s', 169_929],
    ['12d 7h 41min 30s', 1_064_490],
    ['0s', 0],
    ['18min 50s', 1130],
    [' 36MIN 40s ', 2200],
    ['01:02:03', 3723],
    ['125:00:00', 450_000],
    ['2 hours 5 minutes', 7500],
    ['1día 2h', 93_600],
    ['3 seg.', 3],
  ]
  for (const [value, seconds] of rows) t.equal(durationSeconds(value), seconds, value)
  const long = '1s '.repeat(33)
  t.equal(durationSeconds(long), 33)
  const texts = ['5', '5 parsecs', '5constructor', '5h 3parsecs', '-5s', '01:62:03', '', `${long}1s`]
  for (const none of [...texts, 5, undefined]) t.equal(durationSeconds(none), undefined, String(none))
})

t.test('days are counted from 1970-01-01 and back', async (t) => {
  t.equal(epochDay('1970-01-02'), 1)
  t.equal(epochDay('2026-05-11 23:59:59'), 20_584)
  t.equal(epochDay('2026-02-30'), undefined)
  t.equal(dayText(20_584), '2026-05-11')
  t.equal(dayText(20_584.9), '2026-05-11')
  t.equal(dayText(-1), '1969-12-31')
  t.equal(dayText(2_932_896), '9999-12-31')
  for (const none of [2_932_897, 1e9, 1e14]) t.equal(dayText(none), undefined)
  t.equal(asIfUtc('2026-05-11 00:00:00'), 20_584 * 86_400)
  fc.assert(fc.property(fc.integer({ min: -100_000, max: 2_932_896 }), (day) => epochDay(dayText(day) ?? '') === day))
})

t.test('a duration never throws', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (sent) => (durationSeconds(sent) ?? 0) >= 0))
})
