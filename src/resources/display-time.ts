/** Display times of the platform, in any of its date formats, as `YYYY-MM-DD HH:MM:SS`. */
import { DateTime } from 'luxon'
import type { Scalar } from '../platform/shape.js'
import { wallClockText } from './time.js'

/** The platform shows an unset time as the epoch in the account's zone. */
const UNSET_BEFORE_MS = 365 * 86_400_000

/** The output format itself, on any day but 29 February. */
const CANONICAL =
  /^(?:19[89]|2\d\d)\d-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/
/** Day and month in either order before the year, in a 24-hour or 12-hour format. */
const YEAR_LAST =
  /^\d\d([-/.])\d\d\1(?:19[89]|2\d\d)\d (?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d|(?:0\d|1[0-2]):[0-5]\d:[0-5]\d [AP]M)$/
/** Days of each month by its number; 29 February is left to luxon. */
const DAYS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const exists = (month: number, day: number): boolean => day > 0 && day <= (DAYS[month] ?? 0)

/** Milliseconds to the nearest of several instants in Unix seconds. */
function distance(ms: number, near: readonly number[]): number {
  let min = Number.POSITIVE_INFINITY
  for (const second of near) min = Math.min(min, Math.abs(second * 1000 - ms))
  return min
}

/** `HH:MM:SS` of the same, or of `HH:MM:SS AM` or `PM`. */
function clock24(clock: string): string {
  if (clock.length === 8) return clock
  const hour = (Number(clock.slice(0, 2)) % 12) + (clock[9] === 'P' ? 12 : 0)
  return `${hour < 10 ? '0' : ''}${hour}${clock.slice(2, 8)}`
}

/** Whether the date is nearer to `near` with `a` as its month than with `a` as its day. */
function isMonthFirst(year: number, a: number, b: number, clock: string, near: readonly number[]): boolean {
  const ms = ((Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))) * 60 + Number(clock.slice(6))) * 1000
  return distance(Date.UTC(year, a - 1, b) + ms, near) < distance(Date.UTC(year, b - 1, a) + ms, near)
}

/**
 * `parsed` by hand for the formats that whole lists have; undefined for any other text.
 * Without this function, translating 10,000 devices takes 30 ms instead of 7 ms.
 */
function parsedFast(value: string, near: readonly number[]): string | undefined {
  if (CANONICAL.test(value)) return value
  if (!YEAR_LAST.test(value)) return undefined
  const [first, second, year] = [value.slice(0, 2), value.slice(3, 5), value.slice(6, 10)]
  const [a, b, clock] = [Number(first), Number(second), clock24(value.slice(11))]
  if (exists(a, b) && (!exists(b, a) || isMonthFirst(Number(year), a, b, clock, near))) {
    return `${year}-${first}-${second} ${clock}`
  }
  return exists(b, a) ? `${year}-${second}-${first} ${clock}` : undefined
}

const DATE = /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(?!\d)/
const CLOCK =
  /^(?:[Tt]|,?\s{1,9})(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:\s{0,9}([AaPp])\.?[Mm]\.?)?(?:\s{0,9}(?:[Zz]|[+-]\d{2}:?\d{2}))?$/

type Clock = { hour: number; minute: number; second: number }

/** Midnight for a date without a time. */
function clockOf(text: string): Clock | undefined {
  if (text === '') return { hour: 0, minute: 0, second: 0 }
  const match = CLOCK.exec(text)
  if (!match) return undefined
  const half = match[4]?.toLowerCase()
  const written = Number(match[1])
  const hour = half === 'p' && written < 12 ? written + 12 : half === 'a' && written === 12 ? 0 : written
  // Luxon accepts 24:00, which no clock shows.
  return hour < 24 ? { hour, minute: Number(match[2]), second: Number(match[3] ?? 0) } : undefined
}

/** The instants that the text can mean if it is UTC, day before month; dates that do not exist are left out. */
function readings(text: string): DateTime[] {
  const [date = '', first = '', , second, last = ''] = DATE.exec(text) ?? []
  const clock = clockOf(text.slice(date.length))
  if (!clock) return []
  const utc = (year: string, month: string | undefined, day: string | undefined): DateTime =>
    DateTime.fromObject({ year: Number(year), month: Number(month), day: Number(day), ...clock }, { zone: 'utc' })
  const dates =
    first.length === 4 && last.length <= 2
      ? [utc(first, second, last)]
      : first.length <= 2 && last.length === 4
        ? [utc(last, second, first), utc(last, first, second)]
        : []
  return dates.filter((reading) => reading.isValid)
}

function parsed(text: string, near: readonly number[]): string | undefined {
  const [best, other] = readings(text)
  if (!best) return undefined
  const nearest = other && distance(other.toMillis(), near) < distance(best.toMillis(), near) ? other : best
  return nearest.toMillis() < UNSET_BEFORE_MS ? undefined : wallClockText(nearest)
}

/**
 * A display time of the platform as `YYYY-MM-DD HH:MM:SS`, same wall clock (platform.md 3.5).
 * Words ("Expired"), zero dates and days that do not exist are undefined. A UTC offset at the end is dropped, not applied.
 * @param near Unix seconds. Of two readings of day and month the one nearest to any of these is taken, else day first.
 */
export function displayTime(value: Scalar, near: readonly number[] = []): string | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined
  return parsedFast(value, near) ?? parsed(value.trim(), near)
}
