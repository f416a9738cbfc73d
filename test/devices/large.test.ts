/** Answers too long to be held, over real sockets: they read as if they had been, and trouble in them is told as in short ones. */
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { Account } from '../../src/platform/account.js'
import type { Action } from '../../src/platform/actions.js'
import { Platform } from '../../src/platform/client.js'
import { Digest } from '../../src/platform/digest.js'
import { PlatformUnavailable } from '../../src/platform/errors.js'
import { pageOf } from '../../src/platform/pages.js'
import { dataOf } from '../../src/platform/response.js'
import { read, type Shape, type Tally } from '../../src/platform/shape.js'
import { wireGroup, wireHistory } from '../../src/platform/wire.js'
import { answers, gateway, platform as openPlatform, someHash, type Test } from '../helper.js'

const MB = 1024 * 1024

async function platform(t: Test, answer: RequestListener): Promise<Platform> {
  const { url } = await openPlatform(t, answer)
  const platform = new Platform({ url, timeoutMs: 60_000 })
  t.teardown(() => platform.close())
  return platform
}

/** Asks one action of a platform that answers so; each time as if for the first time, however often it failed before. */
async function asker(t: Test, answer: RequestListener) {
  const { url } = await openPlatform(t, answer)
  return async (action: Action): Promise<unknown> => {
    const platform = new Platform({ url, timeoutMs: 60_000 })
    return platform.get(action, someHash).finally(() => platform.close())
  }
}

/** Sends a body in pieces of odd sizes, packed where that is asked for and `packed`. */
const sends =
  (body: () => Uint8Array, packed = false): RequestListener =>
  (request, response) => {
    assert.match(String(request.headers['accept-encoding']), /\bgzip\b/)
    if (packed) response.setHeader('content-encoding', 'gzip')
    const bytes = packed ? gzipSync(body(), { level: 1 }) : body()
    for (let from = 0, size = 1; from < bytes.length; from += size, size = (size * 7919) % 65_521)
      response.write(bytes.subarray(from, from + size))
    response.end()
  }

/** What is made of an answer by those who read it, or why there is nothing to be made of it. */
async function reading(action: Action, get: () => unknown): Promise<unknown> {
  const shape: Shape = action === 'get_devices' ? [wireGroup] : wireHistory
  const tally: Tally = { skipped: 0 }
  try {
    const data = await get()
    const { rows, ...numbers } = pageOf(data)
    return { read: read(shape, action === 'get_devices' ? rows : data, tally), numbers, tally }
  } catch (error) {
    return error instanceof PlatformUnavailable ? error.reason : (error as Error).name
  }
}

/** What is found where no thread reads answers. */
function whole<T>(found: T | Digest): T {
  if (found instanceof Digest) throw new Error('no thread was asked for')
  return found
}

const reason = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'data',
    (error: unknown) => (error instanceof PlatformUnavailable ? error.reason : error),
  )

const filler = `"trail":[${'{"lat":"48.2","lng":9,"note":"\\u00e4 \\"{[,"},'.repeat(1_600)}0]`

/** More of the same field that nobody reads, so that the whole is past the border. */
const long = (members: string) => `{${members},${Array.from({ length: 20 }, () => filler)}}`

const devices = (from: number, count: number) =>
  JSON.stringify(
    Array.from({ length: count }, (_, at) => ({
      ...{ id: from + at, name: `Wagen ${at} é`, lat: '48.1', lng: 9.2, online: 'ack', sensors: '[{"type":"acc"}]' },
      ...{ tail: Array(60).fill({ lat: '48.10000000', lng: '9.20000000' }), device_data: { id: from + at, imei: 'x' } },
    })),
  )

