/** Pure: what the alerts of an account noticed on the tours of its vehicles. Every event lies on a report of that vehicle. */
import { type Account, type Alert, type AlertType, WATCHED } from './account.js'
import { DAY, dayOf, dayStart, type Fleet, shiftOn, startAfter } from './fleet.js'
import { sides } from './geometry.js'
import { roll } from './random.js'
import { lastReports, sleepAfter } from './reports.js'
import type { Report, Tour } from './tour.js'

export type EventType =
  | Exclude<AlertType, 'geofence_in' | 'geofence_out' | 'geofence_inout' | 'ignition'>
  | 'zone_in'
  | 'zone_out'
  | 'ignition_on'
  | 'ignition_off'
/** `at` is Unix seconds; the vehicle was where its last report at that instant says. */
export type FleetEvent = {
  id: number
  at: number
  index: number
  type: EventType
  alert: Alert
  geofence: number | undefined
}

type Mark = { at: number; type: EventType; alert: Alert; geofence: number | undefined }
type Noticed = Pick<Mark, 'at' | 'type'> & { geofence?: number }

/** Events kept for this many days of the account's clock. */
export const KEPT_DAYS = 90
const MARKS_A_SHIFT = 500

/** The events of an account, by day; days are worked out once, in a bounded memory of recent ones. */
export class Events {
  readonly #account: Account
  readonly #fleet: Fleet
  readonly #marks = new Map<Tour, Mark[]>()
  readonly #days = new Map<number, FleetEvent[]>()

  constructor(account: Account, fleet: Fleet) {
    this.#account = account
    this.#fleet = fleet
  }

