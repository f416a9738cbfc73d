/** Pure: distances, directions and areas on the globe. Knows nothing of vehicles. */

export type Point = { lat: number; lng: number }
export type Area = { polygon: Point[] } | { center: Point; radius: number }

const RADIUS_M = 6_371_000
const METRES_PER_DEGREE = 111_195
const rad = (degrees: number) => (degrees * Math.PI) / 180

/** Great-circle distance in metres. */
export function distanceM(a: Point, b: Point): number {
  const sinLat = Math.sin(rad(b.lat - a.lat) / 2)
  const sinLng = Math.sin(rad(b.lng - a.lng) / 2)
  const h = sinLat * sinLat + Math.cos(rad(a.lat)) * Math.cos(rad(b.lat)) * sinLng * sinLng
  return 2 * RADIUS_M * Math.asin(Math.sqrt(h))
}

/** Direction from `a` to `b` in whole degrees, 0 = north, 90 = east. */
export function courseOf(a: Point, b: Point): number {
  const east = (b.lng - a.lng) * Math.cos(rad(a.lat))
  return Math.round((Math.atan2(east, b.lat - a.lat) * 180) / Math.PI + 360) % 360
}

/** The point `east` and `north` metres from here, to six decimals. */
export function moved(from: Point, east: number, north: number): Point {
  const lat = from.lat + north / METRES_PER_DEGREE
  const lng = from.lng + east / (METRES_PER_DEGREE * Math.cos(rad(from.lat)))
  return { lat: round6(lat), lng: round6(lng) }
}

export const round6 = (degrees: number) => Math.round(degrees * 1e6) / 1e6

/** How far inside the area a point lies, in metres; negative outside. */
export function depthM(area: Area, point: Point): number {
  if ('radius' in area) return area.radius - distanceM(area.center, point)
  const scale = Math.cos(rad(point.lat))
  const corners = area.polygon.map((corner) => ({
    x: (corner.lng - point.lng) * scale * METRES_PER_DEGREE,
    y: (corner.lat - point.lat) * METRES_PER_DEGREE,
  }))
  let inside = false
  let nearest = Number.POSITIVE_INFINITY
  for (const [index, b] of corners.entries()) {
    const a = corners.at(index - 1)!
    if (a.y > 0 !== b.y > 0 && a.x - (a.y * (b.x - a.x)) / (b.y - a.y) > 0) inside = !inside
    nearest = Math.min(nearest, distanceToOrigin(a, b))
  }
  return inside ? nearest : -nearest
}

function distanceToOrigin(a: { x: number; y: number }, b: { x: number; y: number }): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const along = Math.max(0, Math.min(1, -(a.x * dx + a.y * dy) / (dx * dx + dy * dy)))
  return Math.hypot(a.x + along * dx, a.y + along * dy)
}

/** Says of points: +1 clearly inside, -1 clearly outside, 0 too near the border to say for every tracker. */
export function sides(area: Area): (point: Point) => number {
  const corners =
    'radius' in area
      ? [moved(area.center, area.radius, area.radius), moved(area.center, -area.radius, -area.radius)]
      : area.polygon
  const [lats, lngs] = [corners.map(({ lat }) => lat), corners.map(({ lng }) => lng)]
  const [south, north] = [Math.min(...lats) - 0.001, Math.max(...lats) + 0.001]
  const [west, east] = [Math.min(...lngs) - 0.001, Math.max(...lngs) + 0.001]
  return (point) => {
    if (point.lat < south || point.lat > north || point.lng < west || point.lng > east) return -1
    const depth = depthM(area, point)
    return Math.abs(depth) < 15 ? 0 : Math.sign(depth)
  }
}
