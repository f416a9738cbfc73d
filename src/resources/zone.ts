/** An account's time zone from its platform setup, and the conversion of instants and ISO 8601 filters to its clock. */
import { DateTime, FixedOffsetZone, IANAZone } from 'luxon'
import { BoundedMap } from '../lib/bounded-map.js'
import type { WireSetup } from '../platform/wire.js'
import { type DaylightSaving, daylightSaving, edgeText } from './daylight-saving.js'
import { firstSecond, lastSecond, wallClockText } from './time.js'
import { id, text } from './units.js'

const maxOffsetMinutes = 14 * 60
const dayMs = 86_400_000

/** Standard minutes east of UTC, and daylight saving time. */
export type Zone = { offsetMinutes: number } & DaylightSaving

/** Minutes of `UTC +02:00`, `-14:00`, `+ 5:30`, `UTC 00:00` or `UTC` (platform.md 9.3); U+2212 is the minus sign of typography. */
function offsetIn(value: string | undefined): number | undefined {
  const match = /([+\u2212-])\s*(\d{1,2}):(\d{2})/.exec(value ?? '')
  if (!match) return /^(UTC|GMT)( 0?0:00)?$/i.test(value ?? '') ? 0 : undefined
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return minutes > maxOffsetMinutes ? undefined : match[1] === '+' ? minutes : 0 - minutes
}

/** For a setup without the list of zones: the list runs in quarter hours from -14:00 at id 1 (platform.md 9.3). */
function offsetOfId(zoneId: number | undefined): number | undefined {
  const minutes = zoneId === undefined ? undefined : (zoneId - 1) * 15 - maxOffsetMinutes
  return minutes !== undefined && minutes <= maxOffsetMinutes ? minutes : undefined
}

/** Standard minutes east of UTC; undefined where the setup does not say. */
function offsetOf(setup: WireSetup): number | undefined {
  const zoneId = text(setup.item.timezone_id)
  const row = zoneId === undefined ? undefined : setup.timezones.find((zone) => text(zone.id) === zoneId)
  return offsetIn(text(row?.value)) ?? offsetOfId(id(zoneId))
}

/** The zone of the account's setup (platform.md 9.3); UTC if it has none. */
export function toZone(setup: WireSetup): Zone {
  const offsetMinutes = offsetOf(setup) ?? 0
  return { offsetMinutes, ...daylightSaving(setup, offsetMinutes) }
}

/** As `toZone`; undefined where the setup does not say, or is unknown. */
export const knownZone = (setup: WireSetup | undefined): Zone | undefined =>
  setup && offsetOf(setup) !== undefined ? toZone(setup) : undefined

/** Offsets by the minute, in which no clock changes: the times of a fleet or a history are close together. */
const knownOffsets = new WeakMap<Zone, BoundedMap<number, number>>()
const maxOffsets = 1_000

/** Minutes east of UTC at an instant (Unix milliseconds). */
export function offsetMinutesAt(ms: number, zone: Zone): number {
  const known = knownOffsets.get(zone) ?? new BoundedMap<number, number>(maxOffsets)
  const minute = Math.floor(ms / 60_000)
  const offset = known.get(minute) ?? offsetAt(ms, zone)
  if (!known.has(minute)) knownOffsets.set(zone, known.set(minute, offset))
  return offset
}

/** The clock at an instant, as if it were in UTC (both in Unix milliseconds). */
const clockAt = (ms: number, zone: Zone): number => ms + offsetMinutesAt(ms, zone) * 60_000

/** `+04:00` at an instant (Unix milliseconds); undefined where the setup has no zone, or is unknown. */
export function utcOffset(ms: number, setup: WireSetup | undefined): string | undefined {
  const zone = knownZone(setup)
  return zone && FixedOffsetZone.instance(offsetMinutesAt(ms, zone)).formatOffset(ms, 'short')
}

/** Unix milliseconds of a wall clock read as if it were UTC; the first of two when the end of daylight saving time repeats it. */
export function fromWallClock(ms: number, zone: Zone): number {
  const standard = ms - zone.offsetMinutes * 60_000
  if (!zone.summer && zone.name === undefined) return standard
  const withOffsetAt = (instant: number): number => ms - offsetMinutesAt(instant, zone) * 60_000
  const first = withOffsetAt(standard - 3_600_000)
  // Lord Howe Island moves its clocks by half an hour: the offset of an hour before may have ended.
  const other = withOffsetAt(first)
  return withOffsetAt(other) === other ? other : first
}

/** Milliseconds after which the clock shows the same once more, because daylight saving time ends in between; 0 if it does not. */
export const repeatsAfter = (ms: number, zone: Zone): number =>
  [1_800_000, 3_600_000, 7_200_000].find((later) => clockAt(ms + later, zone) === clockAt(ms, zone)) ?? 0

