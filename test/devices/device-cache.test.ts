/** What the device cache requests and forgets, and how its lists are read. */
import type { RequestListener } from 'node:http'
import t from 'tap'
import { DeviceCache } from '../../src/devices/device-cache.js'
import { readItems } from '../../src/devices/items.js'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import type { Account } from '../../src/platform/account.js'
import { wireDevice } from '../../src/platform/wire.js'
import { type Bodies, Clock, gateway, gatewayOn, sandbox, someHash } from '../helper.js'
import { pageIn, sends, sendsBy } from '../platform/faulty.js'
import { until } from '../redis.js'
import { watched } from '../watched.js'
import { jobs, now, row } from './worker.js'

/** A cache with room for so many bytes, and what it evicted; every account has the same device. */
async function cacheOf(t: Parameters<typeof jobs>[0], maxBytes: number) {
  const { devices } = await jobs(t, sends(JSON.stringify([{ items: [row(1)] }])))
  const columns = await devices(1)
  const account = (id: string, sent?: Promise<void>) =>
    ({
      ...{ id, credentialName: id },
      devices: () => Promise.resolve(sent).then(() => columns),
      turn: async () => {},
    }) as unknown as Account
  const none = (): void => {}
  const evicted: number[] = []
  const options = { onSkipped: none, onUnknownState: none, onWallClock: none, onCorrected: none }
  const clock = new Clock(now)
  const onEvicted = () => evicted.push(1)
  const cache = new DeviceCache({ ...options, ttlMs: 5_000, maxBytes, clock: clock.now, onEvicted })
  return { cache, account, clock, evicted }
}

t.test('everything of one account is forgotten, also what has expired, and nothing of another', async (t) => {
  const { cache, account, clock, evicted } = await cacheOf(t, 1_000_000)
  const [one, other] = [account('a'), account('ab')]
  for (const id of [undefined, 1, 2]) for (const each of [one, other]) await cache.fetch(each, id)
  clock.advance(60_000)
  cache.delete(one)
  for (const id of [undefined, 1, 2]) {
    t.equal(cache.stale(one, id, 90_000), undefined)
    t.ok(cache.stale(other, id, 90_000))
  }
  // What is evicted before can be forgotten, and fetched again.
  for (let id = 3; evicted.length < 10; id += 1) await cache.fetch(other, id)
  cache.delete(other)
  t.equal(cache.stale(other, 1, 90_000), undefined)
  t.equal((await cache.fetch(one)).length, 1)
})

t.test('the demo and an account of the platform share no devices, even if both have the same hash', async (t) => {
  const { url, hashes } = await sandbox(t, { devices: 3 })
  const { get } = await gateway(t, { env: { PLATFORM_URL: url, DEMO_TOKEN: 'demo' } })
  t.equal((await get('/v1/devices', hashes[0])).body.count, 3)
  t.equal((await get('/v1/devices', 'demo')).body.count, 50)
  t.equal((await get('/v1/devices/1050', 'demo')).status, 200)
  t.equal((await get('/v1/devices/1050', hashes[0])).status, 404)
})

t.test('a request whose entry is evicted while it is in flight still gets the response', async (t) => {
  const { cache, account, evicted } = await cacheOf(t, 100_000)
  let send = (): void => {}
  const sent = new Promise<void>((resolve) => {
    send = resolve
  })
  const waiting = cache.fetch(account('slow', sent))
  for (let id = 1; evicted.length < 10; id += 1) await cache.fetch(account('other'), id)
  send()
  t.equal((await waiting).length, 1)
})

t.test('a device is shown as in a list that was requested after it', async (t) => {
  const { cache, account, clock } = await cacheOf(t, 1_000_000)
  await cache.fetch(account('a'), 1)
  clock.advance(1)
  const list = await cache.fetch(account('a'))
  t.equal(cache.fetch(account('a'), 1), list)
})

t.test('once the platform forbids the devices of an account, none comes from the cache', async (t) => {
  const bodies: Bodies = { get_devices: [{ items: [row(1)] }] }
  const { get } = await gatewayOn(t, { clock: new Clock(now).now }, bodies)
  const allowed = bodies.get_devices
  for (const time of ['first', 'second']) {
    bodies.get_devices = allowed
    t.equal((await get('/v1/devices/1', someHash)).status, 200)
    bodies.get_devices = 403
    for (const path of ['/v1/devices', '/v1/devices/1'])
      t.equal((await get(path, someHash)).status, 403, `${path}, the ${time} time`)
  }
})

