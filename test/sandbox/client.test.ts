/** A client of the platform as integrators write it starts and runs on the sandbox: it logs in, finds its zone, and reads. */
import t from 'tap'
import { buildSandbox, sandboxAccounts } from '../../src/sandbox/sandbox.js'

const now = Date.UTC(2026, 4, 13, 11)
type Query = Record<string, string | number | number[]>

/** Parameters as PHP clients write them: a list as `id[0]=7&id[1]=8`; `lang` and the hash with each request. */
class Client {
  readonly #base: string
  #hash = ''

  constructor(base: string) {
    this.#base = base
  }

  async login(email: string, password: string): Promise<void> {
    const { user_api_hash: hash } = await this.request('POST', 'login', { email, password })
    this.#hash = hash
  }

  // biome-ignore lint/suspicious/noExplicitAny: the platform is loosely typed, and so are its clients
  async request(method: string, action: string, query: Query = {}): Promise<any> {
    const url = new URL(`${this.#base}/${action}`)
    for (const [name, value] of Object.entries<Query[string]>({ ...query, lang: 'en', user_api_hash: this.#hash })) {
      const all = Array.isArray(value)
        ? value.map((one, at) => [`${name}[${at}]`, one] as const)
        : [[name, value] as const]
      for (const [key, one] of all) url.searchParams.set(key, String(one))
    }
    const response = await fetch(url, { method, headers: { accept: 'application/json' } })
    if (response.status !== 200) throw new Error(`${action}: ${response.status}`)
    return response.json()
  }
}

t.test('a client that logs in finds its account, zone and devices, and what each of them did', async (t) => {
  const app = buildSandbox({ devices: 20, clock: { now: () => now } })
  t.teardown(() => app.close())
  const base = await app.listen({ port: 0, host: '127.0.0.1' })
  const [{ email, password, zoneSeconds }] = sandboxAccounts(undefined, 20) as [
    ReturnType<typeof sandboxAccounts>[number],
  ]
  const client = new Client(`${base}/api`)
  await t.rejects(client.request('GET', 'get_devices'), /401/)
  await client.login(email, password)

  t.match(await client.request('GET', 'get_user_data'), { email })
  const { item, timezones } = await client.request('GET', 'edit_setup_data')
  const zone = timezones.find(({ id }: { id: number }) => String(id) === String(item.timezone_id))
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(zone.value) ?? []
  t.equal((Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1), zoneSeconds)

  const groups = await client.request('GET', 'get_devices')
  const devices = groups.flatMap(({ items }: { items: object[] }) => items)
  t.equal(devices.length, 20)
  const [{ id, lat, lng, device_data: data }, { id: next }] = devices
  const some = await client.request('GET', 'get_devices', { id: [id, next] })
  t.same(
    some.flatMap(({ items }: { items: { id: number }[] }) => items.map((device) => device.id)).sort(),
    [id, next].sort(),
  )
  const byImei = await client.request('GET', 'get_devices', { imei: data.imei })
  t.equal(byImei[0].items[0].id, id)
  const latest = await client.request('GET', 'get_devices_latest', { time: Math.floor(now / 1000) - 3600 })
  t.type(latest.items.length, 'number')
  await client.request('GET', 'devices_groups')

  const day = { from_date: '2026-05-12', from_time: '00:00', to_date: '2026-05-12', to_time: '23:59' }
  t.match(await client.request('GET', 'get_history', { device_id: id, ...day }), { distance_sum: / km$/i })
  const events = await client.request('GET', 'get_events', { device_id: id, limit: 5, page: 1 })
  t.ok(events.items.data.every((event: { device_id: number }) => event.device_id === id))
  for (const action of ['get_geofences', 'get_alerts', 'get_user_drivers', 'services']) {
    t.type(await client.request('GET', action), 'object', action)
  }
  t.type(await client.request('GET', 'get_services', { device_id: id }), 'object')
  const where = await client.request('GET', 'address', { lat, lng })
  t.match(where, /, Sandbox$/)
  t.match(await client.request('GET', 'address/reverse', { lat, lng }), { status: 1, location: { address: where } })
  t.equal(await client.request('GET', 'geo_address', { lat, lon: lng }), where)
})
