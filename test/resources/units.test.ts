/** Numbers, units, flags, texts, ids, coordinates and times in every spelling of the platform. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Scalar } from '../../src/platform/shape.js'
import { displayTime, isDisplayTime } from '../../src/resources/display-time.js'
import { asIfUtc, dayText, durationSeconds, epochDay, unixSeconds, wallClockText } from '../../src/resources/time.js'
import {
  coordinates,
  flag,
  id,
  number,
  quantity,
  rounded,
  text,
  toDegrees,
  toKm,
  toKmh,
  toMetres,
  word,
} from '../../src/resources/units.js'
import { filterTime } from '../../src/resources/zone.js'
import { anyCharacter } from '../character.js'
import { maps } from './rows.js'

maps('numbers are read in every notation (N01, N02, N24)', number, [
  [3, 3, '3'],
  [3.5, ' 3.50 '],
  [5, '+5'],
  [-5.5, '-5.5'],
  [1234.5, '1 234.5', '1\u00a0234,5', "1'234.5", '1,234.5', '1.234,5'],
  [1234, '1,234'],
  [1234567, '1,234,567', '1.234.567'],
  [1234567.5, '1,234,567.5', '1.234.567,5'],
  [0.123, '0,123'],
  [12.5, '12,5'],
  [0.00001, '1.0E-5'],
  [0.5, '.5'],
  [999_999_999_999_999, 999_999_999_999_999],
  [undefined, 1e15, 1e300, '-1e15', '1e999', Number.NaN, '-', '- 5', '- nn', '', '5 km', '0x10', true, undefined],
  [undefined, '14.03.2026', '03.27.07', '10.0.0.1', '5'.padEnd(401)],
])

t.test('rounding to decimals leaves what it cannot scale, and no number is -0', async (t) => {
  t.same([rounded(1.25, 1), rounded(1.005, 0), rounded(1e308, 2)], [1.3, 1, 1e308])
  for (const zero of [rounded(-0.04, 1), number('-0'), number(-0), coordinates('-0', 16)?.lat]) t.ok(Object.is(zero, 0))
})

const of = (amount: number, unit: string) => ({ amount, unit })
maps('a quantity is a number and its unit in lower case (N24)', quantity, [
  [of(23.41, 'km'), '23.41 Km'],
  [of(0, 'km'), '0 Km'],
  [of(1234.5, 'km'), '1 234.5 km'],
  [of(10.6, 'mi'), '10.6mi'],
  [of(0.5, 'mi'), ' .5 mi '],
  [of(-12, 'км'), '-12 км'],
  [of(7, ''), '7', 7],
  [of(0.00008, ''), '8.0E-5'],
  [of(0.00001, 'km'), '1e-05 km'],
  [of(5, 'e10'), '5 E10'],
  [of(3, 'e'), '3e'],
  [undefined, '- km', '-', '', 'km', true, undefined],
])

type Measure = [to: (value: Scalar, unit: Scalar) => number | undefined, value: Scalar, unit: Scalar]
maps('miles, feet and knots become km, metres and km/h; other units stay', ([to, ...of]: Measure) => to(...of), [
  [17.06, [toKm, 10.6, 'mi'], [toKm, 10.6, ' Miles ']],
  [18.52, [toKm, 10, 'nm']],
  [1.23, ...['m', 'mt', 'Meter', 'meters', 'metre', 'metres'].map((unit): Measure => [toKm, 1234, unit])],
  [10.654321, [toKm, 10.654321, 'km']],
  [99.8, [toKmh, 62, 'MPH'], [toKmh, 62, 'mi/h'], [toKmh, '62 mph', 'kph']],
  [18.5, ...['kn', 'kt', 'kts', 'knot', 'Knots'].map((unit): Measure => [toKmh, 10, unit])],
  [62.25, [toKmh, 62.25, 'kph']],
  [62, [toKmh, 62, undefined], [toKmh, 62, 5], [toKmh, 62, true], [toKmh, 62, 'constructor']],
  [0, [toKmh, -3, 'mph']],
  [304.8, [toMetres, 1000, 'ft']],
  [1000, [toMetres, 1000, 'mt']],
  [undefined, [toKm, '- km', 'mi']],
])

maps('a word is in lower case, and no longer than any', word, [
  ['zone_in', ' Zone_In ', 'ZONE_IN'],
  ['x'.repeat(100), 'X'.repeat(100), ` ${'X'.repeat(5_000)}`],
  ['7', 7],
  [undefined, '', ' - ', true, undefined],
])

maps('a course is below 360 degrees', toDegrees, [
  [270, -90],
  [5.5, 725.5],
  [5.1, 5.1],
  [0, 0, 360, 359.999],
])

maps('flags are read in every spelling, and a dash is no value (N01, N43, N46)', flag, [
  [true, 1, '1', true, 'true', 'on', 2, ' Yes '],
  [false, 0, '0', false, 'false', '', ' ', 'OFF', ' no ', 'null'],
  [undefined, undefined, '-', ' - '],
])

maps('a text has no half of a surrogate pair, which some JSON parsers refuse', text, [
  ['Van \ufffd', 'Van \ud83d'],
  ['\ufffdVan', '\ude9aVan'],
  ['Van \u{1f69a}', 'Van \ud83d\ude9a'],
])

maps('text is trimmed; a dash and a number without its last digits are no text (N03, N40)', text, [
  ['Park', ' Park\t'],
  ['9007199254740991', 2 ** 53 - 1],
  [undefined, '-', ' - ', '', '  ', true, undefined, JSON.parse('8934071234567890123')],
])

maps('an id is a positive safe integer, in digits only', id, [
  [318, '318', 318],
  [2 ** 53 - 1, 9007199254740991, '9007199254740991'],
  [undefined, '9007199254740993', '99999999999999999999', '1e3', ' 5', '+5', '-5', '05', '0', '1.0', '', 'x'],
  [undefined, 0, -1, 1.5, 9007199254740992, true, undefined],
])

const at = (lat: number, lng: number) => ({ lat, lng })
maps('coordinates lie on Earth, and 0/0 is no position (N08)', (pair: [Scalar, Scalar]) => coordinates(...pair), [
  [at(48.2, 16.3), ['48.2', '16.3']],
  [at(48.208, -16.373), ['48,208', '-16,373']],
  [at(0, 16), [0, 16]],
  [at(16, 0), [16, 0]],
  [at(90, -180), [90, -180]],
  [undefined, ...['91', -91, '-', '', 'x', '1,234,567', true, undefined].map((lat): [Scalar, Scalar] => [lat, 1])],
  [undefined, ...[181, '-181', '-', '', 'x', '1,234,567', true, undefined].map((lng): [Scalar, Scalar] => [1, lng])],
  [undefined, [0, 0], ['0', 0], ['0.000', 0], [-0, 0]],
])

maps('a timestamp in seconds or milliseconds becomes whole seconds; an impossible one is 0 (N62)', unixSeconds, [
  [1778501007, 1778501007, 1778501007123, 1778501007.9],
  [1e11, 1e11],
  [253_402_300_799, 253_402_300_799_999],
  [0, undefined, 0, -5, Number.NaN, 253_402_300_800_000, 9e14],
])

maps('a wall clock has four digits for the year, and none outside 0000 to 9999', wallClockText, [
  ['2026-05-01 02:03:04', Date.UTC(2026, 4, 1, 2, 3, 4, 567)],
  ['0050-01-01 00:00:00', Date.parse('0050-01-01')],
  [undefined, Date.UTC(10_000), Date.UTC(-1), Number.NaN],
])

/** As long as a text may be. */
const long = ` ${'1s '.repeat(33)}`
maps('durations in every notation are counted in seconds (N25)', durationSeconds, [
  [169_929, '47h 12min 9s'],
  [1_064_490, '12d 7h 41min 30s'],
  [0, '0s'],
  [2200, ' 36MIN 40s '],
  [3723, '01:02:03'],
  [450_000, '125:00:00'],
  [7500, '2 hours 5 minutes'],
  [93_600, '1día 2h'],
  [3, '3 seg.'],
  [33, long],
  [undefined, '5', '5 parsecs', '5constructor', '5h 3parsecs', '-5s', '01:62:03', '', `${long}1s`, 5, undefined],
])

