// Where things lie on the map: the projection, the devices that share a mark, the room for labels.

/** Metres in a degree of latitude. */
const DEGREE = 111_320
/** Devices nearer to each other than this many pixels share a mark. */
const NEAR = 20

/** The points that the map must include, as [longitude, latitude]. */
export function extent(geofences, devices) {
  const points = devices.filter(({ lat }) => lat !== null).map(({ lng, lat }) => [lng, lat])
  for (const { geometry, radius } of geofences) {
    if (geometry?.type === 'Polygon') points.push(...geometry.coordinates[0])
    if (geometry?.type !== 'Point') continue
    const [lng, lat] = geometry.coordinates
    const dLat = (radius ?? 0) / DEGREE
    const dLng = dLat / Math.cos((lat * Math.PI) / 180)
    points.push([lng - dLng, lat - dLat], [lng + dLng, lat + dLat])
  }
  return points
}

/** Degrees to pixels: equirectangular about the centre, undistorted within a city. */
export function projection(points, width, height) {
  const [lngs, lats] = [points.map(([lng]) => lng), points.map(([, lat]) => lat)]
  const [west, east] = [Math.min(...lngs), Math.max(...lngs)]
  const [south, north] = [Math.min(...lats), Math.max(...lats)]
  const squeeze = Math.cos((((south + north) / 2) * Math.PI) / 180)
  const margin = Math.min(36, width / 12)
  const perDegree = Math.min(
    (width - 2 * margin) / Math.max((east - west) * squeeze, 0.005),
    (height - 2 * margin) / Math.max(north - south, 0.005),
  )
  const x = (lng) => width / 2 + (lng - (west + east) / 2) * squeeze * perDegree
  const y = (lat) => height / 2 - (lat - (south + north) / 2) * perDegree
  const holds = ([lng, lat]) => x(lng) >= 4 && x(lng) <= width - 4 && y(lat) >= 4 && y(lat) <= height - 4
  return { x, y, holds, perMetre: perDegree / DEGREE }
}

/** 1, 2 or 5 times a power of ten, not above `max`. */
export function roundDown(max) {
  const power = 10 ** Math.floor(Math.log10(max))
  return [5, 2, 1].map((step) => step * power).find((step) => step <= max)
}

/** The boxes that are taken on the map, so that labels lie neither on marks nor on each other. */
export class Room {
  #taken = []

  take(x, y, width, height) {
    this.#taken.push([x - width / 2, y - height / 2, x + width / 2, y + height / 2])
  }

  /** Puts a label to the first free place; hides it where there is none. */
  place(label, places, width) {
    const half = label.textContent.length * 3.4 + 3
    const isFree = ([x, y]) =>
      x > half &&
      x < width - half &&
      this.#taken.every(([l, t, r, b]) => x + half < l || x - half > r || y + 3 < t || y - 11 > b)
    const place = places.find(isFree)
    label.setAttribute('visibility', place ? 'visible' : 'hidden')
    if (!place) return
    const [x, y] = place
    label.setAttribute('x', x.toFixed(1))
    label.setAttribute('y', y.toFixed(1))
    this.take(x, y - 4, 2 * half, 14)
  }
}

/** The devices that share a mark, in lists: each device joins the first list that begins near it. */
export function groups(devices, { x, y }) {
  const found = []
  for (const device of devices.filter(({ lat }) => lat !== null)) {
    const [dx, dy] = [x(device.lng), y(device.lat)]
    const group = found.find((one) => Math.hypot(one.x - dx, one.y - dy) < NEAR)
    if (group) group.devices.push(device)
    else found.push({ x: dx, y: dy, devices: [device] })
  }
  return found
}
