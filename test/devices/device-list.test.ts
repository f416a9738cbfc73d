/** Device lists read by the real worker over real sockets: the same devices as parsing the whole response, and every failure by its name. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { type DeviceFilter, Fleet } from '../../src/devices/fleet.js'
import { PlatformUnavailable } from '../../src/platform/errors.js'
import { pageOf } from '../../src/platform/pages.js'
import { read } from '../../src/platform/shape.js'
import { type WireDevice, wireDevice } from '../../src/platform/wire.js'
import { type Device, deviceId, toDevice } from '../../src/resources/device.js'
import { driverIdOf } from '../../src/resources/device-state.js'
import { jobs, list, now, row } from './worker.js'

const zone = { offsetMinutes: 120 }

/** The rows of a response that is parsed as a whole: what the worker's result is compared with. */
function rowsOf(body: unknown): WireDevice[] {
  const groups = read([{ title: 'scalar', items: [wireDevice] }] as const, pageOf(body).rows)
  const all = groups.flatMap(({ title, items }) =>
    (items as WireDevice[]).map((item) => ({ ...item, group: title === undefined ? undefined : String(title) })),
  )
  const first = new Map<number, WireDevice>()
  for (const one of all) {
    const id = deviceId(one)
    if (id !== undefined && !first.has(id)) first.set(id, one)
  }
  return [...first].sort(([a], [b]) => a - b).map(([, one]) => one)
}

const devicesOf = (rows: WireDevice[]): Device[] => rows.map((one) => toDevice(one, now, zone) as Device)

/** Sends a text in pieces of odd sizes. */
function sendInPieces(response: ServerResponse, text: string, isGzip = false): void {
  if (isGzip) response.setHeader('content-encoding', 'gzip')
  const bytes = isGzip ? gzipSync(text, { level: 1 }) : Buffer.from(text)
  for (let from = 0, size = 1; from < bytes.length; from += size, size = (size * 7919) % 65_521) {
    response.write(bytes.subarray(from, from + size))
  }
  response.end()
}

/** Runs jobs against a platform; `fleet` decodes the devices. */
async function lists(t: Test, listener: RequestListener) {
  const all = await jobs(t, listener)
  return { ...all, fleet: async (id?: number) => new Fleet(await all.devices(id), zone) }
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'data',
    (error: unknown) => (error instanceof PlatformUnavailable ? error.reason : (error as Error).name),
  )

for (const count of [3, 3_000]) {
  t.test(`a list of ${count + 4} devices reads as the whole document would, packed or not`, async (t) => {
    const body = list(count)
    let isGzip = false
    const text = JSON.stringify(body)
    const { devices } = await jobs(t, (_request, response) => sendInPieces(response, text, isGzip))
    const rows = rowsOf(body)
    const expected = devicesOf(rows)
    for (isGzip of [false, true]) {
      const columns = await devices()
      const fleet = new Fleet(columns, zone)
      t.equal(fleet.length, count + 4)
      t.ok(Number.isInteger(fleet.bytes), 'as the cache needs it')
      t.ok(fleet.bytes > 1.5 * fleet.bytesOf(Math.min(500, fleet.length)), 'kept devices count, and their responses')
      assert.deepStrictEqual(fleet.slice(0, 10_000), expected)
      const known = { imei: '992', plate_number: 'Ö 2', vin: 'V2', sim_number: '2', ignition: true, odometer_km: 12 }
      t.match(fleet.get(2), { ...known, moved_at: now / 1000 - 2, stopped_seconds: 2, idle_seconds: 2, driver_id: 7 })
      const rowsById = fleet.ids.map((id) => fleet.row(id))
      assert.deepStrictEqual(rowsById, rows)
      const contacts = rows.map((one) => Math.max(Number(one.timestamp ?? 0), Number(one.acktimestamp ?? 0)))
      const since = Math.max(...contacts)
      const filters = [undefined, 'online', 'offline', 'moving'].flatMap((status) =>
        [undefined, since, since + 1].flatMap((updatedSince) =>
          [undefined, [], [1, 2, count, 99_999]].map((ids) => ({ status, updatedSince, ids }) as DeviceFilter),
        ),
      )
      for (const filter of filters) {
        const { status, updatedSince = 0, ids } = filter
        const isSelected = (device: Device, at: number): boolean =>
          (status ?? device.status) === device.status &&
          (contacts[at] as number) >= updatedSince &&
          (ids?.includes(device.id) ?? true)
        const some = expected.filter(isSelected)
        const found = fleet.where(filter)
        t.same([found.length, ...found.slice(1, 4)], [some.length, ...some.slice(1, 4)], JSON.stringify(filter))
      }
      t.equal(fleet.withDriver(7), rows.find((one) => driverIdOf(one) === 7)?.id)
      t.equal(fleet.withDriver(8), undefined)
      t.same(fleet.withServices('listed'), rows.filter((one) => one.device_data.services.length > 0).map(deviceId))
      t.same(fleet.withServices('shown'), rows.filter((one) => one.services.length > 0).map(deviceId))
      t.same(columns.unknownStates, [['Busy', 1]])
      t.equal(columns.skippedRows, 5, 'two groups, two items that are no records, and a record without an id')
      t.equal(fleet.get(count + 1), fleet.get(count + 1), 'a device that is read again is the same object')
      t.equal(fleet.get(99_999), undefined)
      t.notOk(fleet.has(99_999))
    }
  })
}