t.test('days are counted from 1970-01-01 and back', async (t) => {
  t.same(['1970-01-02', '2026-05-11 23:59:59'].map(epochDay), [1, 20_584])
  t.same([20_584.9, -1, -719_528, 2_932_896].map(dayText), ['2026-05-11', '1969-12-31', '0000-01-01', '9999-12-31'])
  for (const none of [-719_528.5, 2_932_897, 1e9, 1e14, Number.NaN]) t.equal(dayText(none), undefined)
  t.equal(asIfUtc('2026-05-11 00:00:00'), 20_584 * 86_400)
  fc.assert(fc.property(fc.integer({ min: -719_528, max: 2_932_896 }), (day) => epochDay(dayText(day) ?? '') === day))
})

const utc = (iso: string): number => Date.parse(iso) / 1000
const march14 = (shown: unknown) => displayTime(shown as string, [utc('2026-03-14T21:07:00Z')])
maps('a date in any order and notation is the same wall clock (N05)', march14, [
  ['2026-03-14 21:07:00', '03/14/2026 9:07 pm', '2026.03.14 21:07', '14/03/2026 21:07 PM'],
  ['2026-03-14 21:07:08', '14.3.2026, 21:07:08', '2026-03-14T21:07:08.000000Z', '2026-03-14T21:07:08+05:30'],
  ['2026-03-14 12:30:00', '14/03/2026 12:30:00 p.m.'],
  ['2026-03-14 01:30:00', '14/03/2026 1:30:00 a.m.'],
  ['2026-03-14 00:00:00', '14-03-2026'],
  ['2026-01-31 10:00:00', '31-01-2026 10:00:00', '01-31-2026 10:00:00'],
  ['2024-02-29 00:00:00', '2024-02-29 00:00:00', '29-02-2024 00:00:00'],
  ['1971-01-01 00:00:00', '1971-01-01 00:00:00'],
])

