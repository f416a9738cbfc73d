// Draws geofences and devices as SVG.
import { extent, groups, projection, Room, roundDown } from './map-layout.js'

const NS = 'http://www.w3.org/2000/svg'
const TRAIL = 36

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

export class Drawing {
  #root = svg('svg', { role: 'img', 'aria-label': 'Map' })
  #grid = svg('g', { class: 'grid' }, this.#root)
  #areas = svg('g', { class: 'areas' }, this.#root)
  #trails = svg('g', { class: 'trails' }, this.#root)
  #fleet = svg('g', { class: 'fleet' }, this.#root)
  #names = svg('g', { class: 'names' }, this.#root)
  #scale = svg('g', { class: 'scale' }, this.#root)
  #trailOf = new Map()
  #element
  #onChoose
  #onOpen
  #geofences = []
  #devices = []
  #at
  #width = 0
  #chosen

  /** @param onChoose called with the id of a device; onOpen with the devices of a mark, and where it is. */
  constructor(element, { onChoose, onOpen }) {
    this.#element = element
    this.#onChoose = onChoose
    this.#onOpen = onOpen
    element.append(this.#root)
    new ResizeObserver(() => this.#draw()).observe(element)
  }

  set geofences(geofences) {
    this.#geofences = geofences
    this.#draw()
  }

  /** Draws every device at its current position. */
  show(devices) {
    this.#devices = devices
    this.#root.setAttribute('aria-label', this.#summary())
    if (!this.#at || !extent([], devices).every(this.#at.holds)) this.#draw()
    else this.#drawFleet()
  }

  choose(id) {
    this.#chosen = id
    if (this.#at) this.#drawFleet()
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
    this.#width = width
    this.#drawGrid(width, height)
    this.#areas.replaceChildren(...this.#geofences.filter(({ geometry }) => geometry).map((one) => this.#area(one)))
    this.#drawFleet()
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

  /** The edges of a geofence in pixels. */
  #edges({ geometry, radius }) {
    const { x, y, perMetre } = this.#at
    const ring = geometry.type === 'Polygon' ? geometry.coordinates[0] : [geometry.coordinates]
    const [xs, ys] = [ring.map(([lng]) => x(lng)), ring.map(([, lat]) => y(lat))]
    const r = geometry.type === 'Point' ? (radius ?? 0) * perMetre : 0
    return { xs, ys, r, top: Math.min(...ys) - r, bottom: Math.max(...ys) + r }
  }

  #area(geofence) {
    const { active, color, geometry } = geofence
    const { xs, ys, r } = this.#edges(geofence)
    const group = svg('g', { fill: color, stroke: color, class: active ? '' : 'inactive' })
    if (geometry.type === 'Point') svg('circle', { cx: xs[0], cy: ys[0], r }, group)
    else svg('path', { d: `M${xs.map((one, at) => `${one.toFixed(1)} ${ys[at].toFixed(1)}`).join('L')}Z` }, group)
    return group
  }

  /** The marks of all devices, then the labels in the room that is left: the chosen device first. */
  #drawFleet() {
    const marks = groups(this.#devices, this.#at)
    const room = new Room()
    for (const { x, y } of marks) room.take(x, y, 24, 24)
    for (const device of this.#devices) this.#drawTrail(device)
    this.#fleet.replaceChildren(...marks.map((mark) => this.#mark(mark)))
    this.#names.replaceChildren()
    const own = marks.find(({ devices }) => devices.some(({ id }) => id === this.#chosen))
    if (own) {
      const { name, status, speed } = own.devices.find(({ id }) => id === this.#chosen)
      const text = status === 'moving' ? `${name} · ${Math.round(speed)} km/h` : name
      this.#name(room, text, 'device-name', [
        [own.x, own.y - 17],
        [own.x, own.y + 26],
        [own.x + 20 + text.length * 3.4, own.y + 4],
        [own.x - 20 - text.length * 3.4, own.y + 4],
      ])
    }
    for (const geofence of this.#geofences.filter(({ geometry }) => geometry)) {
      const { xs, top, bottom } = this.#edges(geofence)
      const middle = (Math.min(...xs) + Math.max(...xs)) / 2
      const rows = [top - 5, bottom + 14, top - 19, bottom + 28, (top + bottom) / 2 + 4]
      const text = geofence.active ? geofence.name : `${geofence.name} (off)`
      const places = rows.flatMap((y) => [0, -40, 40].map((shift) => [middle + shift, y]))
      const below = places.filter(([, y]) => y > 12)
      this.#name(room, text, 'geofence-name', below)
    }
  }

  #name(room, text, kind, places) {
    const label = svg('text', { class: kind, 'text-anchor': 'middle' }, this.#names)
    label.textContent = text
    room.place(label, places, this.#width)
  }

  /** One device as the symbol of its status, several as their number. */
  #mark({ x, y, devices }) {
    const isChosen = devices.some(({ id }) => id === this.#chosen)
    const [{ id, status, course }] = devices
    const isOne = devices.length === 1
    const group = svg('g', {
      class: `${isOne ? `device ${status}` : 'cluster'}${isChosen ? ' chosen' : ''}`,
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    })
    svg('circle', { r: 13, class: 'reach' }, group)
    if (isOne) {
      const turn = status === 'offline' ? 0 : course
      svg('path', { d: shapes[status] ?? shapes.offline, transform: `rotate(${turn})` }, group)
    } else svg('text', { y: 4, 'text-anchor': 'middle' }, group).textContent = devices.length
    group.addEventListener('click', () => (isOne ? this.#onChoose(id) : this.#onOpen(devices, { x, y })))
    return group
  }

  #drawTrail({ id, lat, lng }) {
    if (lat === null) return
    const { x, y } = this.#at
    const known = this.#trailOf.get(id)
    const { line, past } = known ?? { line: svg('polyline', {}, this.#trails), past: [] }
    if (!known) this.#trailOf.set(id, { line, past })
    const last = past.at(-1)
    if (!last || last[0] !== lng || last[1] !== lat) past.push([lng, lat])
    if (past.length > TRAIL) past.shift()
    line.setAttribute('points', past.map(([lng, lat]) => `${x(lng).toFixed(1)},${y(lat).toFixed(1)}`).join(' '))
  }
}

/** The symbol of a status, for the legend. */
export function symbol(status) {
  const picture = svg('svg', { viewBox: '-12 -12 24 24', 'aria-hidden': 'true', class: `device ${status}` })
  svg('path', { d: shapes[status] }, picture)
  return picture
}
