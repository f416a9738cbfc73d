/** The sandbox as a server: deterministic, as strict about requests as the platform, and its lists agree. */
import fc from 'fast-check'
import t from 'tap'
import { jsonChunks, lazily } from '../../src/sandbox/json-stream.js'
import { buildSandbox, sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { Program } from '../process.js'
import { program } from '../program.js'
import { watched } from '../watched.js'
import type { Event, History, Page, Service } from './requests.js'
import { DAY, demo, NOON, open, other, pointsOf, wall } from './requests.js'

const { send, get, devicesOf, history, pages } = await open(t)

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

t.test('a start may take any time', (t) => {
  t.equal(buildSandbox().initialConfig.pluginTimeout, 0)
  t.end()
})

t.test('no account sees anything of another', async (t) => {
  t.strictSame([(await devicesOf(demo)).length, (await devicesOf(other)).length], [50, 12])
  for (const own of [demo, other]) {
    const foreign = own === demo ? other : demo
    const id = (await devicesOf(foreign))[0]!.id
    t.notOk((await devicesOf(own)).some((device) => device.id === id))
    t.strictSame(await get(`get_devices?id=${id}`, own), [])
    t.equal((await get<Page<Event>>(`get_events?device_id=${id}`, own)).items.total, 0)
    t.strictSame((await history(id, NOON - DAY, NOON, own)).items, [])
  }
  const ids = async (account: typeof demo) => {
    const paths = ['get_geofences', 'get_alerts', 'get_user_drivers', 'get_events', 'services']
    const lists = paths.map((path) => get(path, account))
    return [...JSON.stringify(await Promise.all(lists)).matchAll(/"id":(\d+)/g)].map(([, id]) => id)
  }
  const [mine, theirs] = [new Set(await ids(demo)), await ids(other)]
  t.ok(theirs.length > 40 && theirs.every((id) => !mine.has(id)))
})

t.test('a credential opens its account only letter for letter, and the settings hold no secret', async (t) => {
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

t.test('bad requests are refused as on the platform, and whatever else is requested is its 404', async (t) => {
  const incomplete = await send('get_history?device_id=1001&from_date=2026-05-01')
  t.equal(incomplete.status, 422)
  t.match(await incomplete.json(), { message: /from time field is required\. The to date field.*The to time field/ })
  const noDay = 'device_id=1001&from_date=2026-02-30&from_time=00:00&to_date=2026-03-01&to_time=00:00'
  t.equal((await send(`get_history?${noDay}`)).status, 422)
  t.equal((await send('get_events?date_from=2026-05-01T00:00:00Z')).status, 400)
  const unknown = await send('destroy_device')
  t.equal(unknown.status, 404)
  t.match(await unknown.json(), { message: /could not be found/ })
  const json = { 'content-type': 'application/json' }
  for (const [status, body] of [
    [413, 'x'.repeat(2 ** 20 + 1)],
    [500, `{"id":${'['.repeat(2 ** 17)}${']'.repeat(2 ** 17)}}`],
  ] as const) {
    const unread = await send('get_devices', '', { method: 'POST', body, headers: json })
    t.equal(unread.status, status)
    t.match(await unread.json(), { status: 0, message: String, statusCode: undefined })
  }
  const never = 'device_id=7&from_date=2026-05-01&from_time=00:00&to_date=2026-05-02&to_time=00:00'
  t.strictSame((await get<History>(`get_history?${never}`)).items, [])
})

t.test('the command line prints base URL, hashes and passwords, and rejects bad options', async (t) => {
  const run = (...args: string[]) => new Program(t, process.execPath, [program('sandbox/main.js'), ...args])
  const [bad, good] = [run('--port', '70000'), run('--port', '0', '--devices', '20', '--seed', '11')]
  t.equal(await bad.exited, 1)
  t.match(bad.log, /--port must be a whole number from 0 to 65535/)
  const accounts = sandboxAccounts(11, 20)
  const base = await good.printed(/^(http:\S+)\n.+\n.+\n/)
  const lines = accounts.map((one) => `${one.email}  ${one.hash}  password ${one.password}  ${one.devices} devices\n`)
  t.equal(good.log, `${base}\n${lines.join('')}`)
  t.equal((await fetch(`${base}/get_user_data?user_api_hash=${encodeURIComponent(accounts[0].hash)}`)).status, 200)
  good.signal('SIGTERM')
  t.equal(await good.exited, 0, 'a signal closes it')
})

t.test('a device that never connected has no position, an expired one keeps its last', async (t) => {
  for (const account of [demo, other]) {
    const devices = await devicesOf(account)
    const never = devices.find((device) => device.time === 'Not connected')!
    t.match(never, { online: 'offline', timestamp: 0, lat: null, lng: null, protocol: '-', sensors: { length: 0 } })
    const expired = devices.find((device) => device.time === 'Expired')!
    t.ok(expired.online === 'offline' && expired.lat !== null && expired.timestamp < NOON - 90 * DAY)
    for (const { id } of [never, expired]) t.strictSame((await history(id, NOON - 90 * DAY, NOON, account)).items, [])
  }
})

t.test('maintenance services agree wherever they are listed, and some are overdue', async (t) => {
  const devices = await devicesOf()
  type List = { data: Service[]; pagination: { last_page: number } }
  const all = await pages('services?', ({ data, pagination }: List) => ({ data, ...pagination }))
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

t.test('ten thousand devices are listed, paged or whole, without blocking the event loop', async (t) => {
  const { get, devicesOf, history } = await open(t, 10_000)
  // By this clock the rows of five devices fill a slice.
  let now = 0
  const clock = t.intercept(performance, 'now', { value: () => (now += 0.2) })
  const [devices, turns] = await watched(devicesOf())
  clock.restore()
  const ids = new Set(devices.map(({ id }) => id))
  t.ok(turns >= 1_000, `${turns} turns`)
  t.equal(ids.size, 10_000)
  const paged = new Set<number>()
  for (const page of [1, 2, 20]) for (const { id } of await devicesOf(demo, `?limit=500&page=${page}`)) paged.add(id)
  t.equal(paged.size, 1500)
  t.strictSame(await get('get_devices?limit=500&page=21'), [])
  t.equal((await devicesOf(demo, '?limit=7')).length, 7)
  t.match(await devicesOf(demo, '?id=10937'), { 0: { id: 10_937 }, length: 1 })
  t.ok(pointsOf(await history(10_937, NOON - 3 * DAY, NOON)).length > 0)
})

t.test('the rows of a list are made in the slice of the response that has them', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => (now += 1_000) })
  let made = 0
  const chunks = jsonChunks({ data: lazily([1, 2, 3], (id) => ({ id, made: ++made })) })
  let json = ''
  for await (const chunk of chunks) {
    json += chunk
    t.ok(made <= json.split('id').length, `${made} for ${json}`)
  }
  t.same(JSON.parse(json).data.length, 3)
})

t.test('the first requests of an account leave the event loop to others', async (t) => {
  const seed = 11 // programs are kept by seed: no other test has it
  const app = buildSandbox({ seed })
  t.teardown(() => app.close())
  const [, { hash }] = sandboxAccounts(seed)
  const turnsOf = async (action: string): Promise<number> => {
    const [{ statusCode }, turns] = await watched(
      app.inject(`/api/${action}?user_api_hash=${encodeURIComponent(hash)}`),
    )
    t.equal(statusCode, 200)
    return turns
  }
  const [programs, days, hours] = [8, 6, 7 * 24]
  t.ok((await turnsOf('services')) >= programs * days, 'one for each day of each program')
  t.ok((await turnsOf('get_events')) >= hours, 'one for each hour of events')
  t.ok((await turnsOf('get_events')) < 10, 'what is kept needs none')
})
