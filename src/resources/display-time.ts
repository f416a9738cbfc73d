/** Display times of the platform, in any of its date formats, as `YYYY-MM-DD HH:MM:SS`. */
import type { Scalar } from '../platform/shape.js'
import { asIfUtc } from './time.js'

/** The output format itself, on a day that every month has: histories have nothing else, and this takes a tenth of the time. */
const canonical = /^(?:19[89]|2\d\d)\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/
/** The same with the day first, the other usual format. */
const dayFirst = /^(?:0[1-9]|1\d|2[0-8])([-/.])(?:0[1-9]|1[0-2])\1(?:19[89]|2\d\d)\d (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/
const datePattern = /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:(?:T|,?\s{1,9})(.{1,30}))?$/i
/** A UTC offset may follow. */
const clockPattern =
  /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:\s{0,9}([AP])\.?M\.?)?(?:\s{0,9}(?:Z|[+-]\d\d:?\d\d))?$/i

/** The platform shows an unset time as the epoch in the account's zone. */
const minTime = '1971'

/** An instant, or first and last instant of a span, Unix seconds. */
type Near = number | readonly [first: number, last: number]

/** Seconds to the nearest of them; 0 within a span. */
const distanceOf = (at: number, near: readonly Near[]): number =>
  Math.min(...near.map((one) => (typeof one === 'number' ? Math.abs(one - at) : Math.max(0, one[0] - at, at - one[1]))))

const two = (value: string): string => (value.length < 2 ? `0${value}` : value)

/** `HH:MM:SS`, perhaps of a time that no clock shows. */
function clockText(text: string): string | undefined {
  const [, hour, minute, second = '00', half] = clockPattern.exec(text) ?? []
  if (hour === undefined) return undefined
  const isHalf = half !== undefined && Number(hour) <= 12
  const hours = isHalf ? (Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0) : hour
  return `${two(String(hours))}:${minute}:${second}`
}

/** The possible readings of a date as year, month and day, the likeliest first. */
function datesOf(first: string, second: string, last: string): string[][] {
  if (first.length === 4) return [[first, second, last]]
  if (first.length > 2 || last.length !== 4) return []
  return [
    [last, second, first],
    [last, first, second],
  ]
}

/** Whether the calendar has this day and a clock this time: `Date.parse` reads others as a later day, or as NaN. */
const exists = (time: string): boolean =>
  time > minTime && new Date(asIfUtc(time) * 1000).getUTCDate() === Number(time.slice(8, 10))

/**
 * A display time of the platform as `YYYY-MM-DD HH:MM:SS`, same wall clock (platform.md 3.5).
 * Words ("Expired"), zero dates and days that do not exist are undefined. A UTC offset at the end is dropped, not applied.
 * @param near Of two readings of day and month the one nearest to any of these is taken, else day first.
 */
export function displayTime(value: Scalar, near: readonly Near[] = []): string | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined
  if (canonical.test(value)) return value
  const [match, first = '', , second = '', last = '', time = '0:00'] = datePattern.exec(value.trim()) ?? []
  const clock = match && clockText(time)
  if (clock === undefined) return undefined
  const readings = datesOf(first, second, last).map((date) => `${date.map(two).join('-')} ${clock}`)
  const [one, other] = readings.filter(exists)
  const distance = (time: string): number => distanceOf(asIfUtc(time), near)
  return one && other && distance(other) < distance(one) ? other : one
}

/** Whether `displayTime` is a time, a tenth of the work in the usual formats. */
export const isDisplayTime = (value: Scalar): boolean =>
  typeof value === 'string' && (canonical.test(value) || dayFirst.test(value) || displayTime(value) !== undefined)

/**
 * Whether a time has its day before its month, by what `displayTime` made of it; undefined where they are equal, and for other formats.
 * @param shown that time as `YYYY-MM-DD HH:MM:SS`.
 */
export function isDayFirst(value: Scalar, shown = ''): boolean | undefined {
  const [month, day] = [Number(shown.slice(5, 7)), Number(shown.slice(8, 10))]
  const first = Number.parseInt(String(value), 10)
  return month !== day && (first === day || first === month) ? first === day : undefined
}