t.test('every layout of the platform is read', async (t) => {
  const items = [row(1), row(2)]
  const layouts: Record<string, unknown> = {
    groups: [{ title: 'A', items }],
    'groups in items': { items: [{ title: 'A', items }], total: '2', per_page: 5 },
    'groups in data with pagination': { data: { 4: { title: 'A', items } }, pagination: { total: 2, last_page: '2' } },
    'a paginator in items': { items: { total: 2, current_page: 1, data: [{ title: 'A', items }] } },
    'groups with numeric keys': { 0: { title: 'A', items }, 7: { title: 'B', items: [] } },
    'groups as a JSON string': { items: JSON.stringify([{ title: 'A', items }]) },
    'items with numeric keys': [{ title: 'A', items: { 3: row(1), 9: row(2) } }],
    'pretty-printed': `${JSON.stringify([{ title: 'A', items }], null, 4)}\n`,
    'a byte order mark': `\ufeff \n${JSON.stringify([{ title: 'A', items }])}`,
    'no group title': [{ items }],
    'no devices': [],
    'no devices in an object': { items: [] },
    'no devices under numeric keys': { status: 1, pagination: { total: 0 } },
  }
  let text = ''
  const { fleet } = await lists(t, (_request, response) => sendInPieces(response, text))
  for (const [name, body] of Object.entries(layouts)) {
    text = typeof body === 'string' ? body : JSON.stringify(body)
    const found = await fleet()
    t.same(found.slice(0, 9), devicesOf(rowsOf(JSON.parse(text.replace(/^\ufeff/, '')))), name)
    t.equal(found.length, name.startsWith('no devices') ? 0 : 2, name)
  }
})

t.test('a response with a byte changed or cut off gives what the whole document would give', async (t) => {
  const whole = Buffer.from(JSON.stringify(list(30)))
  let bytes = whole
  const { devices, fleet } = await lists(t, (_request, response) => void response.end(bytes))
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
  t.comment(`seed ${seed}`)
  const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255), isCut: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(change, async ({ at, byte, isCut }) => {
      bytes = Buffer.from(isCut ? whole.subarray(0, at) : whole)
      if (!isCut) bytes[at] = byte
      let parsed: unknown
      try {
        parsed = JSON.parse(bytes.toString())
      } catch {
        assert.equal(await failureOf(devices()), bytes.toString().startsWith('<') ? 'html' : 'bad_json')
        return
      }
      assert.deepStrictEqual((await fleet()).slice(0, 999), devicesOf(rowsOf(parsed)))
    }),
    { numRuns: 150, seed },
  )
})

t.test('N19 a device in two groups is one device, in the first of them', async (t) => {
  const body = [
    { title: 'A', items: [row(1)] },
    { title: 'B', items: [{ ...row(1), id: '1' }, row(2)] },
  ]
  const { fleet } = await lists(t, (_request, response) => void response.end(JSON.stringify(body)))
  const found = (await fleet()).slice(0, 9).map(({ id, group }) => `${id} ${group}`)
  t.same(found, ['1 A', '2 B'])
})

