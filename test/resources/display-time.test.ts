/** Display times of the platform in every date format. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { displayTime, isDisplayTime } from '../../src/resources/display-time.js'

const utc = (iso: string): number => Date.parse(iso) / 1000

t.test('a date in any order and notation is the same wall clock (N05)', async (t) => {
  const at = utc('2026-03-14T21:07:00Z')
  const rows: [string, string][] = [
    ['03/14/2026 9:07 pm', '2026-03-14 21:07:00'],
    ['2026.03.14 21:07', '2026-03-14 21:07:00'],
    ['14.3.2026, 21:07:08', '2026-03-14 21:07:08'],
    [' 14-03-2026 21:07:08 ', '2026-03-14 21:07:08'],
    ['14/03/2026 12:30:00 p.m.', '2026-03-14 12:30:00'],
    ['14/03/2026 1:30:00 a.m.', '2026-03-14 01:30:00'],
    ['14/03/2026 21:07 PM', '2026-03-14 21:07:00'],
    ['14-03-2026', '2026-03-14 00:00:00'],
    ['2026-03-14T21:07:08.000000Z', '2026-03-14 21:07:08'],
    ['2026-03-14T21:07:08+05:30', '2026-03-14 21:07:08'],
    ['31-01-2026 10:00:00', '2026-01-31 10:00:00'],
    ['01-31-2026 10:00:00', '2026-01-31 10:00:00'],
    ['2026-01-31 10:00:00', '2026-01-31 10:00:00'],
    ['2026-04-30 10:00:00', '2026-04-30 10:00:00'],
    ['2024-02-29 00:00:00', '2024-02-29 00:00:00'],
    ['29-02-2024 00:00:00', '2024-02-29 00:00:00'],
    ['1971-01-01 00:00:00', '1971-01-01 00:00:00'],
  ]
  for (const [shown, expected] of rows) t.equal(displayTime(shown, [at]), expected, shown)
})

t.test('a day or a time that does not exist is none, and neither is text (N06, N07, N18, N59)', async (t) => {
  const days = ['2026-02-29', '29-02-2026', '2026-02-30', '31-04-2026', '2026-04-31', '2026-13-01', '13-13-2026']
  for (const day of [...days, '00-05-2026', '2026-03-00', '14-03/2026', '2026-03-2014', '14-03-026', '0000-00-00'])
    for (const shown of [day, `${day} 00:00:00`, `${day} 1:30 PM`]) t.equal(displayTime(shown), undefined, shown)
  for (const clock of ['24:00:00', '21:60:00', '21:07:60', '24:00', '13:60 PM', 'soon'])
    for (const day of ['2026-03-14', '14-03-2026']) t.equal(displayTime(`${day} ${clock}`), undefined, clock)
  const epoch = ['1970-01-01 05:30:00', '01-01-1970 00:00:00', '1970-12-31 23:59:59', '-0001-11-30 00:00:00']
  for (const none of [...epoch, 'Not connected', 'Expired', '-', '', 5, true, undefined, `${' '.repeat(40)}2026-03-14`])
    t.equal(displayTime(none), undefined, String(none))
})

t.test('of day and month the reading nearest to any given instant counts, else day first (N05)', async (t) => {
  const march4 = ['2026-03-04 10:00:00', utc('2026-03-04T08:00:00Z')] as const
  const april3 = ['2026-04-03 10:00:00', utc('2026-04-03T20:00:00Z')] as const
  const [january, summer] = [utc('2026-01-01T00:00:00Z'), utc('2026-07-01T00:00:00Z')]
  for (const shown of ['04-03-2026 10:00:00', '04/03/2026 10:00:00 AM', '4.3.2026 10:00', '4.3.2026, 10:00:00']) {
    t.equal(displayTime(shown), march4[0], shown)
    t.equal(displayTime(shown, [march4[1]]), march4[0], shown)
    t.equal(displayTime(shown, [april3[1]]), april3[0], shown)
    t.equal(displayTime(shown, [january]), march4[0], shown)
    t.equal(displayTime(shown, [summer]), april3[0], shown)
    t.equal(displayTime(shown, [january, april3[1]]), april3[0], shown)
  }
  const middle = utc('2026-03-19T10:00:00Z')
  const rows = [
    ['10:00:00', 0, '2026-03-04'],
    ['10:00:00', 1, '2026-04-03'],
    ['10:00:01', 0, '2026-03-04'],
    ['09:59:59', 0, '2026-04-03'],
    ['10:01:00', 59, '2026-03-04'],
    ['11:00:00', 3601, '2026-04-03'],
  ] as const
  for (const [clock, after, day] of rows)
    t.equal(displayTime(`04-03-2026 ${clock}`, [middle + after])?.slice(0, 10), day, `${clock} ${after}`)
})

t.test('every instant is read back from every format if its timestamp is known', async () => {
  const instants = fc.date({ min: new Date('1980-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, fc.constantFrom('-', '/', '.'), (date, mark) => {
      const iso = date.toISOString()
      const [y, m, d, clock] = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10), iso.slice(11, 19)]
      const hour = Number(clock.slice(0, 2))
      const half = `${String(hour % 12 || 12).padStart(2, '0')}${clock.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`
      const near = [Math.floor(date.getTime() / 1000)]
      return [
        [y, m, d],
        [d, m, y],
        [m, d, y],
      ].every((order) =>
        [clock, half, half.toLowerCase(), ` ${clock}`].every(
          (time) => displayTime(`${order.join(mark)} ${time}`, near) === `${y}-${m}-${d} ${clock}`,
        ),
      )
    }),
    { numRuns: 1000 },
  )
})

t.test('whatever is sent is displayed in one format, or is not a display time', async () => {
  const digits = (max: number, length: number) => fc.nat(max).map((value) => String(value).padStart(length, '0'))
  const date = fc.tuple(digits(32, 2), digits(14, 2), fc.constantFrom('1969', '1979', '1980', '2026', '3000'))
  const separator = fc.constantFrom('-', '/', '.')
  const clock = fc.tuple(digits(24, 2), digits(60, 2), digits(60, 2)).map((parts) => parts.join(':'))
  const text = fc
    .tuple(date, separator, separator, clock, fc.boolean())
    .map(([[day, month, year], a, b, time, isYearFirst]) =>
      isYearFirst ? `${year}${a}${month}${b}${day} ${time}` : `${day}${a}${month}${b}${year} ${time}`,
    )
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: 'binary' }), fc.constant(undefined), fc.integer()), (value) => {
      assert.match(displayTime(value) ?? '', /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)?$/)
      assert.equal(isDisplayTime(value), displayTime(value) !== undefined)
    }),
    { numRuns: 5_000 },
  )
})
