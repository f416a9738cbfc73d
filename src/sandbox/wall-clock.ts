/** Times as the platform writes them. A wall clock is UTC shifted by the account's fixed offset in seconds. */

/** `YYYY-MM-DD HH:MM:SS`; with `zoneSeconds` 0 in UTC. */
export function rawTime(instant: number, zoneSeconds: number): string {
  return new Date((instant + zoneSeconds) * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

/** `DD-MM-YYYY HH:MM:SS`, the display format of both accounts. */
export function displayTime(instant: number, zoneSeconds: number): string {
  const [date, time] = rawTime(instant, zoneSeconds).split(' ')
  return `${date!.split('-').reverse().join('-')} ${time}`
}

/** Unix seconds of `YYYY-MM-DD`, optionally with `HH:MM` or `HH:MM:SS`, on the account's clock. */
export function parseTime(text: string, zoneSeconds: number): number | undefined {
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
  const parts = [hours && `${hours}h`, minutes && `${minutes}min`, seconds % 60 && `${seconds % 60}s`]
  return parts.filter(Boolean).join(' ') || '0s'
}