const unreal = '2026-02-29 29-02-2026 2026-02-30 31-04-2026 2026-04-31 2026-13-01 13-13-2026 00-05-2026 2026-03-00'
const days = `${unreal} 14-03/2026 2026-03-2014 14-03-026 0000-00-00`.split(' ')
const clocks = ['24:00:00', '21:60:00', '21:07:60', '24:00', '13:60 PM', 'soon']
const epoch = ['1970-01-01 05:30:00', '01-01-1970 00:00:00', '1970-12-31 23:59:59', '-0001-11-30 00:00:00']
maps('a day or a time that does not exist is none, and neither is text (N06, N07, N18, N59)', march14, [
  [undefined, ...days.flatMap((day) => [day, `${day} 00:00:00`, `${day} 1:30 PM`])],
  [undefined, ...clocks.flatMap((clock) => [`2026-03-14 ${clock}`, `14-03-2026 ${clock}`])],
  [undefined, ...epoch, 'Not connected', 'Expired', '-', '', 5, true, undefined, `${' '.repeat(40)}2026-03-14`],
])

t.test('of day and month the reading nearest to any given instant counts, else day first (N05)', async (t) => {
  const [march4, april3] = ['2026-03-04 10:00:00', '2026-04-03 10:00:00']
  const near = { march: utc('2026-03-04T08:00:00Z'), april: utc('2026-04-03T20:00:00Z') }
  const [january, summer] = [utc('2026-01-01T00:00:00Z'), utc('2026-07-01T00:00:00Z')]
  for (const shown of ['04-03-2026 10:00:00', '04/03/2026 10:00:00 AM', '4.3.2026 10:00', '4.3.2026, 10:00:00']) {
    for (const instants of [[], [near.march], [january]]) t.equal(displayTime(shown, instants), march4, shown)
    for (const instants of [[near.april], [summer], [january, near.april]])
      t.equal(displayTime(shown, instants), april3, shown)
  }
  const middle = utc('2026-03-19T10:00:00Z')
  const read = (clock: string, after: number) => displayTime(`04-03-2026 ${clock}`, [middle + after])?.slice(5, 10)
  t.same([read('10:00:00', 0), read('10:00:01', 0), read('10:01:00', 59)], ['03-04', '03-04', '03-04'])
  t.same([read('10:00:00', 1), read('09:59:59', 0), read('11:00:00', 3601)], ['04-03', '04-03', '04-03'])
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
      const dates = [`${y}${mark}${m}${mark}${d}`, `${d}${mark}${m}${mark}${y}`, `${m}${mark}${d}${mark}${y}`]
      return dates.every((day) =>
        [clock, half, half.toLowerCase(), ` ${clock}`].every(
          (time) => displayTime(`${day} ${time}`, near) === `${y}-${m}-${d} ${clock}`,
        ),
      )
    }),
    { numRuns: 1000 },
  )
})

t.test('whatever is sent, no reader of times throws, and each has one format', async () => {
  const digits = (max: number, length: number) => fc.nat(max).map((value) => String(value).padStart(length, '0'))
  const year = fc.constantFrom('1969', '1979', '1980', '2026', '3000')
  const separator = fc.constantFrom('-', '/', '.')
  const clock = fc.tuple(digits(24, 2), digits(60, 2), digits(60, 2)).map((parts) => parts.join(':'))
  const text = fc
    .tuple(digits(32, 2), digits(14, 2), year, separator, separator, clock, fc.boolean())
    .map(([day, month, year, a, b, time, isYearFirst]) =>
      isYearFirst ? `${year}${a}${month}${b}${day} ${time}` : `${day}${a}${month}${b}${year} ${time}`,
    )
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: anyCharacter }), fc.constant(undefined), fc.integer()), (value) => {
      assert.match(displayTime(value) ?? '', /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)?$/)
      assert.equal(isDisplayTime(value), displayTime(value) !== undefined)
      assert.ok((durationSeconds(value) ?? 0) >= 0)
      const filter = filterTime(`${value}`, 'from', { offsetMinutes: -840 }) ?? ''
      assert.match(filter, /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)?$/)
    }),
    { numRuns: 5_000 },
  )
})