t.test('a list of 100,000 devices has every one of them', async (t) => {
  const items = Array.from({ length: 100_001 }, (_, at) => ({ id: at + 1, lat: '48.1', lng: '9.2' }))
  const { fleet } = await lists(t, (_request, response) => void response.end(JSON.stringify([{ items }])))
  const found = await fleet()
  t.equal(found.length, 100_001)
  t.match(found.get(77_777), { id: 77_777, lat: 48.1 })
})

const pageIn = (url: string | undefined): number => Number(new URL(url ?? '', 'http://x').searchParams.get('page') ?? 1)

t.test('a platform that pages its list without saying so is read to the end, each device once', async (t) => {
  const { fleet, calls } = await lists(t, (request, response) => {
    const page = pageIn(request.url)
    const items = Array.from({ length: page === 3 ? 950 : 1_000 }, (_, at) => row((page - 1) * 999 + at + 1))
    response.end(JSON.stringify([{ title: 'A', items }]))
  })
  const found = await fleet()
  t.equal(found.length, 2 * 999 + 950)
  t.match(found.get(2_948), { id: 2_948, group: 'A', sensors: [{ type: 'odometer' }, { type: 'acc' }] })
  t.equal(calls.length, 3)
})

t.test('N20 a platform that ignores the page costs one more call, and no device comes twice', async (t) => {
  const items = Array.from({ length: 100 }, (_, at) => row(at + 1))
  const { devices, calls } = await jobs(t, (_request, response) => void response.end(JSON.stringify([{ items }])))
  t.equal((await devices()).ids.length, 100)
  t.equal(calls.length, 2)
})

t.test('N23 a platform that ignores the id sends the list, and the device is found on any page of it', async (t) => {
  const { fleet, calls } = await lists(t, (request, response) => {
    const page = pageIn(request.url)
    const items = page > 2 ? [] : Array.from({ length: 100 }, (_, at) => row((page - 1) * 100 + at + 1))
    response.end(JSON.stringify([{ items }]))
  })
  t.equal((await fleet(7)).get(7)?.id, 7)
  t.equal(calls.length, 1, 'one call where the first page has it')
  t.equal((await fleet(150)).get(150)?.id, 150)
  t.notOk((await fleet(999)).has(999))
})

t.test('an id to which the platform responds with an error is looked for in the list', async (t) => {
  let error: readonly [status: number, body: string] = [404, '<html>']
  const { fleet, devices } = await lists(t, (request, response) => {
    if (request.url?.includes('&id=')) return void response.writeHead(error[0]).end(error[1])
    response.end(JSON.stringify([{ items: [row(7)] }]))
  })
  const message = '{"status":0,"message":"No such device"}'
  for (error of [
    [404, '<html>'],
    [400, message],
    [403, message],
    [422, message],
    [200, message],
    [200, '{"data":[],"total":1}'],
  ] as const) {
    t.same([(await fleet(7)).has(7), (await fleet(8)).has(8)], [true, false], `${error}`)
  }
  for (const [failing, expected] of [
    [[500, message], 'server_error'],
    [[401, message], 'PlatformRefused'],
    [[429, message], 'rate_limited'],
  ] as const) {
    error = failing
    t.equal(await failureOf(devices(7)), expected)
  }
})

t.test('a list that is sent again after a lost connection has each device once', async (t) => {
  const whole = JSON.stringify([{ title: 'A', items: Array.from({ length: 301 }, (_, at) => row(at + 1)) }])
  const { fleet, calls } = await lists(t, (request, response) => {
    if (calls.length > 1) return void response.end(whole)
    response.writeHead(200, { 'content-length': whole.length })
    response.write(whole.slice(0, whole.length / 2), () => void setImmediate(() => request.socket.destroy()))
  })
  const ids = (await fleet()).ids
  t.same(
    ids,
    Array.from({ length: 301 }, (_, at) => at + 1),
  )
  t.equal(calls.length, 3, 'two attempts, and the second page')
})

const sends =
  (body: string | Uint8Array, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)

/** A body that never ends after `start`. */
function endless(start: string): RequestListener {
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  return (_request, response) => {
    response.write(start)
    const send = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', send)
    }
    send()
  }
}

