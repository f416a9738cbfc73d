/** The sandbox through the platform's own protocol: deterministic, consistent and as strict as the platform. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { serviceRow } from '../../src/sandbox/maintenance.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import type { deviceRow } from '../../src/sandbox/wire/device.js'
import type { eventRow } from '../../src/sandbox/wire/records.js'
import { sandbox } from '../helper.js'
import { program, withEnv } from '../program.js'

type Device = ReturnType<typeof deviceRow>
type Service = ReturnType<typeof serviceRow<number | boolean>>
type Event = ReturnType<typeof eventRow>
type Point = { raw_time: string } & Record<'id' | 'device_id' | 'lat' | 'lng' | 'speed' | 'course' | 'distance', number>
type Group = { status: number; time_seconds: number; raw_time: string; message?: string; items: Point[] }
type History = { items: Group[]; distance_sum: string; top_speed: string; move_duration: string; stop_duration: string }
type Page<T> = { items: { total: number; last_page: number; data: T[] } }

const DAY = 86_400
const NOON = Date.UTC(2026, 4, 13, 11, 0, 0) / 1000
const [demo, other] = sandboxAccounts() as [Account, Account]
type Account = ReturnType<typeof sandboxAccounts>[number]

async function open(t: Test, devices = 50) {
  const clock = { at: NOON }
  const { url: base } = await sandbox(t, { devices, clock: () => clock.at * 1000 })
  const send = (path: string, hash = demo.hash, init: RequestInit = {}) => {
    const url = new URL(`${base}/${path}`)
    if (hash) url.searchParams.set('user_api_hash', hash)
    return fetch(url, { headers: { accept: 'application/json' }, ...init })
  }
  const get = async <T>(path: string, account = demo) => (await (await send(path, account.hash)).json()) as T
  const devicesOf = async (account = demo, query = '') =>
    (await get<{ items: Device[] }[]>(`get_devices${query}`, account)).flatMap((group) => group.items)
  const history = (id: number, from: number, to: number, account = demo) => {
    const [a, b] = [wall(from, account).split(' '), wall(to, account).split(' ')]
    const range = `from_date=${a[0]}&from_time=${a[1]}&to_date=${b[0]}&to_time=${b[1]}`
    return get<History>(`get_history?device_id=${id}&${range}`, account)
  }
  return { base, clock, send, get, devicesOf, history }
}

const wall = (at: number, account = demo) =>
  new Date((at + account.zoneSeconds) * 1000).toISOString().slice(0, 19).replace('T', ' ')
const unix = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`) / 1000 - demo.zoneSeconds
const pointsOf = (history: History) =>
  history.items.filter(({ status }) => status === 1 || status === 2).flatMap((group) => group.items)
const secondsOf = (text: string) =>
  [...text.matchAll(/(\d+)(h|min|s)/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * { h: 3600, min: 60, s: 1 }[unit!]!,
    0,
  )

function metres(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const rad = Math.PI / 180
  const x = (b.lng - a.lng) * Math.cos(((a.lat + b.lat) / 2) * rad)
  return Math.hypot(x, b.lat - a.lat) * rad * 6_371_000
}

t.test('the same request at the same instant has the same response, byte for byte', async (t) => {
  const [one, two] = [await open(t), await open(t)]
  const paths = ['get_devices', 'get_events?limit=40', 'services?limit=100', 'get_devices_latest?time=1778660000']
  const instants = fc.integer({ min: NOON - 40 * DAY, max: NOON + 40 * DAY })
  await fc.assert(
    fc.asyncProperty(instants, fc.constantFrom(...paths), fc.constantFrom(demo, other), async (at, path, account) => {
      one.clock.at = two.clock.at = at
      const [a, b] = await Promise.all([one.send(path, account.hash), two.send(path, account.hash)])
      return a.status === 200 && (await a.text()) === (await b.text())
    }),
    { numRuns: 25 },
  )
})

t.test('the history and the events of a past day never change', async (t) => {
  const { clock, history, get } = await open(t)
  const day = unix(`${wall(NOON - 2 * DAY).slice(0, 10)} 00:00:00`)
  const range = encodeURI(`date_from=${wall(day)}&date_to=${wall(day + DAY - 1)}&limit=1000`)
  const before = [await history(1003, day, day + DAY - 1), await get(`get_events?${range}`)]
  clock.at += 37 * DAY + 12_345
  t.strictSame([await history(1003, day, day + DAY - 1), await get(`get_events?${range}`)], before)
})

t.test('at every time of a week some of fifty devices move, some stand and some are offline', async (t) => {
  const { clock, devicesOf } = await open(t)
  // Every hour of the day, over the days: 5 and 24 have no common divisor.
  for (let hour = 0; hour < 168; hour += 5) {
    clock.at = NOON + hour * 3600 + hour
    const devices = await devicesOf()
    const moving = devices.filter((device) => device.online === 'online' && device.speed >= 6).length
    const offline = devices.filter((device) => device.online === 'offline').length
    const standing = devices.length - moving - offline
    if (moving < 2 || offline < 2 || standing < 2) t.fail(`${wall(clock.at)}: ${moving} move, ${offline} are offline`)
  }
})

t.test('a driver works six days a week and drives six to ten hours on each of them', async (t) => {
  const { history } = await open(t, 20)
  const midnight = unix('2026-05-04 00:00:00')
  for (let id = 1001; id <= 1020; id++) {
    const hours: number[] = []
    for (let day = 0; day < 7; day++) {
      const { move_duration } = await history(id, midnight + day * DAY, midnight + (day + 1) * DAY - 1)
      hours.push(secondsOf(move_duration) / 3600)
    }
    t.ok(Math.max(...hours) <= 10, `device ${id}: ${hours}`)
    // Later shifts end after midnight.
    if (id % 3 !== 1001 % 3) continue
    const working = hours.filter((one) => one > 0)
    t.equal(working.length, 6, `device ${id}`)
    t.ok(Math.min(...working) >= 6, `device ${id}: ${hours}`)
  }
})

t.test(
  'a history agrees with itself, with its totals, and with the place and the counters of its device',
  async (t) => {
    const { clock, devicesOf, history } = await open(t)
    for (const [id, days] of Object.entries({ 1001: 1, 1002: 3, 1003: 1.2, 1021: 14 })) {
      const read = async (at: number) => {
        clock.at = at
        return (await devicesOf(demo, `?id=${id}`))[0]!
      }
      const [first, last] = [await read(NOON - days * DAY), await read(NOON)]
      const period = await history(Number(id), first.timestamp, last.timestamp)
      const points = pointsOf(period)
      const end = points.at(-1)!
      t.strictSame([end.lat, end.lng, end.speed], [last.lat, last.lng, last.speed], 'it ends where the device is')
      const moved = points.findLast(({ speed }) => speed > 0)!
      if (last.speed === 0) t.equal(last.stop_duration_sec, NOON - unix(moved.raw_time))
      for (const [n, point] of points.slice(1).entries()) {
        const before = points[n]!
        const seconds = unix(point.raw_time) - unix(before.raw_time)
        const far = metres(before, point)
        const speed = (far / seconds) * 3.6
        if (seconds <= 0 || Math.abs(far - point.distance * 1000) > 1) t.fail(`${point.raw_time}: ${far} m`)
        if (before.speed === 0 || point.speed === 0) continue
        if (Math.abs(speed - point.speed) > 1 || point.course !== before.course || seconds > 60)
          t.fail(`${point.raw_time}: ${speed} km/h is shown as ${point.speed}`)
      }
      const seconds = (status: number) =>
        period.items.reduce((sum, group) => sum + (group.status === status ? group.time_seconds : 0), 0)
      const km = Number.parseFloat(period.distance_sum)
      t.ok(Math.abs(km - points.reduce((sum, { distance }) => sum + distance, 0)) < 0.1, period.distance_sum)
      t.ok(Math.abs(km - (last.total_distance - first.total_distance)) < 0.1, 'the odometer grows by what is driven')
      t.equal(Number.parseInt(period.top_speed, 10), Math.max(...points.map(({ speed }) => speed)))
      t.strictSame([secondsOf(period.move_duration), secondsOf(period.stop_duration)], [seconds(1), seconds(2)])
      t.equal(seconds(1) + seconds(2), unix(end.raw_time) - unix(points[0]!.raw_time))
      const engineHours = (device: Device) => Number(device.sensors.find(({ type }) => type === 'engine_hours')!.val)
      const hours = engineHours(last) - engineHours(first)
      t.ok(hours > seconds(1) / 3600 - 0.2 && hours < (last.timestamp - first.timestamp) / 3600, 'so do engine hours')
      t.equal(new Set(points.map((point) => point.id)).size, points.length, 'no point is in two groups')
      t.strictSame([period.items[0]!.status, period.items.at(-1)!.status], [3, 4])
      t.notOk(new Set(points.map((point) => point.device_id)).has(Number(id)), "points carry the tracker's number")
    }
  },
)

t.test('every event lies on the history of its device, and each way over a border on its side of it', async (t) => {
  const { get, history } = await open(t)
  type Fence = { id: number; coordinates: string }
  const fences = (await get<{ items: { geofences: Fence[] } }>('get_geofences')).items.geofences
  const depots = new Map(
    fences.slice(0, 2).map(({ id, coordinates }) => {
      const [a, , b] = JSON.parse(coordinates) as { lat: number; lng: number }[]
      const isInside = ({ latitude: lat, longitude: lng }: Event) =>
        lat > a!.lat && lat < b!.lat && lng > a!.lng && lng < b!.lng
      return [id, isInside] as const
    }),
  )
  const types = new Set<string>()
  for (const id of [1001, 1008, 1010, 1013, 1002, 1005]) {
    const { items } = await get<Page<Event>>(`get_events?device_id=${id}&limit=60`)
    const oldest = unix(items.data.at(-1)!.time)
    const period = await history(id, oldest - 2 * DAY, NOON)
    const points = new Map(pointsOf(period).map((point) => [point.id, point]))
    const later = new Map<number, string>()
    for (const event of items.data) {
      const point = points.get(event.position_id)
      types.add(event.type)
      if (!point) return t.fail(`${event.type} at ${event.time} is on no point`)
      t.strictSame([point.lat, point.lng, point.speed], [event.latitude, event.longitude, event.speed])
      if (event.type !== 'offline_duration') t.equal(point.raw_time, event.time)
      if (event.type === 'overspeed') t.ok(event.speed > 95)
      const isInside = depots.get(event.geofence_id ?? 0)
      if (!isInside) continue
      t.equal(isInside(event), event.type === 'zone_in')
      t.not(later.get(event.geofence_id!), event.type, 'in and out alternate')
      later.set(event.geofence_id!, event.type)
    }
    const messages = period.items.filter(({ status, raw_time }) => status === 5 && unix(raw_time) > oldest)
    const shown = items.data.filter(({ time }) => unix(time) > oldest)
    t.equal(messages.length, shown.length, 'the history shows the same events')
  }
  for (const type of ['overspeed', 'zone_in', 'zone_out', 'ignition_on', 'ignition_off', 'offline_duration'])
    t.ok(types.has(type), type)
})

t.test('pages hold every event and driver once; 90 days of events, newest first, with ids that grow', async (t) => {
  const { get } = await open(t)
  const events: Event[] = []
  for (let page = 1, last = 1; page <= last; page++) {
    const { items } = await get<Page<Event>>(`get_events?device_id=1010&limit=97&page=${page}`)
    events.push(...items.data)
    last = items.last_page
    if (page === last) t.equal(events.length, items.total)
  }
  t.ok(events.length > 300, `${events.length} events of one device`)
  t.ok(
    events.every((event, n) => n === 0 || (events[n - 1]!.time >= event.time && events[n - 1]!.id > event.id)),
    'newest first',
  )
  t.ok(unix(events.at(-1)!.time) < NOON - 85 * DAY && unix(events.at(-1)!.time) > NOON - 91 * DAY)
  t.ok(unix(events[0]!.time) <= NOON)
  const drivers = new Set<number>()
  for (const page of [1, 2, 3]) {
    const { items } = await get<{ items: { drivers: Page<{ id: number }>['items'] } }>(`get_user_drivers?page=${page}`)
    for (const { id } of items.drivers.data) drivers.add(id)
    t.equal(items.drivers.last_page, 3)
  }
  t.equal(drivers.size, 12)
  t.equal((await get<Page<Event>>('get_events')).items.data.length, 30)
  t.equal((await get<Page<Event>>('get_events?limit=5000')).items.data.length, 1000)
})

t.test("events are filtered by device, type and the account's wall clock, both ends included", async (t) => {
  const { get } = await open(t)
  const all = await get<Page<Event>>('get_events?limit=200')
  const [newest, oldest] = [all.items.data[20]!, all.items.data[120]!]
  const range = encodeURI(`date_from=${oldest.time}&date_to=${newest.time}&limit=1000`)
  const inside = all.items.data.filter(({ time }) => time >= oldest.time && time <= newest.time)
  t.strictSame((await get<Page<Event>>(`get_events?${range}`)).items.data, inside)
  const some = await get<Page<Event>>(`get_events?${range}&device_id=${newest.device_id}&type=${newest.type}`)
  const alike = inside.filter(({ device_id, type }) => device_id === newest.device_id && type === newest.type)
  t.strictSame(some.items.data, alike)
})

t.test('no account sees anything of another', async (t) => {
  const { get, devicesOf, history } = await open(t)
  t.strictSame([(await devicesOf(demo)).length, (await devicesOf(other)).length], [50, 12])
  for (const [own, foreign] of [
    [demo, other],
    [other, demo],
  ] as const) {
    const id = (await devicesOf(foreign))[0]!.id
    t.notOk((await devicesOf(own)).some((device) => device.id === id))
    t.strictSame(await get(`get_devices?id=${id}`, own), [])
    t.equal((await get<Page<Event>>(`get_events?device_id=${id}`, own)).items.total, 0)
    t.strictSame((await history(id, NOON - DAY, NOON, own)).items, [])
  }
  const ids = async (account: Account) => {
    const lists = ['get_geofences', 'get_alerts', 'get_user_drivers', 'get_events'].map((path) => get(path, account))
    return [...JSON.stringify(await Promise.all(lists)).matchAll(/"id":(\d+)/g)].map(([, id]) => id)
  }
  const [mine, theirs] = [new Set(await ids(demo)), await ids(other)]
  t.ok(theirs.length > 40 && theirs.every((id) => !mine.has(id)))
})

t.test('a credential opens its account only letter for letter, and the settings hold no secret', async (t) => {
  const { send, get } = await open(t)
  for (const { hash, email } of [demo, other]) {
    t.match(hash, /^\$2y\$10\$[A-Za-z0-9./]{53}$/)
    t.ok(hash.slice(7).includes('/') && hash.slice(7).includes('.'))
    t.match(await (await send('get_user_data', hash)).json(), { email })
  }
  for (const hash of ['', demo.hash.slice(0, -1), `${demo.hash} `, demo.hash.toUpperCase(), '$2y$10$']) {
    const refused = await send('get_devices', hash)
    t.strictSame([refused.status, await refused.json()], [401, { status: 0, error: 'Unauthorized' }])
  }
  const setup = JSON.stringify(await get('edit_setup_data'))
  t.notOk(/password|api_hash/.test(setup) || setup.includes(demo.hash) || setup.includes(demo.password))
})

t.test('an e-mail and its password log in, by GET and by every kind of POST body', async (t) => {
  const { send } = await open(t)
  const { email, password } = other
  const form = new FormData()
  form.set('email', email)
  form.set('password', password)
  const json = { 'content-type': 'application/json' }
  const attempts: [string, RequestInit][] = [
    ['login', { method: 'POST', body: form }],
    ['login', { method: 'POST', body: new URLSearchParams({ email, password }) }],
    ['login', { method: 'POST', body: JSON.stringify({ email, password }), headers: json }],
    [`login?email=${email}&password=${password}`, { method: 'POST' }],
    [`login?email=${email}&password=${password}`, {}],
  ]
  for (const [path, init] of attempts)
    t.strictSame(await (await send(path, '', init)).json(), { status: 1, user_api_hash: other.hash })
  const refused: RequestInit[] = [
    { body: new URLSearchParams({ email, password: demo.password }) },
    { body: '{', headers: json },
    { body: '', headers: json },
    { body: `email=${email}`, headers: { 'content-type': 'text/plain' } },
  ]
  for (const init of refused) {
    const wrong = await send('login', '', { ...init, method: 'POST' })
    t.strictSame([wrong.status, await wrong.json()], [401, { status: 0, message: 'Wrong credentials.' }])
  }
})

t.test('a read by POST is the same as by GET, however a list is written', async (t) => {
  const { send, get } = await open(t)
  const body = { user_api_hash: demo.hash, id: [1001, 1003], lang: 'en' }
  const headers = { 'content-type': 'application/json' }
  const response = await send('get_devices', '', { method: 'POST', body: JSON.stringify(body), headers })
  const devices = await response.json()
  for (const list of ['id[]=1001&id[]=1003', 'id[0]=1001&id[1]=1003&lang=en'])
    t.strictSame(devices, await get(`get_devices?${list}`), list)
})

t.test('bad requests are refused as on the platform, and whatever else is requested is its 404', async (t) => {
  const { base, send, get } = await open(t)
  const incomplete = await send('get_history?device_id=1001&from_date=2026-05-01')
  t.equal(incomplete.status, 422)
  t.match(await incomplete.json(), { message: /from time field is required\. The to date field.*The to time field/ })
  const noDay = 'device_id=1001&from_date=2026-02-30&from_time=00:00&to_date=2026-03-01&to_time=00:00'
  t.equal((await send(`get_history?${noDay}`)).status, 422)
  t.equal((await send('get_events?date_from=2026-05-01T00:00:00Z')).status, 400)
  const unknown = await send('destroy_device')
  t.equal(unknown.status, 404)
  t.match(await unknown.json(), { message: /could not be found/ })
  t.match((await fetch(`${base}/nothing`)).headers.get('content-type'), /html/)
  const never = 'device_id=7&from_date=2026-05-01&from_time=00:00&to_date=2026-05-02&to_time=00:00'
  t.strictSame((await get<History>(`get_history?${never}`)).items, [])
})

t.test('a device that never connected has no position, an expired one keeps its last', async (t) => {
  const { devicesOf, history } = await open(t)
  for (const account of [demo, other]) {
    const devices = await devicesOf(account)
    const never = devices.find((device) => device.time === 'Not connected')!
    t.match(never, { online: 'offline', timestamp: 0, lat: null, lng: null, protocol: '-', sensors: [] })
    const expired = devices.find((device) => device.time === 'Expired')!
    t.ok(expired.online === 'offline' && expired.lat !== null && expired.timestamp < NOON - 90 * DAY)
    for (const { id } of [never, expired]) t.strictSame((await history(id, NOON - 90 * DAY, NOON, account)).items, [])
  }
})

t.test('maintenance services agree wherever they are listed, and some are overdue', async (t) => {
  const { get, devicesOf } = await open(t)
  const devices = await devicesOf()
  const all: Service[] = []
  for (let page = 1, last = 1; page <= last; page++) {
    const list = await get<{ data: Service[]; pagination: { last_page: number } }>(`services?page=${page}`)
    all.push(...list.data)
    last = list.pagination.last_page
  }
  const rows = devices.flatMap((device) => device.device_data.services)
  t.strictSame(new Set(all.map(({ id }) => id)), new Set(rows.map(({ id }) => id)))
  for (const { value } of devices.flatMap(({ services }) => services)) t.match(value, / Left \(|Expired$|^\d+d\.$/)
  t.ok(rows.some(({ expired }) => expired === 1) && rows.some(({ expired }) => expired === 0))
  t.strictSame([...new Set(rows.map((row) => row.expiration_by))].sort(), ['days', 'engine_hours', 'odometer'])
  for (const row of rows) {
    const device = devices.find(({ id }) => id === row.device_id)!
    const counter = Number(device.sensors.find(({ type }) => type === row.expiration_by)?.val ?? 0)
    const left =
      row.expiration_by === 'days'
        ? (Date.parse(row.expires_date!) - Date.parse(wall(NOON).slice(0, 10))) / DAY / 1000
        : Number(row.last_service) + row.interval - counter
    t.ok(left < 0 === (row.expired === 1) || Math.abs(left) < 0.2, `${row.id}: ${left} left`)
    t.equal(all.find(({ id }) => id === row.id)?.expired, row.expired === 1)
    if (row.expiration_by === 'days')
      t.equal(Date.parse(row.expires_date!) - Date.parse(row.last_service), row.interval * DAY * 1000)
  }
})

t.test("rows have the account's zone and units, `time` is the later of fix and sign of life", async (t) => {
  const { get, devicesOf } = await open(t)
  for (const account of [demo, other]) {
    type Setup = { item: Record<string, unknown>; timezones: { id: number; value: string }[]; [list: string]: unknown }
    const setup = await get<Setup>('edit_setup_data', account)
    const zone = setup.timezones.find(({ id }) => id === setup.item.timezone_id)!.value
    t.equal(zone, account === demo ? 'UTC +01:00' : 'UTC +03:00')
    for (const unit of ['unit_of_distance', 'unit_of_capacity', 'unit_of_altitude'])
      t.match(setup[unit.replace('unit', 'units')], [{ id: setup.item[unit] }])
    const devices = await devicesOf(account)
    t.ok(devices.some((device) => device.acktimestamp > device.timestamp))
    for (const device of devices.filter(({ time }) => /\d/.test(time))) {
      const [date, time] = wall(Math.max(device.timestamp, device.acktimestamp), account).split(' ')
      t.equal(device.time, `${date!.split('-').reverse().join('-')} ${time}`)
      t.match(device, {
        icon: { id: Number, path: String },
        ignition_duration: /^(\d+(h|min|s) ?)+$/,
        idle_duration: /^(\d+(h|min|s) ?)+$/,
        device_data: { traccar: { course: Number, altitude: Number } },
      })
    }
  }
})

t.test('every documented filter of devices and groups filters, alone and together', async (t) => {
  const { get, devicesOf } = await open(t)
  const devices = await devicesOf()
  const sample = devices[6]!
  const ids = (list: Device[]) => list.map(({ id }) => id)
  const silent = (device: Device) => (NOON - device.acktimestamp) / 60
  const texts = ['imei', 'sim_number', 'vin', 'plate_number', 'registration_number', 'object_owner'] as const
  const exact = [...texts, 'device_model', 'group_id'] as const
  const having = (name: (typeof exact)[number]) =>
    devices.filter(({ device_data }) => device_data[name] === sample.device_data[name])
  const cases: [filter: string, value: unknown, expected: Device[]][] = [
    ['id', sample.id, [sample]],
    ...exact.map((name): [string, unknown, Device[]] => [name, sample.device_data[name], having(name)]),
    ['status', 'ack', devices.filter(({ online }) => online === 'ack')],
    ['online', 30, devices.filter((device) => silent(device) <= 30)],
    ['offline', 30, devices.filter((device) => silent(device) > 30)],
    ['search_phrase', 'vAn 0', devices.filter(({ name }) => name.startsWith('Van 0'))],
  ]
  for (const [name, value, expected] of cases) {
    t.ok(expected.length > 0 && expected.length < 50, name)
    const text = encodeURIComponent(String(value))
    t.strictSame(ids(await devicesOf(demo, `?${name}=${text}`)), ids(expected), name)
    const latest = await get<{ items: Device[] }>(`get_devices_latest?time=1&filters[${name}]=${text}`)
    t.strictSame(new Set(ids(latest.items)), new Set(ids(expected.filter(({ timestamp }) => timestamp > 1))), name)
  }
  const some = devices.filter(({ id, online }) => id <= 1004 && (online === 'online' || online === 'ack'))
  const list = '?id[]=1001&id[]=1002&id[]=1003&id[]=1004&status[]=online&status[]=ack'
  t.ok(some.length > 0 && some.length < 4)
  t.strictSame(ids(await devicesOf(demo, list)), ids(some))
  t.strictSame(ids(await devicesOf(demo, `?id=1001&imei=${sample.device_data.imei}`)), [])
  t.match(await get('devices_groups?search_phrase=DEPOT&limit=1'), {
    0: { title: 'North depot' },
    pagination: { total: 2, per_page: 1, last_page: 2 },
  })
})

t.test('every place has an address, the same in all three actions', async (t) => {
  const { get, devicesOf } = await open(t)
  const addresses = new Set<string>()
  for (const { lat, lng } of (await devicesOf()).filter((device) => device.lat !== null)) {
    const address = await get<string>(`address?lat=${lat}&lng=${lng}`)
    addresses.add(address)
    t.match(address, /^\w+ \w+ \d+, \w+/)
    t.match(await get(`address/reverse?lat=${lat}&lng=${lng}`), { status: 1, location: { address } })
    t.equal(await get(`geo_address?lat=${lat}&lon=${lng}`), address)
  }
  t.ok(addresses.size > 10)
  t.equal(await get('address?lat=0&lng=0'), '-')
})

t.test('ten thousand devices are listed, paged or whole, without blocking the event loop', async (t) => {
  const { get, devicesOf, history } = await open(t, 10_000)
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const before = process.cpuUsage()
  const ids = new Set((await devicesOf()).map(({ id }) => id))
  isDone = true
  const { user } = process.cpuUsage(before)
  t.ok(user / 1000 / turns < 10, `${turns} turns of the event loop in ${user / 1000} ms`)
  t.equal(ids.size, 10_000)
  const paged = new Set<number>()
  for (const page of [1, 2, 20]) for (const { id } of await devicesOf(demo, `?limit=500&page=${page}`)) paged.add(id)
  t.equal(paged.size, 1500)
  t.strictSame(await get('get_devices?limit=500&page=21'), [])
  t.equal((await devicesOf(demo, '?limit=7')).length, 7)
  t.equal((await devicesOf(demo, '?id=10937'))[0]?.id, 10_937)
  t.ok(pointsOf(await history(10_937, NOON - 3 * DAY, NOON)).length > 0)
})

t.test('the command line prints base URL, hashes and passwords, and rejects bad options', async (t) => {
  const run = (...args: string[]) => {
    const child = fork(program('sandbox/main.js'), args, withEnv({}))
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  const bad = run('--port', '70000')
  const [text, [code]] = await Promise.all([bad.stderr!.toArray(), once(bad, 'exit')])
  t.equal(code, 1)
  t.match(text.join(''), /--port must be a whole number from 0 to 65535/)
  const good = run('--port', '0', '--devices', '20', '--seed', '11')
  const exit = once(good, 'exit')
  let printed = ''
  for await (const chunk of good.stdout!) {
    printed += chunk
    if (printed.split('\n').length > 3) break
  }
  const [base, ...lines] = printed.trim().split('\n')
  for (const [n, { email, hash, password, devices }] of sandboxAccounts(11, 20).entries())
    t.equal(lines[n], `${email}  ${hash}  password ${password}  ${devices} devices`)
  const hash = encodeURIComponent(sandboxAccounts(11, 20)[0]!.hash)
  t.equal((await fetch(`${base}/get_user_data?user_api_hash=${hash}`)).status, 200)
  good.kill('SIGTERM')
  t.equal((await exit)[0], 0, 'a signal closes it')
})