const texts: [Action, string][] = [
  ['get_devices', `[{"id":0,"title":"A","items":${devices(1, 500)}},{"title":"B","items":[null,7,${long('"id":1')}]}]`],
  ['get_devices', long(`"items":[{"title":"A","items":${devices(1, 50)}}],"total":"9","per_page":5`)],
  ['get_devices', long(`"data":{"4":{"title":"A","items":${devices(1, 9)}}},"pagination":{"total":9,"last_page":"2"}`)],
  ['get_devices', long(`"items":{"total":3,"current_page":1,"data":[{"title":"A","items":${devices(1, 9)}}]}`)],
  ['get_devices', long(`"0":{"title":"A","items":${devices(1, 9)}},"7":{"title":"B"},"pagination":{"total":1}`)],
  ['get_devices', long(`"items":${JSON.stringify(`[{"title":"A","items":${devices(1, 9)}}]`)}`)],
  ['get_devices', long('"title":"A"')],
  ['get_devices', long('"status":0,"message":"Wrong credentials."')],
  ['get_devices', long('"status":"0","errors":{"user":[["account blocked"]],"\\u006b":{"a":{"b":"hash"}}}')],
  ['get_devices', long('"status":false,"error":["Busy",{"x":"y"}],"errors":{"a":{"b":{"c":{"d":"login"}}}}')],
  ['get_history', long(`"status":0,"errors":{"__proto__":{"a":"${'a'.repeat(MB)}","polluted":["no"]}}`)],
  ['get_history', long(`"items":[{"status":1,"items":${devices(1, 100)}}],"distance_sum":"3 Km","sensors":[]`)],
  ['get_history', `{"items":{"2":{"status":"2","items":[${long('"id":1,"raw_time":"2026-05-12 07:00:00"')}]}}}`],
  ['get_history', `[${long('"items":[]')}]`],
  ['get_history', `"${'x'.repeat(2 * MB)}"`],
]

t.test('a long answer reads as it would have, had it been held, packed or not', async (t) => {
  let text = ''
  const bytes = () => Buffer.from(text)
  const asks = [await asker(t, sends(bytes)), await asker(t, sends(bytes, true))]
  for (const [at, [action, json]] of texts.entries()) {
    for (const before of at === 0 ? ['', '\ufeff', ' \u00a0\ufeff\n'] : ['']) {
      text = before + json
      assert.ok(Buffer.byteLength(text) > MB, `long enough: ${at}`)
      const expected = await reading(action, () => dataOf(action, { status: 200, location: undefined, body: text }))
      for (const ask of asks) {
        assert.deepStrictEqual(await reading(action, () => ask(action)), expected)
      }
    }
  }
  t.notOk('polluted' in {}, 'no name of the platform reaches a prototype')
})

t.test('a long answer with a byte changed or cut off is what a held one would be', async (t) => {
  const [action, json] = texts[1] as [Action, string]
  const whole = Buffer.from(json)
  let bytes = whole
  const body = () => bytes
  const ask = await asker(t, sends(body))
  const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255), isCut: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(change, async ({ at, byte, isCut }) => {
      bytes = Buffer.from(isCut ? whole.subarray(0, Math.max(at, MB + 1)) : whole)
      if (!isCut) bytes[at] = byte
      const held = { status: 200, location: undefined, body: bytes.toString() }
      const expected = await reading(action, () => dataOf(action, held))
      assert.deepStrictEqual(await reading(action, () => ask(action)), expected)
    }),
    { numRuns: 60 },
  )
})

t.test('what is no JSON is told as of a short answer: a page, blanks, a nest, a torn or broken gzip', async (t) => {
  let listener: RequestListener = () => {}
  const askFor = await asker(t, (request, response) => listener(request, response))
  const ask = async (body: Uint8Array, headers: Record<string, string> = {}) => {
    listener = (_request, response) => void response.writeHead(200, headers).end(body)
    return reason(askFor('get_devices'))
  }
  const gzip = { 'content-encoding': 'gzip' }
  const packed = gzipSync(Buffer.from((texts[0] as [Action, string])[1]))
  t.equal(await ask(packed, gzip), 'data')
  t.equal(await ask(gzipSync('[]'), { 'content-encoding': 'X-GZIP' }), 'data', 'a short one too')
  t.equal(await ask(Buffer.from(`\n<html>${'<p>Down</p>'.repeat(MB / 4)}`)), 'html')
  t.equal(await ask(gzipSync(`<html>${' '.repeat(2 * MB)}`), gzip), 'html')
  t.equal(await ask(Buffer.alloc(2 * MB, '[')), 'bad_json')
  t.equal(await ask(packed.subarray(0, packed.length - 100), gzip), 'bad_json', 'a gzip that ends too soon')
  t.equal(await ask(Buffer.concat([packed.subarray(0, 5_000), Buffer.alloc(5_000, 1)]), gzip), 'bad_json')
  t.equal(await ask(Buffer.from('[]'), gzip), 'bad_json', 'what is called a gzip and is none')
  t.equal(await ask(packed), 'bad_json', 'a gzip that is not called one')
  t.equal(await ask(Buffer.alloc(0), gzip), 'bad_json')
})