t.test('a response that is no list fails by its name, and the next one is fine', async (t) => {
  const long = JSON.stringify(list(2_000))
  const longRow = JSON.stringify({ id: 1, name: 'x'.repeat(200_000) })
  const gzip = { 'content-encoding': 'gzip' }
  const failures: Record<string, [expected: string, listener: RequestListener]> = {
    'not JSON': ['bad_json', sends('[1}')],
    'JSON and more': ['bad_json', sends(`${long}]`)],
    empty: ['bad_json', sends('')],
    blanks: ['bad_json', sends(Buffer.alloc(1024 * 1024, ' '))],
    'a nest': ['bad_json', sends(Buffer.alloc(1024 * 1024, '['))],
    'a page': ['html', sends(`\n<html>${'<p>Down</p>'.repeat(100_000)}`)],
    text: ['wrong_shape', sends('"x"')],
    'another object': ['wrong_shape', sends(`{"x":${long}}`)],
    'a total without rows': ['wrong_shape', sends('{"data":[],"pagination":{"total":5}}')],
    busy: ['status_0', sends(`{"status":0,"message":"Busy","x":${long}}`)],
    refusal: ['PlatformRefused', sends(`{"status":0,"message":"Unauthorized","x":${long}}`)],
    'status 401': ['PlatformRefused', sends('{"message":"Unauthenticated."}', 401)],
    'status 403': ['PlatformForbidden', sends('{"message":"Forbidden"}', 403)],
    'status 500': ['server_error', sends('', 500)],
    'no gzip': ['bad_json', sends('[]', 200, gzip)],
    'half a gzip': ['bad_json', sends(gzipSync(long).subarray(0, -100), 200, gzip)],
    reset: ['connection', (request) => void request.socket.destroy()],
    'an endless title': ['too_large', endless('[{"title":"')],
    'an endless row': ['too_large', endless('[{"items":[{"name":"')],
    'a long row': ['too_large', sends(`[{"items":[${longRow}]}]`)],
    'a long row under a numeric key': ['too_large', sends(`[{"items":{"7":${longRow}}}]`)],
  }
  let listener: RequestListener = () => {}
  const { devices } = await jobs(t, (request, response) => listener(request, response))
  for (const [name, [expected, failing]] of Object.entries(failures)) {
    listener = failing
    t.equal(await failureOf(devices()), expected, name)
  }
  listener = sends(long)
  t.equal((await devices()).ids.length, 2_004)
})

t.test("a device's name is the same, read alone or with the device", async (t) => {
  const texts = ['Van 4', '', '-', '  ', 'a"b', 'a\\', '\\"', '","', 'Ö 🚚', '\u0000\n', '[1,"x"', 'x'.repeat(20_000)]
  const names = [...texts, null, 7, true]
  const ids = [(id: number) => id, (id: number) => `${id}`, (id: number) => `x,"${id}`]
  const items = names.flatMap((name, at) =>
    ids.flatMap((idOf, kind) =>
      ['Spare', null, '"'].map((own, other) => {
        const id = 1 + 9 * at + 3 * kind + other
        return { id: idOf(id), name, device_data: { id, name: own } }
      }),
    ),
  )
  const { fleet } = await lists(t, (_request, response) => void response.end(JSON.stringify([{ title: 'A', items }])))
  const found = await fleet()
  t.equal(found.length, items.length)
  for (const id of found.ids) t.equal(found.name(id), found.get(id)?.name, JSON.stringify(items[id - 1]).slice(0, 80))
  t.equal(found.name(9_999), undefined)
})

t.test('a list that takes too long is a timeout, and its request is closed', async (t) => {
  const closed: Promise<unknown>[] = []
  let isReady = false
  const { run, devices } = await jobs(t, (_request, response) => {
    if (isReady) closed.push(once(response, 'close'))
    response.write('[{"items":[{"id":1}')
    if (!isReady) response.end(']}]')
  })
  await devices()
  isReady = true
  t.equal(await failureOf(run('get_devices', { id: undefined, now }, AbortSignal.timeout(500))), 'timeout')
  await Promise.all(closed)
  t.equal(closed.length, 1)
})

