/** Numbers, units, flags, texts, ids and coordinates in every spelling of the platform. */
import t from 'tap'
import {
  coordinates,
  flag,
  id,
  number,
  quantity,
  rounded,
  text,
  toKm,
  toKmh,
  toMetres,
} from '../../src/resources/units.js'

t.test('numbers are read in every notation (N01, N02, N24)', async (t) => {
  const rows: [string | number, number][] = [
    [3, 3],
    ['3', 3],
    [' 3.50 ', 3.5],
    ['-0', 0],
    [-0, 0],
    ['+5', 5],
    ['-5.5', -5.5],
    ['1 234.5', 1234.5],
    ['1\u00a0234,5', 1234.5],
    ["1'234.5", 1234.5],
    ['1,234.5', 1234.5],
    ['1.234,5', 1234.5],
    ['1,234', 1234],
    ['1,234,567', 1234567],
    ['1.234.567', 1234567],
    ['1,234,567.5', 1234567.5],
    ['1.234.567,5', 1234567.5],
    ['0,123', 0.123],
    ['12,5', 12.5],
    ['1.0E-5', 0.00001],
    ['.5', 0.5],
    [999_999_999_999_999, 999_999_999_999_999],
  ]
  for (const [value, expected] of rows) t.equal(number(value), expected, JSON.stringify(value))
  const none = [1e15, 1e300, '-1e15', '1e999', Number.NaN, '-', '- 5', '- nn', '', '5 km', '0x10', true, undefined]
  const dates = ['14.03.2026', '03.27.07', '10.0.0.1']
  for (const value of [...none, ...dates]) t.equal(number(value), undefined, String(value))
})

t.test('rounding to decimals has no -0 and leaves what it cannot scale', async (t) => {
  t.equal(rounded(1.25, 1), 1.3)
  t.equal(rounded(1.005, 0), 1)
  t.ok(Object.is(rounded(-0.04, 1), 0))
  t.equal(rounded(1e308, 2), 1e308)
})

t.test('a quantity is a number and its unit in lower case (N24)', async (t) => {
  const rows: [string | number, number, string][] = [
    ['23.41 Km', 23.41, 'km'],
    ['58 Kph', 58, 'kph'],
    ['0 Km', 0, 'km'],
    ['1 234.5 km', 1234.5, 'km'],
    ['10.6mi', 10.6, 'mi'],
    [' .5 mi ', 0.5, 'mi'],
    ['-12 км', -12, 'км'],
    ['7', 7, ''],
    ['8.0E-5', 0.00008, ''],
    ['1e-05 km', 0.00001, 'km'],
    ['5 E10', 5, 'e10'],
    ['3e', 3, 'e'],
    [7, 7, ''],
  ]
  for (const [value, amount, unit] of rows) t.strictSame(quantity(value), { amount, unit }, JSON.stringify(value))
  for (const none of ['- km', '-', '', 'km', true, undefined]) t.equal(quantity(none), undefined, String(none))
})

t.test('miles, feet and knots become kilometres, metres and km/h; other units stay (N24, N64)', async (t) => {
  t.equal(toKm(10.6, 'mi'), 17.06)
  t.equal(toKm(10.6, ' Miles '), 17.06)
  t.equal(toKm(10, 'nm'), 18.52)
  t.equal(toKm(1234, 'm'), 1.23)
  t.equal(toKm(10.654321, 'km'), 10.654321)
  t.equal(toKmh(62, 'MPH'), 99.8)
  t.equal(toKmh(62, 'mi/h'), 99.8)
  t.equal(toKmh(10, 'kn'), 18.5)
  t.equal(toKmh(62.25, 'kph'), 62.25)
  for (const unit of [undefined, 5, true, 'constructor']) t.equal(toKmh(62, unit), 62)
  t.equal(toMetres(1000, 'ft'), 304.8)
  t.equal(toMetres(1000, 'mt'), 1000)
  t.equal(toKmh('62 mph', 'kph'), 99.8, 'the unit of the text counts')
  t.equal(toKm('- km', 'mi'), undefined)
})

t.test('flags are read in every spelling, and a dash is no value (N01, N43, N46)', async (t) => {
  for (const yes of [1, '1', true, 'true', 'on', 2, ' Yes ']) t.equal(flag(yes), true, String(yes))
  for (const no of [0, '0', false, 'false', '', ' ', 'OFF', ' no ', 'null']) t.equal(flag(no), false, String(no))
  for (const none of [undefined, '-', ' - ']) t.equal(flag(none), undefined)
})

t.test('text is trimmed, and a dash is no text (N03, N40)', async (t) => {
  t.equal(text(' Park\t'), 'Park')
  t.equal(text(12), '12')
  for (const none of ['-', ' - ', '', '  ', true, undefined]) t.equal(text(none), undefined)
})

t.test('an id is a positive safe integer, in digits only', async (t) => {
  t.equal(id('318'), 318)
  t.equal(id(318), 318)
  t.equal(id(9007199254740991), 9007199254740991)
  t.equal(id('9007199254740991'), 9007199254740991)
  for (const none of ['9007199254740993', '99999999999999999999', '1e3', ' 5', '+5', '-5', '05', '0', '1.0', '', 'x'])
    t.equal(id(none), undefined, none)
  for (const none of [0, -1, 1.5, 9007199254740992, true, undefined]) t.equal(id(none), undefined, String(none))
})

t.test('coordinates lie on Earth, and 0/0 is no position (N08)', async (t) => {
  t.strictSame(coordinates('48.2', '16.3'), { lat: 48.2, lng: 16.3 })
  t.strictSame(coordinates('48,208', '-16,373'), { lat: 48.208, lng: -16.373 })
  t.strictSame(coordinates(0, 16), { lat: 0, lng: 16 })
  t.strictSame(coordinates(16, 0), { lat: 16, lng: 0 })
  t.strictSame(coordinates(90, -180), { lat: 90, lng: -180 })
  t.ok(Object.is(coordinates('-0', 16)?.lat, 0))
  for (const none of ['91', -91, '-', '', 'x', '1,234,567', true, undefined]) {
    t.equal(coordinates(none, 1), undefined, `latitude ${none}`)
    t.equal(coordinates(1, none === -91 || none === '91' ? 181 : none), undefined, `longitude ${none}`)
  }
  for (const zero of [0, '0', '0.000', -0]) t.equal(coordinates(zero, 0), undefined, String(zero))
})