t.test('a long answer cut off by the connection is unavailable', async (t) => {
  const body = Buffer.from((texts[0] as [Action, string])[1])
  const served = await platform(t, (_request, response) => {
    response.writeHead(200, { 'content-length': body.length })
    response.write(body.subarray(0, body.length - 1_000), () => response.socket?.end())
  })
  t.equal(await reason(served.get('get_devices', someHash)), 'connection')
})

t.test('200 MB of blanks or rubbish end early, and the next call is fine', async (t) => {
  let chunk: Uint8Array = Buffer.alloc(0)
  let sent = 0
  const served = await platform(t, (request, response) => {
    if (request.url?.includes('get_user_data')) {
      response.end('{"email":"owner@example.com"}')
      return
    }
    const more = (): void => {
      while (sent < 200 && !response.destroyed) {
        sent += 1
        if (!response.write(chunk)) {
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    more()
  })
  const after = async (text: Uint8Array) => {
    chunk = text
    sent = 0
    return reason(served.get('get_devices', someHash))
  }
  t.equal(await after(Buffer.alloc(MB, ' ')), 'bad_json')
  t.ok(sent < 50, `blanks: ${sent} MB`)
  t.equal(await after(Buffer.alloc(MB, 'lorem ipsum ')), 'bad_json')
  t.ok(sent < 50, `text: ${sent} MB`)
  t.equal(await after(Buffer.alloc(MB, '{"title":"')), 'bad_json')
  t.same(await served.get('get_user_data', someHash), { email: 'owner@example.com' })
})

t.test('a name without end is given up once 64 MB of it were kept', async (t) => {
  const served = await platform(t, (_request, response) => {
    response.write('[{"title":"')
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(MB, 'x')));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  t.equal(await reason(served.get('get_devices', someHash)), 'too_large')
})

t.test('a small gzip that unpacks to 600 MB is given up', async (t) => {
  const blanks = gzipSync(Buffer.alloc(20 * MB, ' '), { level: 1 })
  const packed = Buffer.concat([gzipSync('['), ...Array<Buffer>(30).fill(blanks), gzipSync(']')])
  const served = await platform(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(packed)
  })
  t.equal(await reason(served.get('get_devices', someHash)), 'too_large')
  t.equal(await reason(served.get('get_geofences', someHash)), 'too_large')
})

t.test('a history of 20,000 points answers every one of them, in order', async (t) => {
  const stamp = (second: number) => new Date(Date.UTC(2026, 4, 11) + second * 1_000).toISOString().replace('T', ' ')
  const items = Array.from({ length: 20_000 }, (_, at) => ({
    ...{ id: at + 1, device_id: 3, item_id: `i${at + 1}`, time: stamp(at * 4).slice(0, 19), speed: at % 90 },
    ...{ raw_time: stamp(at * 4).slice(0, 19), latitude: 48 + at / 1e5, longitude: 9, altitude: 400, course: 12 },
    ...{ other: `<info><odo>${at}</odo><sat>11</sat></info>`, other_arr: [`odo: ${at}`, 'sat: 11'], valid: 1 },
    ...{
      sensors_data: [
        { id: 'speed', value: at % 90 },
        { id: 'altitude', value: 400 },
      ],
      color: 'blue',
    },
  }))
  const history = {
    items: [{ status: 1, distance: 9.5, items }],
    distance_sum: '9.50 Km',
    top_speed: '89 kph',
    status: 1,
  }
  assert.ok(JSON.stringify(history).length > 5 * MB)
  const { url } = await openPlatform(
    t,
    answers({ get_devices: [{ title: 'A', items: [{ id: 7, name: 'Van' }] }], get_history: history }),
  )
  const api = await gateway(t, { env: { PLATFORM_URL: url } })
  const { status, body } = await api.get('/v1/history/7?from=2026-05-11&to=2026-05-12', someHash)
  t.equal(status, 200)
  t.equal(body.positions.length, 20_000)
  t.match(body, { distance_km: 9.5, top_speed: 89 })
  t.match(body.positions[19_999], { time: '2026-05-11 22:13:16', lat: 48.19999, lng: 9, speed: 19 })
})

t.test('a list of 37 MB arrives with every device', async (t) => {
  const rows = devices(1, 15_500)
  assert.ok(rows.length > 37 * MB)
  const served = await platform(
    t,
    sends(() => Buffer.from(`[{"title":"A","items":${rows}}]`)),
  )
  const account = new Account(served, someHash, { id: 'a', email: null }, () => {})
  const found = whole(await account.devices())
  t.equal(found.length, 15_500)
  t.match(found[15_499], { id: 15_500, name: 'Wagen 15499 é', group: 'A', sensors: [{ type: 'acc' }] })
})
