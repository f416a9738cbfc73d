/** Instants, days and durations as text, in and out, without a time zone; `zone.ts` applies the zone. */
import type { Scalar } from '../platform/shape.js'

const dayS = 86_400
/** First second of the year 1. */
export const firstSecond = -62_135_596_800
/** Last second of the year 9999, the last one that `YYYY` can express. */
export const lastSecond = 253_402_300_799

/** `YYYY-MM-DD HH:MM:SS` of Unix milliseconds, in UTC; undefined outside the years 0000 to 9999. */
export function wallClockText(ms: number): string | undefined {
  const iso: string | null = new Date(ms).toJSON()
  return iso?.length === 24 ? iso.slice(0, 19).replace('T', ' ') : undefined
}

/** Unix seconds of `YYYY-MM-DD HH:MM:SS` read as if it were UTC, to compare such texts; NaN for any other text. */
export const asIfUtc = (wallClock: string): number => Date.parse(`${wallClock.replace(' ', 'T')}Z`) / 1000

/** Unix seconds of a number of seconds or milliseconds; 0 ("never") for none, a negative one or one past the year 9999. */
export function unixSeconds(value: number | undefined): number {
  if (value === undefined || !(value > 0)) return 0
  const seconds = Math.floor(value > 1e11 ? value / 1000 : value)
  return seconds <= lastSecond ? seconds : 0
}

/** Days since 1970-01-01 of a day of the calendar, `YYYY-MM-DD` or `YYYY-MM-DD HH:MM:SS`. */
export const epochDay = (date: string): number => Date.parse(date.slice(0, 10)) / (dayS * 1000)

/** `YYYY-MM-DD` of a number of days since 1970-01-01; undefined outside the years 0000 to 9999. */
export const dayText = (day: number): string | undefined => wallClockText(Math.floor(day) * dayS * 1000)?.slice(0, 10)

const units: readonly [seconds: number, words: string][] = [
  [dayS, 'd day days dia dias día días'],
  [3600, 'h hr hrs hour hours hora horas'],
  [60, 'm min mins minute minutes'],
  [1, 's sec secs seg second seconds'],
]
const secondsByUnit = new Map(units.flatMap(([seconds, words]) => words.split(' ').map((word) => [word, seconds])))

/** Seconds per unit of time; undefined for any other text. */
export const secondsPer = (unit: string): number | undefined => secondsByUnit.get(unit.toLowerCase().replace(/\.$/, ''))

/** Seconds of `47h 12min 9s`, `12d 7h 41min 30s` or `01:02:03` (platform.md N25); undefined for any other text. */
export function durationSeconds(value: Scalar): number | undefined {
  if (typeof value !== 'string' || value.length > 100) return undefined
  const text = value.trim()
  const clock = /^(\d{1,9}):([0-5]\d):([0-5]\d)$/.exec(text)
  if (clock) return Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3])
  let total = 0
  for (const part of text.split(/(?<=\D)(?=\d)/)) {
    const [amount = ''] = /^\d{1,9}/.exec(part) ?? []
    const seconds = secondsPer(part.slice(amount.length).trim())
    if (amount === '' || seconds === undefined) return undefined
    total += Number(amount) * seconds
  }
  return total
}
