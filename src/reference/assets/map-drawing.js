// Draws geofences and devices as SVG on a projection of its own.

const NS = 'http://www.w3.org/2000/svg'
const TRAIL = 36
/** Metres in a degree of latitude. */
const DEGREE = 111_320

export function svg(name, attributes = {}, parent) {
  const element = document.createElementNS(NS, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  parent?.append(element)
  return element
}

const shapes = {
  moving: 'M0-11 7 8.5 0 4.8-7 8.5Z',
  online: 'M0-9 4.5.6A5 5 0 1 1-4.5.6Z',
  offline: 'M0-5.5 5.5 0 0 5.5-5.5 0Z',
}

/** The points that the map must include, as [longitude, latitude]. */
function extent(geofences, devices) {
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
function projection(points, width, height) {
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
  return { x, y, holds, perMetre: perDegree / DEGREE, squeeze, perDegree }
}

/** 1, 2 or 5 times a power of ten, not above `max`. */
function roundDown(max) {
  const power = 10 ** Math.floor(Math.log10(max))
  return [5, 2, 1].map((step) => step * power).find((step) => step <= max)
}

export class Drawing {
  #root = svg('svg', { role: 'img' })
  #grid = svg('g', { class: 'grid' }, this.#root)
  #areas = svg('g', { class: 'areas' }, this.#root)
  #trails = svg('g', { class: 'trails' }, this.#root)
  #fleet = svg('g', { class: 'fleet' }, this.#root)
  #scale = svg('g', { class: 'scale' }, this.#root)
  #markers = new Map()
  #element
  #onChoose
  #geofences = []
  #devices = []
  #at
  #chosen

  constructor(element, onChoose) {
    this.#element = element
    this.#onChoose = onChoose
    element.append(this.#root)
    new ResizeObserver(() => this.#draw()).observe(element)
  }

  set geofences(geofences) {
    this.#geofences = geofences
    this.#draw()
  }

  /** Moves every device to its current position. */
  show(devices) {
    this.#devices = devices
    this.#root.setAttribute('aria-label', this.#summary())
    if (!this.#at || !extent([], devices).every(this.#at.holds)) this.#draw()
    else for (const device of devices) this.#move(device)
  }

  choose(id) {
    this.#markers.get(this.#chosen)?.group.classList.remove('chosen')
    this.#chosen = id
    const marker = this.#markers.get(id)
    marker?.group.classList.add('chosen')
    if (marker) this.#fleet.append(marker.group)
  }

  #summary() {
    const moving = this.#devices.filter(({ status }) => status === 'moving').length
    return `Map of ${this.#devices.length} devices, ${moving} of them moving, and ${this.#geofences.length} geofences`
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#element
    const points = extent(this.#geofences, this.#devices)
    if (width === 0 || points.length === 0) return
    this.#root.setAttribute('viewBox', `0 0 ${width} ${height}`)
    this.#at = projection(points, width, height)
    this.#drawGrid(width, height)
    this.#areas.replaceChildren()
    for (const geofence of this.#geofences) this.#drawArea(geofence)
    this.#fleet.classList.add('still')
    for (const device of this.#devices) this.#move(device)
    this.#fleet.getBoundingClientRect()
    this.#fleet.classList.remove('still')
  }

  #drawGrid(width, height) {
    this.#grid.replaceChildren()
    this.#scale.replaceChildren()
    const metres = roundDown(width / 4 / this.#at.perMetre)
    const step = metres * this.#at.perMetre
    for (let x = width / 2 - Math.ceil(width / 2 / step) * step; x < width; x += step)
      svg('path', { d: `M${x.toFixed(1)} 0V${height}` }, this.#grid)
    for (let y = height / 2 - Math.ceil(height / 2 / step) * step; y < height; y += step)
      svg('path', { d: `M0 ${y.toFixed(1)}H${width}` }, this.#grid)
    svg('path', { d: `M12 ${height - 12}v-6M12 ${height - 12}h${step}v-6` }, this.#scale)
    const label = svg('text', { x: 18, y: height - 18 }, this.#scale)
    label.textContent = metres >= 1000 ? `${metres / 1000} km` : `${metres} m`
    svg('path', { d: `M${width - 20} 34V12l-4 6M${width - 20} 12l4 6` }, this.#scale)
    svg('text', { x: width - 20, y: 47, 'text-anchor': 'middle' }, this.#scale).textContent = 'N'
  }

  #drawArea({ name, active, color, geometry, radius }) {
    if (!geometry) return
    const { x, y, perMetre } = this.#at
    const group = svg('g', { fill: color, stroke: color, class: active ? '' : 'inactive' }, this.#areas)
    const ring = geometry.type === 'Polygon' ? geometry.coordinates[0] : [geometry.coordinates]
    const [xs, ys] = [ring.map(([lng]) => x(lng)), ring.map(([, lat]) => y(lat))]
    if (geometry.type === 'Point') svg('circle', { cx: xs[0], cy: ys[0], r: (radius ?? 0) * perMetre }, group)
    else svg('path', { d: `M${xs.map((one, at) => `${one.toFixed(1)} ${ys[at].toFixed(1)}`).join('L')}Z` }, group)
    const top = geometry.type === 'Point' ? ys[0] - (radius ?? 0) * perMetre : Math.min(...ys)
    const middle = (Math.min(...xs) + Math.max(...xs)) / 2
    svg('text', { x: middle, y: Math.max(top - 5, 12), 'text-anchor': 'middle' }, group).textContent = active
      ? name
      : `${name} (off)`
  }

  #marker(id) {
    const known = this.#markers.get(id)
    if (known) return known
    const trail = svg('polyline', {}, this.#trails)
    const group = svg('g', {}, this.#fleet)
    svg('circle', { r: 13, class: 'reach' }, group)
    const arrow = svg('path', {}, group)
    const label = svg('text', { y: -16, 'text-anchor': 'middle' }, group)
    group.addEventListener('click', () => this.#onChoose(id))
    const marker = { group, arrow, label, trail, turned: 0, past: [] }
    this.#markers.set(id, marker)
    return marker
  }

  #move({ id, name, status, lat, lng, course, speed }) {
    const marker = this.#marker(id)
    const { group, arrow, label, trail, past } = marker
    if (lat === null) {
      group.setAttribute('class', 'absent')
      return
    }
    const { x, y } = this.#at
    // The short way round: from 350 to 10 degrees is a turn of 20.
    marker.turned += ((((course - marker.turned) % 360) + 540) % 360) - 180
    group.setAttribute('class', `device ${status}${this.#chosen === id ? ' chosen' : ''}`)
    group.style.transform = `translate(${x(lng).toFixed(1)}px, ${y(lat).toFixed(1)}px)`
    arrow.setAttribute('d', shapes[status] ?? shapes.offline)
    arrow.style.transform = status === 'offline' ? '' : `rotate(${marker.turned}deg)`
    label.textContent = status === 'moving' ? `${name} · ${Math.round(speed)} km/h` : name
    const last = past.at(-1)
    if (!last || last[0] !== lng || last[1] !== lat) past.push([lng, lat])
    if (past.length > TRAIL) past.shift()
    trail.setAttribute('points', past.map(([lng, lat]) => `${x(lng).toFixed(1)},${y(lat).toFixed(1)}`).join(' '))
  }
}

/** The symbol of a status, for the legend. */
export function symbol(status) {
  const picture = svg('svg', { viewBox: '-12 -12 24 24', 'aria-hidden': 'true', class: `device ${status}` })
  svg('path', { d: shapes[status] }, picture)
  return picture
}
