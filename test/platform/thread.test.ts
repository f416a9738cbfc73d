/** Lists too long for the main thread, over real sockets and a real thread: they answer as short ones do, and trouble in them ends where it belongs. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { getPriority } from 'node:os'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { fleetOf } from '../../src/devices/fleet.js'
import { type Packed, unpacked } from '../../src/devices/fleet-columns.js'
import { Account } from '../../src/platform/account.js'
import { Platform } from '../../src/platform/client.js'
import { Digest } from '../../src/platform/digest.js'
import { PlatformUnavailable } from '../../src/platform/errors.js'
import { ReadingThread } from '../../src/platform/thread.js'
import type { WireDevice } from '../../src/platform/wire.js'
import { type Device, toDevice } from '../../src/resources/device.js'
import { answers, gateway, platform as openPlatform, someHash, type Test } from '../helper.js'

const now = Date.UTC(2026, 4, 12, 9, 30)
const reading = new URL('../../src/devices/worker.js', import.meta.url)

/** An account of a platform that answers so, with a thread and without. */
async function accounts(
  t: Test,
  listener: RequestListener,
  { timeoutMs = 60_000, module = reading, context = (): unknown => now } = {},
) {
  const { url } = await openPlatform(t, listener)
  const thread = new ReadingThread({ module, context })
  const skipped: number[] = []
  const made = [thread, undefined].map((own) => {
    const platform = new Platform({ url, timeoutMs, ...(own && { thread: own }) })
    t.teardown(() => platform.close())
    return new Account(platform, someHash, { id: 'a', email: null }, (_action, rows) => void skipped.push(rows))
  }) as [Account, Account]
  t.teardown(() => thread.close())
  return { thread, skipped, beside: made[0], here: made[1] }
}

const pad = 'x'.repeat(400)

const row = (id: number) => ({
  ...{ id, name: `Wagen ${id} é`, online: id % 3 ? 'online' : 'offline', time: '12-05-2026 09:29:00', pad },
  ...{
    timestamp: now / 1000 - id,
    lat: '48.1',
    lng: 9 + id / 1e5,
    speed: id % 90,
    driver: '-',
    unit_of_distance: 'mi',
  },
  ...{ driver_data: id % 2 ? [] : { id: 7, name: 'Jo' }, total_distance: id / 7 },
  sensors: [
    { id, type: 'odometer', name: 'Strecke', value: '12 km', val: 12.5 },
    { id, type: 'acc', name: 'Zündung', value: 'An', val: true },
  ],
  device_data: { id, current_driver_id: null, services: id % 5 ? [] : [{ id: 4, name: 'Öl', expires: 9 }] },
})

/** Rows as platforms have them: in any order, some twice, some in other spellings, some that are no devices. */
const rows = (count: number): unknown[] => [
  ...Array.from({ length: count }, (_, at) => row(count - at)),
  ...[
    row(3),
    null,
    7,
    { name: 'no id' },
    { ...row(count + 1), id: String(count + 1), sensors: '[{"type":"acc","val":"1"}]' },
  ],
  { ...row(count + 2), online: 'Busy', time: 'Hace un rato', sensors: { 0: { name: 'S' } } },
]

const list = (count: number): unknown => [
  { id: 0, title: 'A "é"', items: rows(count) },
  { id: 1, items: { 4: row(count + 3), 5: row(count + 4) } },
  'no group',
]

const digestOf = (found: unknown): Packed => {
  assert.ok(found instanceof Digest, 'the thread has read it')
  return found.value as Packed
}

const reason = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'data',
    (error: unknown) => (error instanceof PlatformUnavailable ? error.reason : error),
  )

