/** The sandbox's devices and their services, in every list. */
import t from 'tap'
import { DAY, demo, NOON, open, other, pointsOf, type Service, wall } from './requests.js'

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
  const { pages, devicesOf } = await open(t)
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

t.test('every position has an address', async (t) => {
  const { get, devicesOf } = await open(t)
  const addresses = new Set<string>()
  for (const { lat, lng } of (await devicesOf()).filter((device) => device.lat !== null)) {
    const address = await get<string>(`address?lat=${lat}&lng=${lng}`)
    addresses.add(address)
    t.match(address, /^\w+ \w+ \d+, \w+/)
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
  t.match(await devicesOf(demo, '?id=10937'), { 0: { id: 10_937 }, length: 1 })
  t.ok(pointsOf(await history(10_937, NOON - 3 * DAY, NOON)).length > 0)
})
