/** Points and areas on the globe: distance, course, offset. */

export type Point = { lat: number; lng: number }
/** A circle with its radius in metres, or a box between two parallels and two meridians. */
export type Area = { center: Point; radius: number } | { southWest: Point; northEast: Point }

const metresPerDegree = 111_195
const eastScale = (lat: number) => metresPerDegree * Math.cos((lat * Math.PI) / 180)

/** Metres between two points at most a few hundred kilometres apart. */
export function distanceM(a: Point, b: Point): number {
  return Math.hypot((b.lng - a.lng) * eastScale((a.lat + b.lat) / 2), (b.lat - a.lat) * metresPerDegree)
}

/** Direction from `a` to `b` in whole degrees, 0 = north, 90 = east. */
export function courseOf(a: Point, b: Point): number {
  const east = (b.lng - a.lng) * eastScale(a.lat)
  const north = (b.lat - a.lat) * metresPerDegree
  return Math.round((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}

/** The point `east` and `north` metres from here, to six decimals. */
export function moved(from: Point, east: number, north: number): Point {
  return { lat: round6(from.lat + north / metresPerDegree), lng: round6(from.lng + east / eastScale(from.lat)) }
}

export const round6 = (degrees: number) => Math.round(degrees * 1e6) / 1e6

/** Metres from a point inside the area to its border; negative outside. */
export function depthM(area: Area, point: Point): number {
  if ('radius' in area) return area.radius - distanceM(area.center, point)
  const { southWest, northEast } = area
  const north = Math.min(point.lat - southWest.lat, northEast.lat - point.lat)
  const east = Math.min(point.lng - southWest.lng, northEast.lng - point.lng)
  return Math.min(north * metresPerDegree, east * eastScale(point.lat))
}