t.test('a gzip of a few kilobytes that unpacks to 600 MB is given up', async (t) => {
  const blanks = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '), { level: 1 })
  const packed = Buffer.concat([gzipSync('[{"items":['), ...Array<Buffer>(30).fill(blanks), gzipSync(']}]')])
  const { devices } = await jobs(t, sends(packed, 200, { 'content-encoding': 'gzip' }))
  t.equal(await failureOf(devices()), 'too_large')
})

const plain = (ids: number[]): unknown => [{ items: ids.map((id) => ({ id })) }]

/** A platform with `total` devices that cuts each page at `size`, or at the limit if it knows one up to `maximum`. */
const paging =
  (total: number, size: number, maximum: number, groupsOf = plain): RequestListener =>
  (request, response) => {
    const limit = Number(new URL(request.url ?? '', 'http://x').searchParams.get('limit') ?? size)
    const applied = maximum === 0 ? size : Math.min(limit, maximum)
    const first = (pageIn(request.url) - 1) * applied
    const ids = Array.from({ length: Math.max(0, Math.min(applied, total - first)) }, (_, at) => first + at + 1)
    response.end(JSON.stringify(groupsOf(ids)))
  }

t.test('a second page is requested once per account, when the row count has changed, and once an hour', async (t) => {
  let platform: RequestListener = () => {}
  const { run, calls } = await jobs(t, (request, response) => platform(request, response))
  let hours = 0
  const callsFor = async (total: number, listed = total): Promise<number> => {
    platform = paging(total, 25, 0)
    const before = calls.length
    t.equal((await run('get_devices', { id: undefined, now: now + hours * 3_600_000 })).ids.length, listed)
    return calls.length - before
  }
  t.equal(await callsFor(7), 2)
  t.equal(await callsFor(7), 1)
  t.equal(await callsFor(8), 2)
  t.equal(await callsFor(8), 1)
  t.equal(await callsFor(0), 1, 'never for an empty list')
  t.equal(await callsFor(25), 2)
  t.equal(await callsFor(26, 25), 1, 'a page that is just full')
  hours = 1
  t.equal(await callsFor(26), 2, 'is noticed within the hour')
  t.equal(await callsFor(26), 2)
})

t.test('a list without readable rows is a changed platform', async (t) => {
  const bodies = [
    [{ items: [{ key: 1 }, { key: 2 }] }],
    [{ title: 'A', objects: [row(1)] }],
    [row(1), row(2)],
    { items: { list: [row(1)] } },
    ['x'],
  ]
  let body: unknown
  const { devices } = await jobs(t, (_request, response) => void response.end(JSON.stringify(body)))
  for (body of bodies) t.equal(await failureOf(devices()), 'wrong_shape', JSON.stringify(body).slice(0, 40))
})

t.test('no device is missed, whatever a page repeats and whichever limit a platform knows', async (t) => {
  const items = (ids: number[]) => ids.map((id) => ({ id }))
  const groupings: Record<string, (ids: number[]) => unknown> = {
    plain,
    'five devices in two groups': (ids) => [{ items: items(ids) }, { title: 'B', items: items(ids.slice(0, 5)) }],
    'an item that is null on each page': (ids) => [{ items: items(ids).with(3, null as never) }],
  }
  for (const [name, groupsOf] of Object.entries(groupings)) {
    for (const maximum of [0, 100, 300, 1_000]) {
      const { devices } = await jobs(t, paging(1_250, 100, maximum, groupsOf))
      const missing = name.includes('null') ? 13 : 0
      const { ids } = await devices()
      t.ok(ids.length >= 1_250 - missing && ids.length <= 1_250, `${ids.length} ${name}, limit up to ${maximum}`)
    }
  }
})

t.test('a long list is read in large pages where the platform has them', async (t) => {
  const { devices, calls } = await jobs(t, paging(3_000, 100, 1_000))
  t.equal((await devices()).ids.length, 3_000)
  t.equal(calls.length, 9)
})

t.test('records beside the devices of a list count in the memory that it may take', async (t) => {
  const records = `[${'{},'.repeat(2_000_000)}{}]`
  const { devices } = await jobs(t, (request, response) => {
    response.end(request.url?.includes('id=1') ? JSON.stringify(list(3)) : `[{"items":[],"tags":${records}}]`)
  })
  t.equal(await failureOf(devices()), 'overload')
  t.equal(await failureOf(devices(1)), 'data')
})
