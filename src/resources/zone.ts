/** An account's zone as its setup on the platform says it, and what the clock shows there at an instant. */
import type { WireSetup } from '../platform/wire.js'
import { clockMs, dayMs, written } from './time.js'
import { id, text } from './units.js'

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60

/** A day of the year and the minutes into it, read on the account's standard clock. */
type YearDay = { month: number; day: number; minutes: number }

/** A fixed offset from UTC, and the days between which one hour is added. */
export type Zone = { offsetMinutes: number; summer?: { from: YearDay; to: YearDay } }

const UTC: Zone = { offsetMinutes: 0 }

/** `UTC +02:00`, `-14:00` or `+ 5:30` in minutes (platform.md 9.3). */
function offsetIn(value: string | undefined): number | undefined {
  const match = /([+-])\s*(\d{1,2}):(\d{2})/.exec(value ?? '')
  if (!match) return undefined
  const minutes = Number(match[2]) * HOUR_MINUTES + Number(match[3])
  return minutes > 14 * HOUR_MINUTES ? undefined : match[1] === '-' ? 0 - minutes : minutes
}

/** The list runs in quarter hours from -14:00 at id 1 (platform.md 9.3), for setups that come without the list. */
function offsetOfId(zoneId: number | undefined): number | undefined {
  const minutes = zoneId === undefined ? undefined : -14 * HOUR_MINUTES + (zoneId - 1) * 15
  return minutes !== undefined && minutes <= 14 * HOUR_MINUTES ? minutes : undefined
}

/** `MM-DD HH:MM`, with or without a year before and seconds after. */
function yearDay(value: string | undefined): YearDay | undefined {
  const match = /^(?:\d{4}-)?(\d{2})-(\d{2})(?: (\d{2}):(\d{2})(?::\d{2})?)?$/.exec(value ?? '')
  if (!match) return undefined
  const [month, day, hour, minute] = match.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number]
  const real = dayMs(2024, month, day) !== undefined && clockMs(hour, minute, 0) !== undefined
  return real ? { month, day, minutes: hour * HOUR_MINUTES + minute } : undefined
}

/**
 * The zone of the account's setup; UTC where it says none.
 * Daylight saving is followed for the type `exact`; the days of other types are not in the answer, so they are left out.
 */
export function toZone(setup: WireSetup): Zone {
  const wanted = text(setup.item.timezone_id)
  const row = wanted === undefined ? undefined : setup.timezones.find((zone) => text(zone.id) === wanted)
  const offsetMinutes = offsetIn(text(row?.value)) ?? offsetOfId(id(wanted)) ?? UTC.offsetMinutes
  if (text(setup.user_dst.type)?.toLowerCase() !== 'exact') return { offsetMinutes }
  const from = yearDay(text(setup.user_dst.date_from))
  const to = yearDay(text(setup.user_dst.date_to))
  return from && to ? { offsetMinutes, summer: { from, to } } : { offsetMinutes }
}

const order = ({ month, day, minutes }: YearDay): number => (month * 31 + day) * 1440 + minutes

/** Whether the standard clock, read as if it were UTC, stands within the summer; one that spans New Year too. */
function inSummer(localMs: number, { from, to }: { from: YearDay; to: YearDay }): boolean {
  const date = new Date(localMs)
  const minutes = date.getUTCHours() * HOUR_MINUTES + date.getUTCMinutes()
  const at = order({ month: date.getUTCMonth() + 1, day: date.getUTCDate(), minutes })
  const [start, end] = [order(from), order(to)]
  return start <= end ? at >= start && at < end : at >= start || at < end
}

/** What the account's clock shows at an instant, as if that were UTC; both in Unix milliseconds. */
function shifted(ms: number, zone: Zone): number {
  const standard = ms + zone.offsetMinutes * MINUTE_MS
  return zone.summer && inSummer(standard, zone.summer) ? standard + HOUR_MINUTES * MINUTE_MS : standard
}

/** `YYYY-MM-DD HH:MM:SS` on the account's clock at an instant (Unix ms); undefined outside the years 0000 to 9999. */
export const wallClock = (ms: number, zone: Zone): string | undefined => written(shifted(ms, zone))

/** The day on the account's clock at an instant (Unix ms), in days since 1970-01-01. */
export const today = (ms: number, zone: Zone): number => Math.floor(shifted(ms, zone) / (24 * HOUR_MINUTES * MINUTE_MS))

const DAY = /^(\d{4})-(\d{2})-(\d{2})/
const CLOCK = /^[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?/
/** A `+` that was not escaped in the URL arrives as a space. */
const OFFSET = /^ ?(?:([Zz])|([+-]| )(\d{2})(?::?(\d{2}))?)$/

/** Milliseconds east of UTC; undefined for an offset no clock has. */
function offsetMs(match: RegExpExecArray): number | undefined {
  if (match[1]) return 0
  const ms = clockMs(Number(match[3]), Number(match[4] ?? 0), 0)
  return ms === undefined ? undefined : match[2] === '-' ? -ms : ms
}

type Moment = { local: number; offset: number | undefined; dateOnly: boolean }

/** The parts of an ISO 8601 date or date-time, or undefined where it is none or does not exist in the calendar. */
function momentOf(value: string): Moment | undefined {
  const date = DAY.exec(value)
  const day = date ? dayMs(Number(date[1]), Number(date[2]), Number(date[3])) : undefined
  if (day === undefined) return undefined
  const rest = value.slice(10)
  if (rest === '') return { local: day, offset: undefined, dateOnly: true }
  const clock = CLOCK.exec(rest)
  const time = clock ? clockMs(Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0)) : undefined
  if (!clock || time === undefined) return undefined
  const tail = rest.slice(clock[0].length)
  if (tail === '') return { local: day + time, offset: undefined, dateOnly: false }
  const match = OFFSET.exec(tail)
  const offset = match ? offsetMs(match) : undefined
  return offset === undefined ? undefined : { local: day + time, offset, dateOnly: false }
}

/** Whether a `from`/`to` carries an offset, so that only the account's zone can say what the clock shows there. */
export const carriesOffset = (value: string): boolean => momentOf(value)?.offset !== undefined

/**
 * An ISO 8601 `from`/`to` as `YYYY-MM-DD HH:MM:SS` on the account's clock, or undefined where it is none.
 * A date alone is its first (`from`) or last (`to`) second; fractions are cut off.
 * @param zone needed where `carriesOffset`; taken as UTC otherwise.
 */
export function filterTime(value: string, edge: 'from' | 'to', zone: Zone = UTC): string | undefined {
  const moment = momentOf(value)
  if (!moment) return undefined
  if (moment.dateOnly) return `${value} ${edge === 'from' ? '00:00:00' : '23:59:59'}`
  return moment.offset === undefined ? written(moment.local) : wallClock(moment.local - moment.offset, zone)
}

/** Whether the text is a day of the calendar, `YYYY-MM-DD`. */
export const isDay = (value: string): boolean => momentOf(value)?.dateOnly === true
