/** Pure: instants as the platform writes them. A wall clock is UTC shifted by the account's fixed number of seconds. */

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'))
const DAY = 86_400
const REMEMBERED_DAYS = 500
const days = new Map<number, { raw: string; display: string }>()

/** A day's two spellings, remembered: a history asks for the same few days thousands of times. */
function dayText(day: number): { raw: string; display: string } {
  const known = days.get(day)
  if (known) return known
  const raw = new Date(day * DAY * 1000).toISOString().slice(0, 10)
  const spelt = { raw, display: raw.split('-').reverse().join('-') }
  if (days.size >= REMEMBERED_DAYS) days.clear()
  days.set(day, spelt)
  return spelt
}

function timeText(second: number): string {
  const minute = Math.floor(second / 60)
  return `${TWO_DIGITS[Math.floor(minute / 60)]}:${TWO_DIGITS[minute % 60]}:${TWO_DIGITS[second % 60]}`
}

/** `YYYY-MM-DD HH:MM:SS`; `zoneSeconds` 0 gives UTC. */
export function rawTime(instant: number, zoneSeconds: number): string {
  const day = Math.floor((instant + zoneSeconds) / DAY)
  return `${dayText(day).raw} ${timeText(instant + zoneSeconds - day * DAY)}`
}

/** `DD-MM-YYYY HH:MM:SS`, the date format that the accounts have chosen. */
export function displayTime(instant: number, zoneSeconds: number): string {
  const day = Math.floor((instant + zoneSeconds) / DAY)
  return `${dayText(day).display} ${timeText(instant + zoneSeconds - day * DAY)}`
}

/** Unix seconds of `YYYY-MM-DD`, optionally with `HH:MM` or `HH:MM:SS`, on the account's clock. */
export function instantOf(text: string, zoneSeconds: number): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d)(:\d\d)?)?$/.exec(text.trim())
  if (!match) return undefined
  const millis = Date.parse(`${match[1]}T${match[2] ?? '00:00'}${match[3] ?? ':00'}Z`)
  if (Number.isNaN(millis) || !new Date(millis).toISOString().startsWith(match[1]!)) return undefined
  return millis / 1000 - zoneSeconds
}

/** `53h 58min 13s`: hours are not folded into days. */
export function durationText(seconds: number): string {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const words = [hours && `${hours}h`, minutes && `${minutes}min`, seconds % 60 && `${seconds % 60}s`]
  return words.filter(Boolean).join(' ') || '0s'
}
