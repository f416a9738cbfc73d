/** Pure: what the tracker of a vehicle said last at any instant, and everything it said in a period. */
import {
  countersBefore,
  dayOf,
  dayStart,
  depotOf,
  FIRST_DAY,
  type Fleet,
  ROTA_DAYS,
  rotaOf,
  type Shift,
  shiftOn,
  startAfter,
  stateOf,
} from './fleet.js'
import { type Point, round6 } from './geometry.js'
import { HEARTBEAT_SECONDS, type Report } from './tour.js'

/** Seconds of silence after coming home before the tracker sleeps; most never do. */
export const sleepAfter = (index: number): number =>
  [Number.POSITIVE_INFINITY, 1800, Number.POSITIVE_INFINITY, 3600][index % 4]!

/** The last shift that had begun at this instant. */
function shiftAt(fleet: Fleet, index: number, instant: number): Shift | undefined {
  const today = dayOf(fleet, instant)
  for (let day = today; day > today - ROTA_DAYS - 2; day--) {
    const shift = shiftOn(fleet, index, day)
    if (shift && shift.start <= instant) return { ...shift, ...countersBefore(fleet, index, day) }
  }
  return undefined
}

/** The reports of a shift with Unix times, this vehicle's place and its counters, until it leaves home again. */
function* reportsOf(fleet: Fleet, index: number, shift: Shift, from: number, to: number): Generator<Report> {
  const { reports, seconds } = shift.tour
  for (let n = lastIndex(reports, from - shift.start - 1) + 1; n < reports.length; n++) {
    if (shift.start + reports[n]!.at > to) return
    yield real(fleet, index, shift, reports[n]!)
  }
  const home = shift.start + seconds
  const end = Math.min(to, home + sleepAfter(index), startAfter(fleet, index, shift.day) - 1)
  const skipped = Math.max(1, Math.ceil((from - home) / HEARTBEAT_SECONDS))
  for (let at = home + skipped * HEARTBEAT_SECONDS; at <= end; at += HEARTBEAT_SECONDS)
    yield real(fleet, index, shift, { ...reports.at(-1)!, at: at - shift.start })
}

function real(fleet: Fleet, index: number, shift: Shift, report: Report): Report {
  const { lat, lng } = placed(fleet, index, report)
  return {
    at: shift.start + report.at,
    lat,
    lng,
    speedKmh: report.speedKmh,
    course: report.course,
    altitude: report.altitude,
    km: shift.km + report.km,
    engineSeconds: shift.engineSeconds + report.engineSeconds,
    ignition: report.ignition,
    driving: report.driving,
    movedAt: shift.start + report.movedAt,
  }
}

/** Every tracker is off by a few metres, always the same, so that two vehicles in a yard do not stand on each other. */
function placed(fleet: Fleet, index: number, point: Point): Point {
  const { east, north } = rotaOf(fleet, index).place
  return { lat: round6(point.lat + north / 1e6), lng: round6(point.lng + east / 1e6) }
}

/** The last index whose `at` is not after `at`, or -1. */
function lastIndex(reports: { at: number }[], at: number): number {
  let low = 0
  let high = reports.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (reports[middle]!.at <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** All reports of a vehicle in [from, to], Unix seconds, oldest first. */
export function* reportsBetween(fleet: Fleet, index: number, from: number, to: number): Generator<Report> {
  let shift = shiftAt(fleet, index, from)
  let day = shift ? shift.day : dayOf(fleet, from)
  for (; day <= dayOf(fleet, to); day++) {
    const begun = shiftOn(fleet, index, day)
    if (!begun || begun.start > to) continue
    shift = { ...begun, ...countersBefore(fleet, index, day) }
    yield* reportsOf(fleet, index, shift, from, to)
  }
}

/** The newest reports at this instant, oldest first, at most `count` and all of one shift; none for one that never drove. */
export function lastReports(fleet: Fleet, index: number, instant: number, count: number): Report[] {
  if (stateOf(index) === 'never connected') return []
  if (stateOf(index) === 'expired') return [expiredReport(fleet, index, instant)]
  const shift = shiftAt(fleet, index, instant)
  if (!shift) return []
  const { reports, seconds } = shift.tour
  const spent = instant - shift.start
  const last = lastIndex(reports, spent)
  const seen = reports.slice(Math.max(0, last + 1 - count), last + 1).map((report) => real(fleet, index, shift, report))
  const parked = Math.floor(Math.min(spent - seconds, sleepAfter(index)) / HEARTBEAT_SECONDS) * HEARTBEAT_SECONDS
  if (parked > 0) seen.push({ ...seen.at(-1)!, at: shift.start + seconds + parked })
  return seen.slice(-count)
}

/** Its plan ended before the oldest day of history; since then it says nothing. */
function expiredReport(fleet: Fleet, index: number, instant: number): Report {
  const at = dayStart(fleet, Math.floor(dayOf(fleet, instant) / 28) * 28 - 100) + 61_200
  const tour = fleet.tours.day[depotOf(index)]!
  const shift = { day: 0, start: at - tour.seconds, tour, ...countersBefore(fleet, index, FIRST_DAY) }
  return real(fleet, index, shift, tour.reports.at(-1)!)
}
