/** Device lists read by the real worker over real sockets: every page, each device once, and every failure by its name. */
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { endless, pageIn, sends, sendsBy } from '../platform/faulty.js'
import { failureOf, jobs, list, lists, now, row } from './worker.js'

t.test('a device of a later page has the group and the fields of its own row', async (t) => {
  const pages = sendsBy((query) => {
    const page = pageIn(query)
    const items = Array.from({ length: page === 3 ? 950 : 1_000 }, (_, at) => row((page - 1) * 999 + at + 1))
    return [{ title: `Page ${page}`, items }]
  })
  const { fleet } = await lists(t, pages)
  const sensors = [{ type: 'odometer' }, { type: 'acc' }]
  t.match((await fleet()).get(2_948), { id: 2_948, group: 'Page 3', sensors })
})

t.test('N20 a platform that ignores the page costs one more call, and no device comes twice', async (t) => {
  const items = Array.from({ length: 100 }, (_, at) => row(at + 1))
  const { devices, calls } = await jobs(t, sends(JSON.stringify([{ items }])))
  const { ids, ahead } = await devices()
  t.equal(ids.length, 100)
  t.same(ahead, [[0, 67]], 'nor does it count twice')
  t.equal(calls.length, 2)
})

t.test('N22 N23 a platform that sends a device alone, ignores the id or fails on it is told apart', async (t) => {
  let [status, body] = [200, '']
  const { devices } = await jobs(t, (_request, response) => void response.writeHead(status).end(body))
  const message = '{"status":0,"message":"No such device"}'
  const items = (...ids: number[]) => JSON.stringify([{ items: ids.map((id) => ({ id })) }, { items: ids.map(row) }])
  const reasons = {
    ...{ 400: 'rejected', 401: 'PlatformRefused', 403: 'PlatformForbidden', 404: 'missing_action', 422: 'rejected' },
    ...{ 429: 'rate_limited', 500: 'server_error' },
  }
  const rows: [expected: string, status: number, ...bodies: string[]][] = [
    ['7', 200, items(7)],
    ['', 200, items(), '[]'],
    ['7,8 of a list', 200, items(7, 8)],
    ['8 of a list', 200, items(8)],
    ['wrong_shape', 200, '[{"items":[{"name":"no id"}]}]', '{"data":[],"total":1}'],
    ['status_0', 200, message],
    ['missing_action', 404, '<html>'],
    ...Object.entries(reasons).map(([code, reason]): [string, number, string] => [reason, Number(code), message]),
  ]
  for (const [expected, code, ...bodies] of rows) {
    for (const sent of bodies) {
      ;[status, body] = [code, sent]
      const found = devices(7).then(({ ids, ignoresId }) => `${ids}${ignoresId ? ' of a list' : ''}`)
      t.equal(await found.catch(() => failureOf(found)), expected, body)
    }
  }
})

t.test('a list that is sent again after a lost connection has each device once', async (t) => {
  const whole = JSON.stringify([{ title: 'A', items: Array.from({ length: 301 }, (_, at) => row(at + 1)) }])
  const { devices, calls } = await jobs(t, (request, response) => {
    if (calls.length > 1) return void response.end(whole)
    response.writeHead(200, { 'content-length': whole.length })
    response.write(whole.slice(0, whole.length / 2), () => void setImmediate(() => request.socket.destroy()))
  })
  const { ids, ahead } = await devices()
  t.equal(ids.join(), Array.from({ length: 301 }, (_, at) => at + 1).join())
  t.same(ahead, [[0, 201]])
  t.equal(calls.length, 3, 'two attempts, and the second page')
})

t.test('a response that is no list fails by its name, and the next one is fine', async (t) => {
  const long = JSON.stringify(list(500))
  const failures: Record<string, [expected: string, listener: RequestListener]> = {
    'not JSON': ['bad_json', sends('[1}')],
    empty: ['bad_json', sends('')],
    'a nest': ['bad_json', sends('['.repeat(1_000_000))],
    'a page': ['html', sends(`\n<html>${'<p>Down</p>'.repeat(10_000)}`)],
    'a page after much blank space': ['html', sends(`\ufeff${' '.repeat(200_000)}<html>`)],
    'another object': ['wrong_shape', sends(`{"x":${long}}`)],
    'a total without rows': ['wrong_shape', sends('{"data":[],"pagination":{"total":5}}')],
    refusal: ['PlatformRefused', sends(`{"status":0,"message":"Unauthorized","x":${long}}`)],
    'an endless title': ['too_large', endless('[{"title":"')],
    'an endless row': ['too_large', endless('[{"items":[{"name":"')],
    'a different name for each of its members': ['too_large', sends(JSON.stringify({ ...Array(160_000).fill(0) }))],
    'rows that are no list': ['too_large', sends(JSON.stringify([{ items: { ...Array(100_001).fill({}) } }]))],
  }
  let listener: RequestListener = () => {}
  const { devices } = await jobs(t, (request, response) => listener(request, response))
  for (const [name, [expected, failing]] of Object.entries(failures)) {
    listener = failing
    t.equal(await failureOf(devices()), expected, name)
  }
  listener = sends(long)
  t.equal((await devices()).ids.length, 504)
})

