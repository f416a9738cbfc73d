/** Pure: one working shift of a vehicle as its tracker reports it, from home back to home, in seconds since it began. */
import { drive, type Fix } from './drive.js'
import { type Area, distanceM, type Point, round6 } from './geometry.js'
import { between, dice } from './random.js'
import { altitudeAt, type Crossing, pointAt, type Region, wayBetween } from './roads.js'

/** Who drives how: round the clock between far places, to customers by day or by night, or hardly ever. */
export type Kind = 'shuttle' | 'day' | 'night' | 'yard'

/** One message of the tracker. `km` and `engineSeconds` count from the start of the tour; `movedAt` is when it last had speed. */
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
}

export type Tour = { seconds: number; km: number; engineSeconds: number; reports: Report[] }

type Stay = { seconds: number; kind: 'off' | 'idle' | 'underground' }
type Leg = { to: Crossing; stay: Stay }

const FIX_SECONDS = 40
/** A standing vehicle with its engine off sends this often. */
export const HEARTBEAT_SECONDS = 300
const HOME: Record<number, Crossing> = { 0: { i: 1, j: 2 }, 1: { i: 10, j: -7 } }
const kindKey: Record<Kind, number> = { shuttle: 1, day: 2, night: 3, yard: 4 }

/** The yard around a depot's parking place; every tour begins and ends inside. */
export function depotArea(region: Region, depot: number): Area {
  const { i, j } = HOME[depot]!
  const corner = (di: number, dj: number) => pointAt(region, { i: i + di, j: j + dj })
  return { polygon: [corner(-0.6, -0.5), corner(-0.55, 0.6), corner(0.6, 0.55), corner(0.5, -0.6)] }
}

/** Tour number `number` of its kind; even ones live at depot 0, odd ones at depot 1. */
export function compileTour(region: Region, kind: Kind, number: number): Tour {
  const next = dice(region.seed, kindKey[kind], number)
  const home = HOME[number % 2]!
  const pace = (kind === 'shuttle' ? 0.78 : 0.9) + 0.22 * next()
  const driven = new Map<string, Fix[]>()
  const log = new Log(region, pointAt(region, home))
  log.stand(0, true)
  let here = home
  let clock = 20
  const travel = (to: Crossing) => {
    const leg = `${here.i},${here.j},${to.i},${to.j}`
    const fixes = driven.get(leg) ?? drive(wayBetween(region, here, to), pace, FIX_SECONDS, next)
    driven.set(leg, fixes)
    for (const fix of fixes) log.fix(clock, fix)
    clock = log.last.at
    here = to
  }
  for (const leg of legs(kind, home, next, () => clock)) {
    travel(leg.to)
    clock = log.stay(clock, leg.stay)
  }
  travel(home)
  log.stand(clock + 15, false)
  const { at, km, engineSeconds } = log.last
  return { seconds: at, km, engineSeconds, reports: log.reports }
}

function* legs(kind: Kind, home: Crossing, next: () => number, clock: () => number): Generator<Leg> {
  const around = (spread: number) => {
    const to = { i: home.i + between(-spread, spread, next()), j: home.j + between(-spread, spread, next()) }
    return to.i === home.i && to.j === home.j ? { ...to, i: to.i + 3 } : to
  }
  let here = home
  const stop = (to: Crossing, stay: Stay): Leg => {
    here = to.i === here.i && to.j === here.j ? { ...to, j: to.j + 2 } : to
    return { to: here, stay }
  }
  if (kind === 'shuttle') {
    const side = (sign: number) => ({ i: sign * between(9, 26, next()), j: sign * between(6, 25, next()) })
    const hubs = [side(1), side(-1), side(1), side(-1)]
    for (let n = 0; clock() < 20.9 * 3600; n++) {
      const rest = next() < 0.06
      yield stop(hubs[n % 4]!, rest ? { kind: 'off', seconds: between(600, 1200, next()) } : idle(70, 120, next))
    }
    return
  }
  const [low, high, spread] = { day: [12, 15, 16], night: [22, 26, 15], yard: [2, 3, 6] }[kind] as [
    number,
    number,
    number,
  ]
  const count = between(low, high, next())
  for (let n = 1; n <= count; n++) {
    const chance = next()
    const seconds = kind === 'night' ? between(240, 720, next()) : between(360, 1500, next())
    if (n === Math.floor(count / 2)) yield stop(around(spread), { kind: 'off', seconds: 2700 })
    else if (n === count - 2) yield stop(around(spread), { kind: 'underground', seconds: Math.max(2700, seconds) })
    else if (chance < 0.25) yield stop(around(spread), idle(200, 560, next))
    else yield stop(around(spread), { kind: 'off', seconds })
  }
}

function idle(low: number, high: number, next: () => number): Stay {
  return { kind: 'idle', seconds: between(low, high, next()) }
}

class Log {
  readonly reports: Report[] = []
  readonly #region: Region
  #place: Point

  constructor(region: Region, place: Point) {
    this.#region = region
    this.#place = place
  }

  get last(): Report {
    return this.reports.at(-1)!
  }

  stand(at: number, ignition: boolean): void {
    this.#add(at, this.#place, { speedKmh: 0, course: this.reports.at(-1)?.course ?? 0, ignition, driving: false })
  }

  fix(departure: number, fix: Point & { at: number; speedKmh: number; course: number }): void {
    this.#place = { lat: round6(fix.lat), lng: round6(fix.lng) }
    const at = departure + fix.at
    this.#add(at, this.#place, { speedKmh: fix.speedKmh, course: fix.course, ignition: true, driving: true })
  }

  /** Reports while standing; answers the moment of departure. An underground car park lets nothing through. */
  stay(arrival: number, { kind, seconds }: Stay): number {
    const departure = arrival + seconds
    const every = kind === 'idle' ? 60 : HEARTBEAT_SECONDS
    this.stand(arrival + 15, kind === 'idle')
    if (kind !== 'underground')
      for (let at = arrival + 15 + every; at < departure - 40; at += every) this.stand(at, kind === 'idle')
    if (kind !== 'idle') this.stand(departure - 20, true)
    return departure
  }

  #add(at: number, place: Point, state: Pick<Report, 'speedKmh' | 'course' | 'ignition' | 'driving'>): void {
    const before = this.reports.at(-1)
    const km = before ? before.km + distanceM(before, place) / 1000 : 0
    const engineSeconds = before ? before.engineSeconds + (before.ignition ? at - before.at : 0) : 0
    const movedAt = state.speedKmh > 0 ? at : (before?.movedAt ?? 0)
    this.reports.push({ at, ...place, ...state, altitude: altitudeAt(this.#region, place), km, engineSeconds, movedAt })
  }
}
