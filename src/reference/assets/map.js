// The live map: polls the demo fleet like any client, every 30 seconds and only while the map is visible.
import { Drawing, symbol } from './map-drawing.js'

const INTERVAL = 30_000
const MAX_DELAY = 120_000
const STATUSES = ['moving', 'online', 'offline']
const find = (id) => document.getElementById(id)
const authorization = { Authorization: `Bearer ${document.body.dataset.demo}` }

const note = find('map-note')
const choice = find('map-choice')
const json = find('map-json')
const pause = find('map-pause')
const blocks = new Map()
let chosen

/** The JSON of a response. @throws an error with `status` and `waitMs` for an error response. */
async function get(path) {
  const response = await fetch(path, { headers: authorization })
  if (response.ok) return response.json()
  const waitMs = Number(response.headers.get('Retry-After') ?? 0) * 1000
  throw Object.assign(new Error(`status ${response.status}`), { status: response.status, waitMs })
}

const canvas = find('map-canvas')
const drawing = new Drawing(canvas, { onChoose: choose, onOpen: openMark })
let devices = []

function choose(id) {
  closeMark()
  blocks.get(chosen)?.classList.remove('chosen')
  chosen = id
  choice.value = String(id)
  drawing.choose(id)
  describe()
  const block = blocks.get(id)
  if (!block) return
  block.classList.add('chosen')
  json.scrollTop = block.offsetTop - 12
}

/** The chosen device in one line. An address that the list does not have is looked up for the location. */
async function describe() {
  const device = devices.find(({ id }) => id === chosen)
  if (!device) return
  const { id, name, status, speed, lat, lng } = device
  const write = (place) => {
    const state = status === 'moving' ? `${status} at ${Math.round(speed)} km/h` : status
    if (id === chosen) find('map-device').textContent = `${name}: ${state}, ${place}`
  }
  if (lat === null) return write('no position')
  write(device.address ?? `${lat}, ${lng}`)
  if (device.address !== null) return
  const location = await get(`v1/devices/${id}/location`).catch(() => undefined)
  device.address = location?.address ?? null
  if (device.address) write(device.address)
}

/** The list of the devices that share a mark. */
const opened = document.createElement('ul')
opened.id = 'map-mark'

function openMark(shared, { x, y }) {
  const items = shared.map(({ id, name, status }) => {
    const item = document.createElement('li')
    const button = document.createElement('button')
    button.type = 'button'
    button.append(symbol(status), ` ${name}`)
    button.addEventListener('click', () => choose(id))
    item.append(button)
    return item
  })
  opened.replaceChildren(...items)
  canvas.append(opened)
  opened.style.left = `${Math.min(x + 12, canvas.clientWidth - opened.offsetWidth - 8)}px`
  opened.style.top = `${Math.min(y + 12, canvas.clientHeight - opened.offsetHeight - 8)}px`
  opened.querySelector('button').focus({ preventScroll: true })
}

function closeMark() {
  if (opened.contains(document.activeElement)) choice.focus({ preventScroll: true })
  opened.remove()
}
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') closeMark()
})
document.addEventListener('pointerdown', ({ target }) => {
  if (!opened.contains(target)) closeMark()
})

new ResizeObserver(closeMark).observe(canvas)

choice.addEventListener('change', () => choose(Number(choice.value)))

function showLegend(devices) {
  const items = STATUSES.map((status) => {
    const item = document.createElement('li')
    const count = devices.filter((device) => device.status === status).length
    item.append(symbol(status), ` ${status} ${count}`)
    return item
  })
  find('map-legend').replaceChildren(...items)
}

const indented = (device) => JSON.stringify(device, null, 2).replaceAll('\n', '\n    ')

/** Shows the response, one block per device. Only changed blocks are written, so that a text selection survives. */
function showJson({ data, ...rest }) {
  const head = JSON.stringify(rest, null, 2).slice(0, -2)
  if (data.length !== blocks.size || data.some(({ id }) => !blocks.has(id))) createBlocks(data)
  json.firstChild.textContent = `${head},\n  "data": [\n`
  for (const [at, device] of data.entries()) {
    const text = `    ${indented(device)}${at < data.length - 1 ? ',' : ''}\n`
    const block = blocks.get(device.id)
    if (block.textContent !== text) block.textContent = text
  }
}

function createBlocks(devices) {
  closeMark()
  blocks.clear()
  for (const { id } of devices) {
    const block = document.createElement('span')
    block.addEventListener('click', () => {
      if (getSelection().isCollapsed) choose(id)
    })
    blocks.set(id, block)
  }
  json.replaceChildren(document.createTextNode(''), ...blocks.values(), document.createTextNode('  ]\n}'))
  choice.replaceChildren(...devices.map(({ id, name }) => new Option(name, String(id))))
}

function show(list) {
  devices = list.data
  showJson(list)
  drawing.show(list.data)
  showLegend(list.data)
  find('map-time').textContent = `As of ${new Date().toLocaleTimeString('en-GB')}.`
  if (chosen === undefined || !blocks.has(chosen)) {
    const first = list.data.find(({ status }) => status === 'moving') ?? list.data[0]
    if (first) choose(first.id)
  } else describe()
}

let hasGeofences = false
async function step() {
  if (!hasGeofences) {
    const { features } = await get('v1/geofences?format=geojson')
    drawing.geofences = features.map(({ geometry, properties }) => ({ ...properties, geometry }))
    hasGeofences = true
  }
  show(await get('v1/devices?limit=500'))
}

const paused = () => pause.dataset.state === 'paused'
let state = note.textContent
function showState() {
  const text = paused() ? 'Paused.' : state
  if (note.textContent !== text) note.textContent = text
}

let isVisible = false
let timer
let isPending = false
let delay = INTERVAL
let lastRequest = 0

/** Polls now and again after a delay, which grows with each failure and is at least `Retry-After`. */
async function run() {
  if (isPending || paused() || !isVisible || document.hidden) return
  isPending = true
  lastRequest = Date.now()
  try {
    await step()
    delay = INTERVAL
    state = `Live: updated every ${INTERVAL / 1000} seconds while visible.`
  } catch (error) {
    delay = Math.max(Math.min(delay * 2, MAX_DELAY), error.waitMs ?? 0)
    const why = error.status === 429 ? 'The demo is out of requests for now' : 'The fleet cannot be loaded'
    state = `${why}; trying again in ${Math.round(delay / 1000)} seconds.`
  }
  showState()
  isPending = false
  clearTimeout(timer)
  timer = setTimeout(run, delay)
}

/** When the map becomes visible again, a pending delay is not shortened. */
function wake() {
  const left = lastRequest + delay - Date.now()
  clearTimeout(timer)
  timer = setTimeout(run, Math.max(0, left))
}

pause.addEventListener('click', () => {
  pause.dataset.state = paused() ? 'live' : 'paused'
  pause.textContent = paused() ? 'Resume' : 'Pause'
  showState()
  if (!paused()) wake()
})
document.addEventListener('visibilitychange', wake)
new IntersectionObserver((entries) => {
  isVisible = entries.at(-1).isIntersecting
  if (isVisible) wake()
}).observe(find('map-canvas'))
