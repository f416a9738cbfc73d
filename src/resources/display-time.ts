/** Display times of the platform, in any of its date formats, as `YYYY-MM-DD HH:MM:SS`. */
import type { Scalar } from '../platform/shape.js'

/** The output format itself, on a day that every month has: histories have nothing else, and this takes a tenth of the time. */
const CANONICAL = /^(?:19[89]|2\d\d)\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/
/** The same with the day first, the other usual format. */
const DAY_FIRST =
  /^(?:0[1-9]|1\d|2[0-8])([-/.])(?:0[1-9]|1[0-2])\1(?:19[89]|2\d\d)\d (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/
const DATE = /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?:(?:T|,?\s{1,9})(.{1,30}))?$/i
/** A UTC offset may follow. */
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:\s{0,9}([AP])\.?M\.?)?(?:\s{0,9}(?:Z|[+-]\d\d:?\d\d))?$/i

/** The platform shows an unset time as the epoch in the account's zone. */
const MIN_YEAR = 1971

/** The text of a day with its instant, Unix milliseconds. */
interface Day {
  text: string
  ms: number
}

const two = (value: string): string => (value.length < 2 ? `0${value}` : value)

/** Undefined for a day that does not exist. */
function dayOf(year: string, month: string, day: string): Day | undefined {
  const [y, m, d] = [Number(year), Number(month), Number(day)]
  const exists = y >= MIN_YEAR && m > 0 && m < 13 && d > 0 && (d < 29 || d <= new Date(Date.UTC(y, m, 0)).getUTCDate())
  return exists ? { text: `${year}-${two(month)}-${two(day)}`, ms: Date.UTC(y, m - 1, d) } : undefined
}

/** `HH:MM:SS`; undefined for a time that no clock shows. */
function clockText(text: string): string | undefined {
  const [, hour, minute = '', second = '00', half = ''] = CLOCK.exec(text) ?? []
  if (hour === undefined) return undefined
  let hours = Number(hour)
  if (half !== '' && hours <= 12) hours = (hours % 12) + (half === 'P' || half === 'p' ? 12 : 0)
  if (hours > 23 || minute > '59' || second > '59') return undefined
  return `${two(String(hours))}:${minute}:${second}`
}

/** Milliseconds to the nearest of several instants in Unix seconds; infinite without any. */
const distance = (ms: number, near: readonly number[]): number =>
  Math.min(...near.map((second) => Math.abs(second * 1000 - ms)))

/**
 * A display time of the platform as `YYYY-MM-DD HH:MM:SS`, same wall clock (platform.md 3.5).
 * Words ("Expired"), zero dates and days that do not exist are undefined. A UTC offset at the end is dropped, not applied.
 * @param near Unix seconds. Of two readings of day and month the one nearest to any of these is taken, else day first.
 */
export function displayTime(value: Scalar, near: readonly number[] = []): string | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined
  if (CANONICAL.test(value)) return value
  const match = DATE.exec(value.trim())
  if (!match) return undefined
  const [, first = '', , second = '', last = '', time = '0:00'] = match
  const clock = clockText(time)
  if (clock === undefined) return undefined
  if (first.length === 4 && last.length < 3) return shown(dayOf(first, second, last), clock)
  if (first.length > 2 || last.length !== 4) return undefined
  const [dayFirst, monthFirst] = [dayOf(last, second, first), dayOf(last, first, second)]
  const isBoth = dayFirst !== undefined && monthFirst !== undefined
  return shown(isBoth ? nearest(dayFirst, monthFirst, clock, near) : (dayFirst ?? monthFirst), clock)
}

/** Whether `displayTime` is a time, a tenth of the work in the usual formats. */
export const isDisplayTime = (value: Scalar): boolean =>
  typeof value === 'string' && (CANONICAL.test(value) || DAY_FIRST.test(value) || displayTime(value) !== undefined)

/**
 * Whether a time has its day before its month, by what `displayTime` made of it; undefined where they are equal, and for other formats.
 * @param shown that time as `YYYY-MM-DD HH:MM:SS`.
 */
export function isDayFirst(value: Scalar, shown = ''): boolean | undefined {
  const [month, day] = [Number(shown.slice(5, 7)), Number(shown.slice(8, 10))]
  const first = Number.parseInt(String(value), 10)
  return month !== day && (first === day || first === month) ? first === day : undefined
}

const shown = (day: Day | undefined, clock: string): string | undefined => day && `${day.text} ${clock}`

/** The day that is nearest with this time of day; the first of two that are equally near. */
function nearest(first: Day, second: Day, clock: string, near: readonly number[]): Day {
  const ms = Date.parse(`1970-01-01T${clock}Z`)
  return distance(second.ms + ms, near) < distance(first.ms + ms, near) ? second : first
}