t.test('a row with very long fields is skipped and counted, and all others are served', async (t) => {
  const long = 'x'.repeat(200_000)
  let body: unknown
  const { devices, run } = await jobs(t, (_request, response) => void response.end(JSON.stringify(body)))
  const items = [row(1), { id: 2, name: long }, row(3)]
  for (const layout of [items, { ...items }]) {
    body = [{ items: layout }]
    const { ids, skippedRows } = await devices()
    t.same([...ids, skippedRows], [1, 3, 1])
  }
  body = [{ items: [items[1]] }]
  t.equal(await failureOf(devices()), 'wrong_shape', 'a list of which nothing is left is a failure')
  const point = { latitude: 1, longitude: 2, raw_time: '2026-05-11 08:00:00' }
  body = { items: [{ status: 1, items: [{ ...point, address: long }, point] }] }
  const days = { deviceId: 1, from: '2026-05-11', to: '2026-05-11' }
  const params = { ...days, positions: true, format: 'json', setup: undefined } as const
  const { json, skippedRows } = await run('get_history', params)
  t.match(JSON.parse(Buffer.from(json).toString()), { positions: { length: 1 } })
  t.equal(skippedRows, 1)
  body = { items: [{ status: 1, items: [{ ...point, address: long }] }] }
  t.equal(await failureOf(run('get_history', params)), 'wrong_shape', 'nor of a track')
})

t.test('a list that takes too long is a timeout, and its request is closed', async (t) => {
  const deadline = new AbortController()
  const closed: Promise<unknown>[] = []
  const { run } = await jobs(t, (_request, response) => {
    closed.push(once(response, 'close'))
    response.write('[{"items":[{"id":1}', () => deadline.abort())
  })
  t.equal(await failureOf(run('get_devices', { id: undefined, now }, deadline.signal)), 'timeout')
  await Promise.all(closed)
  t.equal(closed.length, 1)
})

t.test('a gzip of a few kilobytes that unpacks to 600 MB is given up', async (t) => {
  // Each row is as long as a row may be.
  const rows = gzipSync(`{"id":1${' '.repeat(1_000_000)}},`.repeat(20), { level: 1 })
  const packed = Buffer.concat([gzipSync('[{"items":['), ...Array<Buffer>(30).fill(rows), gzipSync('{"id":2}]}]')])
  const { devices } = await jobs(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
  })
  t.equal(await failureOf(devices()), 'too_large')
})

const items = (ids: number[]) => ids.map((id) => ({ id }))
type BodyOf = (ids: number[], page: number) => unknown
const plain = (ids: number[]): unknown => [{ items: items(ids) }]

/** A platform with `total` devices that cuts each page at `size`, or at the limit if it knows one up to `maximum`. */
const paging = (total: number, size: number, maximum: number, bodyOf: BodyOf = plain) =>
  sendsBy((query) => {
    const applied = maximum === 0 ? size : Math.min(Number(query.get('limit') ?? size), maximum)
    const first = (pageIn(query) - 1) * applied
    const ids = Array.from({ length: Math.max(0, Math.min(applied, total - first)) }, (_, at) => first + at + 1)
    return bodyOf(ids, pageIn(query))
  })

t.test('a second page is requested once per account, when the row count has changed, and once an hour', async (t) => {
  let platform: RequestListener = () => {}
  const { run, calls } = await jobs(t, (request, response) => platform(request, response))
  const steps: [devices: number, calls: number, listed?: number, hours?: number, owner?: string][] = [
    [7, 2],
    [7, 1],
    [8, 2],
    [8, 1],
    [8, 2, 8, 0, 'another account'],
    [0, 1], // never for an empty list
    [25, 2],
    [26, 1, 25], // a page that is just full
    [26, 2, 26, 1], // is noticed within the hour
    [26, 2, 26, 1],
  ]
  for (const [total, expected, listed = total, hours = 0, owner] of steps) {
    platform = paging(total, 25, 0)
    const before = calls.length
    const params = { id: undefined, now: now + hours * 3_600_000 }
    t.equal((await run('get_devices', params, undefined, owner)).ids.length, listed)
    t.equal(calls.length - before, expected, `${total} devices, ${listed} listed`)
  }
})

