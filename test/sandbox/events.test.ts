/** What devices of the sandbox do over time: their histories and events agree, and never change afterwards. */
import t from 'tap'
import type { Device, Event, Page } from './requests.js'
import { DAY, demo, metres, NOON, open, pointsOf, secondsOf, unix, wall } from './requests.js'

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

t.test('signs of life never go back, and no device is offline within five minutes of one', async (t) => {
  const { clock, devicesOf } = await open(t, 12)
  const seen = new Map<number, number>()
  const states = new Set<string>()
  for (clock.at = NOON; clock.at < NOON + DAY; clock.at += 199) {
    for (const { id, online, acktimestamp } of await devicesOf()) {
      states.add(online)
      if (acktimestamp < (seen.get(id) ?? 0)) t.fail(`device ${id}, ${online}, at ${wall(clock.at)}`)
      if (online === 'offline' && clock.at - acktimestamp < 300) t.fail(`device ${id} at ${wall(clock.at)}`)
      seen.set(id, acktimestamp)
    }
  }
  t.equal(states.size, 4)
})

t.test('a driver works six days a week and drives six to ten hours on each of them', async (t) => {
  const { history } = await open(t, 20)
  const midnight = unix('2026-05-04 00:00:00')
  for (let id = 1001; id <= 1009; id++) {
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

t.test('a history agrees with itself, its totals, and the place and counters of its device', async (t) => {
  const { clock, devicesOf, history } = await open(t)
  for (const [id, days] of Object.entries({ 1001: 1, 1002: 3, 1003: 1.2, 1010: 7, 1021: 14 })) {
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
    for (const { raw_time, distance, time_seconds, top_speed, average_speed } of period.items) {
      const speed = (distance / time_seconds) * 3600
      if (time_seconds > 0 && (Math.abs(speed - average_speed) > 2 || average_speed > top_speed))
        t.fail(`${raw_time}: ${speed}, on average ${average_speed}, at most ${top_speed} km/h`)
    }
    t.strictSame([secondsOf(period.move_duration), secondsOf(period.stop_duration)], [seconds(1), seconds(2)])
    t.equal(seconds(1) + seconds(2), unix(end.raw_time) - unix(points[0]!.raw_time))
    const engineHours = (device: Device) => Number(device.sensors.find(({ type }) => type === 'engine_hours')!.val)
    const hours = engineHours(last) - engineHours(first)
    t.ok(hours > seconds(1) / 3600 - 0.2 && hours < (last.timestamp - first.timestamp) / 3600, 'so do engine hours')
    t.equal(new Set(points.map((point) => point.id)).size, points.length, 'no point is in two groups')
    t.strictSame([period.items[0]!.status, period.items.at(-1)!.status], [3, 4])
    t.notOk(new Set(points.map((point) => point.device_id)).has(Number(id)), "points carry the tracker's number")
  }
})

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
  const all = ['ignition_off', 'ignition_on', 'offline_duration', 'overspeed', 'zone_in', 'zone_out']
  t.match([...types].sort().join(), new RegExp(all.join('.*')))
})

t.test('pages hold every event and driver once; 90 days of events, newest first, with ids that grow', async (t) => {
  const { get, pages } = await open(t)
  const events = await pages('get_events?device_id=1010&limit=97&', ({ items }: Page<Event>) => items)
  t.equal(events.length, (await get<Page<Event>>('get_events?device_id=1010')).items.total)
  t.ok(events.length > 300, `${events.length} events of one device`)
  for (const [n, event] of events.slice(1).entries())
    if (events[n]!.time < event.time || events[n]!.id <= event.id) t.fail(`${event.id} is not older`)
  t.ok(unix(events.at(-1)!.time) < NOON - 85 * DAY && unix(events.at(-1)!.time) > NOON - 91 * DAY)
  t.ok(unix(events[0]!.time) <= NOON)
  type Drivers = { items: { drivers: Page<{ id: number }>['items'] } }
  const drivers = await pages('get_user_drivers?', ({ items }: Drivers) => items.drivers)
  t.same([drivers.length, new Set(drivers.map(({ id }) => id)).size], [12, 12])
  for (const query of ['', '?limit=-5', '?limit=0', '?limit=2.5', '?limit=x', '?page=-1'])
    t.equal((await get<Page<Event>>(`get_events${query}`)).items.data.length, 30, query)
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