  /** Events in [from, to], Unix seconds, newest first; of the kept days only, and none that is still to come. */
  *between(from: number, to: number, now: number): Generator<FleetEvent> {
    const last = Math.min(to, now)
    const first = Math.max(from, dayStart(this.#fleet, dayOf(this.#fleet, now) - KEPT_DAYS))
    for (let day = dayOf(this.#fleet, last); day >= dayOf(this.#fleet, first); day--)
      for (const event of this.#day(day)) if (event.at >= first && event.at <= last) yield event
  }

  /** Works out what `between` will need, one tour or day at each step, so that others may run in between. */
  *prepare(now: number): Generator<void, void> {
    for (const tour of Object.values(this.#fleet.tours).flat()) {
      if (this.#marks.has(tour)) continue
      this.#marksOf(tour)
      yield
    }
    const today = dayOf(this.#fleet, now)
    for (const day of this.#days.keys()) if (day < today - KEPT_DAYS || day > today) this.#days.delete(day)
    for (let day = today; day >= today - KEPT_DAYS; day--) {
      if (this.#days.has(day)) continue
      this.#day(day)
      yield
    }
  }

  #day(day: number): FleetEvent[] {
    const known = this.#days.get(day)
    if (known) return known
    const start = dayStart(this.#fleet, day)
    const events: FleetEvent[] = []
    for (let index = 0; index < Math.min(this.#fleet.count, WATCHED); index++)
      for (const earlier of [0, 1, 2])
        for (const event of this.#shift(index, day - earlier))
          if (event.at >= start && event.at < start + DAY) events.push(event)
    events.sort((a, b) => b.at - a.at || b.id - a.id)
    this.#days.set(day, events)
    return events
  }

  /** All events of the shift that begins on this day, also those after it, at home. */
  *#shift(index: number, day: number): Generator<FleetEvent> {
    const shift = shiftOn(this.#fleet, index, day)
    if (!shift) return
    let number = ((day - 18_262) * WATCHED + index) * MARKS_A_SHIFT + this.#account.userId
    const event = ({ at, type, alert, geofence }: Mark): FleetEvent => {
      return { id: number++, at: shift.start + at, index, type, alert, geofence }
    }
    for (const mark of this.#marksOf(shift.tour)) if (index % mark.alert.nth === 0) yield event(mark)
    for (const alert of this.#account.alerts) {
      if (!alert.active) continue
      const silent = shift.tour.seconds + Math.floor(sleepAfter(index) / 300) * 300 + alert.value * 60
      if (alert.type === 'offline_duration' && shift.start + silent < startAfter(this.#fleet, index, day))
        yield event({ at: silent, type: 'offline_duration', alert, geofence: undefined })
      if (alert.type === 'sos' && roll(this.#fleet.region.seed, 16, index, day) < 0.02) {
        const reports = shift.tour.reports.filter((report) => report.driving)
        const pick = reports[Math.floor(roll(this.#fleet.region.seed, 17, index, day) * reports.length)]!
        yield event({ at: pick.at, type: 'sos', alert, geofence: undefined })
      }
    }
  }

  #marksOf(tour: Tour): Mark[] {
    const known = this.#marks.get(tour)
    if (known) return known
    const marks = this.#account.alerts
      .filter((alert) => alert.active)
      .flatMap((alert) =>
        [...noticed(this.#account, alert, tour.reports)].map((mark) => ({ geofence: undefined, ...mark, alert })),
      )
    this.#marks.set(tour, marks)
    return marks
  }
}

function* noticed(account: Account, alert: Alert, reports: Report[]): Generator<Noticed> {
  if (alert.type === 'overspeed')
    yield* rises(reports, 'overspeed', (report) => report.speedKmh > alert.value, false, 900)
  if (alert.type === 'ignition') {
    if (alert.value !== 2) yield* rises(reports, 'ignition_on', (report) => report.ignition)
    if (alert.value !== 1) yield* rises(reports, 'ignition_off', (report) => !report.ignition, true)
  }
  if (alert.type === 'idle_duration') yield* lasts(reports, alert, 'idle_duration', (r) => r.ignition && !r.driving)
  if (alert.type === 'stop_duration') yield* lasts(reports, alert, 'stop_duration', (r) => !r.driving)
  if (alert.type === 'offline_duration') yield* silences(reports, alert)
  for (const id of alert.geofences) yield* crossings(account, alert, id, reports)
}

function* rises(
  reports: Report[],
  type: EventType,
  holds: (r: Report) => boolean,
  before = false,
  rest = 0,
): Generator<Noticed> {
  let held = before
  let last = Number.NEGATIVE_INFINITY
  for (const report of reports) {
    const holding = holds(report)
    if (holding && !held && report.at - last >= rest) {
      last = report.at
      yield { at: last, type }
    }
    held = holding
  }
}

function* lasts(reports: Report[], alert: Alert, type: EventType, holds: (r: Report) => boolean): Generator<Noticed> {
  let since: number | undefined
  let told = false
  for (const report of reports) {
    if (!holds(report)) since = undefined
    else if (since === undefined) {
      since = report.at
      told = false
    } else if (!told && report.at - since >= alert.value * 60) {
      told = true
      yield { at: report.at, type }
    }
  }
}

function* silences(reports: Report[], alert: Alert): Generator<Noticed> {
  for (const [n, report] of reports.entries()) {
    const next = reports[n + 1]
    if (next && next.at - report.at > alert.value * 60)
      yield { at: report.at + alert.value * 60, type: 'offline_duration' }
  }
}

function* crossings(account: Account, alert: Alert, id: number, reports: Report[]): Generator<Noticed> {
  const geofence = account.geofences.find((candidate) => candidate.id === id)
  if (!geofence?.active) return
  const side = sides(geofence.area)
  let inside = side(reports[0]!) > 0
  for (const report of reports) {
    const now = side(report)
    if (now === 0 || now > 0 === inside) continue
    inside = now > 0
    if (inside && alert.type !== 'geofence_out') yield { at: report.at, type: 'zone_in', geofence: id }
    if (!inside && alert.type !== 'geofence_in') yield { at: report.at, type: 'zone_out', geofence: id }
  }
}

/** Where the vehicle was when the event was noticed. */
export function reportOf(fleet: Fleet, event: FleetEvent): Report {
  return lastReports(fleet, event.index, event.at, 1)[0]!
}
