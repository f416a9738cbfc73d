/** The reports of each device: its program, at its own time of day. */
import type { Account } from './account.js'
import { type Point, round6 } from './geometry.js'
import { compileProgram, dayS, type Report, weekS } from './program.js'
import { between, roll } from './random.js'

type Shift = 'day' | 'late' | 'night'

/** Sunday 2025-01-05 on the account's clock. The timelines of the devices start in the week from then. */
const firstDay = 20_093
const programs = 8
/** The earliest hour of the day at which a device of a shift starts; their starts are spread over three hours. */
const startHours: Record<Shift, number> = { day: 5.5, late: 12.5, night: 20.5 }
/** The last report of an expired device, 2025-01-30 17:00 UTC. */
const expiredAt = 1_738_256_400

/** Shared by all sandboxes of a process: eight for each account of each seed. */
const cache = new Map<string, Report[]>()

export const shiftOf = (index: number): Shift => (['day', 'late', 'night'] as const)[index % 3]!
export const isExpired = (index: number): boolean => index === 5
export const isNeverConnected = (index: number): boolean => index === 11
export const dayOf = (account: Account, instant: number): number => Math.floor((instant + account.zoneSeconds) / dayS)
export const dayStart = (account: Account, day: number): number => day * dayS - account.zoneSeconds

/** The program that a device repeats weekly from `start` (Unix seconds), its odometer then, and its tracker's position error. */
type Timeline = { program: Report[]; start: number; km: number; offset: Point }

/** Compiles all programs of an account, on which all else here depends. */
export async function compilePrograms(account: Account): Promise<void> {
  for (let number = 0; number < programs; number += 1) {
    const key = `${account.seed} ${number}`
    if (!cache.has(key)) cache.set(key, await compileProgram(account, number))
  }
}

/** Devices with an even index have even programs, from the north depot. */
export function timelineOf(account: Account, index: number): Timeline {
  const number = 2 * between(0, programs / 2 - 1, roll(account.seed, 5, index)) + (index % 2)
  const program = cache.get(`${account.seed} ${number}`)!
  const hour = startHours[shiftOf(index)] + 3 * ((index * 0.6180339887) % 1)
  return {
    program,
    start: dayStart(account, firstDay + (index % 7)) + Math.floor(hour * 3600),
    km: between(14_000, 260_000, roll(account.seed, 8, index)),
    offset: {
      lat: between(-50, 50, roll(account.seed, 10, index)) / 1e6,
      lng: between(-60, 60, roll(account.seed, 9, index)) / 1e6,
    },
  }
}

/** The number of items before `seconds`, in a list sorted by `at` that repeats every week since 0. */
export function rankIn(week: { at: number }[], seconds: number): number {
  const weeks = Math.floor(seconds / weekS)
  let low = 0
  let high = week.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (week[middle]!.at < seconds - weeks * weekS) low = middle + 1
    else high = middle
  }
  return weeks * week.length + low
}

/** The item of a rank in such a list, and the number of its week. */
export function itemAt<T>(week: T[], rank: number): { item: T; weeks: number } {
  const weeks = Math.floor(rank / week.length)
  return { item: week[rank - weeks * week.length]!, weeks }
}

const rankOf = ({ program, start }: Timeline, instant: number): number => rankIn(program, instant - start)

/** One report with Unix times and the device's counters. */
function reportAt({ program, start, km, offset }: Timeline, rank: number): Report {
  const { item: report, weeks } = itemAt(program, rank)
  const last = program.at(-1)!
  const weekStart = start + weeks * weekS
  return {
    ...report,
    at: weekStart + report.at,
    lat: round6(report.lat + offset.lat),
    lng: round6(report.lng + offset.lng),
    km: km + weeks * last.km + report.km,
    engineSeconds: km * 90 + weeks * last.engineSeconds + report.engineSeconds,
    movedAt: weekStart + report.movedAt,
    ignitionAt: weekStart + report.ignitionAt,
  }
}

/** The id of a position: at most one a second, growing with time. */
export const positionId = (at: number) => at - 1_600_000_000

/** All reports of a device in [from, to], Unix seconds, oldest first. */
export function* reportsBetween(account: Account, index: number, from: number, to: number): Generator<Report> {
  if (isExpired(index) || isNeverConnected(index)) return
  const timeline = timelineOf(account, index)
  const end = rankOf(timeline, to + 1)
  for (let rank = rankOf(timeline, from); rank < end; rank++) yield reportAt(timeline, rank)
}

/** The newest report at an instant; undefined where the device has never connected. */
export const lastReport = (account: Account, index: number, instant: number): Report | undefined =>
  lastReports(account, index, instant, 1)[0]

/** The newest reports at an instant, oldest first. */
export function lastReports(account: Account, index: number, instant: number, count: number): Report[] {
  if (isNeverConnected(index)) return []
  const timeline = timelineOf(account, index)
  if (isExpired(index)) return [{ ...reportAt(timeline, -1), at: expiredAt, movedAt: expiredAt - 15 }]
  const end = rankOf(timeline, instant + 1)
  return Array.from({ length: count }, (_, n) => reportAt(timeline, end - count + n))
}
