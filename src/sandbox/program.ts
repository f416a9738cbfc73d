/** A program: what a device does in a week, as its tracker reports it. It repeats every week. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Account, siteAt } from './account.js'
import { courseOf, distanceM, moved, type Point, round6 } from './geometry.js'
import { between, roll } from './random.js'

/**
 * One message of a tracker. In a program, times, `km` and `engineSeconds` count from the start of the week.
 * `movedAt` is the last time with speed, `ignitionAt` the last change of the ignition.
 */
export type Report = Point & {
  at: number
  speedKmh: number
  course: number
  altitude: number
  km: number
  engineSeconds: number
  ignition: boolean
  driving: boolean
  movedAt: number
  ignitionAt: number
}

export const dayS = 86_400
export const weekS = 7 * dayS
const fixSeconds = 40
const idleSeconds = 60
const heartbeatSeconds = 300
/** Trackers of odd programs fall asleep when they have been parked this long. */
const sleepSeconds = 1800

/**
 * Six working days and a free one. Even programs start and end at the north depot, odd ones at the south depot. Others run
 * between the days: the first programs of a process take up to 30 ms each.
 */
export async function compileProgram(account: Account, number: number): Promise<Report[]> {
  let turn = 0
  const next = () => roll(account.seed, 13, number, ++turn)
  const home = siteAt(account.center, number % 2 === 0 ? 'north' : 'south')
  const log = new ReportLog(account.altitude, home)
  for (let day = 0; day < 6; day++) {
    log.workingDay(home, sitesOf(account, number + day, next), next)
    const start = day < 5 ? (day + 1) * dayS + between(-900, 900, next()) : weekS
    const asleepAt = number % 2 === 1 ? log.last.at + sleepSeconds : start
    while (log.last.at + heartbeatSeconds < Math.min(start, asleepAt)) log.stand(heartbeatSeconds, false)
    if (day < 5) log.stand(start - log.last.at, true)
    await nextTurn()
  }
  const { movedAt } = log.last
  return log.reports.map((report) => (report.movedAt < 0 ? { ...report, movedAt: movedAt - weekS } : report))
}

/** Two landmarks and four customers, in a loop around the center. */
function sitesOf({ center }: Account, number: number, next: () => number): Point[] {
  const [a, b, c, d] = [0, 1, 2, 3].map((n) => {
    const angle = (Math.PI / 2) * (n + 0.7 * next())
    const metres = between(5000, 13_000, next())
    return moved(center, metres * Math.cos(angle), metres * Math.sin(angle))
  }) as [Point, Point, Point, Point]
  return [a, siteAt(center, 'city'), b, siteAt(center, number % 4 < 2 ? 'airport' : 'park'), c, d]
}

class ReportLog {
  readonly reports: Report[] = []
  readonly #altitude: number

  constructor(altitude: number, home: Point) {
    this.#altitude = altitude
    this.#add(0, home, { speedKmh: 0, course: 0, ignition: true, driving: false })
  }

  get last(): Report {
    return this.reports.at(-1)!
  }

  /** Rounds of the sites until 6.2 to 8.6 hours are driven, then home. */
  workingDay(home: Point, sites: Point[], next: () => number): void {
    const hours = 6.2 + 2.4 * next()
    for (let leg = 0, driven = 0; driven < hours * 3600; leg++) {
      driven += this.#drive(sites[leg % sites.length]!, next)
      if (leg % 4 === 1) this.#stay(between(120, 720, next()), true)
      else this.#stay(between(180, 540, next()), false)
    }
    this.#drive(home, next)
    this.stand(15, false)
  }

  /** A straight leg at constant speed; one in 25 raises an `overspeed` event. @returns its duration in seconds. */
  #drive(to: Point, next: () => number): number {
    const speedKmh = next() < 0.04 ? between(98, 112, next()) : between(34, 78, next())
    const { at, lat, lng } = this.last
    const seconds = Math.ceil(distanceM(this.last, to) / (speedKmh / 3.6))
    const state = { speedKmh, course: courseOf(this.last, to), ignition: true, driving: true }
    // The shortest leg has a fix on its way, too.
    const interval = Math.min(fixSeconds, Math.ceil(seconds / 2))
    for (let t = interval; t < seconds; t += interval) {
      const point = { lat: lat + ((to.lat - lat) * t) / seconds, lng: lng + ((to.lng - lng) * t) / seconds }
      this.#add(at + t, point, state)
    }
    this.#add(at + seconds, to, { ...state, speedKmh: 0 })
    return seconds
  }

  #stay(seconds: number, idle: boolean): void {
    const departure = this.last.at + seconds
    const interval = idle ? idleSeconds : heartbeatSeconds
    this.stand(15, idle)
    while (this.last.at + interval < departure) this.stand(interval, idle)
    this.stand(departure - this.last.at, true)
  }

  stand(after: number, ignition: boolean): void {
    this.#add(this.last.at + after, this.last, { speedKmh: 0, course: this.last.course, ignition, driving: false })
  }

  #add(at: number, { lat, lng }: Point, state: Pick<Report, 'speedKmh' | 'course' | 'ignition' | 'driving'>): void {
    const before = this.reports.at(-1)
    const point = { lat: round6(lat), lng: round6(lng) }
    this.reports.push({
      at,
      ...point,
      ...state,
      altitude: Math.round(this.#altitude + 24 * Math.sin(100 * (lat + lng))),
      km: before ? before.km + distanceM(before, point) / 1000 : 0,
      engineSeconds: before ? before.engineSeconds + (before.ignition ? at - before.at : 0) : 0,
      movedAt: state.speedKmh > 0 ? at : (before?.movedAt ?? -1),
      ignitionAt: before?.ignition === state.ignition ? before.ignitionAt : at,
    })
  }
}
