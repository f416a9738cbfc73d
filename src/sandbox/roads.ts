/** Pure: an invented road network, a bent street grid with arterial roads and highways, and the way between two crossings. */
import { moved, type Point } from './geometry.js'
import { roll } from './random.js'

export type Region = { seed: number; center: Point; altitude: number; turn: number }
/** A crossing of the grid, by column and row. */
export type Crossing = { i: number; j: number }
/** One crossing on the way; `limitKmh` is that of the road leading to it. */
export type Waypoint = Point & { turning: boolean; lights: boolean; limitKmh: number }

const BLOCK_M = 400
const ARTERIAL = 3
const HIGHWAY = 9

const limitOf = (line: number) => (line % HIGHWAY === 0 ? 88 : line % ARTERIAL === 0 ? 56 : 36)
const nearest = (line: number, step: number) => Math.round(line / step) * step

export function pointAt(region: Region, { i, j }: Crossing): Point {
  const x = BLOCK_M * i + 80 * Math.sin(0.31 * j + 1.7 * i + region.turn)
  const y = BLOCK_M * j + 80 * Math.sin(0.27 * i + 2.3 * j - region.turn)
  const cos = Math.cos(region.turn)
  const sin = Math.sin(region.turn)
  return moved(region.center, x * cos - y * sin, x * sin + y * cos)
}

/** Metres above sea level: gentle hills, the same for everybody who passes. */
export function altitudeAt(region: Region, point: Point): number {
  const north = (point.lat - region.center.lat) * 60
  const east = (point.lng - region.center.lng) * 60
  return Math.round(region.altitude + 24 * Math.sin(north + 0.6 * east) + 11 * Math.sin(2.1 * east - north))
}

/** From one crossing to another by the nearest large roads; long ways take the highways. */
export function wayBetween(region: Region, from: Crossing, to: Crossing): Waypoint[] {
  const step = Math.abs(to.i - from.i) + Math.abs(to.j - from.j) > 15 ? HIGHWAY : ARTERIAL
  const row = nearest(from.j, step)
  const column = nearest(to.i, step)
  const corners: Crossing[] = [{ i: from.i, j: row }, { i: column, j: row }, { i: column, j: to.j }, to]
  const way: Waypoint[] = [{ ...pointAt(region, from), turning: false, lights: false, limitKmh: 36 }]
  let here = from
  for (const corner of corners) {
    const horizontal = corner.j === here.j
    const limitKmh = limitOf(horizontal ? corner.j : corner.i)
    while (here.i !== corner.i || here.j !== corner.j) {
      here = { i: here.i + Math.sign(corner.i - here.i), j: here.j + Math.sign(corner.j - here.j) }
      const crosses = horizontal ? here.i % ARTERIAL === 0 : here.j % ARTERIAL === 0
      const lights = crosses && limitKmh < 80 && roll(region.seed, 71, here.i, here.j) < 0.2
      const turning = here.i === corner.i && here.j === corner.j
      way.push({ ...pointAt(region, here), turning, lights, limitKmh })
    }
  }
  return way
}
