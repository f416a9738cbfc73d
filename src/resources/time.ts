/** Dates and durations as texts, in and out, without any zone; what a zone does to them is in `zone.ts`. */
import type { Scalar } from '../platform/shape.js'

const DAY_MS = 86_400_000
const YEAR_FIRST = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)/
const CLOCK =
  /^(?:[Tt]|,?\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:\s*([AaPp])\.?[Mm]\.?)?(?:\s*(?:[Zz]|[+-]\d{2}:?\d{2}))?\s*$/

/** Already as we write it, on a day that every month has: nearly all of what a long history holds. */
const PLAIN = /^(?:19[89]|2\d\d)\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** The same with the day or the month first. */
const PLAIN_LAST =
  /^(?:0[1-9]|1\d|2[0-8])([-/.])(?:0[1-9]|1\d|2[0-8])\1(?:19[89]|2\d\d)\d (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** The last second that `YYYY` can still write. */
const LAST_SECOND = 253_402_300_799
/** The platform shows an unset time as the epoch in the account's zone. */
const UNSET_BEFORE_MS = 365 * DAY_MS

/** Milliseconds of a date read as UTC, or undefined where the calendar has no such day. */
export function dayMs(year: number, month: number, day: number): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day))
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return real ? date.getTime() : undefined
}

/** Milliseconds since midnight, or undefined where no clock shows that. */
export function clockMs(hour: number, minute: number, second: number): number | undefined {
  return hour < 24 && minute < 60 && second < 60 ? ((hour * 60 + minute) * 60 + second) * 1000 : undefined
}

