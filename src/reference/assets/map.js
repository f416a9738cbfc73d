// The live map: asks for the demo fleet as any caller would, at most every five seconds and only while it is seen.
import { Drawing, sign } from './map-drawing.js'

const INTERVAL = 5000
const MOST = 60_000
const STATUSES = ['moving', 'online', 'offline']
const find = (id) => document.getElementById(id)
const authorization = { Authorization: `Bearer ${document.body.dataset.demo}` }

const note = find('map-note')
const choice = find('map-choice')
const json = find('map-json')
const pause = find('map-pause')
const blocks = new Map()
let chosen

/** An answer's JSON. @throws an error with `status` and `waitMs` when it is none. */
async function ask(path) {
  const response = await fetch(path, { headers: authorization })
  if (response.ok) return response.json()
  const waitMs = Number(response.headers.get('Retry-After') ?? 0) * 1000
  throw Object.assign(new Error(`status ${response.status}`), { status: response.status, waitMs })
}

const drawing = new Drawing(find('map-canvas'), choose)

function choose(id) {
  blocks.get(chosen)?.classList.remove('chosen')
  chosen = id
  choice.value = String(id)
  drawing.choose(id)
  const block = blocks.get(id)
  if (!block) return
  block.classList.add('chosen')
  json.scrollTop = block.offsetTop - 12
}
choice.addEventListener('change', () => choose(Number(choice.value)))

function showLegend(devices) {
  const items = STATUSES.map((status) => {
    const item = document.createElement('li')
    const count = devices.filter((device) => device.status === status).length
    item.append(sign(status), ` ${status} ${count}`)
    return item
  })
  find('map-legend').replaceChildren(...items)
}

const indented = (device) => JSON.stringify(device, null, 2).replaceAll('\n', '\n    ')

/** The answer as it came, one block per device; only blocks that changed are written, so that a selection survives. */
function showJson({ data, ...rest }) {
  const head = JSON.stringify(rest, null, 2).slice(0, -2)
  if (data.length !== blocks.size || data.some(({ id }) => !blocks.has(id))) layBlocks(data)
  json.firstChild.textContent = `${head},\n  "data": [\n`
  for (const [at, device] of data.entries()) {
    const text = `    ${indented(device)}${at < data.length - 1 ? ',' : ''}\n`
    const block = blocks.get(device.id)
    if (block.textContent !== text) block.textContent = text
  }
}

function layBlocks(devices) {
  blocks.clear()
  for (const { id } of devices) {
    const block = document.createElement('span')
    block.addEventListener('click', () => choose(id))
    blocks.set(id, block)
  }
  json.replaceChildren(document.createTextNode(''), ...blocks.values(), document.createTextNode('  ]\n}'))
  choice.replaceChildren(...devices.map(({ id, name }) => new Option(name, String(id))))
}

function show(list) {
  showJson(list)
  drawing.show(list.data)
  showLegend(list.data)
  find('map-time').textContent = `As of ${new Date().toLocaleTimeString('en-GB')}.`
  if (chosen === undefined || !blocks.has(chosen)) {
    const first = list.data.find(({ status }) => status === 'moving') ?? list.data[0]
    if (first) choose(first.id)
  }
}

const say = (text) => {
  if (note.textContent !== text) note.textContent = text
}

let geofences
async function step() {
  if (!geofences) {
    const { data } = await ask('v1/geofences')
    geofences = await Promise.all(data.map(({ id }) => ask(`v1/geofences/${id}`)))
    drawing.geofences = geofences
  }
  show(await ask('v1/devices?limit=500'))
}

const paused = () => pause.dataset.state === 'paused'
let isSeen = false
let timer
let isAsking = false
let delay = INTERVAL
let lastAsked = 0

/** Asks now, then again after a while; failures wait longer each time, and at least as long as they say. */
async function run() {
  if (isAsking || paused() || !isSeen || document.hidden) return
  clearTimeout(timer)
  isAsking = true
  lastAsked = Date.now()
  try {
    await step()
    delay = INTERVAL
    say('Live, every 5 seconds while you look.')
  } catch (error) {
    delay = Math.min(Math.max(delay * 2, error.waitMs ?? 0), MOST)
    const why = error.status === 429 ? 'The demo is out of requests for now' : 'The fleet does not answer'
    say(`${why}; trying again in ${Math.round(delay / 1000)} seconds.`)
  }
  isAsking = false
  timer = setTimeout(run, delay)
}

/** Coming back into sight must not shorten a wait that is under way. */
function wake() {
  const left = lastAsked + delay - Date.now()
  clearTimeout(timer)
  timer = setTimeout(run, Math.max(0, left))
}

pause.addEventListener('click', () => {
  pause.dataset.state = paused() ? 'live' : 'paused'
  pause.textContent = paused() ? 'Resume' : 'Pause'
  if (paused()) say('Paused.')
  else wake()
})
document.addEventListener('visibilitychange', wake)
new IntersectionObserver((entries) => {
  isSeen = entries.at(-1).isIntersecting
  if (isSeen) wake()
}).observe(find('map-canvas'))