t.test('a list read in the thread has the devices, rows and counts of one read here, packed or not', async (t) => {
  const body = Buffer.from(JSON.stringify(list(3_000)))
  let isGzip = false
  const { beside, here, skipped } = await accounts(t, (_request, response) => {
    if (isGzip) response.setHeader('content-encoding', 'gzip')
    response.end(isGzip ? gzipSync(body) : body)
  })
  const zone = { offsetMinutes: 120 }
  const wires = (await here.devices()) as WireDevice[]
  const devices = wires.map((wire) => toDevice(wire, now, zone)).filter((device) => device !== undefined)
  const expected = devices.sort((a, b) => a.id - b.id)
  t.same(skipped, [3])
  for (isGzip of [false, true]) {
    const packed = digestOf(await beside.devices())
    const fleet = unpacked(packed, zone)
    t.same(fleet.devices.slice(0, 10_000), expected)
    t.same(packed.words, [['Busy', 1]])
    t.equal(packed.skipped, 1)
    const offline = ({ status }: Device) => status === 'offline'
    t.same(fleet.devices.withStatus('offline').slice(5, 9), expected.filter(offline).slice(5, 9))
    t.equal(fleet.devices.withStatus('offline').length, expected.filter(offline).length)
    t.equal(fleet.byId.get(77), fleet.byId.get(77), 'the same object each time')
    t.equal(fleet.byId.get(99_999), undefined)
    const whole = fleetOf([...expected], wires)
    t.same(
      fleet.ids(),
      whole.ids().sort((a, b) => a - b),
    )
    for (const id of fleet.ids()) t.same(fleet.rows.get(id), whole.rows.get(id))
    const ofId = ([a]: readonly [number, number], [b]: readonly [number, number]) => a - b
    t.same([...fleet.drivers], [...whole.drivers].sort(ofId))
    for (const how of ['listed', 'shown'] as const)
      t.same(
        fleet.servicing(how),
        whole.servicing(how).sort((a, b) => a - b),
      )
  }
  t.same(skipped, [3, 3, 3])
})

t.test('an account whose list was long is asked for by the thread, until it is short again', async (t) => {
  let body = JSON.stringify(list(3_000))
  const ports: unknown[] = []
  let jobs = 0
  const context = (): unknown => {
    jobs += 1
    return now
  }
  const listener: RequestListener = (request, response) => {
    ports.push(request.socket.remotePort)
    response.end(body)
  }
  const { beside } = await accounts(t, listener, { context })
  for (let call = 0; call < 2; call++) t.equal(digestOf(await beside.devices()).ids.length, 3_004)
  t.not(ports[1], ports[0], 'over a socket of its own')
  body = JSON.stringify(list(3))
  for (let call = 0; call < 2; call++) t.equal(((await beside.devices()) as WireDevice[]).length, 8)
  t.equal(jobs, 3, 'the last of the four was read here')
})

t.test(
  'whatever the thread is answered where a long list was expected is told as if it had been asked here',
  async (t) => {
    const long = JSON.stringify(list(3_000))
    const stuck: Promise<unknown>[] = []
    const endings: Record<string, RequestListener> = {
      'bad_json (3 characters)': (_request, response) => void response.end('[1}'),
      bad_json: (_request, response) => void response.end(`${long}]`),
      html: (_request, response) => void response.end('<html>'),
      wrong_shape: (_request, response) => void response.end('"x"'),
      status_0: (_request, response) => void response.end('{"status":0,"message":"Busy"}'),
      server_error: (_request, response) => void response.writeHead(500).end(),
      connection: (request) => void request.socket.destroy(),
      refused: (_request, response) => void response.writeHead(401).end(),
      forbids: (_request, response) => void response.writeHead(403).end(),
      timeout: (_request, response) => {
        stuck.push(once(response, 'close'))
        response.write(long.slice(0, -10))
      },
    }
    let answer: RequestListener = () => {}
    const { beside, here } = await accounts(t, (request, response) => answer(request, response), { timeoutMs: 10_000 })
    for (const [name, ending] of Object.entries(endings)) {
      answer = (_request, response) => void response.end(long)
      digestOf(await beside.devices())
      answer = ending
      const [there, same] = await Promise.all(
        [beside, here].map((one) => one.devices().catch((error: unknown) => error)),
      )
      assert.ok(there instanceof Error && same instanceof Error)
      t.match(there.message, name)
      t.equal(there.name, same.name, name)
      t.equal(Reflect.get(there, 'reason'), Reflect.get(same, 'reason'), name)
    }
    t.equal(stuck.length, 2)
    await Promise.all(stuck) // nobody reads on what nobody waits for
  },
)