t.test('no device is missed, whatever a page repeats, in pages as large as the platform has them', async (t) => {
  const groupings: Record<string, BodyOf> = {
    plain,
    'the last device of the page before': (ids) => plain([...ids, ...ids.slice(0, 1).map((id) => id - 1)]),
    'five devices in two groups': (ids) => [{ items: items(ids) }, { title: 'B', items: items(ids.slice(0, 5)) }],
    'no groups': (ids) => ids.map((id) => ({ id, lat: 48, online: 'ack' })),
    'an item that is null on each page': (ids) => [{ items: items(ids).with(3, null as never) }],
  }
  for (const [name, groupsOf] of Object.entries(groupings)) {
    for (const [maximum, pages] of Object.entries({ 0: 14, 100: 14, 300: 7, 1000: 5 })) {
      const { devices, calls } = await jobs(t, paging(1_250, 100, Number(maximum), groupsOf))
      const missing = name.includes('null') ? 13 : 0
      const { ids } = await devices()
      t.ok(ids.length >= 1_250 - missing && ids.length <= 1_250, `${ids.length} ${name}, limit up to ${maximum}`)
      t.equal(calls.length, pages)
    }
  }
})

t.test('a device that is removed after the first page is read costs no other one', async (t) => {
  for (const largest of [7, 20]) {
    const pages = sendsBy((query) => {
      const limit = Math.min(Number(query.get('limit') ?? 7), largest)
      const from = (pageIn(query) - 1) * limit + (query.has('limit') ? 2 : 1)
      return [{ items: Array.from({ length: Math.max(0, Math.min(limit, 71 - from)) }, (_, at) => row(from + at)) }]
    })
    t.equal((await (await jobs(t, pages)).devices()).ids.length, 70, `pages of at most ${largest}`)
  }
})

t.test('a list is whole, and costs few calls, whatever the platform says of its pages', async (t) => {
  const few = [[], [1, 2, 3], [4], [], [5, 6], [7]].map((ids) => ({ items: items(ids) }))
  const many = Array.from({ length: 700 }, (_, at) => ({ items: items(at % 5 === 0 ? [at + 1] : []) }))
  const byGroups = sendsBy((query) => {
    const limit = Number(query.get('limit') ?? 15)
    const pagination = { per_page: limit, last_page: Math.ceil(many.length / limit) }
    return { data: many.slice(limit * (pageIn(query) - 1), limit * pageIn(query)), pagination }
  })
  const ofPage = (bodyOf: (page: number) => object) => sendsBy((query) => bodyOf(pageIn(query)))
  const saying = (numbersOf: (page: number) => object) =>
    paging(1_250, 100, 1_000, (ids, page) => ({ data: ids.length > 0 ? plain(ids) : [], pagination: numbersOf(page) }))
  const last = { per_page: '1', last_page: '6' }
  const rows: [name: string, devices: number, calls: number, RequestListener][] = [
    ['pages that are not full', 7, 8, ofPage((page) => ({ data: few.slice(page - 1, page), pagination: last }))],
    ['the same, with keys', 7, 8, ofPage((page) => ({ 0: few[page - 1], pagination: { total: 6, last_page: 6 } }))],
    ['none', 2_950, 3, paging(2_950, 1_000, 0)],
    ['pages of groups, many without devices', 140, 4, byGroups],
    ['an early last page', 1_250, 15, saying(() => ({ last_page: 1 }))],
    ['each page as the last', 1_250, 15, saying((page) => ({ last_page: page }))],
    ['a wrong size', 1_250, 15, saying(() => ({ per_page: 1_000 }))],
    ['numbers of groups', 1_250, 15, saying(() => ({ per_page: 15, last_page: 1, total: 1 }))],
    ['numbers for another limit', 1_250, 15, saying(() => ({ per_page: 15, last_page: 84, total: 1_250 }))],
    ['a late last page', 1_250, 15, saying(() => ({ last_page: 10 ** 12 }))],
  ]
  for (const [name, count, maxCalls, listener] of rows) {
    const { devices, calls } = await jobs(t, listener)
    for (const time of ['first', 'second']) t.equal((await devices()).ids.length, count, `${name}, the ${time} time`)
    t.ok(calls.length <= 2 * maxCalls, `${name}: ${calls.length} calls`)
  }
})

t.test('records beside the devices of a list count in the memory that it may take', async (t) => {
  const records = `[${'{},'.repeat(2_000_000)}{}]`
  let body = ''
  const { devices } = await jobs(t, (_request, response) => void response.end(body))
  for (const sent of [`[{"items":[],"tags":${records}}]`, `[{"items":"${records}"}]`]) {
    body = sent
    t.equal(await failureOf(devices()), 'overload')
  }
  body = JSON.stringify(list(3))
  t.equal(await failureOf(devices(1)), 'data')
})
