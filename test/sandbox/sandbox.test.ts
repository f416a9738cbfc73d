/** The sandbox through its own wire protocol: a fleet that is the same for everybody and never contradicts itself. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { buildSandbox, sandboxAccounts } from '../../src/sandbox/sandbox.js'

type Device = {
  id: number
  name: string
  online: string
  time: string
  timestamp: number
  speed: number
  lat: number | null
  lng: number | null
  total_distance: number
  protocol: string
  sensors: { type: string; val: number }[]
  services: { id: number; value: string }[]
  device_data: { traccar_device_id: number; services: Service[] }
}
type Service = {
  id: number
  device_id: number
  expiration_by: string
  interval: number
  last_service: string
  expires: string
  expires_date: string | null
  expired: number | boolean
}
type Point = {
  id: number
  device_id: number
  raw_time: string
  lat: number
  lng: number
  speed: number
  distance: number
  valid: number
}
type Group = {
  status: number
  time_seconds?: number
  raw_time: string
  distance: number
  message?: string
  items: Point[]
}
type History = { items: Group[]; distance_sum: string; top_speed: string; move_duration: string; stop_duration: string }
type Event = {
  id: number
  device_id: number
  position_id: number
  type: string
  time: string
  latitude: number
  longitude: number
  speed: number
  geofence_id: number | null
}
type Page<T> = { items: { total: number; current_page: number; last_page: number; data: T[] } }

const DAY = 86_400
const NOON = Date.UTC(2026, 4, 13, 11, 0, 0) / 1000
const [demo, other] = sandboxAccounts() as [Account, Account]
type Account = ReturnType<typeof sandboxAccounts>[number]

async function open(t: Test, devices = 50) {
  const clock = { at: NOON, now: () => clock.at * 1000 }
  const app = buildSandbox({ devices, clock })
  t.teardown(() => app.close())
  const base = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = (path: string, hash: string | undefined = demo.hash) => {
    const address = new URL(`${base}/api/${path}`)
    if (hash) address.searchParams.set('user_api_hash', hash)
    return fetch(address, { headers: { accept: 'application/json' } })
  }
  const get = async <T>(path: string, account = demo) => (await (await ask(path, account.hash)).json()) as T
  const devicesOf = async (account = demo, query = '') =>
    (await get<{ items: Device[] }[]>(`get_devices${query}`, account)).flatMap((group) => group.items)
  const history = (id: number, from: number, to: number, account = demo) => {
    const [a, b] = [wall(from, account).split(' '), wall(to, account).split(' ')]
    const range = `from_date=${a[0]}&from_time=${a[1]}&to_date=${b[0]}&to_time=${b[1]}`
    return get<History>(`get_history?device_id=${id}&${range}`, account)
  }
  return { base, clock, ask, get, devicesOf, history }
}

const wall = (at: number, account = demo) =>
  new Date((at + account.zoneSeconds) * 1000).toISOString().slice(0, 19).replace('T', ' ')
const unix = (text: string, account = demo) => Date.parse(`${text.replace(' ', 'T')}Z`) / 1000 - account.zoneSeconds
const pointsOf = (history: History) =>
  history.items.filter((group) => group.status === 1 || group.status === 2).flatMap((group) => group.items)
const fixesOf = (history: History) => pointsOf(history).filter((point) => point.valid === 1)
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

function within(corners: { lat: number; lng: number }[], { lat, lng }: { lat: number; lng: number }): boolean {
  let inside = false
  for (const [n, b] of corners.entries()) {
    const a = corners.at(n - 1)!
    if (a.lat > lat !== b.lat > lat && lng < ((b.lng - a.lng) * (lat - a.lat)) / (b.lat - a.lat) + a.lng)
      inside = !inside
  }
  return inside
}

t.test('the same question at the same instant has the same answer, byte for byte', async (t) => {
  const [one, two] = [await open(t), await open(t)]
  const questions = ['get_devices', 'get_events?limit=40', 'services?limit=100', 'get_devices_latest?time=1778660000']
  const instants = fc.integer({ min: NOON - 40 * DAY, max: NOON + 40 * DAY })
  await fc.assert(
    fc.asyncProperty(
      instants,
      fc.constantFrom(...questions),
      fc.constantFrom(demo, other),
      async (at, path, account) => {
        one.clock.at = two.clock.at = at
        const [a, b] = await Promise.all([one.ask(path, account.hash), two.ask(path, account.hash)])
        return a.status === 200 && (await a.text()) === (await b.text())
      },
    ),
    { numRuns: 25 },
  )
})

t.test('what was said of a finished day stays said', async (t) => {
  const { clock, history, get } = await open(t)
  const day = unix(`${wall(NOON - 2 * DAY).slice(0, 10)} 00:00:00`)
  const range = encodeURI(`date_from=${wall(day)}&date_to=${wall(day + DAY - 1)}&limit=1000`)
  const before = [await history(1003, day, day + DAY - 1), await get(`get_events?${range}`)]
  clock.at += 37 * DAY + 12_345
  t.strictSame([await history(1003, day, day + DAY - 1), await get(`get_events?${range}`)], before)
})

t.test('at every hour of a week at least eight of fifty vehicles move, some stand and some are silent', async (t) => {
  const { clock, devicesOf } = await open(t)
  const least = { moving: 50, standing: 50, offline: 50 }
  for (let hour = 0; hour < 168; hour++) {
    clock.at = NOON + hour * 3600 + hour
    const devices = await devicesOf()
    const moving = devices.filter((device) => device.online === 'online' && device.speed >= 6).length
    const offline = devices.filter((device) => device.online === 'offline').length
    least.moving = Math.min(least.moving, moving)
    least.offline = Math.min(least.offline, offline)
    least.standing = Math.min(least.standing, devices.length - moving - offline)
  }
  t.ok(least.moving >= 8, `at least ${least.moving} move`)
  t.ok(least.offline >= 2 && least.standing >= 2, `at least ${least.standing} stand, ${least.offline} are offline`)
})

t.test('history moves like a vehicle and ends where the vehicle is', async (t) => {
  const { clock, devicesOf, history } = await open(t)
  for (const at of [NOON, NOON + 5 * 3600 + 77, NOON + 4 * DAY - 40_000]) {
    clock.at = at
    for (const device of (await devicesOf()).filter(({ id }) => id % 4 === 1 || id % 4 === 2)) {
      const day = await history(device.id, at - DAY, at + 10)
      const points = fixesOf(day)
      const last = points.at(-1)
      if (device.timestamp < at - DAY) t.equal(last, undefined, 'a vehicle that was silent has no points')
      else t.strictSame([last?.lat, last?.lng, last?.speed], [device.lat, device.lng, device.speed])
      for (const [n, point] of points.entries()) {
        const before = points[n - 1]
        const seconds = before ? unix(point.raw_time) - unix(before.raw_time) : 1
        const far = before ? metres(before, point) : 0
        if (seconds <= 0 || far / seconds > 36 || Math.abs(far - point.distance * 1000) > 1)
          t.fail(`${point.raw_time}: ${far} m`)
        if (before && before.speed > 0 && point.speed > 0 && seconds > 60)
          t.fail(`${point.raw_time}: no point for ${seconds} s`)
      }
    }
  }
})

t.test("a history's totals are those of its points, however long the period", async (t) => {
  const { history } = await open(t)
  for (const [id, days] of [
    [1001, 1],
    [1002, 3],
    [1003, 1],
    [1021, 14],
  ] as const) {
    const period = await history(id, NOON - days * DAY, NOON)
    const points = pointsOf(period)
    const groups = period.items.filter((group) => group.time_seconds !== undefined)
    const seconds = (status: number) =>
      groups.filter((group) => group.status === status).reduce((sum, group) => sum + group.time_seconds!, 0)
    t.match(
      Number.parseFloat(period.distance_sum).toFixed(1),
      points.reduce((sum, { distance }) => sum + distance, 0).toFixed(1),
    )
    t.equal(Number.parseInt(period.top_speed, 10), Math.max(...points.map(({ speed }) => speed)))
    t.equal(secondsOf(period.move_duration), seconds(1))
    t.equal(secondsOf(period.stop_duration), seconds(2))
    t.equal(seconds(1) + seconds(2), unix(points.at(-1)!.raw_time) - unix(points[0]!.raw_time))
    t.equal(new Set(points.map((point) => point.id)).size, points.length, 'no point stands in two groups')
    t.strictSame([period.items[0]!.status, period.items.at(-1)!.status], [3, 4])
    t.ok(
      points.every((point) => point.device_id !== id),
      "points carry the tracker's number, not the device's",
    )
  }
})

t.test('odometer and engine hours grow by what was driven', async (t) => {
  const { clock, devicesOf, history } = await open(t)
  for (const id of [1001, 1002, 1003, 1021]) {
    const reading = async (at: number) => {
      clock.at = at
      const device = (await devicesOf(demo, `?id=${id}`))[0]!
      return {
        at: device.timestamp,
        km: device.total_distance,
        hours: device.sensors.find((s) => s.type === 'engine_hours')!.val,
      }
    }
    const first = await reading(NOON - 15 * DAY)
    const last = await reading(NOON)
    const period = await history(id, first.at, last.at)
    t.ok(
      Math.abs(last.km - first.km - Number.parseFloat(period.distance_sum)) < 0.1,
      `${id} drove ${period.distance_sum}`,
    )
    const moved = secondsOf(period.move_duration) / 3600
    t.ok(last.hours - first.hours > moved - 0.2 && last.hours - first.hours < (last.at - first.at) / 3600)
  }
})

t.test('every event lies on the history of its vehicle', async (t) => {
  const { get, history } = await open(t)
  const types = new Set<string>()
  for (const id of [1001, 1008, 1010, 1013, 1002, 1005]) {
    const { items } = await get<Page<Event>>(`get_events?device_id=${id}&limit=60`)
    const oldest = unix(items.data.at(-1)!.time)
    const period = await history(id, oldest - 2 * DAY, NOON)
    const points = new Map(fixesOf(period).map((point) => [point.id, point]))
    for (const event of items.data) {
      const point = points.get(event.position_id)
      types.add(event.type)
      if (!point) return t.fail(`${event.type} at ${event.time} is on no point`)
      t.strictSame([point.lat, point.lng, point.speed], [event.latitude, event.longitude, event.speed])
      if (event.type !== 'offline_duration') t.equal(point.raw_time, event.time)
      if (event.type === 'overspeed') t.ok(event.speed > 95)
    }
    const told = period.items.filter((group) => group.status === 5 && unix(group.raw_time) >= oldest)
    t.equal(told.length, items.data.length, 'the history tells the same events')
  }
  for (const type of ['overspeed', 'zone_in', 'zone_out', 'ignition_on', 'ignition_off', 'offline_duration'])
    t.ok(types.has(type), type)
})

t.test('vehicles leave a geofence before they enter it again, and stand on the right side of its border', async (t) => {
  const { get } = await open(t)
  const { items } = await get<{ items: { geofences: { id: number; active: number; coordinates: string }[] } }>(
    'get_geofences',
  )
  const depots = items.geofences.slice(0, 2).map(({ id, coordinates }) => ({ id, corners: JSON.parse(coordinates) }))
  const last = new Map<string, string>()
  let seen = 0
  for (const type of ['zone_in', 'zone_out'])
    t.ok((await get<Page<Event>>(`get_events?type=${type}`)).items.total > 100)
  for (let page = 1; page <= 6; page++) {
    const { items } = await get<Page<Event>>(`get_events?limit=1000&page=${page}`)
    for (const event of items.data) {
      const depot = depots.find(({ id }) => id === event.geofence_id)
      if (!depot) continue
      const key = `${event.device_id} ${depot.id}`
      t.not(last.get(key), event.type, 'in and out take turns')
      t.equal(within(depot.corners, { lat: event.latitude, lng: event.longitude }), event.type === 'zone_in')
      last.set(key, event.type)
      seen++
    }
  }
  t.ok(seen > 200, `${seen} crossings of the depots`)
})

t.test('pages of events and drivers show every item once', async (t) => {
  const { get } = await open(t)
  const events: Event[] = []
  for (let page = 1, last = 1; page <= last; page++) {
    const { items } = await get<Page<Event>>(`get_events?device_id=1010&limit=97&page=${page}`)
    events.push(...items.data)
    last = items.last_page
    if (page === 1) t.ok(items.total > 300, `${items.total} events of one vehicle in 90 days`)
    if (page === last) t.equal(events.length, items.total)
  }
  t.equal(new Set(events.map(({ id }) => id)).size, events.length)
  t.ok(
    events.every((event, n) => n === 0 || events[n - 1]!.time >= event.time),
    'newest first',
  )
  t.ok(unix(events.at(-1)!.time) < NOON - 85 * DAY && unix(events[0]!.time) <= NOON)
  const drivers: { id: number }[] = []
  for (let page = 1, last = 1; page <= last; page++) {
    const { items } = await get<{ items: { drivers: Page<{ id: number }>['items'] } }>(`get_user_drivers?page=${page}`)
    drivers.push(...items.drivers.data)
    last = items.drivers.last_page
  }
  t.strictSame([drivers.length, new Set(drivers.map(({ id }) => id)).size], [12, 12])
  t.equal((await get<Page<Event>>('get_events')).items.data.length, 30)
  t.equal((await get<Page<Event>>('get_events?limit=5000')).items.data.length, 1000)
})

t.test("events are filtered by vehicle, type and the account's wall clock, both ends included", async (t) => {
  const { get } = await open(t)
  const all = await get<Page<Event>>('get_events?limit=200')
  const [newest, oldest] = [all.items.data[20]!, all.items.data[120]!]
  const range = encodeURI(`date_from=${oldest.time}&date_to=${newest.time}&limit=1000`)
  const inside = all.items.data.filter(({ time }) => time >= oldest.time && time <= newest.time)
  t.strictSame((await get<Page<Event>>(`get_events?${range}`)).items.data, inside)
  const some = await get<Page<Event>>(`get_events?${range}&device_id=${newest.device_id}&type=${newest.type}`)
  t.ok(some.items.data.some(({ id }) => id === newest.id))
  t.ok(some.items.data.every((event) => event.type === newest.type && event.device_id === newest.device_id))
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
    t.strictSame((await get<{ data: Service[] }>(`services/${id}`, own)).data, [])
  }
  const ids = async (account: Account) =>
    [
      ...JSON.stringify([
        await get('get_geofences', account),
        await get('get_alerts', account),
        await get('get_user_drivers', account),
      ]).matchAll(/"id":(\d+)/g),
    ].map(([, id]) => id)
  const [mine, theirs] = [new Set(await ids(demo)), await ids(other)]
  t.ok(theirs.length > 15 && theirs.every((id) => !mine.has(id)))
})

t.test('a credential opens its account only letter for letter', async (t) => {
  const { base, ask, get } = await open(t)
  for (const { hash, email } of [demo, other]) {
    t.match(hash, /^\$2y\$10\$[A-Za-z0-9./]{53}$/)
    t.ok(hash.slice(7).includes('/') && hash.slice(7).includes('.'))
    t.match(await (await ask('get_user_data', hash)).json(), { email })
  }
  const wrong = [undefined, '', demo.hash.slice(0, -1), `${demo.hash} `, demo.hash.toUpperCase(), '$2y$10$']
  for (const hash of wrong) {
    const refused = await ask('get_devices', hash ?? '')
    t.strictSame([refused.status, await refused.json()], [401, { status: 0, error: 'Unauthorized' }])
  }
  t.equal((await fetch(`${base}/api/get_user_data?user_api_hash=${encodeURIComponent(demo.hash)}`)).status, 200)
  const setup = JSON.stringify(await get('edit_setup_data'))
  t.notOk(/password|api_hash/.test(setup) || setup.includes(demo.hash))
})

t.test('questions that make no sense are refused as the platform refuses them', async (t) => {
  const { base, ask, get } = await open(t)
  const unasked = await ask('get_history?device_id=1001&from_date=2026-05-01')
  t.equal(unasked.status, 422)
  t.match(await unasked.json(), { message: /from time field is required\. The to date field.*The to time field/ })
  t.equal(
    (await ask('get_history?device_id=1001&from_date=2026-02-30&from_time=00:00&to_date=2026-03-01&to_time=00:00'))
      .status,
    422,
  )
  t.equal((await ask('get_events?date_from=2026-05-01T00:00:00Z')).status, 400)
  t.equal((await ask('get_services')).status, 400)
  t.equal((await ask('destroy_device')).status, 404)
  t.match((await fetch(`${base}/api/nothing`)).headers.get('content-type'), /html/)
  t.strictSame(
    (
      await get<History>(
        'get_history?device_id=7&from_date=2026-05-01&from_time=00:00&to_date=2026-05-02&to_time=00:00',
      )
    ).items,
    [],
  )
})

t.test('a vehicle that never connected has no place, an expired one keeps its last', async (t) => {
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
    const { data, pagination } = await get<{ data: Service[]; pagination: { last_page: number } }>(
      `services?page=${page}`,
    )
    all.push(...data)
    last = pagination.last_page
  }
  const rows = devices.flatMap((device) => device.device_data.services).sort((a, b) => a.id - b.id)
  t.strictSame(
    all.map(({ id }) => id).sort((a, b) => a - b),
    rows.map(({ id }) => id),
  )
  t.ok(rows.some(({ expired }) => expired === 1) && rows.some(({ expired }) => expired === 0))
  t.strictSame([...new Set(rows.map((row) => row.expiration_by))].sort(), ['days', 'engine_hours', 'odometer'])
  for (const row of rows) {
    const device = devices.find(({ id }) => id === row.device_id)!
    const counter = device.sensors.find(({ type }) => type === row.expiration_by)?.val ?? 0
    const left =
      row.expiration_by === 'days'
        ? (Date.parse(row.expires_date!) - Date.parse(wall(NOON).slice(0, 10))) / DAY / 1000
        : Number(row.last_service) + row.interval - counter
    t.ok(left < 0 === (row.expired === 1) || Math.abs(left) < 0.2, `${row.id}: ${left} left`)
    t.equal(all.find(({ id }) => id === row.id)?.expired, row.expired === 1)
    if (row.expiration_by === 'days')
      t.equal(Date.parse(row.expires_date!) - Date.parse(row.last_service), row.interval * DAY * 1000)
  }
  const spoken = await get<{ data: Service[]; per_page: number }>(`get_services?device_id=${rows[0]!.device_id}`)
  t.equal(spoken.per_page, 10)
  t.match(spoken.data[0]!.expires, /Left|Expired|\dd\./)
})

t.test("the account's time zone is the one its wall clocks show", async (t) => {
  const { get, devicesOf } = await open(t)
  for (const account of [demo, other]) {
    type Setup = { item: { timezone_id: number }; timezones: { id: number; value: string }[] }
    const setup = await get<Setup>('edit_setup_data', account)
    const zone = setup.timezones.find(({ id }) => id === setup.item.timezone_id)!.value
    t.equal(zone, account === demo ? 'UTC +01:00' : 'UTC +03:00')
    const device = (await devicesOf(account)).find(({ online }) => online === 'online')!
    const [date, time] = wall(device.timestamp, account).split(' ')
    t.equal(device.time, `${date!.split('-').reverse().join('-')} ${time}`)
  }
})

t.test('ten thousand vehicles are listed, paged or whole', async (t) => {
  const { get, devicesOf, history } = await open(t, 10_000)
  const ids = new Set((await devicesOf()).map(({ id }) => id))
  t.equal(ids.size, 10_000)
  const paged = new Set<number>()
  for (const page of [1, 2, 20]) for (const { id } of await devicesOf(demo, `?limit=500&page=${page}`)) paged.add(id)
  t.equal(paged.size, 1500)
  t.strictSame(await get('get_devices?limit=500&page=21'), [])
  t.equal((await devicesOf(demo, '?id=10937'))[0]?.id, 10_937)
  t.ok(pointsOf(await history(10_937, NOON - 3 * DAY, NOON)).length > 0)
})

t.test(
  'the command line prints where it listens and who may ask, and says what is wrong with its options',
  async (t) => {
    const main = fileURLToPath(new URL('../../src/sandbox/main.ts', import.meta.url))
    const run = (...args: string[]) => {
      const child = spawn(process.execPath, [...process.execArgv, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
      t.teardown(() => child.kill('SIGKILL'))
      return child
    }
    const text = async (stream: ChildProcess['stdout']) => (await stream!.toArray()).join('')
    const bad = run('--port', '70000', '--devices', 'many', '--speed', '1')
    const [problems, [code]] = await Promise.all([text(bad.stderr), once(bad, 'exit')])
    t.equal(code, 1)
    t.match(problems, /--speed: no such option\n.*\n?--port: .*\n--devices: /)
    const good = run('--port', '0', '--devices', '20', '--seed', '11')
    const exit = once(good, 'exit')
    let printed = ''
    for await (const chunk of good.stdout!) {
      printed += chunk
      if (printed.split('\n').length > 3) break
    }
    const [base, ...lines] = printed.trim().split('\n')
    t.strictSame(
      lines.map((line) => line.split(/\s+/)[1]),
      sandboxAccounts(11).map(({ hash }) => hash),
    )
    t.equal(
      (await fetch(`${base}/get_user_data?user_api_hash=${encodeURIComponent(lines[0]!.split(/\s+/)[1]!)}`)).status,
      200,
    )
    good.kill('SIGTERM')
    t.equal((await exit)[0], 0, 'a signal closes it')
  },
)
