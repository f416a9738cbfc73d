/** Numbers, units, flags, texts, ids and coordinates in every spelling of the platform. */
import t from 'tap'
import type { Scalar } from '../../src/platform/shape.js'
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
} from '../../src/resources/units.js'
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
  [undefined, '14.03.2026', '03.27.07', '10.0.0.1'],
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
  [1.23, [toKm, 1234, 'm']],
  [10.654321, [toKm, 10.654321, 'km']],
  [99.8, [toKmh, 62, 'MPH'], [toKmh, 62, 'mi/h'], [toKmh, '62 mph', 'kph']],
  [18.5, [toKmh, 10, 'kn']],
  [62.25, [toKmh, 62.25, 'kph']],
  [62, [toKmh, 62, undefined], [toKmh, 62, 5], [toKmh, 62, true], [toKmh, 62, 'constructor']],
  [0, [toKmh, -3, 'mph']],
  [304.8, [toMetres, 1000, 'ft']],
  [1000, [toMetres, 1000, 'mt']],
  [undefined, [toKm, '- km', 'mi']],
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

maps('text is trimmed, and a dash is no text (N03, N40)', text, [
  ['Park', ' Park\t'],
  ['12', 12],
  [undefined, '-', ' - ', '', '  ', true, undefined],
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
  ...['91', -91, '-', '', 'x', '1,234,567', true, undefined].map((lat): [undefined, [Scalar, Scalar]] => [
    undefined,
    [lat, 1],
  ]),
  ...[181, '-181', '-', '', 'x', '1,234,567', true, undefined].map((lng): [undefined, [Scalar, Scalar]] => [
    undefined,
    [1, lng],
  ]),
  [undefined, [0, 0], ['0', 0], ['0.000', 0], [-0, 0]],
])
