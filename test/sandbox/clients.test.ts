/** What the usual third-party client of the platform sends to the sandbox: the login, reads by POST, filters and addresses. */
import t from 'tap'
import type { Device } from './requests.js'
import { demo, NOON, open, other } from './requests.js'

const json = { 'content-type': 'application/json' }

const { send, get, devicesOf } = await open(t)

t.test('an e-mail and its password log in, by GET and by every kind of POST body', async (t) => {
  const { email, password } = other
  const form = new FormData()
  form.set('email', email)
  form.set('password', password)
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
  const body = JSON.stringify({ user_api_hash: demo.hash, id: [1001, 1003], lang: 'en' })
  const devices = await (await send('get_devices', '', { method: 'POST', body, headers: json })).json()
  const form = 'id[]=1001&id[]=1003'
  const sent = await send('get_devices', demo.hash, { method: 'POST', body: new URLSearchParams(form) })
  t.strictSame(await sent.json(), devices, 'a form')
  for (const list of [form, 'id[0]=1001&id[1]=1003&lang=en'])
    t.strictSame(await get(`get_devices?${list}`), devices, list)
})

t.test('every documented filter of devices and groups filters, alone and together', async (t) => {
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
    ['s', 'vAn 0', devices.filter(({ name }) => name.startsWith('Van 0'))],
    ['search_phrase', 'vAn 0', devices.filter(({ name }) => name.startsWith('Van 0'))],
  ]
  for (const [name, value, expected] of cases) {
    t.ok(expected.length > 0 && expected.length < 50, name)
    const text = encodeURIComponent(String(value))
    t.strictSame(ids(await devicesOf(demo, `?${name}=${text}`)), ids(expected), name)
    const latest = await get<{ items: Device[] }>(`get_devices_latest?time=0&filters[${name}]=${text}`)
    t.strictSame(new Set(ids(latest.items)), new Set(ids(expected.filter(({ timestamp }) => timestamp > 0))), name)
  }
  const some = devices.filter(({ id, online }) => id <= 1004 && (online === 'online' || online === 'ack'))
  const list = '?id[]=1001&id[]=1002&id[]=1003&id[]=1004&status[]=online&status[]=ack'
  t.ok(some.length > 0 && some.length < 4)
  t.strictSame(ids(await devicesOf(demo, list)), ids(some))
  t.strictSame(await devicesOf(demo, '?msisdn=34600001001'), [], 'which none of them has')
  t.strictSame(ids(await devicesOf(demo, `?id=1001&imei=${sample.device_data.imei}`)), [])
  t.match(await get('devices_groups?search_phrase=DEPOT&limit=1'), {
    0: { title: 'North depot' },
    pagination: { total: 2, per_page: 1, last_page: 2 },
  })
})

t.test('the latest devices are those since `time`, with their events and lists as JSON in a text', async (t) => {
  type Latest = { items: (Device & { sensors: string })[]; events: { device: { id: number } }[]; time: number }
  const since = NOON - 3_600
  const { items, events, time } = await get<Latest>(`get_devices_latest?time=${since}`)
  t.equal(time, NOON)
  t.ok(items.length > 0 && items.length < 50 && items.every(({ acktimestamp }) => acktimestamp > since))
  for (const { sensors } of items) t.ok(Array.isArray(JSON.parse(sensors)))
  t.ok(events.length > 0 && events.every(({ device }) => device.id > 1_000))
})

t.test('every position has an address, the same in all three actions', async (t) => {
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