/** `YYYY-MM-DD HH:MM:SS` of an instant read as UTC; undefined outside the years 0000 to 9999. */
export function written(ms: number): string | undefined {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return undefined
  const iso = date.toISOString()
  return iso.length === 24 ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}` : undefined
}

/** Milliseconds of the start of the day in each order the text can mean; day before month where nothing decides. */
function daysOf(value: string): { days: number[]; rest: string } {
  const first = YEAR_FIRST.exec(value)
  if (first) {
    const day = dayMs(Number(first[1]), Number(first[3]), Number(first[4]))
    return { days: day === undefined ? [] : [day], rest: value.slice(first[0].length) }
  }
  const last = YEAR_LAST.exec(value)
  if (!last) return { days: [], rest: '' }
  const [a, b, year] = [Number(last[1]), Number(last[3]), Number(last[4])]
  const days = [dayMs(year, b, a), dayMs(year, a, b)].filter((day) => day !== undefined)
  return { days, rest: value.slice(last[0].length) }
}

function timeOfDay(rest: string): number | undefined {
  if (rest.trim() === '') return 0
  const match = CLOCK.exec(rest)
  if (!match) return undefined
  const half = match[4]?.toLowerCase()
  const hour = Number(match[1])
  const hour24 = half === 'p' && hour < 12 ? hour + 12 : half === 'a' && hour === 12 ? 0 : hour
  return clockMs(hour24, Number(match[2]), Number(match[3] ?? 0))
}

const distance = (ms: number, near: readonly number[]): number => {
  let least = Number.POSITIVE_INFINITY
  for (const second of near) least = Math.min(least, Math.abs(second * 1000 - ms))
  return least
}

/** What `PLAIN_LAST` passes: a list of thousands writes nothing else, so it is put together from its own characters. */
function plainLast(value: string, near: readonly number[]): string | undefined {
  const [first, second, year, clock] = [value.slice(0, 2), value.slice(3, 5), value.slice(6, 10), value.slice(11)]
  const [a, b] = [Number(first), Number(second)]
  if (a > 12 && b > 12) return undefined
  const isMonthFirst = b > 12 || (a <= 12 && a !== b && isNearer(Number(year), a, b, clock, near))
  return isMonthFirst ? `${year}-${first}-${second} ${clock}` : `${year}-${second}-${first} ${clock}`
}

/** Whether a date is nearer with `a` as its month than with `a` as its day. */
function isNearer(year: number, a: number, b: number, clock: string, near: readonly number[]): boolean {
  const ms = ((Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))) * 60 + Number(clock.slice(6))) * 1000
  return distance(Date.UTC(year, a - 1, b) + ms, near) < distance(Date.UTC(year, b - 1, a) + ms, near)
}

/**
 * A display time of the platform in any of its date formats as `YYYY-MM-DD HH:MM:SS`, same wall clock (platform.md 3.5).
 * Words ("Expired"), zero dates and days that do not exist are undefined. A zone at the end is dropped, not applied.
 * @param near Unix seconds; of two readings of day and month, the one nearest to any of these is taken.
 */
export function displayTime(value: Scalar, near: readonly number[] = []): string | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined
  if (PLAIN.test(value)) return value
  if (PLAIN_LAST.test(value)) return plainLast(value, near)
  const { days, rest } = daysOf(value.trim())
  const clock = timeOfDay(rest)
  if (clock === undefined) return undefined
  const [best, other] = days.map((day) => day + clock)
  const ms = other !== undefined && best !== undefined && distance(other, near) < distance(best, near) ? other : best
  return ms === undefined || ms < UNSET_BEFORE_MS ? undefined : written(ms)
}

/** Unix seconds of a wall clock text read as if it were UTC: for comparing texts, not an instant. */
export const asIfUtc = (wallClock: string): number => Date.parse(`${wallClock.replace(' ', 'T')}Z`) / 1000

/** Unix seconds from seconds or milliseconds; nothing, negative or beyond the year 9999 is 0, "never". */
export function unixSeconds(value: number | undefined): number {
  if (value === undefined || !(value > 0)) return 0
  const seconds = Math.floor(value > 1e11 ? value / 1000 : value)
  return seconds <= LAST_SECOND ? seconds : 0
}

/** Whole days since 1970-01-01 of `YYYY-MM-DD…`; undefined where the calendar has no such day. */
export function epochDay(date: string): number | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:[ T]|$)/.exec(date)
  const ms = match ? dayMs(Number(match[1]), Number(match[2]), Number(match[3])) : undefined
  return ms === undefined ? undefined : ms / DAY_MS
}

/** `YYYY-MM-DD` of a number of days since 1970-01-01; undefined outside the years 0000 to 9999. */
export const dayText = (day: number): string | undefined => written(Math.floor(day) * DAY_MS)?.slice(0, 10)

const SECONDS: Record<string, number> = {
  ...Object.fromEntries(['d', 'day', 'days', 'dia', 'dias', 'día', 'días'].map((word) => [word, 86_400])),
  ...Object.fromEntries(['h', 'hr', 'hrs', 'hour', 'hours', 'hora', 'horas'].map((word) => [word, 3600])),
  ...Object.fromEntries(['m', 'min', 'mins', 'minute', 'minutes'].map((word) => [word, 60])),
  ...Object.fromEntries(['s', 'sec', 'secs', 'seg', 'second', 'seconds'].map((word) => [word, 1])),
}

/** Seconds of `47h 12min 9s`, `12d 7h 41min 30s` or `01:02:03` (platform.md N25); undefined for any other text. */
export function durationSeconds(value: Scalar): number | undefined {
  if (typeof value !== 'string' || value.length > 100) return undefined
  const text = value.trim().toLowerCase()
  const clock = /^(\d{1,9}):([0-5]\d):([0-5]\d)$/.exec(text)
  if (clock) return Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3])
  if (!/^(?:\d{1,9}\s*\p{L}+\.?\s*)+$/u.test(text)) return undefined
  let total = 0
  for (const [, amount, word] of text.matchAll(/(\d{1,9})\s*(\p{L}+)/gu)) {
    const seconds = Object.hasOwn(SECONDS, word ?? '') ? SECONDS[word ?? ''] : undefined
    if (seconds === undefined) return undefined
    total += Number(amount) * seconds
  }
  return total
}