t.test('the thread gives way to the main one', { skip: process.platform !== 'linux' && 'asks Linux' }, async (t) => {
  const { beside } = await accounts(t, (_request, response) => void response.end(JSON.stringify(list(3_000))))
  digestOf(await beside.devices())
  const niceOf = (id: string): number =>
    Number(readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[16])
  t.equal(niceOf(String(process.pid)), getPriority())
  t.ok(readdirSync('/proc/self/task').some((id) => niceOf(id) === 10))
})

t.test('a page of a platform that pages unasked is followed by the next, however long it is', async (t) => {
  const { beside } = await accounts(t, (request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1)
    const count = page === 3 ? 950 : 1_000
    const items = Array.from({ length: count }, (_, at) => row((page - 1) * 1_000 + at + 1))
    response.end(JSON.stringify([{ title: 'A', items }]))
  })
  const found = await beside.devices()
  assert.ok(Array.isArray(found))
  t.equal(found.length, 2_950)
  t.match(found[2_949], { id: 2_950, group: 'A', sensors: [{ type: 'odometer' }, { type: 'acc' }] })
})

t.test('a platform that ignores an id answers with the list, and the device is found in it', async (t) => {
  const { url } = await openPlatform(
    t,
    answers({ get_user_data: { status: 1, email: 'a@example.com' }, get_devices: list(3_000) }),
  )
  const api = await gateway(t, { env: { PLATFORM_URL: url } })
  t.match(await api.get('/v1/devices/2999', someHash), { status: 200, body: { id: 2_999, group: 'A "é"' } })
  t.match(await api.get('/v1/devices?limit=1&offset=3003', someHash), { body: { count: 3_004, data: [{ id: 3_004 }] } })
  t.match(await api.get('/v1/drivers', someHash), { status: 503 })
})

t.test('a long answer that is none, is broken or refuses is told as a short one is', async (t) => {
  let body = ''
  const { beside } = await accounts(t, (_request, response) => void response.end(body))
  const long = JSON.stringify(rows(3_000))
  for (const [text, expected] of [
    [`[{"items":${long}}`, 'bad_json'],
    [`[{"items":${long}}]]`, 'bad_json'],
    [`{"x":${long}}`, 'wrong_shape'],
    [`{"status":0,"message":"Busy","x":${long}}`, 'status_0'],
  ] as const) {
    body = text
    t.equal(await reason(beside.devices()), expected)
  }
  body = `{"status":0,"message":"Unauthorized","x":${long}}`
  await t.rejects(beside.devices(), { name: 'PlatformRefused' })
})

t.test('a call that runs out of time while the thread reads is a timeout, and others go on', async (t) => {
  const whole = JSON.stringify(list(3_000))
  let isStuck = true
  const { beside } = await accounts(
    t,
    (_request, response) => {
      if (isStuck) response.write(whole.slice(0, -10))
      else response.end(whole)
    },
    { timeoutMs: 1_500 },
  )
  t.equal(await reason(beside.devices()), 'timeout')
  isStuck = false
  const again = await accounts(t, (_request, response) => void response.end(whole))
  const several = await Promise.all([1, 2, 3].map(() => again.beside.devices()))
  for (const found of several) t.equal(digestOf(found).ids.length, 3_004)
})

t.test('a thread that dies or is closed fails what it was reading, and the next list starts another', async (t) => {
  const whole = JSON.stringify(list(3_000))
  let hasBegun = (): void => {}
  let context: unknown = 'die'
  let isStuck = false
  const { beside, thread } = await accounts(
    t,
    (_request, response) => {
      if (isStuck) response.write(whole.slice(0, -10))
      else response.end(whole)
    },
    {
      module: new URL('./mortal-thread.ts', import.meta.url),
      context: () => {
        hasBegun()
        return context
      },
    },
  )
  const error = await beside.devices().catch((thrown: unknown) => thrown)
  assert.ok(error instanceof PlatformUnavailable)
  t.equal(error.message, 'get_devices: overload (the reading thread ended)')
  t.equal(error.cause, undefined, 'what it died of may quote an answer')
  context = now
  t.equal(digestOf(await beside.devices()).ids.length, 3_004)
  isStuck = true
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve
  })
  const call = reason(beside.devices())
  await begun
  await thread.close()
  t.equal(await call, 'overload')
  isStuck = false
  t.equal(digestOf(await beside.devices()).ids.length, 3_004)
})