t.test('a credential that the platform refuses while the zone of devices is read gets none of them', async (t) => {
  const bodies: Bodies = { get_devices: [{ items: [{ ...row(1), time: 'today' }] }], edit_setup_data: 500 }
  const { get } = await gatewayOn(t, { clock: new Clock(now).now }, bodies)
  t.equal((await get('/v1/devices/1', someHash)).status, 200, 'no zone is no refusal')
  bodies.edit_setup_data = sends('{"status":0,"error":"Unauthorized"}', 401)
  for (const path of ['/v1/devices', '/v1/devices/1']) t.equal((await get(path, someHash)).status, 401, path)
})

t.test('a device is not replaced by a list that was requested before it, also if the clock was set back', async (t) => {
  const clock = new Clock(now)
  const held: (() => void)[] = []
  const named = sendsBy((query) => [{ items: [{ id: query.get('id') ?? 1, name: query.has('id') ? 'New' : 'Old' }] }])
  const get_devices: RequestListener = (request, response) => {
    const send = () => named(request, response)
    if (request.url?.includes('&id=') || held.length > 0) send()
    else held.push(send)
  }
  const { get } = await gatewayOn(t, { clock: clock.now }, { get_devices })
  const name = async () => (await get('/v1/devices/1', someHash)).body.name
  const list = get('/v1/devices', someHash)
  await until(() => held.length === 1)
  clock.advance(-500)
  await get('/v1/devices/2', someHash)
  clock.advance(1)
  t.equal(await name(), 'New')
  held[0]?.()
  t.equal((await list).body.data[0].name, 'Old')
  t.equal(await name(), 'New')
})

/** Calls that read the list of 250 devices. */
const listCalls = 4

/** A gateway on a platform with 250 devices, in pages of 100, that sends `alone` to a request for one of them. */
async function pages(t: Parameters<typeof gatewayOn>[0], alone?: (id: number) => unknown) {
  const clock = new Clock(now)
  const get_devices = sendsBy((query) => {
    const [id, page] = [query.get('id'), pageIn(query)]
    const items = Array.from({ length: 250 }, (_, at) => ({ id: at + 1 })).slice(100 * (page - 1), 100 * page)
    return id !== null && alone ? alone(Number(id)) : [{ items }]
  })
  const all = await gatewayOn(t, { clock: clock.now, env: { POSITION_TTL_MS: '5000' } }, { get_devices })
  const statuses = (...ids: number[]) =>
    Promise.all(ids.map(async (id) => (await all.get(`/v1/devices/${id}`, someHash)).status))
  const lists = (): string[] => all.calls.splice(0).filter((url) => url.includes('get_devices'))
  return { clock, statuses, lists }
}

t.test('N23 where the platform ignores the id, one list serves every device of the account', async (t) => {
  const { clock, statuses, lists } = await pages(t)
  t.same(await statuses(7, 7), [200, 200])
  t.equal(lists().length, 1 + listCalls, 'the first page shows it')
  t.same(await statuses(150, 250, 999), [200, 200, 404], 'the list is whole, not its first page')
  t.same(lists(), [])
  clock.advance(5_001)
  t.same(await statuses(7, 150, 250, 999), [200, 200, 200, 404])
  const sent = lists()
  t.equal(sent.length, listCalls, 'one list')
  t.notOk(sent.some((url) => url.includes('&id=')))
  clock.advance(3_600_000)
  await statuses(7)
  t.equal(lists().length, 1 + listCalls, 'an updated platform is noticed within the hour')
})

t.test('an id to which the platform responds with an error is looked up in the list, and no other is', async (t) => {
  const { clock, statuses, lists } = await pages(t, (id) =>
    id > 99 ? { status: 0, message: 'No such device' } : [{ items: [{ id }] }],
  )
  t.same(await statuses(150, 999), [200, 404])
  t.equal(lists().length, 2 + listCalls)
  t.same(await statuses(7), [200])
  t.same(lists(), [], 'the list has it')
  clock.advance(5_001)
  t.same(await statuses(7), [200])
  t.equal(lists().length, 1)
})

t.test('a long body that has already arrived lets other responses have their turn', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const chunks = 100
  let read = 0
  const body = async function* () {
    for (; read < chunks; read += 1) yield chunk
    yield Buffer.from('[]')
  }
  const options = { shape: wireDevice, onRow: () => {}, maxEnvelopeBytes: 2 ** 26, bytes: () => 0 }
  const budget = new ByteBudget(2 ** 31)
  const reservation = budget.open('me')
  const reading = readItems({ action: 'get_devices', query: {} }, body(), options, { reservation })
  const [{ envelope }, turns] = await watched(reading)
  t.same(envelope, [])
  t.equal(read, chunks)
  t.ok(turns >= chunks / 4, `${turns} turns for ${chunks} chunks`)
})