/** As `offsetMinutesAt`, computed. */
function offsetAt(ms: number, { offsetMinutes, summer, name }: Zone): number {
  if (name !== undefined) return IANAZone.create(name).offset(ms)
  const standard = summer && wallClockText(ms + offsetMinutes * 60_000)
  if (!standard) return offsetMinutes
  const [year, at] = [Number(standard.slice(0, 4)), standard.slice(5, 16)]
  const [from, to] = [edgeText(summer.from, year), edgeText(summer.to, year)]
  // South of the equator the summer spans New Year.
  const isSummer = from <= to ? at >= from && at < to : at >= from || at < to
  return isSummer ? offsetMinutes + 60 : offsetMinutes
}

/** `YYYY-MM-DD HH:MM:SS` on the account's clock at an instant (Unix milliseconds); undefined outside the years 0000 to 9999. */
export const wallClock = (ms: number, zone: Zone): string | undefined => wallClockText(clockAt(ms, zone))

/** The day on the account's clock at an instant (Unix milliseconds), in days since 1970-01-01. */
export const today = (ms: number, zone: Zone): number => Math.floor(clockAt(ms, zone) / dayMs)

/** ISO 8601 dates and date-times in extended and basic format; of the years before 0100 only 0001, "no beginning" in many languages. An unescaped `+` in a URL arrives as a space. */
const iso8601 =
  /^((?!00(?!01))\d{4}-\d\d-\d\d|(?!00(?!01))\d{8})(?:[Tt ]((?:[01]\d|2[0-3])(?::?[0-5]\d(?::?[0-5]\d(?:[.,]\d{1,9})?)?)?|24(?::?00){0,2})( ?(?:[Zz]|[+ -](?:[01]\d|2[0-3])(?::?[0-5]\d)?))?)?$/

/** What an ISO 8601 text says: Unix milliseconds, as if in UTC without an offset; undefined for any other text and days that do not exist. */
function parse(value: string): { ms: number; isDay: boolean; hasOffset: boolean } | undefined {
  const [match, day, clock, offset] = iso8601.exec(value) ?? []
  if (match === undefined) return undefined
  const zone = offset?.trim().replace(/^\d/, '+$&') ?? ''
  const date = DateTime.fromISO(clock === undefined ? `${day}` : `${day}T${clock}${zone}`, { zone: 'utc' })
  return date.isValid ? { ms: date.toMillis(), isDay: clock === undefined, hasOffset: offset !== undefined } : undefined
}

/** Whether a `from` or `to` has a UTC offset, so that `filterTime` needs the account's zone. */
export const carriesOffset = (value: string): boolean => parse(value)?.hasOffset === true

/**
 * An ISO 8601 `from` or `to` as `YYYY-MM-DD HH:MM:SS` on the account's clock; undefined for any other text.
 * A date alone is its first (`from`) or last (`to`) second; fractions of a second are cut off.
 * @param zone required if `carriesOffset`.
 */
export function filterTime(value: string, edge: 'from' | 'to', zone: Zone = { offsetMinutes: 0 }): string | undefined {
  const moment = parse(value)
  if (!moment) return undefined
  if (moment.isDay) return wallClockText(edge === 'from' ? moment.ms : moment.ms + dayMs - 1)
  return moment.hasOffset ? edgeClock(moment.ms, edge, zone) : wallClockText(moment.ms)
}

const minuteMs = 60_000
/** Clocks are moved by this at most. */
export const maxRepeatMinutes = 120

/**
 * An instant on the account's clock, as the edge of a range. The end of daylight saving time repeats an hour, and a time on the clock does not show
 * which one it is in: the range holds both rather than lose one. Clocks change at whole minutes.
 */
function edgeClock(ms: number, edge: 'from' | 'to', zone: Zone): string | undefined {
  const minute = Math.floor(ms / minuteMs)
  const near = Array.from({ length: maxRepeatMinutes }, (_, n) =>
    edge === 'from' ? (minute + 1 + n) * minuteMs : (minute - n) * minuteMs - 1,
  )
  const clocks = [ms, ...near].map((at) => clockAt(at, zone))
  const clock = edge === 'from' ? Math.min(...clocks) : Math.max(...clocks)
  // "No beginning" and "no end" in many languages are the first and last second of these years in UTC, which other zones are beyond.
  return wallClockText(Math.min(Math.max(clock, firstSecond * 1_000), lastSecond * 1_000))
}

/** Whether the text is a day of the calendar, `YYYY-MM-DD`. */
export const isDay = (value: string): boolean => value.length === 10 && parse(value)?.isDay === true
