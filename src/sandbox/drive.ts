/** Pure: how a vehicle moves along a way, second by second: it speeds up, slows down for turns and waits at lights. */
import { courseOf, distanceM, type Point } from './geometry.js'
import type { Waypoint } from './roads.js'

/** What the tracker measures at a whole second since departure. */
export type Fix = Point & { at: number; speedKmh: number; course: number }

type Passing = Waypoint & { speed: number; arrive: number; leave: number }

const ACCELERATION = 0.9
const TURNING_MS = 5

/** Fixes every `interval` seconds and at every turn, from standing to standing. `pace` scales the limits. */
export function drive(way: Waypoint[], pace: number, interval: number, next: () => number): Fix[] {
  const passings = timetable(way, pace, next)
  const end = Math.ceil(passings.at(-1)!.arrive)
  const instants = new Set<number>([end])
  for (let at = 0; at < end; at += interval) instants.add(at)
  for (const passing of passings) if (passing.turning) instants.add(Math.round(passing.arrive))
  return fixesAt(
    passings,
    [...instants].sort((a, b) => a - b),
  )
}

function timetable(way: Waypoint[], pace: number, next: () => number): Passing[] {
  const last = way.length - 1
  const lengths = way.map((point, index) => (index === 0 ? 0 : distanceM(way[index - 1]!, point)))
  const speeds = way.map((point, index) => {
    const wish = (point.limitKmh / 3.6) * pace * (0.82 + 0.3 * next())
    if (index === 0 || index === last) return 0
    if (point.lights && index > 1 && index < last - 1) return next() < 0.4 ? 0 : wish
    return point.turning ? TURNING_MS : wish
  })
  for (let i = 1; i <= last; i++) {
    if (speeds[i - 1] === 0 && speeds[i] === 0) speeds[i] = i === last ? 0 : TURNING_MS
    speeds[i] = Math.min(speeds[i]!, Math.sqrt(speeds[i - 1]! ** 2 + 2 * ACCELERATION * lengths[i]!))
  }
  for (let i = last - 1; i >= 0; i--)
    speeds[i] = Math.min(speeds[i]!, Math.sqrt(speeds[i + 1]! ** 2 + 2 * ACCELERATION * lengths[i + 1]!))
  let clock = 0
  return way.map((point, index) => {
    const speed = speeds[index]!
    if (index > 0) clock += (2 * lengths[index]!) / (speeds[index - 1]! + speed)
    const arrive = clock
    if (speed === 0 && index > 0 && index < last) clock += 8 + 30 * next()
    return { ...point, speed, arrive, leave: clock }
  })
}

function fixesAt(passings: Passing[], instants: number[]): Fix[] {
  let edge = 0
  return instants.map((at) => {
    while (edge < passings.length - 2 && at >= passings[edge + 1]!.leave) edge++
    const a = passings[edge]!
    const b = passings[edge + 1]!
    const span = b.arrive - a.leave
    const spent = Math.max(0, Math.min(span, at - a.leave))
    const gain = (b.speed - a.speed) / span
    const share = (a.speed * spent + (gain * spent * spent) / 2) / (((a.speed + b.speed) / 2) * span)
    const lat = a.lat + (b.lat - a.lat) * share
    const lng = a.lng + (b.lng - a.lng) * share
    return { at, lat, lng, speedKmh: Math.round((a.speed + gain * spent) * 3.6), course: courseOf(a, b) }
  })
}
